-- a staged value becomes one of the target's type unchanged, or fails its check; it is never changed in silence
\ir include/helpers.sql
SELECT plan(136);

-- what becomes of values staged as one type where the target has another: those published, and those that do not fit
CREATE FUNCTION fit(staged_type text, target_type text, staged_values text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	DROP TABLE IF EXISTS t, s;
	EXECUTE format('CREATE TABLE t (id int PRIMARY KEY, v %s)', target_type);
	EXECUTE format('CREATE TABLE s (id int, v %s)', staged_type);
	EXECUTE format('INSERT INTO s SELECT place, value::%s FROM unnest(%L::text[]) WITH ORDINALITY AS u (value, place)', staged_type, staged_values);
	PERFORM dq_gate.publish('s', 't');
	IF (SELECT published FROM dq_gate.runs WHERE run_id = last_run()) THEN
		EXECUTE 'SELECT string_agg(coalesce(v::text, ''NULL''), ''|'' ORDER BY id) FROM t' INTO answer;
		RETURN answer;
	END IF;
	RETURN (SELECT verdict FROM dq_gate.runs WHERE run_id = last_run()) || coalesce(': ' || (
		SELECT string_agg(check_name || ' ' || status || coalesce(' ' || failing_rows, ''), ', ')
		FROM dq_gate.results_of(last_run()) WHERE status IN ('failed', 'error')), '');
END
$$;
-- the same, when the good value is alone
CREATE FUNCTION fits(staged_type text, target_type text, good text, bad text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN NEXT is(fit(staged_type, target_type, format('{"%s"}', good)), good, format('%s to %s: %s fits', staged_type, target_type, good));
	RETURN NEXT is(fit(staged_type, target_type, format('{"%s","%s",NULL}', good, bad)), 'rejected: v_type_fit failed 1',
		format('%s to %s: %s does not', staged_type, target_type, bad));
END
$$;
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN short AS varchar(3) CHECK (VALUE <> 'bad');
CREATE DOMAIN short_positive AS positive CHECK (VALUE < 100);
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE pair AS (x int, y text);

-- text that a loader staged because it did not know better
SELECT fits('text', 'int', '42', '4x2');
SELECT fits('text', 'int', '42', '');
SELECT fits('text', 'int', '42', '99999999999');
SELECT fits('text', 'smallint', '-32768', '32768');
SELECT fits('text', 'date', '2020-02-29', '2021-02-29');
SELECT fits('text', 'timestamptz', '2020-01-01 00:00:00+00', 'yesterday noon or so');
SELECT fits('text', 'numeric(5,2)', '123.45', '1234.5');
SELECT fits('text', 'numeric(5,2)', '123.45', '1.005');
SELECT fits('text', 'numeric', '1.0', 'one');
SELECT fits('text', 'bool', 'true', 'maybe');
SELECT fits('text', 'uuid', '00000000-0000-0000-0000-000000000001', '0');
SELECT fits('text', 'mood', 'sad', 'glad');
SELECT fits('text', 'positive', '1', '0');
SELECT fits('text', 'short_positive', '99', '100');
SELECT fits('text', 'short', 'abc', 'abcd');
SELECT fits('text', 'short', 'abc', 'bad');
SELECT fits('text', 'cidr', '10.0.0.0/8', '10.0.0.1/8');
SELECT fits('text', 'bit(3)', '101', '1010');
SELECT fits('varchar(20)', 'interval', '01:00:00', 'an hour');
SELECT is(fit('text', 'jsonb', '{"{\"a\": 1}"}'), '{"a": 1}', 'text to jsonb: a document fits');
SELECT is(fit('text', 'jsonb', '{"{a}"}'), 'rejected: v_type_fit failed 1', 'text to jsonb: no document does not');
SELECT is(fit('text', 'int[]', '{"{1,2}"}'), '{1,2}', 'text to int[]: an array fits');
SELECT is(fit('text', 'int[]', '{"{1,x}"}'), 'rejected: v_type_fit failed 1', 'text to int[]: one of something else does not');
SELECT is(fit('text', 'pair', '{"(1,a)"}'), '(1,a)', 'text to a composite type: a row fits');
SELECT is(fit('text', 'pair', '{"(x,a)"}'), 'rejected: v_type_fit failed 1', 'text to a composite type: another does not');

SELECT is(fit('int[]', 'positive[]', '{"{1,2}"}'), '{1,2}', 'int[] to positive[]: what each element allows fits');
SELECT is(fit('int[]', 'positive[]', '{"{1,2}","{1,0}"}'), 'rejected: v_type_fit failed 1', 'int[] to positive[]: another does not');
SELECT is(fit('bigint[]', 'int[]', '{"{1,2}","{1,3000000000}"}'), 'rejected: v_type_fit failed 1', 'bigint[] to int[]: one that is too large does not');

-- what text loses on its way without an error of the type
SELECT fits('text', 'date', '2020-01-01', '2020-01-01 12:30:00');
SELECT fits('text', 'timestamp(0)', '2020-01-01 00:00:01', '2020-01-01 00:00:01.7');
SELECT fits('text', 'name', 'abc', repeat('x', 70));
SELECT fits('text', 'time', '10:00:00', '2020-01-01 10:00');
SELECT fits('text', 'time(0)', '10:00:00', '2020-01-01 10:00');
SELECT is(fit('text', 'time', '{101010}'), '10:10:10', 'text to time: digits alone are a time');
SELECT is(fit('timestamp', 'time', '{2020-01-01 10:00}'), 'rejected: v_type_fit failed 1', 'timestamp to time: the date would be lost');
SELECT is(fit('timestamp', 'timestamptz(0)', '{2020-01-01 00:00:00.4}'), 'rejected: v_type_fit failed 1', 'timestamp to timestamptz(0): fractions would be rounded');
SELECT is(fit('bit varying', 'bit(3)', '{101,1011}'), 'rejected: v_type_fit failed 1', 'bit varying to bit(3): bits would be cut');
SELECT is(fit('numeric[]', 'numeric(3,1)[]', '{"{1.5}","{100}"}'), 'rejected: v_type_fit failed 1', 'numeric[] to numeric(3,1)[]: an element that is too large');

-- lengths
SELECT fits('text', 'varchar(3)', 'abc', 'abcd');
SELECT fits('text', 'varchar(3)', 'äöü', 'äöüß');
SELECT fits('text', 'varchar(3)', 'ab ', 'ab  ');
SELECT fits('varchar(5)', 'varchar(3)', 'abc', 'abcd');
SELECT fits('int', 'varchar(3)', '123', '1234');
SELECT is(fit('text', 'char(3)', '{abc,"a   "}'), 'abc|a', 'text to char(3): blanks at the end mean nothing');
SELECT is(fit('text', 'char(3)', '{abcd}'), 'rejected: v_type_fit failed 1', 'text to char(3): anything else does');

-- numbers
SELECT fits('bigint', 'int', '2147483647', '2147483648');
SELECT fits('int', 'smallint', '-32768', '-32769');
SELECT fits('numeric', 'int', '5', '5.5');
SELECT fits('numeric', 'bigint', '9223372036854775807', '9223372036854775808');
SELECT fits('float8', 'int', '5', '5.1');
SELECT fits('float8', 'int', '5', 'NaN');
SELECT fits('float8', 'bigint', '5', '9223372036854775808');
SELECT fits('float8', 'int', '5', 'Infinity');
SELECT fits('numeric(12,4)', 'numeric(10,2)', '1.20', '1.2345');
SELECT is(fit('numeric(12,4)', 'numeric(10,2)', '{1.2000}'), '1.20', 'zeros behind the point are no loss');
SELECT fits('numeric', 'numeric(3,-2)', '12300', '12345');
SELECT is(fit('int', 'numeric(3,1)', '{99}'), '99.0', 'an integer in a numeric');
SELECT is(fit('int', 'numeric(3,1)', '{99,100}'), 'rejected: v_type_fit failed 1', 'one that is too large for it');
SELECT is(fit('numeric', 'numeric(3,1)', '{NaN}'), 'NaN', 'NaN fits any numeric');
SELECT fits('numeric', 'numeric(3,1)', '1.5', 'Infinity');
SELECT fits('float8', 'real', '1.5', '1e300');
SELECT fits('float8', 'real', '1.5', '1e-300');
SELECT fits('numeric', 'float8', '1.5', '1e400');

-- time
SELECT is(fit('timestamp', 'date', '{2020-01-01 00:00}'), '2020-01-01', 'a timestamp at midnight is a date');
SELECT is(fit('timestamp', 'date', '{2020-01-01 00:01}'), 'rejected: v_type_fit failed 1', 'at another time it is none');
SELECT is(fit('timestamp', 'date', '{infinity}'), 'infinity', 'infinity is infinity');
SELECT is(fit('timestamp', 'timestamp(0)', '{2020-01-01 00:00:00.4}'), 'rejected: v_type_fit failed 1', 'fractions of a second that would be rounded');

-- wider is no matter
SELECT is((SELECT string_agg(fit(f, t, v), ' ') FROM (VALUES ('int', 'bigint', '{1}'), ('int', 'numeric', '{1}'), ('int', 'text', '{1}'), ('varchar(3)', 'varchar(5)', '{1}'),
		('numeric(5,2)', 'numeric(7,3)', '{1}'), ('date', 'timestamp', '{2020-01-01}'), ('mood', 'text', '{ok}'), ('positive', 'int', '{1}'), ('int', 'float8', '{1}')) c (f, t, v)),
	'1 1 1 1 1.000 2020-01-01 00:00:00 ok 1 1', 'what always fits is published');
SELECT is_empty($$ SELECT 1 FROM dq_gate.results WHERE check_name = 'v_type_fit' AND run_id > last_run() - 9 $$, 'and needs no check');

-- the check says which value of which type
SELECT is(fit('text', 'int', '{1,x1,NULL}'), 'rejected: v_type_fit failed 1', 'one bad value');
SELECT is(finding('v_type_fit'), 'failed 1 of 3, 1 null', 'is counted');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'v_type_fit'), '[{"v": "x1", "id": 2}]', 'and shown');
SELECT matches(message('v_type_fit'), 'text to integer', 'with both types');
SELECT is(fit('numeric(12,4)', 'numeric(10,2)', '{1.2345}'), 'rejected: v_type_fit failed 1', 'a scale that is lost');
SELECT matches(message('v_type_fit'), 'numeric\(12,4\) to numeric\(10,2\)', 'is told with precision and scale');

-- other checks see the value that the target would have
CREATE TABLE typed (id int PRIMARY KEY, v int CHECK (v > 9), d date NOT NULL);
CREATE TABLE typed_s (id text, v text, d text);
INSERT INTO typed_s VALUES ('1', '10', '2020-01-01'), ('01', '9', '2020-01-02'), ('2', 'x', NULL);
SELECT is(outcome(dq_gate.publish('typed_s', 'typed')), 'rejected 3: 3 quarantined', 'staged text');
SELECT is(not_passed(), 'd_not_null failed, key_unique failed, typed_v_check failed, v_type_fit failed', 'is judged as what it will be');
SELECT is(finding('key_unique') || '; ' || finding('typed_v_check') || '; ' || finding('v_type_fit') || '; ' || finding('d_not_null'),
	'failed 2 of 3; failed 1 of 3, 1 null; failed 1 of 3; failed 1 of 3, 1 null', 'each fault once');
SELECT results_eq('SELECT id, v, d FROM dq_quarantine.typed ORDER BY v', $$ VALUES ('1', '10', '2020-01-01'), ('01', '9', '2020-01-02'), ('2', 'x', NULL) $$,
	'quarantine keeps the text');
UPDATE typed_s SET id = v, v = '1' || id, d = '2020-01-03' WHERE v <> 'x';
DELETE FROM typed_s WHERE v = 'x';
UPDATE typed_s SET v = '11' WHERE id = '9';
SELECT is(outcome(dq_gate.publish('typed_s', 'typed')), 'published 2: 2 inserted', 'good text is published');
SELECT results_eq('TABLE typed ORDER BY id', $$ VALUES (9, 11, '2020-01-03'::date), (10, 11, '2020-01-03') $$, 'as values of the target''s types');
SELECT is(outcome(dq_gate.publish('typed_s', 'typed')), 'published 2: 2 unchanged', 'and is the same the next time');

-- the caller's settings do not change what a value is
SET DateStyle = 'SQL, DMY';
UPDATE typed_s SET d = '04/03/2020';
SELECT is(outcome(dq_gate.publish('typed_s', 'typed')), 'published 2: 2 updated', 'a date in the caller''s style');
SET DateStyle = 'ISO, MDY';
SELECT results_eq('SELECT DISTINCT d FROM typed', $$ VALUES (date '2020-03-04') $$, 'is the caller''s date');

-- types without equality, or with one that does not say identity
CREATE TABLE j (id int PRIMARY KEY, doc json, pt point, x xid8, arr json[]);
CREATE TABLE j_s (LIKE j);
INSERT INTO j VALUES (1, '{"b":1,  "a":2}', '(1,2)', '1', ARRAY['1'::json]), (2, '{}', NULL, NULL, NULL);
INSERT INTO j_s TABLE j;
SELECT is(outcome(dq_gate.publish('j_s', 'j')), 'published 2: 2 unchanged', 'json and point that stay the same');
UPDATE j_s SET doc = '{"a":2,"b":1}' WHERE id = 1;
UPDATE j_s SET pt = '(1,3)' WHERE id = 2;
INSERT INTO j_s VALUES (3, ' {"z" : 1} ', NULL, NULL, NULL);
SELECT is(outcome(dq_gate.publish('j_s', 'j')), 'published 3: 1 inserted, 2 updated', 'json and point that change');
SELECT results_eq('SELECT doc::text, pt::text FROM j ORDER BY id', $$ VALUES ('{"a":2,"b":1}', '(1,2)'), ('{}', '(1,3)'), (' {"z" : 1} ', NULL) $$, 'letter by letter');

-- citext: its own equality for the key, its own look for a change
CREATE EXTENSION citext SCHEMA public;
CREATE TABLE c (k citext PRIMARY KEY, name citext);
CREATE TABLE c_s (k citext, name citext);
INSERT INTO c VALUES ('Key', 'Bob');
INSERT INTO c_s VALUES ('KEY', 'bob');
SELECT is(outcome(dq_gate.publish('c_s', 'c')), 'published 1: 1 updated', 'Bob to bob in a citext is a change');
SELECT is((SELECT name::text FROM c), 'bob', 'which is published');
INSERT INTO c_s VALUES ('key', 'x');
SELECT is(outcome(dq_gate.publish('c_s', 'c')), 'rejected 2: 2 quarantined', 'KEY and key are one key');
SELECT is(not_passed(), 'key_unique failed', 'as its own equality says');

-- a collation that takes different strings for equal
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE n (k text COLLATE ignore_case PRIMARY KEY, v text COLLATE ignore_case);
CREATE TABLE n_s (k text, v text);
INSERT INTO n VALUES ('Key', 'Bob');
INSERT INTO n_s VALUES ('KEY', 'bob');
SELECT is(outcome(dq_gate.publish('n_s', 'n')), 'published 1: 1 updated', 'so with a nondeterministic collation');
INSERT INTO n_s VALUES ('key', 'x');
SELECT is(outcome(dq_gate.publish('n_s', 'n')), 'rejected 2: 2 quarantined', 'which is that of the target');

SELECT finish();
