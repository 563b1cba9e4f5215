-- what purge deletes and what it leaves, and what housekeeping says of it
\ir include/helpers.sql
SET client_min_messages = error;
CREATE SCHEMA "S x";
CREATE TABLE "S x"."Old ""one" (id int PRIMARY KEY, "select" int);
CREATE TABLE "S x".staged (id int, "select" int);
CREATE TABLE keeps (LIKE "S x"."Old ""one" INCLUDING ALL);
CREATE TABLE lasts (LIKE "S x"."Old ""one" INCLUDING ALL);
CREATE TABLE unregistered (LIKE "S x"."Old ""one" INCLUDING ALL);
CREATE TABLE dropped (LIKE "S x"."Old ""one" INCLUDING ALL);
CREATE TABLE lent (LIKE "S x"."Old ""one" INCLUDING ALL);
SELECT dq_gate.create_gate('"S x"."Old ""one"', '"S x".staged', quarantine_retention => '30 days', log_retention => '100 days'),
	dq_gate.create_gate('keeps', log_retention => '100 days'),
	dq_gate.create_gate('lasts', quarantine_retention => '1 day', log_retention => '1 day'),
	dq_gate.create_gate('dropped', quarantine_retention => '1 day', log_retention => '1 day'),
	dq_gate.create_gate('lent', run_as => 'dq_outsider', log_retention => '1 day') \g /dev/null
SELECT dq_gate.expect_range(t, 'select', min => 0, action => 'quarantine') FROM unnest('{"\"S x\".\"Old \"\"one\"",keeps,dropped}'::regclass[]) t \g /dev/null
-- each gets a quarantine, of one row that is new
INSERT INTO "S x".staged VALUES (1, 1), (2, -1);
SELECT dq_gate.publish('"S x".staged', t) FROM unnest('{"\"S x\".\"Old \"\"one\"",keeps,dropped}'::regclass[]) t \g /dev/null
CREATE TABLE broken (LIKE "S x".staged);
INSERT INTO broken VALUES (NULL, 1);
SELECT dq_gate.publish('broken', 'unregistered') \g /dev/null
DROP TABLE dropped;

\connect - postgres
-- a run of so many days ago, with a result and a profile
CREATE FUNCTION old_run(target regclass, days numeric, verdict text DEFAULT 'published', attention bool DEFAULT false, acknowledged bool DEFAULT false,
	quarantined int DEFAULT 0, digest text DEFAULT NULL, baseline bool DEFAULT false, rules text DEFAULT 'rules', gate text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
	id bigint := nextval('dq_gate.run_id_seq');
	gone bool := gate IS NOT NULL;
BEGIN
	INSERT INTO dq_gate.rule_sets VALUES (rules, '[]') ON CONFLICT DO NOTHING;
	INSERT INTO dq_gate.runs (run_id, target, gate, staging, batch_id, batch_time, content_digest, verdict, passed, published, baseline, attention, row_count, quarantined,
		rules_hash, checks_run, checks_failed, quarantine, called_by, run_as, started_at, duration)
	SELECT id, CASE WHEN NOT gone THEN target END, coalesce(gate, target::text), 's', coalesce(digest, id::text), (now() - days * interval '1 day') AT TIME ZONE 'UTC', digest, verdict, verdict = 'published', verdict = 'published',
		baseline, attention, 10, quarantined, rules, 1, 0, CASE WHEN quarantined > 0 THEN coalesce('dq_quarantine.' || split_part(gate, '.', 2), (SELECT q.quarantine::text FROM dq_gate.quarantines q WHERE q.target = old_run.target)) END,
		'dq_tester', 'dq_tester', now() - days * interval '1 day', '1 second';
	INSERT INTO dq_gate.results (run_id, check_no, check_name, check_type, columns, action, origin, status, passed) VALUES (id, 1, 'c', 'sql', '{}', 'block', 'declared', 'passed', true);
	INSERT INTO dq_gate.profiles (run_id, column_name, row_count, null_count) VALUES (id, 'id', 1, 0);
	IF acknowledged THEN
		INSERT INTO dq_gate.acknowledgements (run_id, acknowledged_by, note) VALUES (id, 'dq_tester', 'seen');
	END IF;
	RETURN id;
END
$$;
-- a history of so many days: a baseline every 13 hours, which are never twice the same
CREATE FUNCTION history(target regclass, days int) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
	INSERT INTO dq_gate.rule_sets VALUES ('rules', '[]') ON CONFLICT DO NOTHING;
	WITH batch AS (
		SELECT n, nextval('dq_gate.run_id_seq') AS id, date_trunc('day', now() AT TIME ZONE 'UTC') - days * interval '1 day' + n * interval '13 hours' AS at FROM generate_series(0, days * 24 / 13 - 1) n
	), made AS (
		INSERT INTO dq_gate.runs (run_id, target, gate, staging, batch_id, batch_time, verdict, passed, published, baseline, row_count, quarantined, rules_hash, checks_run, checks_failed, called_by, run_as, started_at, duration)
		SELECT id, target, target, 's', id, at, 'published', true, true, true, 100 + n, 0, 'rules', 1, 0, 'dq_tester', 'dq_tester', at AT TIME ZONE 'UTC', '1 second' FROM batch
	), measured AS (
		INSERT INTO dq_gate.results (run_id, check_no, check_name, check_type, columns, action, origin, status, passed, measured)
		SELECT id, no, name, 'metric', '{}', 'warn', 'declared', 'passed', true, CASE WHEN n % 3 = 0 THEN n END FROM batch, unnest('{metric_weekday,measured}'::text[]) WITH ORDINALITY AS c (name, no)
	), profiled AS (
		INSERT INTO dq_gate.profiles (run_id, column_name, row_count, null_count, quantiles, distinct_count)
		SELECT id, 'select', 100, 0, ARRAY(SELECT q + n FROM generate_series(0, 100) q), 100 FROM batch WHERE n % 2 = 0
	) SELECT count(*) INTO days FROM batch;
	RETURN days;
END
$$;
CREATE FUNCTION set_back(target regclass, days int) RETURNS void LANGUAGE sql SECURITY DEFINER AS $$
	UPDATE dq_gate.runs r SET batch_time = batch_time - $2 * interval '1 day' WHERE r.target = $1
$$;
CREATE FUNCTION set_started(target regclass, days int) RETURNS void LANGUAGE sql SECURITY DEFINER AS $$
	UPDATE dq_gate.runs r SET started_at = now() - $2 * interval '1 day' WHERE r.target = $1
$$;
CREATE FUNCTION acknowledged(target regclass) RETURNS void LANGUAGE sql SECURITY DEFINER AS $$
	INSERT INTO dq_gate.acknowledgements (run_id, acknowledged_by, note) SELECT run_id, 'dq_tester', 'seen' FROM dq_gate.runs r WHERE r.target = $1 AND attention
$$;
CREATE FUNCTION gone() RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
	RETURN (SELECT string_agg(name, '; ' ORDER BY name) FROM public.cases JOIN dq_gate.runs USING (run_id) WHERE target IS NULL);
END
$$;
\connect - dq_tester
SET client_min_messages = error;
SELECT plan(131);

-- a row in quarantine for each that is said to have one
CREATE FUNCTION quarantine_rows(quarantine regclass, run_id bigint, days numeric, requeued bool DEFAULT false) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('INSERT INTO %s (run_id, batch_id, quarantined_at, failed_checks, requeued_at) SELECT $1, ''b'', now() - $2 * interval ''1 day'', ''{c}'', CASE WHEN $3 THEN now() END FROM generate_series(1, 3)', quarantine)
		USING run_id, days, requeued;
	RETURN run_id;
END
$$;
CREATE TABLE cases (name text PRIMARY KEY, run_id bigint);
-- what there is of a case: the run, its results, its profiles, rows in quarantine
CREATE FUNCTION left_of(name text, quarantine regclass DEFAULT 'dq_quarantine."Old ""one"') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	id bigint := (SELECT c.run_id FROM cases c WHERE c.name = left_of.name);
	said text;
BEGIN
	EXECUTE format('SELECT concat_ws('' '', (SELECT count(*) FROM dq_gate.runs WHERE run_id = $1), (SELECT count(*) FROM dq_gate.results WHERE run_id = $1), (SELECT count(*) FROM dq_gate.profiles WHERE run_id = $1),
		(SELECT count(*) FROM %s WHERE run_id = $1))', quarantine) USING id INTO said;
	RETURN said;
END
$$;
CREATE FUNCTION all_of(regclass) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(name, '; ' ORDER BY name) FROM cases JOIN dq_gate.runs USING (run_id) WHERE target = $1 $$;

-- --- one gate

INSERT INTO cases
SELECT 'dry run', old_run('"S x"."Old ""one"', 200, 'audited', rules => 'gone rules') UNION ALL
SELECT 'skipped', old_run('"S x"."Old ""one"', 200, 'skipped', rules => 'gone rules') UNION ALL
SELECT 'published', old_run('"S x"."Old ""one"', 200) UNION ALL
SELECT 'unread', old_run('"S x"."Old ""one"', 200, 'rejected', true) UNION ALL
SELECT 'read', old_run('"S x"."Old ""one"', 200, 'rejected', true, true) UNION ALL
SELECT 'unread rows', quarantine_rows('dq_quarantine."Old ""one"', old_run('"S x"."Old ""one"', 200, 'published', true, quarantined => 3), 200) UNION ALL
SELECT 'read rows', quarantine_rows('dq_quarantine."Old ""one"', old_run('"S x"."Old ""one"', 200, 'published', true, true, 3), 200) UNION ALL
SELECT 'rows that need no reading', quarantine_rows('dq_quarantine."Old ""one"', old_run('"S x"."Old ""one"', 200, 'published', false, false, 3), 200) UNION ALL
SELECT 'requeued rows', quarantine_rows('dq_quarantine."Old ""one"', old_run('"S x"."Old ""one"', 40, 'published', true, true, 3), 40, true) UNION ALL
SELECT 'unread, requeued rows', quarantine_rows('dq_quarantine."Old ""one"', old_run('"S x"."Old ""one"', 40, 'published', true, false, 3), 40, true) UNION ALL
SELECT 'rows that are not old', quarantine_rows('dq_quarantine."Old ""one"', old_run('"S x"."Old ""one"', 29, 'published', true, true, 3), 29) UNION ALL
SELECT 'rows that came later', quarantine_rows('dq_quarantine."Old ""one"', old_run('"S x"."Old ""one"', 200, 'published', true, true, 3), 29) UNION ALL
SELECT 'named', old_run('"S x"."Old ""one"', 200, 'published', digest => 'batch 1') UNION ALL
SELECT 'named, not published', old_run('"S x"."Old ""one"', 200, 'rejected', true, true, digest => 'batch 2') UNION ALL
SELECT 'rows of no run', quarantine_rows('dq_quarantine."Old ""one"', 1000000, 200) UNION ALL
SELECT 'not old', old_run('"S x"."Old ""one"', 99);

SELECT is((SELECT p::text FROM dq_gate.purgeable('"S x"."Old ""one"') p), '(12,7,3)', 'purgeable counts what would go');
SELECT is((SELECT p::text FROM dq_gate.purgeable('"S x"."Old ""one"', true) p), '(18,9,0)', 'and would if it is told not to mind who has read what');
SELECT is((SELECT p::text FROM dq_gate.purgeable('"S x"."Old ""one"', default_quarantine_retention => '1 hour', default_log_retention => '1 hour') p), '(12,7,3)', 'what is asked for elsewhere is not asked for here');
SELECT is((SELECT count(*) FROM cases WHERE left_of(name) !~ '^0' OR name = 'rows of no run'), 16::bigint, 'and deletes nothing');
CALL dq_gate.purge('"S x"."Old ""one"');
SELECT is(left_of('dry run'), '0 0 0 0', 'an old dry run goes with its results');
SELECT is(left_of('skipped'), '0 0 0 0', 'so does one that was skipped');
SELECT is(left_of('published'), '0 0 0 0', 'and one that was published, but is no baseline');
SELECT is(left_of('not old'), '1 1 1 0', 'what is younger stays');
SELECT is(left_of('unread'), '1 1 1 0', 'what nobody has acknowledged stays');
SELECT is(left_of('read'), '0 0 0 0', 'what somebody has acknowledged goes');
SELECT is_empty('SELECT FROM dq_gate.acknowledgements a WHERE NOT EXISTS (SELECT FROM dq_gate.runs r WHERE r.run_id = a.run_id)', 'with the acknowledgement');
SELECT is(left_of('unread rows'), '1 1 1 3', 'quarantined rows stay with a run that nobody has acknowledged');
SELECT is(left_of('read rows'), '0 0 0 0', 'they go with one that somebody has');
SELECT is(left_of('rows that need no reading'), '0 0 0 0', 'and with one that needed nobody');
SELECT is(left_of('requeued rows'), '1 1 1 0', 'requeued rows go by their age, their run by its own');
SELECT is(left_of('unread, requeued rows'), '1 1 1 3', 'unless nobody has acknowledged it');
SELECT is(left_of('rows that are not old'), '1 1 1 3', 'younger rows stay');
SELECT is(left_of('rows that came later'), '1 1 1 3', 'a run stays as long as rows of it are in quarantine');
SELECT is(left_of('named'), '1 0 0 0', 'of a run that published a named batch the row stays, without results');
SELECT is(left_of('named, not published'), '0 0 0 0', 'not of one that did not publish it');
SELECT is(left_of('rows of no run'), '0 0 0 0', 'rows that no run knows go by their age');
SELECT is_empty($$ SELECT FROM dq_gate.rule_sets WHERE rules_hash = 'gone rules' $$, 'rules that no run was made under any more go');
SELECT isnt_empty($$ SELECT FROM dq_gate.rule_sets WHERE rules_hash = 'rules' $$, 'others stay');
SELECT is((SELECT p::text FROM dq_gate.purgeable('"S x"."Old ""one"') p), '(0,0,3)', 'then there is nothing left to purge');
CALL dq_gate.purge('"S x"."Old ""one"', unacknowledged => true, step_rows => 1);
SELECT is(left_of('unread') || ', ' || left_of('unread rows') || ', ' || left_of('unread, requeued rows'), '0 0 0 0, 0 0 0 0, 1 1 1 0', 'told not to mind, purge takes what is unread as well, in steps of one row');
SELECT is(left_of('not old') || ', ' || left_of('rows that are not old') || ', ' || left_of('rows that came later') || ', ' || left_of('named'), '1 1 1 0, 1 1 1 3, 1 1 1 3, 1 0 0 0', 'and nothing else');
SELECT is((SELECT count(*) FROM dq_quarantine."Old ""one" WHERE id = 2), 1::bigint, 'nor what has just been quarantined');
SELECT is((dq_gate.publish('"S x".staged', 'lasts', 'a name')).verdict, 'published', 'a named batch');
SELECT is((dq_gate.publish('"S x".staged', 'lasts', 'a name')).verdict, 'skipped', 'is published once');
SELECT set_started('lasts', 500) \g /dev/null

-- --- a gate that keeps its quarantine

INSERT INTO cases
SELECT 'kept rows', quarantine_rows('dq_quarantine.keeps', old_run('keeps', 500, 'published', true, true, 3), 500) UNION ALL
SELECT 'rows that were deleted', old_run('keeps', 500, 'published', true, true, 3) UNION ALL
SELECT 'other', old_run('keeps', 500) UNION ALL
SELECT 'last', old_run('keeps', 99);
SELECT is((SELECT p::text FROM dq_gate.purgeable('keeps') p), '(0,2,0)', 'rows that are kept for ever');
CALL dq_gate.purge('keeps');
SELECT is(left_of('kept rows', 'dq_quarantine.keeps'), '1 1 1 3', 'are not deleted, and keep their run');
SELECT is(left_of('rows that were deleted', 'dq_quarantine.keeps'), '0 0 0 0', 'a run whose rows somebody has deleted goes');
CALL dq_gate.purge(default_quarantine_retention => '501 days');
SELECT is(left_of('kept rows', 'dq_quarantine.keeps'), '1 1 1 3', 'a default for all gates');
CALL dq_gate.purge(default_quarantine_retention => '499 days', default_log_retention => '600 days');
SELECT is(left_of('kept rows', 'dq_quarantine.keeps'), '0 0 0 0', 'ends what is older, with the run, by what its gate says of that');

-- --- the last runs

INSERT INTO cases
SELECT 'a', old_run('lasts', 400) UNION ALL SELECT 'b', old_run('lasts', 300) UNION ALL SELECT 'c', old_run('lasts', 250, 'rejected', true, true) UNION ALL SELECT 'd', old_run('lasts', 200, 'rejected', true, true);
CALL dq_gate.purge('lasts');
SELECT is(all_of('lasts'), 'b; d', 'the last run stays, and the last that was published');
SELECT is((dq_gate.publish('"S x".staged', 'lasts', 'a name')).verdict, 'skipped', 'a named batch is still published once');

-- --- what nobody has made a setting for

INSERT INTO cases
SELECT 'plain', old_run('unregistered', 50, quarantined => 3) UNION ALL SELECT 'plain 2', old_run('unregistered', 50, 'audited') UNION ALL SELECT 'plain 3', old_run('unregistered', 40);
SELECT quarantine_rows('dq_quarantine.unregistered', run_id, 50) FROM cases WHERE name = 'plain' \g /dev/null
INSERT INTO cases
SELECT 'gone', old_run(NULL, 50, gate => 'public.dropped') UNION ALL
SELECT 'gone, named', old_run(NULL, 50, gate => 'public.dropped', digest => 'batch 3') UNION ALL
SELECT 'gone, unread', old_run(NULL, 50, 'rejected', true, gate => 'public.dropped') UNION ALL
SELECT 'gone, with rows', quarantine_rows('dq_quarantine.dropped', old_run(NULL, 50, 'published', true, true, 3, gate => 'public.dropped'), 50);
CALL dq_gate.purge('unregistered');
CALL dq_gate.purge();
SELECT is(all_of('unregistered'), 'plain; plain 2; plain 3', 'without a gate everything is kept');
CALL dq_gate.purge(default_quarantine_retention => '60 days', default_log_retention => '60 days');
SELECT is(all_of('unregistered'), 'plain; plain 2; plain 3', 'or for as long as is said');
CALL dq_gate.purge('unregistered', default_log_retention => '45 days');
SELECT is(all_of('unregistered'), 'plain; plain 3', 'what is older goes, unless it is in quarantine');
CALL dq_gate.purge(default_quarantine_retention => '45 days', default_log_retention => '45 days');
SELECT is(all_of('unregistered'), 'plain 3', 'of all tables that the caller owns');
SELECT is(gone(), 'gone; gone, named; gone, unread; gone, with rows', 'what is left of dropped targets is not theirs');
INSERT INTO cases
SELECT 'of another', old_run('lent', 50) UNION ALL SELECT 'of another, last', old_run('lent', 40);
SET ROLE dq_loader;
CALL dq_gate.purge(default_quarantine_retention => '1 day', default_log_retention => '1 day');
RESET ROLE;
SELECT is(all_of('unregistered') || ' ' || all_of('lent'), 'plain 3 of another; of another, last', 'and of nobody else');
CALL dq_gate.purge('lent');
SELECT is(all_of('lent'), 'of another, last', 'a member of the role of a gate purges it');

-- --- what baselines need

-- a gate for each check, lest what one needs be kept for another; those that go through days long gone stand 100 days back
CREATE TABLE learning AS SELECT n, name, 'learns_' || n AS t, false AS back FROM unnest('{batches,days,weekday,hour,month_end,metric_weekday,metric_of,distribution,default}'::text[]) WITH ORDINALITY AS c (name, n);
INSERT INTO learning SELECT n, name, 'replays_' || n, true FROM learning;
SELECT format('CREATE TABLE %I (LIKE "S x"."Old ""one" INCLUDING ALL)', t) FROM learning \gexec
SELECT dq_gate.create_gate(t::regclass, log_retention => '50 days', enforce => false) FROM learning \g /dev/null
SELECT dq_gate.expect_volume(t::regclass, history => CASE name WHEN 'days' THEN 40 WHEN 'batches' THEN 20 ELSE 10 END, by => name, name => 'volume_' || name) FROM learning WHERE n <= 5 \g /dev/null
SELECT dq_gate.expect_metric(t::regclass, 'sum("select")', history => 9, by => 'weekday', name => 'metric_weekday') FROM learning WHERE name = 'metric_weekday' \g /dev/null
SELECT dq_gate.expect_row_count(t::regclass, min => 0, name => 'measured'), dq_gate.expect_metric(t::regclass, 'measured', 'zscore', history => 30, by => 'batches', name => 'metric_of') FROM learning WHERE name = 'metric_of' \g /dev/null
SELECT dq_gate.expect_stable_distribution(t::regclass, 'select', history => 20, min_rows => 1) FROM learning WHERE name = 'distribution' \g /dev/null
SELECT is((SELECT sum(history(t::regclass, 400)) FROM learning), 18 * 738::numeric, 'a history of 400 days each');
SELECT set_back(t::regclass, 100) FROM learning WHERE back \g /dev/null
-- what checks say of a batch at each of some days
CREATE FUNCTION judged(target regclass, days date[]) RETURNS TABLE (day date, check_name text, said text) LANGUAGE plpgsql AS $$
DECLARE
	run bigint;
BEGIN
	FOREACH day IN ARRAY days LOOP
		run := (dq_gate.audit('"S x".staged', target, as_of => day)).run_id;
		RETURN QUERY SELECT judged.day, r.check_name, concat_ws(' | ', r.status, r.actual_value, r.threshold, r.message) FROM dq_gate.results r
			WHERE r.run_id = run AND (r.check_type IN ('volume', 'metric', 'stable_distribution'));
	END LOOP;
END
$$;
CREATE FUNCTION days_of(back bool) RETURNS date[] LANGUAGE sql AS $$
	SELECT CASE WHEN back THEN ARRAY[current_date - 100, current_date - 99, (date_trunc('month', current_date - 100) + interval '1 month - 1 day')::date]
		-- the last day is the first midnight that is kept
		ELSE ARRAY[current_date, (date_trunc('month', current_date) - interval '1 day')::date, current_date - 49] END
$$;
CREATE TABLE before AS SELECT l.t, l.back, j.* FROM learning l, judged(l.t::regclass, days_of(l.back)) j WHERE j.check_name <> 'volume' OR l.name = 'default';
SELECT is((SELECT count(*) FROM before WHERE said !~ '^(passed|failed) '), 0::bigint, 'all checks have history enough');
SELECT format('CALL dq_gate.purge(%L)', t) FROM learning \gexec
CREATE TABLE after AS SELECT l.t, j.* FROM learning l, judged(l.t::regclass, days_of(l.back)) j;
SELECT is((SELECT a.said FROM after a WHERE a.t = b.t AND a.day = b.day AND a.check_name = b.check_name), b.said, format('%s judges day %s as before%s', b.check_name, b.place, CASE WHEN b.back THEN ', of a time that is past' ELSE '' END))
FROM (SELECT *, row_number() OVER (PARTITION BY t, check_name ORDER BY day) AS place FROM before) b ORDER BY b.t, b.place, b.check_name;
CREATE FUNCTION kept(name text) RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM learning l JOIN dq_gate.runs r ON r.target = l.t::regclass WHERE NOT l.back AND l.name = kept.name AND r.started_at < now() - interval '50 days' $$;
SELECT is(kept('default'), 14::bigint, 'the volume that nobody declared needs 14 batches');
SELECT is(kept('batches'), 20::bigint, 'another so many as it was declared with');
SELECT is(kept('weekday'), 70::bigint, 'so many of each weekday');
SELECT is(kept('hour'), 240::bigint, 'of each hour');
SELECT is((SELECT count(*) FROM dq_gate.runs r WHERE r.target = 'learns_4'::regclass AND NOT EXISTS (SELECT FROM dq_gate.results s WHERE s.run_id = r.run_id)), 0::bigint, 'they keep their results');

-- --- housekeeping

CREATE FUNCTION advice(text) RETURNS text LANGUAGE sql AS 'SELECT advice FROM dq_gate.housekeeping WHERE table_name = $1';
CREATE TABLE big (id int PRIMARY KEY, "select" int);
CREATE TABLE "Big ""staged" (id int, "select" int) PARTITION BY LIST ("select");
CREATE TABLE big_staged_1 PARTITION OF "Big ""staged" FOR VALUES IN (1);
CREATE TABLE big_staged_2 PARTITION OF "Big ""staged" DEFAULT WITH (autovacuum_enabled = off);
ALTER TABLE big_staged_1 SET (autovacuum_enabled = off);
SELECT dq_gate.create_gate('big', '"Big ""staged"'), dq_gate.expect_range('big', 'select', min => 0, action => 'quarantine') \g /dev/null
INSERT INTO "Big ""staged" SELECT g, g % 3 - 1 FROM generate_series(1, 3000) g;
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT is((SELECT (gate, role, total_bytes, total_size, live_rows, dead_rows, dead_share, last_vacuum, last_analyze, retention, expired, unacknowledged)::text FROM dq_gate.housekeeping WHERE table_name = 'public."Big ""staged"'),
	(SELECT ('public.big', 'staging', s, pg_size_pretty(s), 3000, 0, '0.000', NULL, NULL, NULL, NULL, NULL)::text
		FROM (SELECT pg_total_relation_size('big_staged_1') + pg_total_relation_size('big_staged_2')) AS v (s)), 'a staging table, with its partitions');
SELECT is(advice('public."Big ""staged"'), 'ANALYZE public."Big ""staged"; -- the planner knows nothing of its rows', 'that was never analyzed');
ANALYZE "Big ""staged";
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT is(advice('public."Big ""staged"'), NULL, 'then there is nothing to say');
SELECT dq_gate.publish('"Big ""staged"', 'big') \g /dev/null
ALTER TABLE dq_quarantine.big SET (autovacuum_enabled = off);
DELETE FROM "Big ""staged" WHERE "select" <= 0;
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT is(advice('public."Big ""staged"'), format('SELECT dq_gate.alter_gate(''public.big'', after_publish => ''truncate''); -- run %s has published from it, and it has rows
VACUUM public."Big ""staged"; -- 67%% of its rows are dead', last_run()), 'what was published is staged still, and what was deleted not vacuumed');
SELECT results_eq($$ SELECT live_rows, dead_rows, dead_share, last_analyze > now() - interval '1 hour' FROM dq_gate.housekeeping WHERE table_name = 'public."Big ""staged"' $$, $$ VALUES (1000::bigint, 2000::bigint, 0.667, true) $$, 'with the numbers');
VACUUM "Big ""staged";
SELECT dq_gate.alter_gate('public.big', after_publish => 'truncate') \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT is(advice('public."Big ""staged"'), NULL, 'once that is done there is nothing to say');

SELECT is(advice('dq_quarantine.big'), 'SELECT dq_gate.alter_gate(''public.big'', quarantine_retention => ''90 days''); -- rows are kept for ever
ANALYZE dq_quarantine.big; -- the planner knows nothing of its rows', 'a quarantine that is kept for ever');
SELECT dq_gate.alter_gate('public.big', quarantine_retention => '90 days') \g /dev/null
ANALYZE dq_quarantine.big;
SELECT is(advice('dq_quarantine.big'), NULL, 'and one that is not');
UPDATE dq_quarantine.big SET quarantined_at = now() - interval '100 days';
SELECT pg_stat_force_next_flush() \g /dev/null
VACUUM dq_quarantine.big;
SELECT set_started('big', 100) \g /dev/null
SELECT is(advice('dq_quarantine.big'), 'SELECT * FROM dq_gate.unread WHERE target = ''public.big''::regclass; -- 1 old run is not acknowledged, and so not purged', 'rows that nobody has acknowledged');
SELECT acknowledged('big') \g /dev/null
SELECT is((SELECT concat_ws(', ', retention, expired, unacknowledged, advice) FROM dq_gate.housekeeping WHERE table_name = 'dq_quarantine.big'),
	'90 days, 1000, 0, CALL dq_gate.purge(''public.big''); -- 1000 rows are older than 90 days', 'rows that are to be purged');
CALL dq_gate.purge('public.big');
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT is(advice('dq_quarantine.big'), 'VACUUM dq_quarantine.big; -- 100% of its rows are dead', 'were purged');
SELECT is(advice('dq_quarantine.unregistered'), 'CALL dq_gate.purge(''public.unregistered'', default_quarantine_retention => ''90 days''); -- no gate is registered, so rows are kept for ever', 'the quarantine of a table without a gate');
SELECT is((SELECT concat_ws(' ', gate, role, advice) FROM dq_gate.housekeeping WHERE table_name = 'dq_quarantine.dropped'), 'quarantine DROP TABLE dq_quarantine.dropped; -- if nobody needs its rows: it is the quarantine of no table any more', 'and of one that is gone');

SELECT set_eq($$ SELECT table_name || ' ' || total_bytes FROM dq_gate.housekeeping WHERE role = 'log' $$,
	$$ SELECT t || ' ' || pg_total_relation_size(t::regclass) FROM unnest('{dq_gate.acknowledgements,dq_gate.profiles,dq_gate.results,dq_gate.rule_sets,dq_gate.runs}'::text[]) t $$, 'the tables of the log');
SELECT is(advice('dq_gate.runs') ~ 'alter_gate\(target, log_retention => ''1 year''\) FROM dq_gate.gates WHERE log_retention IS NULL; -- 1 gate keeps its runs for ever', true, 'a log that is kept for ever');
SELECT dq_gate.alter_gate(target, log_retention => '1 year') FROM dq_gate.gates WHERE log_retention IS NULL \g /dev/null
SELECT history('big', 400) \g /dev/null
SELECT is(regexp_replace(advice('dq_gate.runs'), E'\n.*', ''), format('CALL dq_gate.purge(); -- %s runs are older than the log_retention of their gates', (SELECT count(*) - 14 FROM dq_gate.runs WHERE target = 'big'::regclass AND started_at < now() - interval '1 year')), 'and one with old runs');
CALL dq_gate.purge();
SELECT is((SELECT expired FROM dq_gate.housekeeping WHERE table_name = 'dq_gate.runs'), 0::bigint, 'which go');

SET ROLE dq_outsider;
SELECT set_eq('SELECT role FROM dq_gate.housekeeping WHERE table_name !~ ''dropped''', ARRAY['log'], 'one who may read no target sees the log alone');
SELECT raises($$ SELECT dq_gate.purgeable('public.big') $$, '42501', 'permission denied for gate public.big', 'and is told nothing else');
RESET ROLE;
SELECT raises($$ SELECT dq_gate.purgeable(NULL) $$, '22004', 'argument "target" must not be NULL', 'purgeable asks for a target');
SELECT raises($$ SELECT dq_gate.purgeable('dq_gate.runs') $$, '42809', 'cannot be a target', 'that can be one');
SELECT raises($$ SELECT dq_gate.purgeable('public.big', default_log_retention => '0') $$, '22023', '"default_log_retention" must be more than 0', 'and for a retention of some time');
SELECT raises($$ SELECT dq_gate.purgeable('public.big', default_quarantine_retention => '1001 years') $$, '22023', 'at most 1000 years', 'but not of more than there is');
SELECT raises($$ SELECT dq_gate.alter_gate('public.big', log_retention => '-1 day') $$, '22023', '"log_retention" must not be negative', 'so does a gate');
SELECT raises($$ SELECT dq_gate.alter_gate('public.big', quarantine_retention => '1001 years') $$, '22023', '"quarantine_retention" must not be longer than 1000 years', 'in both');
SELECT dq_gate.alter_gate('public.big', quarantine_retention => '0', log_retention => '0') \g /dev/null
SELECT results_eq($$ SELECT quarantine_retention, log_retention FROM dq_gate.gates WHERE target = 'big'::regclass $$, $$ VALUES (NULL::interval, NULL::interval) $$, 'an interval of 0 takes a retention back');
SELECT raises($$ CALL dq_gate.purge() $$, '2D000', 'must be called alone.*Nothing was done', 'purge cannot commit in a transaction');
