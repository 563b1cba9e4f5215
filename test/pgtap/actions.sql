-- what a failing check does: block, quarantine or warn
\ir include/helpers.sql
SELECT plan(35);

CREATE TABLE t (id int PRIMARY KEY, amount int, name text);
CREATE TABLE s (id int, amount int, name text);
INSERT INTO t VALUES (1, 10, 'old');
INSERT INTO s VALUES (1, 11, 'new'), (2, -5, 'low'), (3, 500, 'high'), (4, 20, NULL);
SELECT dq_gate.create_gate('t', staging => 's') \g /dev/null

-- warn
SELECT is(dq_gate.expect_range('t', 'amount', min => 0, action => 'warn'), 'amount_range', 'a range is named after its column');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 4: 3 inserted, 1 updated', 'warn lets the whole batch through');
SELECT is(finding('amount_range'), 'failed 1 of 4', 'and the check is failed all the same');
SELECT results_eq('SELECT passed, published, checks_failed, array_length(failures, 1), failures[1] ~ ''^amount_range: 1 of 4 rows: .*[(]warn[)]$'' FROM dq_gate.runs WHERE run_id = last_run()',
	'VALUES (true, true, 1, 1, true)', 'the run passed, and names it');

-- block
TRUNCATE t;
INSERT INTO t VALUES (1, 10, 'old');
SELECT dq_gate.drop_check('t', 'amount_range') \g /dev/null
SELECT dq_gate.expect_range('t', 'amount', min => 0) \g /dev/null
SELECT is((SELECT action FROM dq_gate.checks_of('t') WHERE check_name = 'amount_range'), 'block', 'block is the default');
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 4: 4 quarantined', 'block keeps the whole batch out');
SELECT results_eq('SELECT * FROM t', $$ VALUES (1, 10, 'old') $$, 'the target is as it was');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY id',
	$$ VALUES (1, '{}'::text[]), (2, '{amount_range}'), (3, '{}'), (4, '{}') $$,
	'all of it is in quarantine, each row with what it failed itself');
SELECT results_eq('SELECT id, amount, name FROM s ORDER BY id',
	$$ VALUES (1, 11, 'new'), (2, -5, 'low'), (3, 500, 'high'), (4, 20, NULL) $$, 'and still in staging');

-- quarantine
SELECT dq_gate.drop_check('t', 'amount_range') \g /dev/null
SELECT dq_gate.expect_range('t', 'amount', min => 0, max => 100, action => 'quarantine') \g /dev/null
SELECT dq_gate.expect_sql('t', 'named', 'name IS NOT NULL AND name <> ''low''', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 4: 1 updated, 3 quarantined', 'quarantine takes the failing rows out');
SELECT results_eq('SELECT * FROM t', $$ VALUES (1, 11, 'new') $$, 'the others are published');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY id',
	$$ VALUES (2, '{amount_range,named}'::text[]), (3, '{amount_range}'), (4, '{named}') $$,
	'each failing row is kept once, with the names of all that it failed');
SELECT is((SELECT ROW(passed, published, checks_failed)::text FROM dq_gate.runs WHERE run_id = last_run()), '(t,t,2)', 'the run passed');
SELECT is((SELECT quarantine FROM dq_gate.runs WHERE run_id = last_run()), 'dq_quarantine.t', 'and says where the rows are');

-- together
SELECT dq_gate.expect_sql('t', 'not_huge', 'amount < 400', action => 'warn') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 4: 1 unchanged, 3 quarantined', 'a warning beside does not change that');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY id',
	$$ VALUES (2, '{amount_range,named}'::text[]), (3, '{amount_range,not_huge}'), (4, '{named}') $$,
	'but is named by the rows that failed it as well');
SELECT dq_gate.expect_sql('t', 'not_two', 'id <> 2', action => 'block') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 4: 4 quarantined', 'a row that blocks keeps the batch out, though it would be moved');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY id',
	$$ VALUES (1, '{}'::text[]), (2, '{amount_range,named,not_two}'), (3, '{amount_range,not_huge}'), (4, '{named}') $$,
	'every reason is kept');
SELECT is((SELECT array_agg(split_part(f, ':', 1) ORDER BY f) FROM dq_gate.runs, unnest(failures) f WHERE run_id = last_run()),
	'{amount_range,named,not_huge,not_two}'::text[], 'and the run names each check');
SELECT dq_gate.drop_check('t', 'not_two') \g /dev/null

-- all rows quarantined: nothing to publish is no pass
UPDATE s SET amount = -1;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 4: 4 quarantined', 'a batch of which nothing is left is rejected');
SELECT matches((SELECT failures[1] FROM dq_gate.runs WHERE run_id = last_run()), '^not_empty: all rows were quarantined', 'and says so');
SELECT results_eq('SELECT check_name, status, passed FROM dq_gate.results_of(last_run()) WHERE check_type = ''not_empty''', $$ VALUES ('not_empty', 'failed', false) $$,
	'in the results as well');
SELECT results_eq('SELECT * FROM t', $$ VALUES (1, 11, 'new') $$, 'the target is as it was');
SELECT is((SELECT count(*) FROM dq_quarantine.t WHERE run_id = last_run()), 4::bigint, 'each row is in quarantine once');

-- what a quarantined row would have broken does not count once it is moved
CREATE TABLE pairs (id int PRIMARY KEY, v int UNIQUE);
CREATE TABLE pairs_s (id int, v int);
INSERT INTO pairs_s VALUES (1, 1), (2, 2), (3, -1);
SELECT dq_gate.create_gate('pairs') \g /dev/null
SELECT dq_gate.expect_range('pairs', 'v', min => 0, action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('pairs_s', 'pairs')), 'published 3: 2 inserted, 1 quarantined', 'rows and their moved neighbours');

-- several runs keep their rows apart
UPDATE pairs_s SET v = -2 WHERE id = 3;
SELECT dq_gate.publish('pairs_s', 'pairs', batch_id => 'second') \g /dev/null
SELECT results_eq('SELECT batch_id = ''second'', v FROM dq_quarantine.pairs ORDER BY run_id',
	$$ VALUES (false, -1), (true, -2) $$, 'quarantine keeps the rows of every run, named by batch');

-- an action that a kind cannot take
SELECT raises($$ SELECT dq_gate.expect_range('t', 'amount', min => 0, action => 'skip') $$, '22023', 'skip[^$]*(block|quarantine|warn)',
	'an action that a range cannot take');
SELECT raises($$ SELECT dq_gate.expect_sql('t', 'x', 'id > 0', action => 'explode') $$, '22023', 'explode[^$]*block.*quarantine.*warn',
	'an unknown action is refused with what there is');
SELECT raises($$ SELECT dq_gate.expect_sql('t', 'x', 'random() > 0.5', action => 'quarantine') $$, '22023', 'volatile',
	'what answers differently each time cannot say which rows to move');
SELECT lives_ok($$ SELECT dq_gate.expect_sql('t', 'x', 'random() > -1', action => 'warn') $$, 'but it may warn');
SELECT raises($$ SELECT dq_gate.expect_range('t', 'amount', min => 0, nulls => 'maybe') $$, '22023', 'maybe[^$]*fail.*pass',
	'an unknown policy for NULL');
SELECT raises($$ SELECT dq_gate.expect_range('t', 'amount', min => 0, name => 'named') $$, '42710', 'named.*already exists[^$]*drop_check',
	'a name that is taken');
SELECT is(dq_gate.expect_range('t', 'amount', min => -1000), 'amount_range_2', 'a second range on a column has a name of its own');
SELECT raises($$ SELECT dq_gate.drop_check('t', 'nothing') $$, '42704', 'no declared check.*nothing', 'a check that is not there cannot be dropped');
SELECT raises($$ SELECT dq_gate.drop_check('t', 'key_unique') $$, '42704', 'derived', 'nor can a derived one');

SELECT finish();
