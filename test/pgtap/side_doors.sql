-- The five side doors of a table: each is shut by default, the target stays as
-- it is, and the batch is kept.
\ir include/helpers.sql
BEGIN;
SELECT plan(25);

CREATE TABLE door (id int PRIMARY KEY, amount int CHECK (amount >= 0));
INSERT INTO door VALUES (1, 10), (2, 20);
CREATE TABLE before_it AS TABLE door;
CREATE TABLE bad_append (id int, amount int);
INSERT INTO bad_append VALUES (3, 30), (4, -1);
CREATE TABLE no_id (id int, amount int);
INSERT INTO no_id VALUES (3, 30), (NULL, 40);
CREATE TABLE wide_append (id int, amount int, colour text);
INSERT INTO wide_append VALUES (3, 30, 'red');
CREATE TABLE wide_merge (id int, amount int, colour text);
INSERT INTO wide_merge VALUES (1, 11, 'red');
CREATE TABLE bad_merge (id int, amount int);
INSERT INTO bad_merge VALUES (1, 11), (2, -2);
SET client_min_messages = error;

-- one door: the check that shuts it, and how many rows are kept
CREATE FUNCTION shut(staging regclass, check_name text, kept bigint, what text)
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	run	dq_gate.run_summary := dq_gate.publish(staging, 'door');
BEGIN
	RETURN NEXT is(run.verdict, 'rejected', what || ': rejected');
	RETURN NEXT is((SELECT array_agg(r.check_name) FROM dq_gate.results r
					WHERE r.run_id = run.run_id AND NOT passed), ARRAY[check_name],
				   what || ': by the check that is about it, and no other');
	RETURN NEXT results_eq('TABLE door ORDER BY id', 'TABLE before_it ORDER BY id',
						   what || ': the target is as it was');
	RETURN NEXT is((SELECT count(*) FROM dq_quarantine.door q WHERE q.run_id = run.run_id), kept,
				   what || ': the batch is kept');
	RETURN NEXT is(run.row_count, kept, what || ': all of it');
END
$$;

SELECT shut('bad_append', 'door_amount_check', 2, 'a CHECK violated by a new row');
SELECT shut('no_id', 'id_not_null', 2, 'a new row without a key');
SELECT shut('wide_append', 'schema_contract', 1, 'a new row with a new column');
SELECT shut('wide_merge', 'schema_contract', 1, 'a changed row with a new column');
SELECT shut('bad_merge', 'door_amount_check', 2, 'a CHECK violated by a changed row');

SELECT * FROM finish();
ROLLBACK;
