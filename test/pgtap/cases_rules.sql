-- things that went wrong for others who do this job, one case each: rules, empty batches, partitions, security, resources
\ir include/helpers.sql
SELECT plan(62);

-- O14
CREATE TABLE m (id int PRIMARY KEY, a int, b int);
CREATE TABLE m_staging (id int, a int, b int);
INSERT INTO m_staging VALUES (1, 3, 4), (2, 3, NULL), (3, 1, 1);
SELECT dq_gate.expect_sql('m', 'seven', 'a + b = 7') \g /dev/null
SELECT is(outcome(dq_gate.publish('m_staging', 'm')), 'rejected 3: 3 quarantined', 'O14: a row rule that is NULL');
SELECT is(finding('seven'), 'failed 2 of 3, 1 null', 'O14: one row passed, one failed, one is unknown, and that is all');
SELECT dq_gate.drop_check('m', 'seven'), dq_gate.expect_sql('m', 'seven', 'a + b = 7', nulls => 'pass') \g /dev/null
SELECT dq_gate.publish('m_staging', 'm') \g /dev/null
SELECT is(finding('seven'), 'failed 1 of 3, 1 null', 'O14: where unknown is tolerated the failed one still fails');
SELECT dq_gate.drop_check('m', 'seven'), dq_gate.expect_sql('m', 'seven', 'a + b = 7', action => 'quarantine') \g /dev/null
SELECT dq_gate.publish('m_staging', 'm') \g /dev/null
SELECT results_eq('SELECT ''good'', id FROM m UNION ALL SELECT ''bad'', id FROM dq_quarantine.m WHERE run_id = last_run() ORDER BY 2', $$ VALUES ('good', 1), ('bad', 2), ('bad', 3) $$,
	'O14: and each row is on exactly one side');

-- O15
CREATE TABLE e (id int PRIMARY KEY, v int);
CREATE TABLE e_staging (id int, v int);
INSERT INTO e VALUES (1, 1);
SELECT dq_gate.expect_range('e', 'v', min => 0), dq_gate.expect_sql('e', 'ratio', '100 / v > 0') \g /dev/null
SELECT is(outcome(dq_gate.publish('e_staging', 'e')), 'rejected 0', 'O15: zero rows are no pass');
SELECT is(not_passed(), 'not_empty failed', 'O15: and are the only fault');
SELECT results_eq($$ SELECT check_name, status, passed, examined_rows, message FROM dq_gate.results_of(last_run()) WHERE check_name NOT IN ('not_empty', 'schema_contract', 'volume') ORDER BY 1 $$,
	$$ VALUES ('id_not_null', 'not_judged', NULL::bool, 0::bigint, 'no rows'), ('key_unique', 'not_judged', NULL, 0, 'no rows'), ('ratio', 'not_judged', NULL, 0, 'no rows'), ('v_range', 'not_judged', NULL, 0, 'no rows') $$,
	'O15: what looks at rows saw none, which is not a pass');
SELECT results_eq('TABLE e', 'VALUES (1, 1)', 'O15: the target keeps its row');
SELECT is((SELECT ROW(row_count, passed, published, quarantined)::text FROM dq_gate.runs WHERE run_id = last_run()), '(0,f,f,0)', 'O15: and the run is on record');
SELECT is((SELECT a.verdict || ' ' || a.passed FROM dq_gate.audit('e_staging', 'e') a), 'audited false', 'O15: for an audit as well');

-- O16
CREATE TABLE nn (id int PRIMARY KEY, amt numeric, f float8);
CREATE TABLE nn_staging (id int, amt numeric, f float8);
INSERT INTO nn_staging VALUES (1, 5, 5), (2, 'NaN', 1), (3, 1, 'Infinity'), (4, 1, '-Infinity'), (5, 1, 'NaN');
SELECT dq_gate.expect_range('nn', 'amt', min => 0), dq_gate.expect_range('nn', 'f', min => 0, max => 100) \g /dev/null
SELECT is(outcome(dq_gate.publish('nn_staging', 'nn')), 'rejected 5: 5 quarantined', 'O16: NaN is in no range');
SELECT is(finding('amt_range') || '; ' || finding('f_range'), 'failed 1 of 5; failed 3 of 5', 'O16: nor is infinity beyond a bound');
SELECT is((SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'amt_range'), '1 .. 5', 'O16: what was observed does not show it as a maximum');
SELECT dq_gate.drop_check('nn', 'f_range'), dq_gate.expect_range('nn', 'f', max => 100, action => 'quarantine') \g /dev/null
SELECT dq_gate.publish('nn_staging', 'nn') \g /dev/null
SELECT is(finding('f_range'), 'failed 2 of 5', 'O16: with an upper bound alone') ;
SELECT dq_gate.drop_check('nn', 'f_range'), dq_gate.expect_range('nn', 'f', min => 0, action => 'quarantine') \g /dev/null
SELECT dq_gate.publish('nn_staging', 'nn') \g /dev/null
SELECT is(finding('f_range'), 'failed 2 of 5', 'O16: with a lower bound alone infinity is above it, NaN is not');

-- O19
CREATE TABLE concept (id int PRIMARY KEY);
CREATE TABLE map (id int PRIMARY KEY, cid int REFERENCES concept);
CREATE TABLE map_staging (id int, cid text);
INSERT INTO concept VALUES (1), (2);
INSERT INTO map_staging VALUES (1, '1'), (2, '02'), (3, 'x'), (4, NULL);
SELECT is(outcome(dq_gate.publish('map_staging', 'map')), 'rejected 4: 4 quarantined', 'O19: a reference staged as text');
SELECT is(finding('cid_type_fit'), 'failed 1 of 4, 1 null', 'O19: a text that is no integer does not fit');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'map_cid_fkey'), 'passed', 'O19: the others are compared as integers');
UPDATE map_staging SET cid = '3' WHERE id = 3;
SELECT dq_gate.publish('map_staging', 'map') \g /dev/null
SELECT is(finding('map_cid_fkey'), 'failed 1 of 4, 1 null', 'O19: an orphan is an orphan');
DELETE FROM map_staging WHERE id = 3;
SELECT is(outcome(dq_gate.publish('map_staging', 'map')), 'published 3: 3 inserted', 'O19: and without it they are published');

-- O21
CREATE TABLE x (id int PRIMARY KEY, amt int);
CREATE TABLE x_staging (id int, amt int);
INSERT INTO x_staging VALUES (1, -1), (2, 5);
SELECT dq_gate.expect_sql('x', 'q1', 'amt >= 0 -- negatives') \g /dev/null
SELECT lives_ok($$ SELECT dq_gate.expect_sql('x', 'q2', 'amt >= 0 ;') $$, 'O21: an expression that ends with a semicolon');
SELECT dq_gate.expect_sql('x', 'q3', 'amt >= 0 AND '';'' <> ''--'' /* a;b */') \g /dev/null
SELECT dq_gate.expect_sql('x', 'q6', '1 / (amt - amt) = 1') \g /dev/null
SELECT is(outcome(dq_gate.publish('x_staging', 'x')), 'rejected 2: 2 quarantined', 'O21: expressions with comments and semicolons');
SELECT is(finding('q1'), 'failed 1 of 2', 'O21: a comment at the end');
SELECT is(finding('q2'), 'failed 1 of 2', 'O21: a semicolon at the end');
SELECT is(finding('q3'), 'failed 1 of 2', 'O21: both where they mean nothing');
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'q6'), 'error', 'O21: one that fails is an error');
SELECT raises(format('SELECT dq_gate.expect_sql(''x'', ''q4'', %L)', text), '42601', '', 'O21: refused: ' || text)
FROM unnest(ARRAY['true; DROP TABLE x', 'true) OR (true', 'true FROM x', 'true WHERE false', 'true UNION SELECT true', 'true AS t', 'true, false', '-- nothing', '*', 'true ORDER BY 1', 'DISTINCT true',
	'(SELECT true', 'DELETE FROM x_staging RETURNING true']) text;
SELECT is((SELECT count(*) FROM x_staging), 2::bigint, 'O21: staging keeps its rows');
SELECT has_table('x', 'O21: and the target is there');

-- O28
CREATE TABLE pop (c text PRIMARY KEY, n bigint CHECK (n >= 0));
CREATE TABLE pop_s (c text, n bigint);
INSERT INTO pop_s VALUES ('CA', 40);
SELECT is(outcome(dq_gate.publish('pop_s', 'pop')), 'published 1: 1 inserted', 'O28: a batch');
SELECT is(outcome(dq_gate.publish('pop_s', 'pop')), 'published 1: 1 unchanged', 'O28: a second time is harmless');
INSERT INTO pop_s VALUES ('US', -1);
SELECT is(outcome(dq_gate.publish('pop_s', 'pop')), 'rejected 2: 2 quarantined', 'O28: with a bad row more it is judged as a whole');
SELECT results_eq('TABLE pop', $$ VALUES ('CA', 40::bigint) $$, 'O28: and no part of it published');

-- O30
CREATE TABLE ev (ts timestamptz, id int, PRIMARY KEY (ts, id)) PARTITION BY RANGE (ts);
CREATE TABLE ev1 PARTITION OF ev FOR VALUES FROM ('2026-01-01 00:00+00') TO ('2026-02-01 00:00+00');
CREATE TABLE ev_s (ts timestamptz, id int);
INSERT INTO ev_s VALUES ('2026-01-05 00:00+00', 1), ('2026-02-01 00:00+00', 2);
SELECT ok((dq_gate.publish('ev_s', 'ev')).verdict IN ('rejected', 'failed'), 'O30: a row for which there is no partition');
SELECT is((SELECT ROW(published, row_count, inserted, quarantined)::text FROM dq_gate.runs WHERE run_id = last_run()), '(f,2,0,2)', 'O30: keeps the batch out');
SELECT matches((SELECT concat_ws(' ', error, failures::text) FROM dq_gate.runs WHERE run_id = last_run()), 'no partition.*2026-02-01', 'O30: and the run says why, with the value');
SELECT is_empty('TABLE ev', 'O30: the target is as it was');
SELECT is((SELECT count(*) FROM dq_quarantine.ev), 2::bigint, 'O30: the batch is in quarantine');
CREATE TABLE ev2 PARTITION OF ev FOR VALUES FROM ('2026-02-01 00:00+00') TO ('2026-03-01 00:00+00');
SELECT is(outcome(dq_gate.publish('ev_s', 'ev')), 'published 2: 2 inserted', 'O30: with the partition it is published');
SELECT results_eq('SELECT tableoid::regclass::text, id FROM ev ORDER BY id', $$ VALUES ('ev1', 1), ('ev2', 2) $$, 'O30: each row where it belongs');

-- O31
CREATE TABLE r (id int PRIMARY KEY, tenant text, amt int);
CREATE TABLE r_s (id int, tenant text, amt int);
INSERT INTO r_s VALUES (1, 'dq_loader', 5), (2, 'x', -9), (3, 'x', NULL);
ALTER TABLE r_s ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON r_s USING (tenant = current_user);
GRANT SELECT ON r_s TO dq_loader;
SET ROLE dq_loader;
SELECT raises($$ SELECT dq_gate.publish('r_s', 'r') $$, '42501', '', 'O31: a role without rights on the target');
RESET ROLE;
GRANT ALL ON r TO dq_loader;
SET ROLE dq_loader;
SELECT raises($$ SELECT dq_gate.publish('r_s', 'r') $$, '42501', 'row-level security', 'O31: rows that a policy hides are not taken for none');
RESET ROLE;
SELECT is_empty('SELECT 1 FROM dq_gate.runs WHERE gate = ''public.r''', 'O31: no run is recorded that would count a part');
SELECT is_empty('TABLE r', 'O31: and nothing is published');

-- O34
CREATE TABLE big (id int PRIMARY KEY, v text NOT NULL);
CREATE TABLE big_s AS SELECT g AS id, CASE WHEN g % 2 = 0 THEN NULL ELSE repeat('x', 200) END AS v FROM generate_series(1, 20000) g;
SELECT is(outcome(dq_gate.publish('big_s', 'big')), 'rejected 20000: 20000 quarantined', 'O34: a batch of some size');
SELECT is(finding('v_not_null'), 'failed 10000 of 20000, 10000 null', 'O34: is counted to the row');
SELECT is((SELECT jsonb_array_length(sample) FROM dq_gate.results_of(last_run()) WHERE check_name = 'v_not_null'), 5, 'O34: the sample is limited');
SELECT ok((SELECT sum(length(r::text)) < 10000 FROM dq_gate.results_of(last_run()) r), 'O34: and so is what the log keeps');
INSERT INTO big_s SELECT g % 200 + 1, 'y' FROM generate_series(1, 20000) g;
SELECT dq_gate.publish('big_s', 'big') \g /dev/null
SELECT is(finding('key_unique'), 'failed 20200 of 40000', 'O34: duplicates as well');
SELECT matches(message('key_unique'), '200 duplicated values in 20200 rows, 20000 surplus', 'O34: in each of their numbers');

SELECT finish();
