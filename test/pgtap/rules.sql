-- The rules that a run was made under can be looked up, and have a hash.
\ir include/helpers.sql
BEGIN;
SELECT plan(14);

CREATE TABLE ruled (id int PRIMARY KEY, v int NOT NULL);
CREATE TABLE ruled_s (id int, v int);
INSERT INTO ruled_s VALUES (1, 1);
SET client_min_messages = error;

CREATE FUNCTION hash(OUT text) LANGUAGE sql AS
$$
	SELECT dq_gate.audit('ruled_s', 'ruled');
	SELECT rules_hash FROM dq_gate.runs ORDER BY run_id DESC LIMIT 1
$$;
CREATE TABLE seen (what text, hash text);

INSERT INTO seen SELECT 'derived', hash();
SELECT is(hash(), (SELECT hash FROM seen), 'the same rules, the same hash');
SELECT matches(hash(), '^[0-9a-f]{64}$', 'it is a SHA-256');
SELECT is((SELECT count(*)::int FROM dq_gate.rule_sets s WHERE s.rules_hash = (SELECT hash FROM seen)), 1,
	'the rules are kept once');

SELECT dq_gate.expect_range('ruled', 'v', min => 0, max => 9, action => 'warn', filter => 'id > 0', block_above => 5);
INSERT INTO seen SELECT 'declared', hash();
SELECT isnt(hash(), (SELECT hash FROM seen WHERE what = 'derived'), 'another rule, another hash');
SELECT results_eq(
	$$SELECT check_name, check_type, rule, action, nulls, filter, tolerance, origin
	FROM dq_gate.rules_of((SELECT max(run_id) FROM dq_gate.runs)) ORDER BY check_name COLLATE "C"$$,
	$$VALUES ('id_not_null', 'not_null', 'id is not NULL', 'block', 'fail', NULL, NULL, 'key (primary key ruled_pkey)'),
		('key_unique', 'unique', 'id is unique in the batch', 'block', 'pass', NULL, NULL, 'key (primary key ruled_pkey)'),
		('not_empty', 'not_empty', 'at least 1 row', 'block', NULL, NULL, NULL, 'gate'),
		('schema_contract', 'schema_contract', 'staged columns exist in the target, with types that it takes; required columns are staged', 'block', NULL, NULL, NULL, 'columns of the target'),
		('v_not_null', 'not_null', 'v is not NULL', 'block', 'fail', NULL, NULL, 'NOT NULL of column v'),
		('v_range', 'range', 'v between 0 and 9', 'warn', 'pass', 'id > 0', 'block above 5 rows', 'declared'),
		('volume', 'volume', 'number of rows between 0.5 and 2.0 times the median of the last 14 batches', 'block', NULL, NULL, NULL, 'earlier batches')$$,
	'rules_of shows them');

-- each property of a rule counts
SELECT dq_gate.drop_check('ruled', 'v_range');
SELECT is(hash(), (SELECT hash FROM seen WHERE what = 'derived'), 'back to the first');
SELECT dq_gate.expect_range('ruled', 'v', min => 0, max => 8, action => 'warn', filter => 'id > 0', block_above => 5);
SELECT ok(hash() NOT IN (SELECT hash FROM seen), 'another bound');
SELECT dq_gate.drop_check('ruled', 'v_range');
SELECT dq_gate.expect_range('ruled', 'v', min => 0, max => 9, filter => 'id > 0', block_above => 5);
SELECT ok(hash() NOT IN (SELECT hash FROM seen), 'another action');
SELECT dq_gate.drop_check('ruled', 'v_range');
SELECT dq_gate.expect_range('ruled', 'v', min => 0, max => 9, action => 'warn', filter => 'id > 1', block_above => 5);
SELECT ok(hash() NOT IN (SELECT hash FROM seen), 'another filter');
SELECT dq_gate.drop_check('ruled', 'v_range');
SELECT dq_gate.expect_range('ruled', 'v', min => 0, max => 9, action => 'warn', filter => 'id > 0', block_above => 6);
SELECT ok(hash() NOT IN (SELECT hash FROM seen), 'another limit');
SELECT dq_gate.drop_check('ruled', 'v_range');
SELECT dq_gate.expect_range('ruled', 'v', min => 0, max => 9, action => 'warn', filter => 'id > 0', block_above => 5, nulls => 'fail');
SELECT ok(hash() NOT IN (SELECT hash FROM seen), 'another policy for NULL');
SELECT dq_gate.drop_check('ruled', 'v_range');
SELECT dq_gate.expect_range('ruled', 'v', min => 0, max => 9, action => 'warn', filter => 'id > 0', block_above => 5);
SELECT is(hash(), (SELECT hash FROM seen WHERE what = 'declared'), 'the same again');

SELECT is((SELECT count(*)::int FROM dq_gate.rules_of(
		(SELECT min(run_id) FROM dq_gate.runs WHERE rules_hash = (SELECT hash FROM seen WHERE what = 'derived')))), 6,
	'the rules of a past run are those of then');
SELECT is_empty('SELECT * FROM dq_gate.rules_of(-1)', 'a run that there is not has none');

SELECT * FROM finish();
ROLLBACK;
