-- on_rounding => 'allow': what a type rounds is published rounded and counted; what is cut or out of range fails as ever
\ir include/helpers.sql
SELECT plan(67);

-- what is published of values staged as one type where the target has another, and how many were rounded; or the failure
CREATE FUNCTION fit(staged_type text, target_type text, staged_values text, rounding text DEFAULT 'allow') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	DROP TABLE IF EXISTS t, s;
	EXECUTE format('CREATE TABLE t (id int PRIMARY KEY, v %s)', target_type);
	EXECUTE format('CREATE TABLE s (id int, v %s)', staged_type);
	EXECUTE format('INSERT INTO s SELECT place, value::%s FROM unnest(%L::text[]) WITH ORDINALITY AS u (value, place)', staged_type, staged_values);
	PERFORM dq_gate.create_gate('t', on_rounding => rounding);
	PERFORM dq_gate.publish('s', 't');
	IF (SELECT published FROM dq_gate.runs WHERE run_id = last_run()) THEN
		EXECUTE 'SELECT string_agg(coalesce(v::text, ''NULL''), ''|'' ORDER BY id) FROM t' INTO answer;
		RETURN answer || coalesce(' (' || (SELECT actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'v_type_fit') || ')', '');
	END IF;
	RETURN (SELECT verdict FROM dq_gate.runs WHERE run_id = last_run()) || coalesce(': ' || (
		SELECT string_agg(check_name || ' ' || status || coalesce(' ' || failing_rows, '') || coalesce(' (' || actual_value || ')', ''), ', ')
		FROM dq_gate.results_of(last_run()) WHERE status IN ('failed', 'error')), '');
END
$$;
-- the same as what PostgreSQL itself makes of the values, so many of which are rounded; and as ever they fail where nobody allows it
CREATE FUNCTION rounds(staged_type text, target_type text, staged_values text, how_many int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	wanted text;
BEGIN
	EXECUTE format('SELECT string_agg(coalesce(value::%s::%s::text, ''NULL''), ''|'' ORDER BY place) FROM unnest(%L::text[]) WITH ORDINALITY AS u (value, place)', staged_type, target_type, staged_values) INTO wanted;
	RETURN NEXT is(fit(staged_type, target_type, staged_values), format('%s (0 rows, %s rounded)', wanted, how_many), format('%s to %s: as PostgreSQL rounds', staged_type, target_type));
	RETURN NEXT is(fit(staged_type, target_type, staged_values, 'fail'), format('rejected: v_type_fit failed %s (%1$s row%s)', how_many, CASE WHEN how_many <> 1 THEN 's' END), format('%s to %s: rounds nothing unless it may', staged_type, target_type));
END
$$;

SELECT rounds('numeric', 'numeric(5,2)', '{1.005,-1.005,1.004999,2.00,2.0000,NULL,NaN,-0.001}', 4);
SELECT rounds('numeric(12,4)', 'numeric(10,2)', '{1.2345,1.2000}', 1);
SELECT rounds('numeric', 'numeric(3,-2)', '{12345,12300,-12350,49}', 3);
SELECT rounds('float8', 'numeric(5,2)', '{1.005,2.5,NULL}', 1);
SELECT rounds('text', 'numeric(5,2)', '{1.005,"  -1.006 ",1e2,NaN,NULL}', 2);
SELECT rounds('numeric', 'int', '{0.5,1.5,2.5,-0.5,-2.5,3,NULL}', 5);
SELECT rounds('float8', 'int', '{0.5,1.5,2.5,-0.5,-2.5,3,NULL}', 5);
SELECT rounds('real', 'smallint', '{0.5,1.5,32766.6}', 3);
SELECT rounds('numeric', 'smallint', '{32767.4,-32768.4}', 2);
SELECT rounds('float8', 'bigint', '{1234567890123456.5,1234567890123457.5,4}', 2);
SELECT rounds('timestamp', 'timestamp(0)', '{2020-01-01 00:00:00.5,2020-12-31 23:59:59.9,2020-01-01,infinity,NULL}', 2);
SELECT rounds('timestamptz', 'timestamptz(3)', '{2020-01-01 00:00:00.0005+00,2020-01-01+00}', 1);
SELECT rounds('timestamp', 'timestamptz(0)', '{2020-01-01 00:00:00.6,2020-01-01}', 1);
SELECT rounds('time', 'time(0)', '{10:00:00.5,23:59:59.7,10:00}', 2);
SELECT rounds('interval', 'interval(0)', '{1.7 seconds,1 day 2 seconds}', 1);
SELECT rounds('text', 'timestamp(0)', '{2020-01-01 00:00:01.7,2020-01-01}', 1);
SELECT rounds('text', 'time(1)', '{10:00:00.55,10:00}', 1);
SELECT rounds('numeric[]', 'numeric(5,2)[]', '{"{1.005,2}","{1,2}",NULL}', 1);
SELECT rounds('text', 'numeric(5,2)[]', '{"{1.005,2}","{1,2}"}', 1);

-- what does not fit once it is rounded does not fit
SELECT is(fit('numeric', 'numeric(3,2)', '{9.996,9.994}'), 'rejected: v_type_fit failed 1 (1 row, 1 rounded)', 'a number that is rounded out of range');
SELECT is(fit('text', 'numeric(3,2)', '{9.996,9.994,x}'), 'rejected: v_type_fit failed 2 (2 rows, 1 rounded)', 'the same as text');
SELECT is(fit('numeric', 'numeric(3,2)', '{Infinity}'), 'rejected: v_type_fit failed 1 (1 row, 0 rounded)', 'infinity');
SELECT is(fit('numeric[]', 'numeric(3,2)[]', '{"{9.996}","{9.994}"}'), 'rejected: v_type_fit failed 1 (1 row, 1 rounded)', 'in an array');
SELECT is(fit('numeric', 'int', '{2147483647.5}'), 'rejected: v_type_fit failed 1 (1 row, 0 rounded)', 'an integer');
SELECT is(fit('numeric', 'int', '{2147483647.4}'), '2147483647 (0 rows, 1 rounded)', 'one that just fits');
SELECT is(fit('numeric', 'int', '{NaN}'), 'rejected: v_type_fit failed 1 (1 row, 0 rounded)', 'no number is no integer');
SELECT is(fit('float8', 'smallint', '{32767.5,NaN,Infinity,-32768.5,-32769}'), 'rejected: v_type_fit failed 4 (4 rows, 1 rounded)', 'a float, by the rounding of floats');
SELECT is(fit('float8', 'bigint', '{9223372036854775808,-9223372036854775808,9223372036854774784}'), 'rejected: v_type_fit failed 1 (1 row, 0 rounded)', 'a float beyond every bigint');
SELECT is(fit('float8', 'bigint', '{1234567890123456.5}', 'fail'), 'rejected: v_type_fit failed 1 (1 row)', 'a fraction behind sixteen digits is one');

-- what is cut is not rounded
SELECT is(fit(f, t, v), 'rejected: v_type_fit failed 1 (1 row)', format('%s to %s: %s does not fit all the same', f, t, v))
FROM (VALUES ('text', 'varchar(3)', '{abcd}'), ('timestamp', 'date', '{2020-01-01 10:00}'), ('text', 'date', '{2020-01-01 10:00}'), ('bigint', 'int', '{3000000000}'), ('text', 'int', '{1.5}'),
	('interval', 'interval day', '{1 day 02:00}'), ('bit varying', 'bit(3)', '{1011}'), ('varchar[]', 'varchar(3)[]', '{"{abcd}"}')) AS c (f, t, v);

-- a domain judges the rounded value
CREATE DOMAIN percent AS numeric(5,2) CHECK (VALUE < 100);
SELECT is(fit('numeric', 'percent', '{99.994,99.996}'), 'rejected: v_type_fit failed 1 (1 row, 1 rounded)', 'a domain judges what a value is rounded to');

-- so do the other checks, whatever the value is staged as
CREATE TABLE prices (id int PRIMARY KEY, amount numeric(6,2) CHECK (amount <> 1.01), whole int UNIQUE);
CREATE TABLE prices_s (id int, amount numeric, whole text);
INSERT INTO prices_s VALUES (1, 1.005, '1'), (2, 1.004, '2'), (3, NULL, '3');
SELECT dq_gate.create_gate('prices', on_rounding => 'allow'), dq_gate.expect_volume('prices', action => 'declare'), dq_gate.expect_constraint('prices', 'prices_amount_check', 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('prices_s', 'prices')), 'published 3: 2 inserted, 1 quarantined', 'checks see the rounded value');
SELECT results_eq('SELECT id, amount FROM prices ORDER BY 1', 'VALUES (2, 1.00), (3, NULL)', 'which is published');
SELECT results_eq('SELECT id, amount FROM dq_quarantine.prices', 'VALUES (1, 1.005)', 'quarantine keeps all digits');
SELECT is((SELECT ROW(status, actual_value, failing_rows, null_rows, measured)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'amount_type_fit'), '(passed,"0 rows, 2 rounded",0,1,0)', 'how many were rounded is in the result');
DELETE FROM prices_s WHERE id = 1;
SELECT is(outcome(dq_gate.publish('prices_s', 'prices')), 'published 2: 2 unchanged', 'a row that is rounded to what is there has not changed');

-- a declared check of the type has its filter, its limits, and its samples
INSERT INTO prices_s VALUES (4, 99999, '4'), (5, 7.777, '5');
SELECT dq_gate.expect_type_fit('prices', 'amount', action => 'quarantine', filter => 'id > 2', samples => false) \g /dev/null
SELECT is(outcome(dq_gate.audit('prices_s', 'prices')) || ' ' || (SELECT status || ' ' || actual_value FROM dq_gate.results_of(last_run()) WHERE check_name = 'amount_type_fit'), 'audited 4 failed 1 row, 1 rounded', 'counted among the rows that the check is about, also without samples');
SELECT is((SELECT message FROM dq_gate.results_of(last_run()) WHERE check_name = 'amount_type_fit'), '1 of 3 rows: amount does not fit: numeric to numeric(6,2)', 'and no value is shown');

-- a key is rounded before it is compared
CREATE TABLE k (k numeric(4,1) PRIMARY KEY, v text);
CREATE TABLE k_s (k numeric, v text);
INSERT INTO k VALUES (1.2, 'old');
INSERT INTO k_s VALUES (1.23, 'new');
SELECT dq_gate.create_gate('k', on_rounding => 'allow') \g /dev/null
SELECT is(outcome(dq_gate.publish('k_s', 'k')), 'published 1: 1 updated', 'a key is rounded before it is looked for');
INSERT INTO k_s VALUES (1.18, 'too');
SELECT is(outcome(dq_gate.publish('k_s', 'k')) || ' ' || finding('key_unique'), 'rejected 2: 2 quarantined failed 2 of 2', 'and before it is unique');

-- where nothing is ever rounded there is nothing to count
SELECT is(fit('bigint', 'int', '{1}'), '1 (0 rows)', 'what is never rounded is not counted');
SELECT finish();
