-- a check may be about some of the rows
\ir include/helpers.sql
SELECT plan(54);

CREATE TABLE ref (v int);
INSERT INTO ref VALUES (1), (2);
CREATE TABLE t (id int PRIMARY KEY, country text, v int, c text, w int);
CREATE TABLE s (LIKE t);
-- in BR: one good row, one bad, one NULL, a duplicate; elsewhere and nowhere all is bad
INSERT INTO s VALUES (1, 'BR', 1, 'a', 1), (2, 'BR', -5, 'zzz', 7), (3, 'BR', NULL, NULL, NULL), (4, 'BR', 2, 'b', 7), (5, 'PT', -5, 'zzz', 7), (6, 'PT', NULL, NULL, NULL), (7, NULL, -5, 'zzz', 7), (8, NULL, NULL, NULL, NULL);
SELECT dq_gate.create_gate('t') \g /dev/null

CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, check_name) FROM dq_gate.checks_of(target) WHERE origin = 'declared' $$;

-- every kind of rule about rows, with the same filter
CREATE FUNCTION declare_all(action text, filter text) RETURNS void LANGUAGE sql AS $$
	SELECT dq_gate.expect_not_null('t', 'v', action, filter => filter, name => 'r01'),
		dq_gate.expect_range('t', 'v', 0, 10, action => action, filter => filter, name => 'r02'),
		dq_gate.expect_accepted_values('t', 'v', '{1,2}', action => action, filter => filter, name => 'r03'),
		dq_gate.expect_rejected_values('t', 'v', '{-5}', action => action, filter => filter, name => 'r04'),
		dq_gate.expect_pattern('t', 'c', '^.$', action, filter => filter, name => 'r05'),
		dq_gate.expect_like('t', 'c', '_', action, filter => filter, name => 'r06'),
		dq_gate.expect_length('t', 'c', 1, 2, action, filter => filter, name => 'r07'),
		dq_gate.expect_unique('t', '{w}', action => action, filter => filter, name => 'r08'),
		dq_gate.expect_referential('t', '{v}', 'ref', NULL, action => action, filter => filter, name => 'r09'),
		dq_gate.expect_sql('t', 'r10', 'v > 0', action => action, filter => filter, nulls => 'pass'),
		dq_gate.expect_sql('t', 'r11', 'v > 0', action => action, filter => filter)
$$;
SELECT declare_all('warn', $$ country = 'BR' $$) \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 8: 8 inserted', 'only rows that the filter picks count, with action warn');
SELECT is(string_agg(check_name || ' ' || finding(check_name), E'\n' ORDER BY check_name), wanted, 'examined and failing rows, and NULLs, are those that the filter picks')
FROM dq_gate.results_of(last_run()), (VALUES (
'r01 failed 1 of 4, 1 null
r02 failed 1 of 4, 1 null
r03 failed 1 of 4, 1 null
r04 failed 1 of 4, 1 null
r05 failed 1 of 4, 1 null
r06 failed 1 of 4, 1 null
r07 failed 1 of 4, 1 null
r08 failed 2 of 4, 1 null
r09 failed 1 of 4, 1 null
r10 failed 1 of 4, 1 null
r11 failed 2 of 4, 1 null')) w (wanted) WHERE check_name ~ '^r\d' GROUP BY wanted;
SELECT is((SELECT expected_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'r01'), 'v is not NULL, where  country = ''BR'' ', 'the result has the filter as it was declared');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'r02'), '-5 .. 2', 'what was observed is of those rows');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'r07'), '1 .. 3', 'a length as well');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'r08'), '1 duplicated value in 2 rows, 1 surplus', 'and duplicates');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'r08'), '[{"w": 7, "rows": 2}]', 'which are shown');
SELECT is(message('r02'), '1 of 4 rows: v not between 0 and 10, for example {"v": -5, "id": 2}', 'examples are of those rows');
SELECT is(message('r09'), '1 of 4 rows: v is not in public.ref (v), for example {"v": -5, "id": 2}', 'of a reference too');
SELECT results_eq($$ SELECT DISTINCT filter FROM dq_gate.checks_of('t') WHERE origin = 'declared' $$, $$ VALUES (' country = ''BR'' ') $$, 'checks_of shows the filter');
SELECT drop_all('t') \g /dev/null

TRUNCATE t;
SELECT declare_all('quarantine', 'country = ''BR''') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 8: 5 inserted, 3 quarantined', 'only rows that the filter picks are moved');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY id',
	$$ VALUES (2, '{r02,r03,r04,r05,r06,r07,r08,r09,r10,r11}'::text[]), (3, '{r01,r11}'), (4, '{r08}') $$, 'with the reasons of each');
SELECT results_eq('SELECT id FROM t ORDER BY 1', 'VALUES (1), (5), (6), (7), (8)', 'the others are published, and where the filter is NULL, too');
SELECT drop_all('t') \g /dev/null

SELECT declare_all('drop', 'country = ''BR''') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 8: 5 unchanged, 3 dropped', 'or dropped');
SELECT drop_all('t') \g /dev/null

SELECT declare_all('block', 'country = ''BR''') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 8: 8 quarantined', 'they keep the batch out where they are to');
SELECT is((SELECT checks_failed FROM dq_gate.runs WHERE run_id = last_run()), 11, 'every rule');
SELECT results_eq('SELECT id, array_length(failed_checks, 1) FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY id',
	$$ VALUES (1, NULL), (2, 10), (3, 2), (4, 1), (5, NULL), (6, NULL), (7, NULL), (8, NULL) $$, 'and give reasons for those rows alone');
SELECT drop_all('t') \g /dev/null

-- filters that pick all rows, or none
SELECT declare_all('block', 'id < 0') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 8: 3 inserted, 5 unchanged', 'a filter that picks no row');
SELECT is((SELECT string_agg(DISTINCT finding(check_name) || '; ' || message, ', ') FROM dq_gate.results_of(last_run()) WHERE check_name ~ '^r\d'), 'not_judged 0 of 0; no rows that the filter picks', 'leaves nothing to judge');
SELECT drop_all('t') \g /dev/null
SELECT declare_all('warn', 'id > 0') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
CREATE TABLE found AS SELECT check_name, status, actual_value, threshold, examined_rows, failing_rows, null_rows, sample, message FROM dq_gate.results_of(last_run()) WHERE check_name ~ '^r\d';
SELECT drop_all('t'), declare_all('warn', NULL) \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT bag_eq('SELECT check_name, status, actual_value, threshold, examined_rows, failing_rows, null_rows, message FROM dq_gate.results_of(last_run()) WHERE check_name ~ ''^r\d''',
	'SELECT check_name, status, actual_value, threshold, examined_rows, failing_rows, null_rows, message FROM found', 'one that picks all rows is the same as none');
SELECT drop_all('t') \g /dev/null
SELECT is((SELECT filter FROM dq_gate.checks_of('t') WHERE check_name = dq_gate.expect_range('t', 'v', 0, filter => '')), NULL, 'an empty filter is none');
SELECT drop_all('t') \g /dev/null

-- an empty batch
CREATE TABLE none (LIKE s);
SELECT declare_all('block', 'country = ''BR''') \g /dev/null
SELECT dq_gate.audit('none', 't') \g /dev/null
SELECT is((SELECT string_agg(DISTINCT status || ' ' || message, ', ') FROM dq_gate.results_of(last_run()) WHERE check_name ~ '^r\d'), 'not_judged no rows that the filter picks', 'of an empty batch it picks none');
SELECT drop_all('t') \g /dev/null

-- limits are of the rows that the filter picks
SELECT dq_gate.expect_range('t', 'v', 0, filter => 'country = ''BR''', max_rate => 0.25, name => 'quarter'), dq_gate.expect_range('t', 'v', 0, filter => 'country = ''BR''', max_rate => 0.24, name => 'less', action => 'warn'),
	dq_gate.expect_range('t', 'v', 0, filter => 'country = ''BR''', max_rows => 1, name => 'one') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(finding('quarter') || '; ' || finding('less') || '; ' || finding('one'), 'passed 1 of 4, 1 null; failed 1 of 4, 1 null; passed 1 of 4, 1 null', 'a rate is one of the rows that the filter picks');
SELECT drop_all('t') \g /dev/null

-- the filter goes first: the rule need not make sense elsewhere
CREATE TABLE q (id int PRIMARY KEY, a int, b int);
CREATE TABLE q_s (LIKE q);
INSERT INTO q_s VALUES (1, 6, 2), (2, 6, 0), (3, -6, 2), (4, 6, NULL);
CREATE FUNCTION nonzero(b int) RETURNS bool LANGUAGE plpgsql IMMUTABLE COST 10000 AS 'BEGIN RETURN b <> 0; END';
SELECT dq_gate.expect_sql('q', 'ratio', 'a / b > 0', filter => 'nonzero(b)', action => 'quarantine'), dq_gate.expect_sql('q', 'cheap', 'a / b > 0', filter => 'b <> 0', action => 'quarantine', nulls => 'pass') \g /dev/null
SELECT is(outcome(dq_gate.publish('q_s', 'q')), 'published 4: 3 inserted, 1 quarantined', 'a rule that fails with an error where the filter does not pick');
SELECT is(finding('ratio') || '; ' || finding('cheap'), 'failed 1 of 2; failed 1 of 2', 'is not evaluated there');
SELECT is(message('ratio'), '1 of 2 rows: not satisfied: a / b > 0, for example {"a": -6, "b": 2, "id": 3}', 'nor for the examples');
SELECT dq_gate.drop_check('q', 'ratio'), dq_gate.expect_sql('q', 'ratio', 'a / b > 0', filter => 'nonzero(b)') \g /dev/null
SELECT is(outcome(dq_gate.publish('q_s', 'q')), 'rejected 4: 4 quarantined', 'nor for the reasons of rejected rows');
SELECT is((SELECT failed_checks FROM dq_quarantine.q WHERE run_id = last_run() AND id = 3), '{cheap,ratio}', 'which they have');
SELECT drop_all('q') \g /dev/null

-- a filter that breaks is a broken check
SELECT dq_gate.expect_range('q', 'a', 0, filter => '1 / b > 0', action => 'warn'), dq_gate.expect_unique('q', '{a}', filter => '1 / b > 0', action => 'warn'), dq_gate.expect_range('q', 'b', 0, name => 'beside') \g /dev/null
SELECT is(outcome(dq_gate.publish('q_s', 'q')), 'published 4: 1 inserted, 3 unchanged', 'a filter that fails with an error, with action warn');
SELECT is(finding('a_range') || '; ' || finding('a_unique') || '; ' || finding('beside'), 'error; error; passed 0 of 4, 1 null', 'breaks its own checks and no other');
SELECT matches(message('a_range'), 'could not be evaluated: division by zero', 'the message says why');
SELECT drop_all('q') \g /dev/null
SELECT dq_gate.expect_range('q', 'a', 0, filter => '1 / b > 0', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('q_s', 'q')), 'rejected 4: 4 quarantined', 'and keeps the batch out where it is to move rows');
SELECT drop_all('q') \g /dev/null

-- a filter over a column that is gone
SELECT dq_gate.expect_range('q', 'a', 0, filter => 'b > 0'), dq_gate.expect_unique('q', '{a}', filter => 'b > 0'), dq_gate.expect_not_null('q', 'a') \g /dev/null
ALTER TABLE q_s RENAME b TO bb;
SELECT dq_gate.audit('q_s', 'q') \g /dev/null
SELECT is((SELECT string_agg(check_name, ', ' ORDER BY check_name) FROM dq_gate.results_of(last_run()) WHERE status = 'error'), 'a_range, a_unique', 'checks whose filter has lost its column');
SELECT matches(message('a_range'), 'could not be evaluated: .*column.*\mb\M', 'say so');
SELECT is(finding('a_not_null'), 'passed 0 of 4', 'the others are judged all the same');
ALTER TABLE q_s RENAME bb TO b;
SELECT drop_all('q') \g /dev/null

-- staged as text: the filter sees values
CREATE TABLE q_text (id text, a text, b text);
INSERT INTO q_text VALUES ('1', '-1', '02'), ('2', '1', '2'), ('3', '-1', 'x'), ('4', '-1', '3');
SELECT dq_gate.expect_range('q', 'a', 0, filter => 'b = 2') \g /dev/null
SELECT dq_gate.audit('q_text', 'q') \g /dev/null
SELECT is(finding('a_range'), 'failed 1 of 2', 'a filter over a column that is staged as text');
SELECT drop_all('q') \g /dev/null

-- a filter that looks elsewhere
SELECT dq_gate.expect_range('t', 'v', 0, filter => 'EXISTS (SELECT FROM ref WHERE ref.v = w) OR country = ''PT''') \g /dev/null
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is(finding('v_range'), 'failed 1 of 3, 1 null', 'a filter with a subquery');
SELECT drop_all('t') \g /dev/null

-- names
CREATE TABLE "Odd" ("Id" int PRIMARY KEY, "a""b%s" int, "select" text);
CREATE TABLE "Odd stg" (LIKE "Odd");
INSERT INTO "Odd stg" VALUES (1, -1, '100%'), (2, -1, 'x');
SELECT dq_gate.expect_range('"Odd"', 'a"b%s', 0, action => 'quarantine', filter => '"select" LIKE ''100\%'' AND "a""b%s" <> 0') \g /dev/null
SELECT is(outcome(dq_gate.publish('"Odd stg"', '"Odd"')), 'published 2: 1 inserted, 1 quarantined', 'O09: quoted names in a filter');
SELECT is((SELECT expected_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'a"b%s_range'), '"a""b%s" >= 0, where "select" LIKE ''100\%'' AND "a""b%s" <> 0', 'O09: and in the result');

-- refused when declared
SELECT raises(format('SELECT dq_gate.expect_range(''t'', ''v'', 0, filter => %L)', filter), state, pattern, 'refused: ' || filter)
FROM (VALUES ('nothing > 0', '42703', 'nothing'), ('v', '42804', 'boolean'), ('v >', '42601', 'syntax error'), ('count(*) > 1', '42803', 'aggregate'), ('row_number() OVER () > 1', '42P20', 'window'),
	('t IS NOT NULL', '42703', 'column "t" does not exist'), ('ctid IS NOT NULL', '0A000', 'system column'), ('true; DROP TABLE t', '42601', 'one boolean expression'), ('true) OR (true', '42601', 'syntax error')) f (filter, state, pattern);
SELECT raises(format('SELECT dq_gate.expect_range(''t'', ''v'', 0, filter => ''random() < 0.5'', action => %L)', action), '22023', 'filter[^$]*volatile', 'refused: what picks other rows each time, with action ' || action)
FROM unnest(ARRAY['block', 'quarantine', 'drop', 'warn']) action;
SELECT raises($$ SELECT dq_gate.expect_unique('t', '{v}', filter => 'random() < 0.5') $$, '22023', 'filter[^$]*volatile', 'of whatever kind of check');
SELECT lives_ok($$ SELECT dq_gate.expect_range('t', 'v', 0, filter => E'true -- all\n', name => 'comment') $$, 'a comment in a filter');

SELECT finish();
