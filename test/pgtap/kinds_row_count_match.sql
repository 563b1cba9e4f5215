-- expect_row_count_match: as many rows as another table has
\ir include/helpers.sql
SELECT plan(90);

CREATE TABLE ref (id int, v int);
CREATE TABLE t (id int PRIMARY KEY, v int);
CREATE TABLE s (LIKE t);
CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, check_name) FROM dq_gate.checks_of(target) WHERE origin = 'declared' AND check_type <> 'volume' $$;
CREATE FUNCTION fill(relation regclass, rows int) RETURNS void LANGUAGE plpgsql AS
	$$ BEGIN EXECUTE format('TRUNCATE %s', relation); EXECUTE format('INSERT INTO %s SELECT i, i FROM generate_series(1, %s) i', relation, rows); END $$;
SELECT dq_gate.create_gate('t'), dq_gate.expect_volume('t', action => 'declare') \g /dev/null

-- without bounds: exactly as many
SELECT fill('ref', 8), fill('s', 8) \g /dev/null
SELECT is(dq_gate.expect_row_count_match('t', 'ref'), 'row_count_match', 'it has the name of its kind');
SELECT is((SELECT ROW(check_type, columns, rule, action, nulls, origin)::text FROM dq_gate.checks_of('t') WHERE check_name = 'row_count_match'),
	'(row_count_match,{},"number of rows as in public.ref, within 0%",block,,declared)', 'as checks_of shows it');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 8: 8 inserted', 'as many rows');
SELECT is((SELECT ROW(status, passed, expected_value, actual_value, threshold, examined_rows, failing_rows, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'row_count_match'),
	'(passed,t,"number of rows as in public.ref, within 0%","8 to 8 rows","within 0%",8,,,)', 'the result of a pass');
INSERT INTO ref VALUES (9, 9);
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 8: 8 quarantined', 'one less than the other');
SELECT is((SELECT ROW(status, passed, actual_value, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'row_count_match'),
	'(failed,f,"8 to 9 rows","not as many rows as in public.ref, within 0%: 8 to 9 rows, 88.89%")', 'is said, with both numbers');
SELECT is((SELECT failures FROM dq_gate.runs WHERE run_id = last_run()), '{"row_count_match: not as many rows as in public.ref, within 0%: 8 to 9 rows, 88.89%"}', 'by the run as well');
SELECT results_eq('SELECT DISTINCT failed_checks FROM dq_quarantine.t', $$ VALUES ('{}'::text[]) $$, 'no row in particular is to blame');
DELETE FROM ref WHERE id > 7;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 8: 8 quarantined', 'so is one more');
SELECT is(message('row_count_match'), 'not as many rows as in public.ref, within 0%: 8 to 7 rows, 114.29%', 'with the ratio');
SELECT drop_all('t') \g /dev/null

-- percent, of the other: the ends belong to it
CREATE FUNCTION judged(staged int, other int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM fill('s', staged), fill('ref', other);
	PERFORM dq_gate.audit('s', 't');
	RETURN (SELECT status FROM dq_gate.results_of(last_run()) WHERE check_type = 'row_count_match');
END
$$;
SELECT dq_gate.expect_row_count_match('t', 'ref', max_variance => 5) \g /dev/null
SELECT is(judged(staged, 200), CASE WHEN abs(staged - 200) * 100.0 / 200 <= 5 THEN 'passed' ELSE 'failed' END, format('%s to 200 rows, give or take 5 percent', staged))
FROM unnest(ARRAY[189, 190, 200, 210, 211]) staged;
SELECT drop_all('t'), dq_gate.expect_row_count_match('t', 'ref', max_variance => 33.3) \g /dev/null
SELECT is(judged(2, 3) || judged(4, 3) || judged(667, 1000) || judged(1333, 1000), 'failedfailedpassedpassed', 'a third is more than 33.3 percent');
SELECT drop_all('t'), dq_gate.expect_row_count_match('t', 'ref', max_variance => 100) \g /dev/null
SELECT is(judged(1, 1000) || judged(2, 1) || judged(3, 1), 'passedpassedfailed', 'a hundred percent is from none to twice as many');

-- ratios
SELECT drop_all('t'), dq_gate.expect_row_count_match('t', 'ref', 0.5, 2) \g /dev/null
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'row_count_match'), 'number of rows as in public.ref, between 0.5 and 2 times as many', 'a ratio, in words');
SELECT is(judged(staged, 4), CASE WHEN staged / 4.0 BETWEEN 0.5 AND 2 THEN 'passed' ELSE 'failed' END, format('%s to 4 rows, between half and twice as many', staged))
FROM unnest(ARRAY[1, 2, 4, 8, 9]) staged;
SELECT is(message('row_count_match'), 'not as many rows as in public.ref, between 0.5 and 2 times as many: 9 to 4 rows, 225%', 'the message');
SELECT drop_all('t'), dq_gate.expect_row_count_match('t', 'ref', min_ratio => 0.333333) \g /dev/null
SELECT is(judged(1, 3) || judged(333, 1000) || judged(100, 1), 'passedfailedpassed', 'at least');
SELECT drop_all('t'), dq_gate.expect_row_count_match('t', 'ref', max_ratio => 0.333333) \g /dev/null
SELECT is(judged(1, 3) || judged(333, 1000) || judged(100, 1), 'failedpassedfailed', 'at most');

-- nothing on the other side has no ratio
SELECT drop_all('t'), dq_gate.expect_row_count_match('t', 'ref', min_ratio => 0, name => 'zero_ratio', action => 'warn'), dq_gate.expect_row_count_match('t', 'ref', max_ratio => 1000, name => 'ratio', action => 'warn'), dq_gate.expect_row_count_match('t', 'ref', max_variance => 1000000, name => 'variance', action => 'warn') \g /dev/null
SELECT fill('s', 3), fill('ref', 0) \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 3: 3 unchanged', 'no rows on the other side');
SELECT is(not_passed(), 'ratio failed, variance failed, zero_ratio failed', 'is nothing to compare with');
SELECT is(message('ratio') || '; ' || message('variance'), 'not as many rows as in public.ref, at most 1000 times as many: 3 to 0 rows, no ratio to none; not as many rows as in public.ref, within 1000000%: 3 to 0 rows, no ratio to none', 'and is said');
SELECT drop_all('t') \g /dev/null

-- an empty batch is judged; none is as many as none, but no batch all the same
SELECT dq_gate.expect_row_count_match('t', 'ref', max_variance => 10, name => 'variance'), dq_gate.expect_row_count_match('t', 'ref', max_ratio => 10, name => 'ratio', action => 'warn') \g /dev/null
SELECT fill('s', 0), fill('ref', 0) \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 0', 'no rows on both sides');
SELECT is(not_passed(), 'not_empty failed, ratio failed', 'are as many, and have no ratio');
SELECT fill('ref', 1) \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 0', 'no rows to one');
SELECT is((SELECT string_agg(check_name || ' ' || status, ', ' ORDER BY check_name) FROM dq_gate.results_of(last_run()) WHERE check_type IN ('not_empty', 'row_count_match')), 'not_empty failed, ratio passed, variance failed', 'are less than 90 percent of it, and no more than ten times as many');
SELECT is(message('variance'), 'not as many rows as in public.ref, within 10%: 0 to 1 rows, 0%', 'with the ratio');
SELECT drop_all('t') \g /dev/null

-- filters on either side
SELECT fill('s', 10), fill('ref', 100) \g /dev/null
UPDATE ref SET v = NULL WHERE id <= 3;
SELECT dq_gate.expect_row_count_match('t', 'ref', ref_filter => 'v % 10 = 0', name => 'theirs'), dq_gate.expect_row_count_match('t', 'ref', ref_filter => 'id < 8', filter => 'v > 6', name => 'both'),
	dq_gate.expect_row_count_match('t', 'ref', ref_filter => 'id < 5', filter => 'v > 6', name => 'plain'), dq_gate.expect_row_count_match('t', 'ref', ref_filter => 'v < 0', filter => 'v < 0', name => 'none', action => 'warn') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT results_eq($$ SELECT check_name, status, actual_value, examined_rows FROM dq_gate.results_of(last_run()) WHERE check_type = 'row_count_match' ORDER BY 1 $$,
	$$ VALUES ('both', 'failed', '4 to 7 rows', 4::bigint), ('none', 'passed', '0 to 0 rows', 0), ('plain', 'passed', '4 to 4 rows', 4), ('theirs', 'passed', '10 to 10 rows', 10) $$, 'each side has its own');
SELECT is((SELECT expected_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'both'), 'number of rows as in public.ref where id < 8, within 0%, where v > 6', 'the result has both');
SELECT is(message('both'), 'not as many rows as in public.ref, within 0%: 4 to 7 rows, 57.14%', 'a failure as well');
SELECT drop_all('t') \g /dev/null
SELECT dq_gate.expect_row_count_match('t', 'ref', ref_filter => 'id <= 10 AND dq_gate.batch_id() = ''b'' AND dq_gate.as_of() = ''2024-03-10''') \g /dev/null
SELECT is((dq_gate.publish('s', 't', 'b', '2024-03-10')).verdict, 'published', 'the filter of the other side knows the batch');
SELECT drop_all('t') \g /dev/null
SELECT dq_gate.expect_row_count_match('t', 'ref', ref_filter => '1 / (id - 3) < 5', action => 'warn'), dq_gate.expect_row_count_match('t', 'ref', ref_filter => 'id <= 10', name => 'beside') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict || ' ' || finding('row_count_match') || ' ' || finding('beside'), 'published error of 10 passed of 10', 'one that fails with an error breaks its own check and no other');
SELECT matches(message('row_count_match'), 'could not be evaluated: division by zero', 'which says why');
SELECT drop_all('t') \g /dev/null

-- the target itself, as it was before: the batch is not to shrink
SELECT fill('t', 10), fill('s', 9) \g /dev/null
SELECT dq_gate.expect_row_count_match('t', 't', min_ratio => 0.9) \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 9: 9 unchanged', 'compared with the target itself');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'row_count_match'), '9 to 10 rows', 'as it was before the publish');
SELECT fill('s', 8) \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 8: 8 quarantined', 'a batch that shrinks is kept out');
SELECT is((SELECT reads_target FROM dq_gate.checks WHERE name = 'row_count_match'), true, 'it is known to read the target');
SELECT drop_all('t') \g /dev/null

-- a view, a materialized view, a partitioned table; staging itself
CREATE VIEW ref_view AS SELECT id AS other FROM ref WHERE id <= 8;
CREATE MATERIALIZED VIEW ref_mat AS SELECT id FROM ref WHERE id <= 8;
CREATE TABLE ref_parted (id int) PARTITION BY RANGE (id);
CREATE TABLE ref_parted_1 PARTITION OF ref_parted FOR VALUES FROM (0) TO (5);
CREATE TABLE ref_parted_2 PARTITION OF ref_parted DEFAULT;
INSERT INTO ref_parted SELECT generate_series(1, 8);
SELECT dq_gate.expect_row_count_match('t', r::regclass, name => r) FROM unnest(ARRAY['ref_view', 'ref_mat', 'ref_parted', 's']) r \g /dev/null
SELECT dq_gate.expect_row_count_match('t', 'ref_parted_1', name => 'part', action => 'warn'), dq_gate.expect_row_count_match('t', 'ref_view', ref_filter => 'other % 2 = 0', filter => 'id <= 4', name => 'filtered') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict, 'published', 'whatever has rows can be the other');
SELECT is((SELECT string_agg(DISTINCT actual_value, ', ') FROM dq_gate.results_of(last_run()) WHERE check_type = 'row_count_match' AND check_name NOT IN ('part', 'filtered')), '8 to 8 rows', 'a view, a materialized view, a partitioned table, staging itself');
SELECT is((SELECT string_agg(actual_value, ', ' ORDER BY check_name) FROM dq_gate.results_of(last_run()) WHERE check_name IN ('part', 'filtered')), '4 to 4 rows, 8 to 4 rows', 'a partition is a table of its own, a view has its own columns');
SELECT drop_all('t') \g /dev/null

-- without the right to read it, or to see all of it
CREATE TABLE theirs (id int, tenant text);
CREATE TABLE theirs_t (id int PRIMARY KEY);
CREATE TABLE theirs_s (id int);
INSERT INTO theirs VALUES (1, 'dq_loader'), (2, 'x');
INSERT INTO theirs_s VALUES (1);
GRANT SELECT ON theirs_s TO dq_loader;
GRANT SELECT, INSERT, UPDATE ON theirs_t TO dq_loader;
SELECT dq_gate.create_gate('theirs_t', run_as => 'dq_loader') \g /dev/null
SELECT dq_gate.expect_row_count_match('theirs_t', 'theirs', max_variance => 50), dq_gate.expect_row_count('theirs_t', 1, 1) \g /dev/null
SELECT is((dq_gate.publish('theirs_s', 'theirs_t')).verdict, 'rejected', 'a table that the role of the gate may not read');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'row_count_match'), 'error, could not be evaluated: role dq_loader may not read public.theirs', 'is no pass, and is said');
SELECT is(finding('row_count'), 'passed', 'the others are judged all the same');
GRANT SELECT ON theirs TO dq_loader;
SELECT is((dq_gate.publish('theirs_s', 'theirs_t')).verdict, 'published', 'with the right to read it is');
ALTER TABLE theirs ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON theirs USING (tenant = current_user);
SELECT is((dq_gate.publish('theirs_s', 'theirs_t')).verdict, 'rejected', 'a table of which policies hide rows');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'row_count_match'), 'error, could not be evaluated: row-level security hides rows of public.theirs from role dq_loader', 'is not counted in part');

-- actions
SELECT fill('s', 3), fill('ref', 4) \g /dev/null
SELECT dq_gate.expect_row_count_match('t', 'ref', action => 'skip') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'skipped 3', 'a batch that is not complete yet can be skipped');
SELECT drop_all('t'), dq_gate.expect_row_count_match('t', 'ref', action => 'declare') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict || ' ' || finding('row_count_match'), 'published not_judged', 'or the rule be declared alone');
SELECT drop_all('t') \g /dev/null
SELECT raises(format('SELECT dq_gate.expect_row_count_match(''t'', ''ref'', action => %L)', action), '22023', 'row_count_match[^$]*' || action || '[^$]*block[^$]*warn[^$]*skip[^$]*declare', 'no row can be moved: ' || action)
FROM unnest(ARRAY['quarantine', 'drop']) action;

-- counts are no values: they stay without samples
SELECT dq_gate.expect_row_count_match('t', 'ref', action => 'warn', samples => false) \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT ROW(actual_value, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'row_count_match'), '("3 to 4 rows",,"not as many rows as in public.ref, within 0%: 3 to 4 rows, 75%")', 'counts are shown without samples too');
SELECT drop_all('t') \g /dev/null

-- names
CREATE SCHEMA "Odd Schema";
CREATE TABLE "Odd Schema"."Tab le" ("Id" int PRIMARY KEY, "select" int);
CREATE TABLE "Odd Schema"."Stg" (LIKE "Odd Schema"."Tab le");
CREATE TABLE "Odd Schema"."Ref%s's" ("a""b" int);
INSERT INTO "Odd Schema"."Stg" VALUES (1, 1), (2, NULL);
INSERT INTO "Odd Schema"."Ref%s's" VALUES (1), (2), (3);
SELECT dq_gate.expect_row_count_match('"Odd Schema"."Tab le"', '"Odd Schema"."Ref%s''s"', ref_filter => '"a""b" > 1', filter => '"select" IS NOT NULL', action => 'warn') \g /dev/null
SELECT dq_gate.audit('"Odd Schema"."Stg"', '"Odd Schema"."Tab le"') \g /dev/null
SELECT is((SELECT expected_value || '; ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'row_count_match'),
	'number of rows as in "Odd Schema"."Ref%s''s" where "a""b" > 1, within 0%, where "select" IS NOT NULL; not as many rows as in "Odd Schema"."Ref%s''s", within 0%: 1 to 2 rows, 50%', 'O09: names of any kind');

-- refused when declared
SELECT raises($$ SELECT dq_gate.expect_row_count_match('t', NULL) $$, '22004', 'ref_table', 'no table');
SELECT raises($$ SELECT dq_gate.expect_row_count_match('t', 'ref', 0.5, max_variance => 5) $$, '22023', 'ratio or "max_variance", not both', 'a ratio and a variance');
SELECT raises($$ SELECT dq_gate.expect_row_count_match('t', 'ref', 2, 0.5) $$, '22023', 'min_ratio 2 is above max_ratio 0.5', 'ratios the wrong way round');
SELECT raises(format('SELECT dq_gate.expect_row_count_match(''t'', ''ref'', %s => -1)', bound), '22023', bound || '.*negative', 'negative ' || bound) FROM unnest(ARRAY['min_ratio', 'max_ratio', 'max_variance']) bound;
SELECT raises(format('SELECT dq_gate.expect_row_count_match(''t'', ''ref'', %s => ''NaN'')', bound), '22023', bound || '.*NaN', bound || ' is NaN') FROM unnest(ARRAY['min_ratio', 'max_ratio', 'max_variance']) bound;
CREATE SEQUENCE seq;
CREATE INDEX ref_index ON ref (id);
CREATE TYPE composite AS (a int);
SELECT raises(format('SELECT dq_gate.expect_row_count_match(''t'', %L)', r), '42809', r || ' has no rows to compare with[^$]*table', 'no table: ' || r) FROM unnest(ARRAY['seq', 'ref_index', 'composite']) r;
SELECT raises($$ SELECT dq_gate.expect_row_count_match('t', 4294967295::oid::regclass) $$, '42P01', 'other table', 'a table that does not exist');
SELECT raises(format('SELECT dq_gate.expect_row_count_match(''t'', ''ref'', ref_filter => %L)', filter), state, pattern, 'refused: ' || filter)
FROM (VALUES ('nothing > 0', '42703', 'nothing'), ('v', '42804', 'boolean'), ('v >', '42601', 'syntax error'), ('count(*) > 1', '42803', 'aggregate'), ('ref IS NOT NULL', '42703', 'column "ref" does not exist'), ('true; DROP TABLE t', '42601', 'one boolean expression')) f (filter, state, pattern);
SELECT raises(format('SELECT dq_gate.expect_row_count_match(''t'', ''ref'', %s)', option), '22023', 'a check of type "row_count_match" does not take "' || split_part(option, ' ', 1) || '"[^$]*batch as a whole',
	'what it does not take: ' || option)
FROM unnest(ARRAY['nulls => ''fail''', 'max_rate => 0.1', 'max_rows => 1', 'warn_above => 1', 'block_above => 0.5']) option;

-- what is gone at run time
SELECT dq_gate.expect_row_count_match('t', 'ref', ref_filter => 'v > 0', max_variance => 100, action => 'warn'), dq_gate.expect_row_count_match('t', 'ref_parted', max_variance => 100, name => 'parted') \g /dev/null
ALTER TABLE ref RENAME TO moved;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT status || ', ' || expected_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'row_count_match'), 'passed, number of rows as in public.moved where v > 0, within 100%', 'a table that is renamed is the same');
ALTER TABLE moved DROP v CASCADE;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT matches((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'row_count_match'), 'error, could not be evaluated: column batch.v does not exist', 'a column that is gone cannot be judged');
SELECT is(finding('parted'), 'passed of 3', 'the others are judged all the same');
DROP TABLE ref_parted;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 3: 3 quarantined', 'a table that is gone');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'parted'), 'error, could not be evaluated: the table that it is compared with is gone', 'is no pass, and is said');
SELECT lives_ok($$ SELECT * FROM dq_gate.checks_of('t') $$, 'it can still be looked at');
DROP TABLE moved CASCADE;
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'row_count_match'), 'error, could not be evaluated: the table that it is compared with is gone', 'with a filter on it as well');

SELECT finish();
