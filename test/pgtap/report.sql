-- the log in words: what is said of each kind of run, to whom, and that what is there to be pasted runs
\ir include/helpers.sql
SELECT plan(72);
SET client_min_messages = error;

CREATE FUNCTION told(run bigint) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(l, E'\n') FROM dq_gate.explain_run(run) l $$;
CREATE FUNCTION reported(target regclass) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(l, E'\n') FROM dq_gate.report(target) l $$;
-- the commands behind "Next", each until its semicolon
CREATE FUNCTION commands(story text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT c FROM regexp_split_to_table(regexp_replace(split_part(story, E'\nNext\n', 2), '^--[^\n]*$', '', 'gn'), ';\s*(?=\n|$)') c WHERE c ~ '\S'
$$;
CREATE FUNCTION run_commands(story text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c text; n bigint; did text := '';
BEGIN
	FOR c IN SELECT commands(story) LOOP
		EXECUTE c;
		GET DIAGNOSTICS n = ROW_COUNT;
		did := concat_ws(', ', NULLIF(did, ''), substring(c FROM '(results_of|rules_of|dq_quarantine|audit|requeue|acknowledge)') || ' ' || n);
	END LOOP;
	RETURN did;
END
$$;

CREATE SCHEMA "S x";
CREATE TABLE "S x"."Or""ders" (id int PRIMARY KEY, v int, "it's" text);
CREATE TABLE "S x"."st aged" (id int, v int, "it's" text);

-- no run yet
SELECT dq_gate.create_gate('"S x"."Or""ders"', staging => '"S x"."st aged"', layer => 'silver', owner => 'the team', profile => true) \g /dev/null
SELECT results_eq($$ SELECT * FROM dq_gate.report('"S x"."Or""ders"') $$, $$ VALUES ('Gate "S x"."Or""ders", mode merge, layer silver, owner the team'), ('  staging         "S x"."st aged"'),
	('  last published  never'), ('  last 7 days     no run') $$, 'a gate without a run');
CREATE TABLE plain (id int PRIMARY KEY);
SELECT results_eq($$ SELECT * FROM dq_gate.report('plain', '1 hour') $$, $$ VALUES ('Table public.plain, no gate is registered'), ('  last published  never'), ('  last 01:00:00   no run') $$, 'a table without a gate');

-- published
SELECT dq_gate.expect_range('"S x"."Or""ders"', 'v', 0, 100, action => 'quarantine', owner => 'v-team', severity => 'minor'),
	dq_gate.expect_volume('"S x"."Or""ders"', action => 'declare') \g /dev/null
INSERT INTO "S x"."st aged" SELECT g, g % 10, 'a' FROM generate_series(1, 20) g;
SELECT (dq_gate.publish('"S x"."st aged"', '"S x"."Or""ders"', 'b1')).run_id AS run \gset
SELECT matches(told(:run), '^Run ' || :run || E' of gate "S x"."Or""ders": published\n  batch     b1\n  staging   "S x"."st aged"\n  target    "S x"."Or""ders"\n  started   \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d by dq_tester as dq_tester',
	'who, when, from where to where');
SELECT matches(told(:run), E'rows      20 staged: 20 inserted\n  outcome   The batch is in the target\\.\n', 'what became of the rows');
SELECT doesnt_match(told(:run), 'Failed in|What changed|rules ', 'and nothing that is not so');
SELECT is(run_commands(told(:run)), 'results_of 6', 'one command');
SELECT matches(reported('"S x"."Or""ders"'), 'Nothing failed in these runs\.$', 'nothing failed');

-- rows in quarantine
UPDATE "S x"."st aged" SET v = 500, "it's" = NULL WHERE id <= 4;
INSERT INTO "S x"."st aged" VALUES (21, 1, 'a');
SELECT (dq_gate.publish('"S x"."st aged"', '"S x"."Or""ders"', 'it''s b2', '2026-01-05')).run_id AS second \gset
SELECT matches(told(:second), 'batch     it''s b2, as of 2026-01-05', 'the day of a batch');
SELECT matches(told(:second), E'rows      21 staged: 1 inserted, 16 unchanged, 4 quarantined\n  outcome   The batch is in the target, less the rows in quarantine\\.\n  kept in   dq_quarantine\\."Or""ders"', 'where the rows are');
SELECT matches(told(:second), E'Failed in run ' || :second || E': 1 of 6 checks\n  v_range \\(quarantine, minor, v-team\\)\n    expected   v between 0 and 100\n    actual     0 .. 500\n    threshold  0 rows\n    message    4 of 21 rows: v not between 0 and 100, for example \\{"v": 500,\n               "id": 1\\}\n    sample     \\{"v": 500, "id": 1\\}\n'
	|| E'               \\{"v": 500, "id": 2\\}\n               \\{"v": 500, "id": 3\\}\n    passed     last in run ' || :run, 'what was expected and what was found');
SELECT matches(told(:second), 'this is the first run in\s+which it failed', 'for the first time');
SELECT matches(told(:second), 'rules     the same as in run ' || :run, 'under the same rules');
SELECT matches(told(:second), E'What changed since run ' || :run || E', [^\n]*, the last good one before\n  v: [^\n]*\n', 'columns beside the last good batch');
SELECT matches(told(:second), E'\n  it''s: NULL in 19% of the rows, was 0%\n', 'the share of NULL');
SELECT matches(told(:second), E'\n  v: largest 500, was 9\n', 'the largest value');
SELECT ok(abs((SELECT avg(v) FROM "S x"."st aged") - substring(told(:second) FROM 'v: mean ([0-9.]+), was')::numeric) < 0.01, 'the mean');
SELECT matches(told(:second), E'\n  attention needed, and not acknowledged yet\n.*\nSELECT dq_gate\\.acknowledge\\(' || :second || E', ''\\.\\.\\.''\\);$', 'that nobody has looked at it');
SELECT matches(reported('"S x"."Or""ders"'), E'\n  unread          1 run that nobody has acknowledged\n', 'as the report says as well');
SELECT doesnt_match(told(:run) || reported('plain'), 'attention|acknowledge|alert', 'only where there is something to look at');
TRUNCATE "S x"."st aged";
SELECT is(run_commands(told(:second)), 'results_of 1, dq_quarantine 4, requeue 1, acknowledge 1', 'all commands run');
SELECT is((SELECT count(*) FROM "S x"."st aged"), 4::bigint, 'and do what they say');

SELECT matches(told(:second), E'\n  attention acknowledged by dq_tester, \\d{4}-[^\n]*: \\.\\.\\.\n', 'then somebody has');
SELECT doesnt_match(told(:second) || reported('"S x"."Or""ders"'), 'dq_gate.acknowledge|not acknowledged|unread', 'and it need not be done again');
SELECT dq_gate.mute('"S x"."Or""ders"', '2999-01-02 03:04:05', 'a reason that is so long that it has to be wrapped somewhere, as it is') \g /dev/null
SELECT matches(reported('"S x"."Or""ders"'), E'\n  alerts muted    until 2999-01-02 03:04:05 by dq_tester: a reason that is so\n                  long that', 'a gate that is muted');

-- rejected, under other rules, by hand
SELECT dq_gate.expect_not_null('"S x"."Or""ders"', 'it''s', name => 'a name that is long enough to be wrapped somewhere in the middle of the line, as it is'),
	dq_gate.drop_check('"S x"."Or""ders"', 'v_range'), dq_gate.expect_range('"S x"."Or""ders"', 'v', 1, 100, action => 'quarantine', owner => 'v-team', severity => 'minor') \g /dev/null
SELECT (dq_gate.publish('"S x"."st aged"', '"S x"."Or""ders"', 'it''s b3')).run_id AS third \gset
SELECT matches(told(:third), E'rules     changed since run ' || :second || ': new a name that is long .*,\s+changed\s+v_range\n', 'which rules are others');
SELECT matches(told(:third), 'outcome   The audit failed\. The target is as it was, the whole batch went to\s+quarantine', 'rejected');
SELECT matches(told(:third), E'\n  alert     muted by dq_tester until 2999-01-02 03:04:05: a reason that', 'and nobody was told');
SELECT ok(dq_gate.unmute('"S x"."Or""ders"'), 'the mute ends');
SELECT matches(told(:third), E'\n  alert     muted by dq_tester until \\d{4}-', 'which changes nothing of what was');
SELECT doesnt_match(reported('"S x"."Or""ders"'), 'alerts muted', 'but of what is');
SELECT matches(told(:third), 'What changed since run ' || :run || ', ', 'the last good run is one in which nothing failed');
SELECT matches(told(:third), E'passed     never before; this is the first run', 'a check that has never passed');
SELECT matches(told(:third), E'passed     last in run ' || :run || '[^\n]*; failed in 2 runs since', 'and one that fails again');
SELECT is(run_commands(replace(told(:third), 'SELECT * FROM dq_gate.requeue', 'TRUNCATE "S x"."st aged"; SELECT * FROM dq_gate.requeue')), 'results_of 2, rules_of 2, dq_quarantine 4, audit 1, requeue 1, acknowledge 1', 'all commands run');
SELECT results_eq('SELECT verdict, batch_id, passed FROM dq_gate.runs ORDER BY run_id DESC LIMIT 1', $$ VALUES ('audited', 'it''s b3', false) $$, 'the audit was logged');

-- a dry run
SELECT matches(told(last_run()), 'outcome   A dry run: nothing was moved\. The batch would be rejected\.', 'a dry run that would fail');
SELECT matches(told(last_run()), 'failed in 2 runs\n', 'counts as a run that failed');
SELECT doesnt_match(told(last_run()), 'kept in|requeue|dq_quarantine', 'nothing was kept');
UPDATE "S x"."st aged" SET v = 5, "it's" = 'b';
SELECT dq_gate.audit('"S x"."st aged"', '"S x"."Or""ders"') \g /dev/null
SELECT matches(told(last_run()), 'The batch would pass the audit\.', 'a dry run that would not');

-- the report of it
SELECT matches(reported('"S x"."Or""ders"'), E'\n  last 7 days     2 audited, 2 published, 1 rejected\n  volume          ██ of 20 to 21 rows staged, in 2 published runs\n\nrun  started              verdict   rows  quarantined  batch\n', 'runs by verdict');
SELECT is((SELECT count(*) FROM dq_gate.report('"S x"."Or""ders"') l WHERE l ~ '^ +\d+  \d{4}-'), 5::bigint, 'a line each');
SELECT matches(reported('"S x"."Or""ders"'), E'\n +' || :third || E'  \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d  rejected     4            4  it''s b3\n', 'such as this');
SELECT matches(reported('"S x"."Or""ders"'), E'\nSomething failed in run \\d+, and nothing in the run after it\\.\n\nRun \\d+ of gate "S x"."Or""ders": audited\n', 'the last that failed is told');

-- warned, with a value that cannot be broken, and one that is a line break
SELECT dq_gate.expect_sql('"S x"."Or""ders"', 'warned', '"it''s" <> ''b''', action => 'warn') \g /dev/null
UPDATE "S x"."st aged" SET "it's" = CASE id WHEN 1 THEN 'b' ELSE E'x\n\ty' || repeat('z', 90) END;
SELECT (dq_gate.publish('"S x"."st aged"', '"S x"."Or""ders"', E'a batch_id\nof two lines that is far too long for its column')).verdict \g /dev/null
SELECT matches(told(last_run()), E'outcome   The batch is in the target\\.\n.*  warned \\(warn, the team\\)\n', 'a warning');
SELECT matches(reported('"S x"."Or""ders"'), E'  a batch_id of two li\\.\\.\\.\n', 'a long batch_id is cut');

-- the same batch again
SELECT dq_gate.publish('"S x"."st aged"', '"S x"."Or""ders"', 'again'), dq_gate.publish('"S x"."st aged"', '"S x"."Or""ders"', 'again') \g /dev/null
SELECT matches(told(last_run()), 'outcome   Nothing was moved: batch_id: run \d+ has published this batch before\s+\(skip\)\.', 'a batch that was published before');
SELECT is(run_commands(told(last_run())), 'results_of 0', 'has nothing more to say');

-- skipped by a check
SELECT dq_gate.expect_row_count('"S x"."Or""ders"', min => 100, action => 'skip', name => 'complete') \g /dev/null
SELECT dq_gate.publish('"S x"."st aged"', '"S x"."Or""ders"', 'half') \g /dev/null
SELECT matches(told(last_run()), 'outcome   It was not time for this batch\. Nothing was moved\..*complete \(skip', 'a batch before its time');
SELECT dq_gate.audit('"S x"."st aged"', '"S x"."Or""ders"') \g /dev/null
SELECT matches(told(last_run()), 'The batch would be skipped\.', 'a dry run of it');
SELECT dq_gate.drop_check('"S x"."Or""ders"', 'complete') \g /dev/null

-- refused by the target
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not on a Sunday' USING ERRCODE = 'DQX01'; END $$;
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON "S x"."Or""ders" FOR EACH ROW EXECUTE FUNCTION refuse();
UPDATE "S x"."st aged" SET v = 6;
SELECT dq_gate.publish('"S x"."st aged"', '"S x"."Or""ders"', 'refused') \g /dev/null
SELECT matches(told(last_run()), 'outcome   The audit passed, and the target refused the batch\..*\n  error     not on a Sunday \(DQX01\)\n', 'what the target said');
SELECT matches(told(last_run()), 'dq_gate\.audit\(.*dq_gate\.requeue', 'and what to do');
DROP TRIGGER refuse ON "S x"."Or""ders";

-- rows that were deleted, a column that was added, no samples, not enforced
CREATE TABLE synced (id int PRIMARY KEY, secret text);
CREATE TABLE synced_s (id int, secret text, more int);
SELECT dq_gate.create_gate('synced', mode => 'sync', samples => false, profile => true, on_new_column => 'evolve'), dq_gate.expect_volume('synced', action => 'declare'),
	dq_gate.expect_rejected_values('synced', 'secret', ARRAY['xyzzy'], action => 'warn') \g /dev/null
INSERT INTO synced_s SELECT g, 'plugh' FROM generate_series(1, 9) g;
SELECT (dq_gate.publish('synced_s', 'synced', 'one')).verdict \g /dev/null
SELECT matches(told(last_run()), E'\n  columns   added column more integer\n', 'what was done about columns');
DELETE FROM synced_s WHERE id > 6;
UPDATE synced_s SET secret = 'xyzzy', more = 7777;
SELECT (dq_gate.publish('synced_s', 'synced', 'two')).verdict \g /dev/null
SELECT matches(told(last_run()), 'rows      6 staged: 6 updated; 3 deleted from the target', 'what went from the target');
SELECT matches(told(last_run()), E'Failed in run \\d+: 1 of \\d+ checks\n.*What changed since', 'without samples it is told as well');
SELECT doesnt_match(told(last_run()), 'sample  |smallest|largest|plugh|for example', 'without values');
SELECT dq_gate.alter_gate('synced', enforce => false) \g /dev/null
SELECT matches(reported('synced'), ', checks are not enforced', 'a gate that is calibrated');

-- measures, where there are no profiles
CREATE TABLE few (id int PRIMARY KEY, v int);
CREATE TABLE few_s AS SELECT g AS id, 1 AS v FROM generate_series(1, 8) g;
SELECT dq_gate.create_gate('few'), dq_gate.expect_range('few', 'v', max => 2, action => 'warn') \g /dev/null
SELECT dq_gate.publish('few_s', 'few', '1') \g /dev/null
UPDATE few_s SET v = 3 WHERE id <= 2;
SELECT dq_gate.publish('few_s', 'few', '2') \g /dev/null
SELECT matches(told(last_run()), E'the last good one before\n  v_range: measured 0\\.25, was 0\n', 'what its checks measured');
CREATE TABLE ever (id int PRIMARY KEY, v int);
SELECT dq_gate.create_gate('ever'), dq_gate.expect_range('ever', 'v', max => 0, action => 'warn'), dq_gate.publish('few_s', 'ever', '1') \g /dev/null
SELECT last_run() AS run \gset
UPDATE few_s SET v = 0 WHERE id <= 4;
SELECT dq_gate.publish('few_s', 'ever', '2') \g /dev/null
SELECT matches(told(last_run()), 'What changed since run ' || :run || E', [^\n]*\n  v_range: measured 0\\.5, was 1\n', 'or else the last one that later ones are compared with');
SELECT max(run_id) AS run FROM dq_gate.runs WHERE target = 'few'::regclass \gset
DROP TABLE few_s;
SELECT matches(told(:run), 'few_s, which does not exist any more', 'a staging table that is gone');

-- numbers as large and as small as they come, points in time
CREATE TABLE wide (id int PRIMARY KEY, x float8, d date, c date);
CREATE TABLE wide_s AS SELECT g AS id, CASE g WHEN 1 THEN -1e150 WHEN 2 THEN 5e-324 ELSE 1 END::float8 AS x, date '2026-01-01' + g AS d, date 'infinity' AS c FROM generate_series(1, 8) g;
SELECT dq_gate.create_gate('wide', profile => true), dq_gate.expect_aggregate('wide', 'high', 'max(x)', 1, 10, action => 'warn') \g /dev/null
SELECT dq_gate.publish('wide_s', 'wide', '1') \g /dev/null
UPDATE wide_s SET id = id + 1000, x = CASE id WHEN 1 THEN 'Infinity' ELSE 1e150 END, d = d + 300;
SELECT dq_gate.publish('wide_s', 'wide', '2') \g /dev/null
SELECT matches(told(last_run()), E'\n  x: largest Infinity, was 1\n', 'numbers without end');
SELECT matches(told(last_run()), E'\n  d: largest 2026-11-05, was 2026-01-09\n', 'points in time');
SELECT doesnt_match(told(last_run()), ' d: mean| c: | id: ', 'which have no mean, and may be infinite; the key is another one in each batch');

-- a line is not longer than the terminal, but for what has no blank to break it at
SELECT is_empty($$ SELECT l FROM dq_gate.runs r, dq_gate.explain_run(r.run_id) l WHERE length(l) > 78 AND l !~ '\S{60}' $$, 'lines fit');
SELECT is_empty($$ SELECT l FROM dq_gate.gates g, dq_gate.report(g.target) l WHERE length(l) > 78 AND l !~ '\S{60}' $$, 'those of the report as well');
SELECT is_empty($$ SELECT l FROM dq_gate.runs r, dq_gate.explain_run(r.run_id) l WHERE l ~ '[\n\t]' $$, 'and are one line each');

-- who may ask, and what makes no sense
SELECT raises('SELECT dq_gate.explain_run(-1)', '42704', 'run -1 does not exist', 'a run that is not there');
SELECT raises('SELECT dq_gate.explain_run(NULL)', '22004', '"run_id" must not be NULL', 'no run');
SELECT raises('SELECT dq_gate.report(NULL)', '22004', '"target" must not be NULL', 'no target');
SELECT raises('SELECT dq_gate.report(''few'', ''-1 day'')', '22023', '"since" must be positive', 'a time to come');
SET ROLE dq_outsider;
SELECT raises('SELECT dq_gate.report(''few'')', '42501', 'permission denied for table public.few', 'a role that may not read the target has no report');
RESET ROLE;
SELECT last_run() AS run \gset
SET ROLE dq_outsider;
SELECT raises(format('SELECT dq_gate.explain_run(%s)', :run), '42704', 'run \d+ does not exist', 'and no run of it');
RESET ROLE;
GRANT SELECT ON few TO dq_loader;
SET ROLE dq_loader;
SELECT ok(count(*) > 20, 'a reader has') FROM dq_gate.report('few');
RESET ROLE;

SELECT finish();
