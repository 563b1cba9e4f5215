-- what somebody ought to look at: which runs need attention, who sees them, who has looked
\ir include/helpers.sql
SELECT plan(88);
SET client_min_messages = error;

CREATE SCHEMA "S x";
CREATE TABLE "S x"."Or""ders" (id int PRIMARY KEY, v int CHECK (v < 1000));
CREATE TABLE "S x"."st aged" (id int, v int);
CREATE TABLE plain (id int PRIMARY KEY, v int);
CREATE TABLE plain_staging (id int, v int);

-- an answer with whether the run needs attention, and whether it is in unread
CREATE FUNCTION attended(run dq_gate.run_summary) RETURNS text LANGUAGE sql AS $$
	SELECT verdict || CASE WHEN attention THEN ' attention' ELSE '' END || CASE WHEN EXISTS (SELECT FROM dq_gate.unread u WHERE u.run_id = run.run_id) THEN ' unread' ELSE '' END
	FROM dq_gate.runs r WHERE r.run_id = run.run_id
$$;
CREATE FUNCTION attended(rows text, call text DEFAULT 'publish') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	run dq_gate.run_summary;
BEGIN
	TRUNCATE "S x"."st aged";
	EXECUTE 'INSERT INTO "S x"."st aged" VALUES ' || rows;
	EXECUTE format('SELECT * FROM dq_gate.%I(%L, %L)', call, '"S x"."st aged"', '"S x"."Or""ders"') INTO run;
	RETURN attended(run);
END
$$;

SELECT dq_gate.create_gate('"S x"."Or""ders"', owner => 'team') \g /dev/null
SELECT dq_gate.expect_volume('"S x"."Or""ders"', action => 'declare'),
	dq_gate.expect_range('"S x"."Or""ders"', 'v', max => 100, action => 'quarantine', owner => 'v-team', name => 'large'),
	dq_gate.expect_sql('"S x"."Or""ders"', 'odd v', 'v % 2 = 1', action => 'warn'),
	dq_gate.expect_sql('"S x"."Or""ders"', 'dropped', 'v <> 5', action => 'drop'),
	dq_gate.expect_row_count('"S x"."Or""ders"', max => 3, action => 'skip', owner => 'loader') \g /dev/null

SELECT is(attended('(1, 1)'), 'published', 'nothing failed: nobody has to look');
SELECT is(attended('(1, 2)'), 'published attention unread', 'a warning');
SELECT is(attended('(1, 1), (2, 101)'), 'published attention unread', 'rows in quarantine');
SELECT is(attended('(1, 1), (3, 5)'), 'published attention unread', 'dropped rows');
SELECT is(attended('(1, 1), (1, 1)'), 'rejected attention unread', 'a batch that was rejected');
SELECT is(attended('(1, 7), (2, 7), (3, 7), (4, 7)'), 'skipped', 'one that is not ready');
SELECT is(attended('(1, 1), (1, 1)', 'audit'), 'audited', 'a dry run that would be rejected');
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON "S x"."Or""ders" FOR EACH ROW EXECUTE FUNCTION refuse();
SELECT is(attended('(9, 9)'), 'failed attention unread', 'one that the target refused');
CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
SELECT is(attended('(9, 9)'), 'published attention unread', 'rows that a trigger dropped');
DROP TRIGGER refuse ON "S x"."Or""ders";
SELECT dq_gate.alter_gate('"S x"."Or""ders"', enforce => false) \g /dev/null
SELECT is(attended('(1, 1), (2, 101)'), 'published attention unread', 'a gate that does not enforce what failed');
SELECT is(attended('(1, 1)'), 'published', 'nor what passed');
SELECT dq_gate.alter_gate('"S x"."Or""ders"', enforce => true) \g /dev/null
TRUNCATE "S x"."st aged"; INSERT INTO "S x"."st aged" VALUES (1, 1);
SELECT is(attended(dq_gate.publish('"S x"."st aged"', '"S x"."Or""ders"', 'again')), 'published', 'a batch with a name');
SELECT is(attended(dq_gate.publish('"S x"."st aged"', '"S x"."Or""ders"', 'again')), 'skipped', 'that is repeated');
INSERT INTO plain_staging VALUES (NULL, 1);
SELECT is(attended(dq_gate.publish('plain_staging', 'plain')), 'rejected attention unread', 'a target without a gate');

-- what unread says
SELECT results_eq($$ SELECT verdict, quarantined, dropped, owners, failures = (SELECT r.failures FROM dq_gate.runs r WHERE r.run_id = u.run_id) FROM dq_gate.unread u
	WHERE gate = '"S x"."Or""ders"' AND target = '"S x"."Or""ders"'::regclass ORDER BY run_id LIMIT 4 $$,
	$$ VALUES ('published', 0::bigint, 0::bigint, '{team}'::text[], true), ('published', 1, 0, '{team,v-team}', true), ('published', 0, 1, '{team}', true), ('rejected', 2, 0, '{team}', true) $$,
	'each with the owners of the gate and of what failed');
SELECT is((SELECT owners FROM dq_gate.unread WHERE gate = 'public.plain'), '{}', 'none without a gate');
SELECT results_eq('SELECT run_id FROM dq_gate.unread', 'SELECT run_id FROM dq_gate.runs WHERE attention ORDER BY run_id DESC', 'the newest first');
SELECT ok((SELECT bool_and(age >= '0' AND age < '1 hour' AND date_trunc('second', age) = age) FROM dq_gate.unread), 'and how long ago');
SET ROLE dq_outsider;
SELECT is_empty('SELECT FROM dq_gate.unread', 'who may not read the target sees nothing');
RESET ROLE;
GRANT SELECT ON plain TO dq_outsider;
SET ROLE dq_outsider;
SELECT results_eq('SELECT gate FROM dq_gate.unread', ARRAY['public.plain'], 'who may read it does');
SELECT throws_ok('INSERT INTO dq_gate.acknowledgements VALUES (1, ''me'', now(), ''x'')', '42501', NULL, 'nobody writes the acknowledgements');
SELECT is_empty('SELECT FROM dq_gate.acknowledgements', 'which can be read');
RESET ROLE;

-- who has looked
SELECT max(run_id) AS run FROM dq_gate.unread WHERE gate = '"S x"."Or""ders"' \gset
SELECT raises('SELECT dq_gate.acknowledge(NULL, ''x'')', '22004', 'run_id', 'no run');
SELECT raises(format('SELECT dq_gate.acknowledge(%s, %L)', :run, note), '22004', '"note" must not be NULL or empty', format('no note: %s', encode(note::bytea, 'hex'))) FROM unnest(ARRAY[NULL, '', E' \n\t']) note;
SELECT raises('SELECT dq_gate.acknowledge(0, ''x'')', '42704', 'run 0 does not exist', 'a run that is none');
SELECT is(dq_gate.acknowledge(:run, 'it''s "seen"'), :run::bigint, 'an acknowledgement');
SELECT results_eq('SELECT run_id, acknowledged_by, note, acknowledged_at <= clock_timestamp() FROM dq_gate.acknowledgements',
	format($$ VALUES (%s::bigint, name 'dq_tester', 'it''s "seen"', true) $$, :run), 'says who, when and why');
SELECT is_empty(format('SELECT FROM dq_gate.unread WHERE run_id = %s', :run), 'the run is not unread any more');
SELECT ok((SELECT attention FROM dq_gate.runs WHERE run_id = :run), 'but did need attention');
SELECT raises(format('SELECT dq_gate.acknowledge(%s, ''again'')', :run), '42710', 'acknowledged already.*By dq_tester at .*: it''s "seen"', 'once');
SELECT max(run_id) AS fine FROM dq_gate.runs WHERE gate = '"S x"."Or""ders"' AND NOT attention AND verdict = 'published' \gset
SELECT raises(format('SELECT dq_gate.acknowledge(%s, ''x'')', :fine), '55000', 'needs no attention.*"published"', 'nothing to acknowledge');
SELECT max(run_id) AS fine FROM dq_gate.runs WHERE verdict = 'audited' \gset
SELECT raises(format('SELECT dq_gate.acknowledge(%s, ''x'')', :fine), '55000', 'needs no attention.*"audited"', 'nor of a dry run');
BEGIN READ ONLY;
SELECT throws_ok('SELECT dq_gate.acknowledge(1, ''x'')', '25006', NULL, 'not where nothing is written');
ROLLBACK;
BEGIN;
SELECT max(run_id) AS other FROM dq_gate.unread WHERE gate = '"S x"."Or""ders"' \gset
SELECT dq_gate.acknowledge(:other, 'no') \g /dev/null
ROLLBACK;
SELECT isnt_empty(format('SELECT FROM dq_gate.unread WHERE run_id = %s', :other), 'what is rolled back is unread');

-- who may: those who may run the gate
CREATE FUNCTION acknowledge_all(target regclass) RETURNS bigint LANGUAGE sql AS $$ SELECT count(dq_gate.acknowledge(run_id, 'all')) FROM dq_gate.unread u WHERE u.target = $1 $$;
GRANT USAGE ON SCHEMA "S x" TO PUBLIC;
SELECT format('SELECT dq_gate.acknowledge(%s, ''mine'')', :other) AS call \gset
SET ROLE dq_outsider;
SELECT raises(:'call', '42704', 'does not exist', 'who may not read the target learns nothing');
RESET ROLE;
GRANT SELECT ON "S x"."Or""ders" TO dq_outsider;
SET ROLE dq_outsider;
SELECT isnt_empty(format('SELECT FROM dq_gate.unread WHERE run_id = %s', :other), 'who may read it sees what is unread');
SELECT raises(:'call', '42501', 'permission denied for gate "S x"."Or""ders".*those who may run it', 'but acknowledges nothing');
RESET ROLE;
GRANT SELECT, INSERT, UPDATE ON "S x"."Or""ders" TO dq_outsider;
SET ROLE dq_outsider;
SELECT raises(:'call', '42501', 'permission denied', 'to write the target past its gate is not to run it');
RESET ROLE;
GRANT ALL ON SCHEMA "S x" TO dq_loader;
GRANT ALL ON "S x"."st aged" TO dq_loader;
ALTER TABLE "S x"."Or""ders" OWNER TO dq_loader;
SELECT dq_gate.alter_gate('"S x"."Or""ders"', run_as => 'dq_loader') \g /dev/null
SET ROLE dq_loader;
SELECT is(dq_gate.acknowledge(:other, 'as the gate'), :other::bigint, 'the role of the gate may');
RESET ROLE;
SELECT is((SELECT acknowledged_by FROM dq_gate.acknowledgements WHERE run_id = :other), 'dq_tester', 'the one who was logged in is named');
SELECT cmp_ok((SELECT count(*) FROM dq_gate.unread WHERE target = '"S x"."Or""ders"'::regclass), '>', 3::bigint, 'there are more');
SELECT is(acknowledge_all('"S x"."Or""ders"'), (SELECT count(*) - 2 FROM dq_gate.runs WHERE attention AND gate = '"S x"."Or""ders"'), 'all in one query, by a member of that role');
SELECT is_empty('SELECT FROM dq_gate.unread WHERE target = ''"S x"."Or""ders"''::regclass', 'none is left');

-- without a gate: the owner, and who could publish
SELECT max(run_id) AS run FROM dq_gate.unread WHERE gate = 'public.plain' \gset
SELECT format('SELECT dq_gate.acknowledge(%s, ''mine'')', :run) AS call \gset
SET ROLE dq_outsider;
SELECT raises(:'call', '42501', 'permission denied', 'without a gate, a reader may not either');
RESET ROLE;
GRANT INSERT, UPDATE ON plain TO dq_outsider;
BEGIN;
SET LOCAL ROLE dq_outsider;
SELECT lives_ok(:'call', 'who could publish may');
ROLLBACK;
SELECT lives_ok(:'call', 'and the owner');

-- a target that is dropped
INSERT INTO plain_staging VALUES (NULL, 1);
SELECT dq_gate.publish('plain_staging', 'plain') \g /dev/null
SELECT last_run() AS run \gset
SELECT format('SELECT dq_gate.acknowledge(%s, ''gone'')', :run) AS call \gset
DROP TABLE plain;
SET ROLE dq_outsider;
SELECT raises(:'call', '42704', 'does not exist', 'of a dropped target nobody else');
RESET ROLE;
SELECT is(dq_gate.acknowledge(:run, 'gone'), :run::bigint, 'but the role that the run acted as');

-- a gate that is muted
CREATE FUNCTION mutes() RETURNS text LANGUAGE sql AS
	$$ SELECT string_agg(concat_ws(' ', muted_by, (muted_until > clock_timestamp())::text, reason, 'ended by ' || ended_by), ', ' ORDER BY muted_at) FROM dq_gate.mutes $$;
SELECT is(dq_gate.mute('"S x"."Or""ders"', now() + interval '1 hour', 'it''s "late"'), '"S x"."Or""ders"'::regclass, 'a mute');
SELECT is(mutes(), 'dq_tester true it''s "late"', 'says who and why, and ends');
SELECT ok((SELECT muted_until > clock_timestamp() + interval '59 minutes' AND muted_until < clock_timestamp() + interval '1 hour' FROM dq_gate.mutes), 'when it is to');
SELECT dq_gate.mute('"S x"."Or""ders"', '2999-12-31 23:59+00', 'longer') \g /dev/null
SELECT is(mutes(), 'dq_tester false it''s "late" ended by dq_tester, dq_tester true longer', 'another one takes its place');
SELECT is((SELECT muted_until FROM dq_gate.mutes WHERE reason = 'longer'), '2999-12-31 23:59+00', 'until then');
SELECT is(attended('(1, 1), (1, 1)'), 'rejected attention unread', 'its failures are unread all the same');
SELECT ok(dq_gate.unmute('"S x"."Or""ders"'), 'the end of it');
SELECT is(mutes(), 'dq_tester false it''s "late" ended by dq_tester, dq_tester false longer ended by dq_tester', 'is kept');
SELECT ok(NOT dq_gate.unmute('"S x"."Or""ders"'), 'it ends once');
SELECT raises(format('SELECT dq_gate.mute(%L, %L, %L)', '"S x"."Or""ders"', until, 'x'), '22023', said, format('not until %s', until)) FROM (VALUES
	('infinity', 'a mute must end.*alert => ''never'''), ('-infinity', 'must be in the future'), ('2020-01-01', 'must be in the future')) v (until, said);
SELECT raises('SELECT dq_gate.mute(''"S x"."Or""ders"'', NULL, ''x'')', '22004', 'until', 'not without an end');
SELECT raises(format('SELECT dq_gate.mute(%L, now() + interval %L, %L)', '"S x"."Or""ders"', '1 hour', reason), '22004', '"reason" must not be NULL or empty', format('not without a reason: %s', quote_nullable(reason))) FROM unnest(ARRAY[NULL, '', '  ']) reason;
SELECT raises('SELECT dq_gate.mute(NULL, now() + interval ''1 hour'', ''x'')', '22004', 'target', 'not without a gate');
SELECT raises('SELECT dq_gate.unmute(NULL)', '22004', 'target', 'nor unmuted');
SELECT raises(format('SELECT dq_gate.%s', call), '42704', 'no gate is registered for "S x"."st aged".*create_gate', 'where none is registered: ' || call)
	FROM unnest(ARRAY['mute(''"S x"."st aged"'', now() + interval ''1 hour'', ''x'')', 'unmute(''"S x"."st aged"'')']) call;
SELECT raises('SELECT dq_gate.mute(999999::regclass, now() + interval ''1 hour'', ''x'')', '42P01', '999999', 'a table that is none');
BEGIN READ ONLY;
SELECT throws_ok('SELECT dq_gate.mute(''"S x"."Or""ders"'', now() + interval ''1 hour'', ''x'')', '25006', NULL, 'not where nothing is written');
ROLLBACK;

-- who may
SET ROLE dq_outsider;
SELECT raises(format('SELECT dq_gate.%s', call), '42501', 'permission denied for gate "S x"."Or""ders".*those who may run it', 'not who may not run it: ' || call)
	FROM unnest(ARRAY['mute(''"S x"."Or""ders"'', now() + interval ''1 hour'', ''x'')', 'unmute(''"S x"."Or""ders"'')']) call;
SELECT isnt_empty('SELECT FROM dq_gate.mutes', 'he sees it, if he may read the target');
SELECT throws_ok('DELETE FROM dq_gate.mutes', '42501', NULL, 'but writes nothing');
RESET ROLE;
REVOKE ALL ON "S x"."Or""ders" FROM dq_outsider;
SET ROLE dq_outsider;
SELECT is_empty('SELECT FROM dq_gate.mutes', 'or not');
SET ROLE dq_loader;
SELECT lives_ok('SELECT dq_gate.mute(''"S x"."Or""ders"'', now() + interval ''1 hour'', ''as the gate'')', 'the role of the gate may');
RESET ROLE;
SELECT matches(mutes(), 'dq_tester true as the gate$', 'the one who was logged in is named');

-- what a gate wants to be told of is a rule
SELECT raises($$ SELECT dq_gate.alter_gate('"S x"."Or""ders"', alert => 'loud') $$, '22023', 'alert "loud" is not known.*failure, change, always and never', 'a word that is none');
SELECT ok(NOT dq_gate.export_gate('"S x"."Or""ders"') ? 'alert', 'the default is not in a document');
SELECT dq_gate.alter_gate('"S x"."Or""ders"', alert => 'change') \g /dev/null
SELECT is(dq_gate.export_gate('"S x"."Or""ders"') ->> 'alert', 'change', 'another is');
SELECT is((SELECT change FROM dq_gate.import_gate(dq_gate.export_gate('"S x"."Or""ders"') || '{"alert": "never"}') WHERE object = 'gate'), 'changed', 'and is imported');

-- a mute belongs to the gate, not to its rules
SELECT unalike(dq_gate.export_gate('"S x"."Or""ders"')::text, '%mute%', 'a document has no mute');
SELECT is((SELECT string_agg(DISTINCT change, ',') FROM dq_gate.import_gate(dq_gate.export_gate('"S x"."Or""ders"'))), 'unchanged', 'an import');
SELECT matches(mutes(), 'true as the gate$', 'ends none');
SET ROLE dq_loader;
SELECT dq_gate.drop_gate('"S x"."Or""ders"') \g /dev/null
RESET ROLE;
SELECT is(mutes(), NULL, 'they go with the gate');

-- it stays quick
SET enable_seqscan = off;
CREATE TEMP TABLE plan (line text);
DO $$ DECLARE l text; BEGIN FOR l IN EXECUTE 'EXPLAIN SELECT run_id FROM dq_gate.unread LIMIT 20' LOOP INSERT INTO plan VALUES (l); END LOOP; END $$;
SELECT ok(EXISTS (SELECT FROM plan WHERE line LIKE '%runs_attention_idx%'), 'the index has those that need attention');
SELECT finish();
