-- Two columns of a row compared, and points in time that are not after now.
\ir include/helpers.sql
BEGIN;
SELECT plan(19);

CREATE TABLE span (id int PRIMARY KEY, begins timestamptz, ends timestamptz, day date,
				   local timestamp, n int, "Upper N" bigint);
CREATE TABLE span_s (LIKE span);
INSERT INTO span_s VALUES
	(1, now() - interval '2 h', now() - interval '1 h', (now() AT TIME ZONE 'UTC')::date, now() AT TIME ZONE 'UTC', 1, 2),
	(2, now() - interval '1 h', now() - interval '2 h', '2000-01-01', '2000-01-01', 3, 2),
	(3, now() + interval '1 h', NULL, (now() AT TIME ZONE 'UTC')::date + 3, (now() AT TIME ZONE 'UTC') + interval '3 h', 2, 2);

CREATE FUNCTION found(text, OUT status text, OUT failing bigint, OUT nulls bigint) LANGUAGE sql AS $$
	SELECT status, failing_rows, null_rows FROM dq_gate.results
	WHERE check_name = $1 AND run_id = (SELECT max(run_id) FROM dq_gate.runs)
$$;
SET client_min_messages = error;

SELECT is(dq_gate.expect_compare('span', 'begins', '<=', 'ends', action => 'quarantine'),
	'begins_ends_compare', 'columns are compared');
SELECT dq_gate.expect_compare('span', 'begins', '<=', 'ends', action => 'warn', name => 'open', nulls => 'pass');
SELECT dq_gate.expect_compare('span', 'n', '<>', 'Upper N', action => 'warn', name => 'quoted');
SELECT dq_gate.expect_not_future('span', 'begins', action => 'warn');
SELECT dq_gate.expect_not_future('span', 'begins', '2 hours', action => 'warn', name => 'soon');
SELECT dq_gate.expect_not_future('span', 'ends', action => 'warn', nulls => 'fail');
SELECT dq_gate.expect_not_future('span', 'day', action => 'warn');
SELECT dq_gate.expect_not_future('span', 'local', action => 'warn');

SELECT is((SELECT (verdict, inserted, quarantined)::text FROM dq_gate.publish('span_s', 'span')),
	'(published,1,2)', 'rows that compare badly are quarantined');
SELECT is(found('begins_ends_compare')::text, '(failed,2,1)', 'NULL fails a comparison');
SELECT is(found('open')::text, '(failed,1,1)', 'or passes it on request');
SELECT is(found('quoted')::text, '(failed,1,0)', 'names are quoted, types need not be the same');
SELECT is(found('begins_not_future')::text, '(failed,1,0)', 'a time after now is in the future');
SELECT is(found('soon')::text, '(passed,0,0)', 'but within the tolerance');
SELECT is(found('ends_not_future')::text, '(failed,1,1)', 'NULL fails on request');
SELECT is(found('day_not_future')::text, '(failed,1,0)', 'a day that has not begun is in the future');
SELECT is(found('local_not_future')::text, '(failed,1,0)', 'a timestamp is read as UTC');

SET timezone = 'Asia/Tokyo';
SELECT is((SELECT verdict FROM dq_gate.audit('span_s', 'span')), 'audited', 'in another time zone');
SELECT is(found('local_not_future')::text, '(failed,1,0)', 'it is the same');
SELECT is(found('day_not_future')::text, '(failed,1,0)', 'and so is a day');

SELECT throws_ok($$SELECT dq_gate.expect_compare('span', 'n', '~', 'n')$$, '22023',
	'comparison "~" is not known', 'an unknown comparison');
SELECT throws_ok($$SELECT dq_gate.expect_compare('span', 'n', '<', 'nope')$$, '42703',
	NULL, 'an unknown column');
SELECT throws_ok($$SELECT dq_gate.expect_compare('span', 'n', '<', 'day')$$, '42883',
	NULL, 'types that do not compare');
SELECT throws_ok($$SELECT dq_gate.expect_not_future('span', 'n')$$, '42809',
	'column n of gate public.span has type integer, which is no point in time', 'no point in time');
TRUNCATE span_s;
SELECT is((SELECT verdict FROM dq_gate.publish('span_s', 'span')), 'rejected', 'no rows');
SELECT is((found('open')).status, 'not_judged', 'are not judged');

SELECT * FROM finish();
ROLLBACK;
