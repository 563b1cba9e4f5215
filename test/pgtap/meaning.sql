-- what = means does not depend on who asks: operators outside of pg_catalog, collations, types of key columns
\ir include/helpers.sql
SELECT plan(53);

CREATE EXTENSION citext SCHEMA public;

-- a rule over a citext, in every form that looks an operator up by itself
CREATE TABLE c (id int PRIMARY KEY, name citext);
CREATE TABLE c_s (id int, name citext);
INSERT INTO c_s VALUES (1, 'Bob'), (2, 'Ann');
SELECT dq_gate.create_gate('c') \g /dev/null
CREATE FUNCTION judge(rule text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	wanted text;
BEGIN
	EXECUTE format('SELECT string_agg(id::text, '','') FROM c_s AS batch WHERE (%s) IS NOT TRUE', rule) INTO wanted;
	TRUNCATE c;
	PERFORM dq_gate.expect_sql('c', 'rule', rule, action => 'quarantine');
	PERFORM dq_gate.publish('c_s', 'c');
	PERFORM dq_gate.drop_check('c', 'rule');
	RETURN CASE WHEN wanted IS NOT DISTINCT FROM (SELECT string_agg(q.id::text, ',') FROM dq_quarantine.c q WHERE run_id = last_run()) THEN 'as always' ELSE 'otherwise' END;
EXCEPTION WHEN feature_not_supported THEN
	RETURN 'refused';
END
$$;
SELECT isnt(judge(rule), 'otherwise', format('over a citext this means what it always means, or is refused: %s', rule))
FROM unnest(ARRAY['name = ''bob''', 'name <> ''BOB''', 'name IS DISTINCT FROM ''bob''', 'name IS NOT DISTINCT FROM ''bob''', 'nullif(name, ''bob'') IS NULL', 'CASE name WHEN ''bob'' THEN true ELSE false END',
	'name IN (''bob'', ''x'')', 'name NOT IN (''bob'', ''x'')', 'name = ANY (ARRAY[''bob'']::citext[])', 'name BETWEEN ''B'' AND ''c''', '(name, id) = (''bob'', 1)', '(name, id) < (''bob'', 1)', 'name LIKE ''b%''', 'name ~ ''^b''',
	'name IN (SELECT ''bob''::citext)', '(name, 1) IN (SELECT ''bob''::citext, 1)', 'EXISTS (SELECT FROM (VALUES (''BOB''::citext)) x (name) JOIN (VALUES (''bob''::citext)) y (name) USING (name) WHERE x.name = batch.name)',
	'position(''o'' IN name::text) > 0', 'array_position(ARRAY[''bob'']::citext[], name) IS NOT NULL', 'name = (''BO'' || ''b'')::citext', 'greatest(name, ''bob'') = ''bob''']) rule;

-- the same in constraints of the target
CREATE TABLE k (id int PRIMARY KEY, name citext UNIQUE, CONSTRAINT not_bob CHECK (name IS DISTINCT FROM 'bob'), CONSTRAINT no_x CHECK (nullif(name, 'x') IS NOT NULL), CONSTRAINT known CHECK (CASE name WHEN 'y' THEN false ELSE true END));
CREATE TABLE k_s (id int, name text);
INSERT INTO k_s VALUES (1, 'BOB');
SELECT is((dq_gate.publish('k_s', 'k')).published, false, 'a CHECK with IS DISTINCT FROM');
SELECT ok(finding('not_bob') ~ '^(failed 1|not_judged)', 'is judged as the target does, or not at all');
UPDATE k_s SET name = 'X';
SELECT is((dq_gate.publish('k_s', 'k')).published, false, 'one with NULLIF');
SELECT ok(finding('no_x') ~ '^(failed 1|not_judged)', 'as well');
UPDATE k_s SET name = 'Y';
SELECT is((dq_gate.publish('k_s', 'k')).published, false, 'and one with CASE');
SELECT ok(finding('known') ~ '^(failed 1|not_judged)', 'as well');
INSERT INTO k_s VALUES (2, 'Z'), (3, 'z');
DELETE FROM k_s WHERE id = 1;
SELECT dq_gate.publish('k_s', 'k') \g /dev/null
SELECT is(not_passed(), 'k_name_key failed', 'uniqueness is that of the type');
CREATE TABLE ref (id int PRIMARY KEY, name citext REFERENCES k (name));
INSERT INTO k VALUES (9, 'Nine');
CREATE TABLE ref_s (id int, name text);
INSERT INTO ref_s VALUES (1, 'NINE'), (2, 'nein');
SELECT dq_gate.publish('ref_s', 'ref') \g /dev/null
SELECT is(finding('ref_name_fkey'), 'failed 1 of 2', 'and so is a reference');

-- a key whose column has another collation in staging
CREATE TABLE l (k text PRIMARY KEY, v int);
CREATE TABLE l_s (k text COLLATE "C", v int);
INSERT INTO l_s VALUES ('a', 1), ('b', -1), ('B', 2);
SELECT dq_gate.expect_range('l', 'v', min => 0, action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('l_s', 'l')), 'published 3: 2 inserted, 1 quarantined', 'a key with a collation of its own in staging');
SELECT results_eq('SELECT v FROM l ORDER BY v', 'VALUES (1), (2)', 'takes the right rows out');
CREATE TABLE lc (k text COLLATE "C" PRIMARY KEY, v int);
SELECT dq_gate.expect_range('lc', 'v', min => 0, action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('l_s', 'lc')), 'published 3: 2 inserted, 1 quarantined', 'with one in the target as well');
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
ALTER TABLE l_s ALTER k TYPE text COLLATE ignore_case;
SELECT is(outcome(dq_gate.publish('l_s', 'l')), 'published 3: 2 unchanged, 1 quarantined', 'with one that takes more for equal than the target does');
SELECT results_eq('SELECT k FROM dq_quarantine.l WHERE run_id = last_run()', $$ VALUES ('b') $$, 'only the bad row is kept');
CREATE TABLE l_c (k citext, v int);
INSERT INTO l_c VALUES ('a', 5), ('b', -1), ('B', 6);
SELECT is(outcome(dq_gate.publish('l_c', 'l')), 'published 3: 2 updated, 1 quarantined', 'and with a type that does');
SELECT results_eq('SELECT k, v FROM l ORDER BY v', $$ VALUES ('a', 5), ('B', 6) $$, 'no row is lost');

-- a key whose staged type changes, while quarantine keeps rows of before
CREATE TABLE n (id int PRIMARY KEY, v int);
SELECT dq_gate.expect_range('n', 'v', min => 0, action => 'quarantine') \g /dev/null
CREATE FUNCTION restage(type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	TRUNCATE n;
	DROP TABLE IF EXISTS n_s;
	EXECUTE format('CREATE TABLE n_s (id %s, v int)', type);
	INSERT INTO n_s VALUES ('1', 1), ('10', -1), ('2', 2);
	answer := outcome(dq_gate.publish('n_s', 'n'));
	RETURN answer || ' ' || (SELECT string_agg(id::text, ',' ORDER BY id) FROM n) || ' not ' || (SELECT string_agg(id::text, ',') FROM dq_quarantine.n WHERE run_id = last_run());
END
$$;
SELECT is(restage(type), 'published 3: 2 inserted, 1 quarantined 1,2 not 10', format('a key staged as %s', type))
FROM unnest(ARRAY['int', 'bigint', 'smallint', 'numeric', 'float8', 'text', 'int', 'varchar(5)', 'numeric(10,0)', 'char(2)']) type;

-- staging that computes or numbers its own columns
CREATE TABLE auto_s (id int GENERATED ALWAYS AS IDENTITY, a int, v int GENERATED ALWAYS AS (a * 2) STORED);
INSERT INTO auto_s (a) VALUES (1), (-2);
CREATE TABLE auto (id int PRIMARY KEY, a int, v int);
SELECT dq_gate.expect_range('auto', 'v', min => 0, action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('auto_s', 'auto')), 'published 2: 1 inserted, 1 quarantined', 'staging with columns of its own making');
SELECT results_eq('SELECT id, a, v FROM auto UNION ALL SELECT id, a, v FROM dq_quarantine.auto ORDER BY 1', 'VALUES (1, 1, 2), (2, -2, -4)', 'which are copied as they are');

-- what only the target's indexes know
CREATE TABLE rooms (id int PRIMARY KEY, during int4range, v int, EXCLUDE USING gist (during WITH &&));
CREATE UNIQUE INDEX rooms_v ON rooms (v) WHERE v > 0;
CREATE TABLE rooms_s (id int, during int4range, v int);
INSERT INTO rooms_s VALUES (1, '[1,5)', 1), (2, '[4,6)', 2);
SELECT is(outcome(dq_gate.publish('rooms_s', 'rooms')), 'failed 2: 2 quarantined', 'an exclusion constraint fails the publish');
SELECT is((SELECT error_sqlstate FROM dq_gate.runs WHERE run_id = last_run()), '23P01', 'with its error');
UPDATE rooms_s SET during = '[6,7)', v = 1 WHERE id = 2;
SELECT is(outcome(dq_gate.publish('rooms_s', 'rooms')), 'rejected 2: 2 quarantined', 'a unique index over a part of the rows does not get to it');
SELECT is(not_passed(), 'rooms_v failed', 'since it has a check');
CREATE TABLE ruled (id int PRIMARY KEY, v int);
CREATE RULE nothing AS ON INSERT TO ruled DO INSTEAD NOTHING;
UPDATE rooms_s SET v = id;
CREATE TABLE ruled_s AS SELECT id, v FROM rooms_s;
SELECT raises($$ SELECT dq_gate.publish('ruled_s', 'ruled') $$, '0A000', 'rules', 'a target with rules, which MERGE does not take');

SELECT finish();
