-- what PostgreSQL 18 has brought: virtual generated columns, constraints that are not enforced, keys without overlaps
SELECT current_setting('server_version_num')::int < 180000 AS too_old \gset
\if :too_old
	\echo 1..0 # SKIP the server is older than PostgreSQL 18
	\quit
\endif
\ir include/helpers.sql
SELECT plan(17);

-- virtual generated columns
CREATE TABLE g (id int PRIMARY KEY, n int, twice int GENERATED ALWAYS AS (n * 2) VIRTUAL CHECK (twice < 100));
CREATE TABLE g_s (id int, n int, twice int);
INSERT INTO g VALUES (1, 1);
INSERT INTO g_s VALUES (1, 5, 999), (2, 6, NULL);
SELECT is(outcome(dq_gate.publish('g_s', 'g')), 'published 2: 1 inserted, 1 updated', 'a virtual generated column is not written');
SELECT results_eq('TABLE g ORDER BY id', 'VALUES (1, 5, 10), (2, 6, 12)', 'the target computes it');
SELECT matches(message('schema_contract'), 'ignored: twice', 'and the run says that staged values were ignored');
SELECT is(outcome(dq_gate.publish('g_s', 'g')), 'published 2: 2 unchanged', 'what is ignored is no change');
UPDATE g_s SET n = 50 WHERE id = 2;
SELECT is((dq_gate.publish('g_s', 'g')).published, false, 'a constraint on it holds');
SELECT results_eq('TABLE g ORDER BY id', 'VALUES (1, 5, 10), (2, 6, 12)', 'and leaves nothing behind');
CREATE TABLE virtual_s (id int, a int, n int GENERATED ALWAYS AS (a + 1) VIRTUAL);
INSERT INTO virtual_s (id, a) VALUES (3, 2);
ALTER TABLE virtual_s ADD b int GENERATED ALWAYS AS (a) VIRTUAL;
SELECT is(outcome(dq_gate.publish('virtual_s', 'g')), 'rejected 1: 1 quarantined', 'staging may have virtual columns');
SELECT results_eq('SELECT a, n, b FROM dq_quarantine.g WHERE run_id = last_run()', 'VALUES (2, 3, 2)', 'which quarantine keeps as values');

-- constraints that are not enforced are none
CREATE TABLE p (id int PRIMARY KEY);
CREATE TABLE e (id int PRIMARY KEY, v int CONSTRAINT hint CHECK (v > 0) NOT ENFORCED, w int CONSTRAINT ref REFERENCES p NOT ENFORCED);
CREATE TABLE e_s (id int, v int, w int);
INSERT INTO e_s VALUES (1, -1, 99);
SELECT is((SELECT count(*) FROM dq_gate.checks_of('e') WHERE check_name IN ('hint', 'ref')), 0::bigint, 'constraints that are not enforced have no check');
SELECT is(outcome(dq_gate.publish('e_s', 'e')), 'published 1: 1 inserted', 'and keep nothing out');

-- NOT NULL that is not valid for old rows holds for new ones
CREATE TABLE v (id int PRIMARY KEY, n int);
INSERT INTO v VALUES (1, NULL);
ALTER TABLE v ADD CONSTRAINT n_there NOT NULL n NOT VALID;
CREATE TABLE v_s (id int, n int);
INSERT INTO v_s VALUES (2, NULL);
SELECT is(outcome(dq_gate.publish('v_s', 'v')), 'rejected 1: 1 quarantined', 'NOT NULL that is NOT VALID holds for a batch');
SELECT is(not_passed(), 'n_not_null failed', 'by its check');

-- a key without overlaps is no merge key
CREATE TABLE bookings (room int4range, during daterange, who text, PRIMARY KEY (room, during WITHOUT OVERLAPS));
CREATE TABLE bookings_s (LIKE bookings);
SELECT raises($$ SELECT dq_gate.publish('bookings_s', 'bookings') $$, '55000', 'no key', 'a temporal key cannot be derived');
SELECT dq_gate.create_gate('bookings', key => '{room,during}') \g /dev/null
INSERT INTO bookings_s VALUES ('[1,2)', '[2026-01-01,2026-02-01)', 'a'), ('[1,2)', '[2026-02-01,2026-03-01)', 'b');
SELECT is(outcome(dq_gate.publish('bookings_s', 'bookings')), 'published 2: 2 inserted', 'but its columns can be given as one');
INSERT INTO bookings_s VALUES ('[1,2)', '[2026-02-15,2026-02-20)', 'c');
SELECT is((dq_gate.publish('bookings_s', 'bookings')).published, false, 'an overlap is kept out by the target');
SELECT is((SELECT error_sqlstate FROM dq_gate.runs WHERE run_id = last_run()), '23P01', 'with its own error');

-- so a table suggests what they say
CREATE TABLE hinted (id int PRIMARY KEY, v int CHECK (v > 0) NOT ENFORCED, w int CHECK (w > 0));
INSERT INTO hinted SELECT g, g % 50, g % 50 + 1 FROM generate_series(1, 60) g;
SELECT results_eq($$ SELECT columns::text FROM dq_gate.suggest_checks('hinted') WHERE check_type = 'range' $$, ARRAY['{v}'], 'a constraint that is not enforced says nothing to suggest_checks');

SELECT finish();
