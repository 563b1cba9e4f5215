-- with no configuration, the target's own columns and constraints become checks
\ir include/helpers.sql
SELECT plan(45);

CREATE TABLE customers (id int PRIMARY KEY);
INSERT INTO customers VALUES (1), (2);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TYPE state AS ENUM ('new', 'done');
CREATE TABLE orders (
	id			int PRIMARY KEY,
	code		varchar(3) NOT NULL,
	customer	int REFERENCES customers,
	amount		numeric(6, 2) CHECK (amount >= 0),
	quantity	positive,
	status		state,
	email		text UNIQUE,
	discount	numeric,
	note		text DEFAULT 'none',
	CONSTRAINT small_discount CHECK (discount < amount)
);
CREATE TABLE orders_staging (
	id int, code text, customer int, amount numeric, quantity int, status text, email text, discount numeric
);

SELECT bag_eq($$ SELECT check_name, check_type, columns, action, nulls FROM dq_gate.checks_of('orders', 'orders_staging') $$,
	$$ VALUES ('not_empty', 'not_empty', '{}'::text[], 'block', NULL),
		('schema_contract', 'schema_contract', '{}', 'block', NULL),
		('volume', 'volume', '{}', 'block', NULL),
		('key_unique', 'unique', '{id}', 'block', 'pass'),
		('id_not_null', 'not_null', '{id}', 'block', 'fail'),
		('code_type_fit', 'type_fit', '{code}', 'block', 'pass'),
		('code_not_null', 'not_null', '{code}', 'block', 'fail'),
		('amount_type_fit', 'type_fit', '{amount}', 'block', 'pass'),
		('quantity_type_fit', 'type_fit', '{quantity}', 'block', 'pass'),
		('status_type_fit', 'type_fit', '{status}', 'block', 'pass'),
		('orders_amount_check', 'check_constraint', '{amount}', 'block', 'pass'),
		('orders_customer_fkey', 'referential', '{customer}', 'block', 'pass'),
		('orders_email_key', 'unique', '{email}', 'block', 'pass'),
		('small_discount', 'check_constraint', '{amount,discount}', 'block', 'pass') $$,
	'every constraint has its check, and no other does');
SELECT is((SELECT count(*) FROM dq_gate.checks_of('orders', 'orders_staging') WHERE origin = 'declared' OR origin = ''), 0::bigint,
	'each says where it came from');
SELECT matches((SELECT origin FROM dq_gate.checks_of('orders') WHERE check_name = 'orders_customer_fkey'),
	'FOREIGN KEY.*orders_customer_fkey', 'a foreign key by its name');
SELECT matches((SELECT origin FROM dq_gate.checks_of('orders') WHERE check_name = 'id_not_null'),
	'orders_pkey', 'the key by the constraint that it was taken from');
SELECT is_empty($$ SELECT 1 FROM dq_gate.checks_of('orders') WHERE rule IS NULL OR rule = '' $$, 'each says what it wants');

-- a good batch
INSERT INTO orders_staging VALUES
	(1, 'abc', 1, 10.50, 1, 'new', 'a@x', 1),
	(2, 'de', NULL, NULL, NULL, NULL, NULL, NULL);
SELECT is(outcome(dq_gate.publish('orders_staging', 'orders')), 'published 2: 2 inserted', 'a batch without faults is published');
SELECT is(not_passed(), NULL, 'with every check passed');
SELECT results_eq('SELECT id, code::text, customer, amount, quantity::int, status::text, email, discount, note FROM orders ORDER BY id',
	$$ VALUES (1, 'abc', 1, 10.50, 1, 'new', 'a@x', 1::numeric, 'none'), (2, 'de', NULL, NULL, NULL, NULL, NULL, NULL, 'none') $$,
	'and its rows are what was staged, with the default for what was not');

-- one fault at a time: it fails its check and no other, and keeps the batch out
CREATE FUNCTION try(assignment text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	DELETE FROM orders_staging;
	INSERT INTO orders_staging VALUES (3, 'abc', 1, 10, 1, 'new', 'c@x', 1), (4, 'abc', 2, 20, 2, 'done', 'd@x', 2);
	EXECUTE 'UPDATE orders_staging SET ' || assignment;
	answer := outcome(dq_gate.publish('orders_staging', 'orders'));
	RETURN answer || '; ' || not_passed();
END
$$;
SELECT is(try('id = NULL WHERE id = 3'), 'rejected 2: 2 quarantined; id_not_null failed', 'a NULL in the key');
SELECT is(try('id = 3'), 'rejected 2: 2 quarantined; key_unique failed', 'the same key twice');
SELECT is(try('code = NULL WHERE id = 4'), 'rejected 2: 2 quarantined; code_not_null failed', 'a NULL in a column that is NOT NULL');
SELECT is(try($$code = 'abcd' WHERE id = 4$$), 'rejected 2: 2 quarantined; code_type_fit failed', 'a text that is too long');
SELECT is(try('customer = 9 WHERE id = 4'), 'rejected 2: 2 quarantined; orders_customer_fkey failed', 'a foreign key to nothing');
SELECT is(try('amount = -1, discount = NULL WHERE id = 4'), 'rejected 2: 2 quarantined; orders_amount_check failed', 'a CHECK constraint');
SELECT is(try('amount = 1.005 WHERE id = 3'), 'rejected 2: 2 quarantined; amount_type_fit failed', 'a digit too many behind the point');
SELECT is(try('amount = 10000 WHERE id = 3'), 'rejected 2: 2 quarantined; amount_type_fit failed', 'and one before it');
SELECT is(try('quantity = 0 WHERE id = 3'), 'rejected 2: 2 quarantined; quantity_type_fit failed', 'a value that its domain refuses');
SELECT is(try($$status = 'void' WHERE id = 3$$), 'rejected 2: 2 quarantined; status_type_fit failed', 'a label that the enum lacks');
SELECT is(try($$email = 'same@x'$$), 'rejected 2: 2 quarantined; orders_email_key failed', 'a UNIQUE constraint within the batch');
SELECT is(try('discount = 10 WHERE id = 3'), 'rejected 2: 2 quarantined; small_discount failed', 'a CHECK constraint over two columns');
SELECT is((SELECT array_agg(id ORDER BY id) FROM orders), '{1,2}'::int[], 'nothing of all that reached the target');

-- the detail of a finding
SELECT is(try('customer = 7 WHERE id = 4'), 'rejected 2: 2 quarantined; orders_customer_fkey failed', 'an orphan');
SELECT is((SELECT ROW(check_type, columns, action, status, passed, examined_rows, failing_rows, null_rows)::text
		FROM dq_gate.results_of(last_run()) WHERE check_name = 'orders_customer_fkey'),
	'(referential,{customer},block,failed,f,2,1,0)', 'is counted');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'orders_customer_fkey'),
	'[{"id": 4, "customer": 7}]', 'and shown with its key');
SELECT matches(message('orders_customer_fkey'), '1 of 2 rows.*customer.*customers', 'in words as well');
SELECT is(finding('orders_amount_check'), 'passed 0 of 2', 'a check that passed says how many rows it saw');

-- NULL in a CHECK constraint is SQL's NULL
TRUNCATE orders_staging;
INSERT INTO orders_staging (id, code) VALUES (5, 'x');
SELECT is(outcome(dq_gate.publish('orders_staging', 'orders')), 'published 1: 1 inserted', 'NULL satisfies a CHECK constraint');
SELECT is(finding('small_discount'), 'passed 0 of 1, 1 null', 'and is counted apart');

-- not empty
TRUNCATE orders_staging;
SELECT is(outcome(dq_gate.publish('orders_staging', 'orders')), 'rejected 0', 'an empty batch is no pass');
SELECT is(not_passed(), 'not_empty failed', 'for the one reason that it is empty');
SELECT is((SELECT string_agg(DISTINCT status, ',') FROM dq_gate.results_of(last_run()) WHERE check_name NOT IN ('not_empty', 'schema_contract')),
	'not_judged', 'what looks at rows is not judged');
SELECT is((SELECT count(*) FROM dq_gate.results_of(last_run()) WHERE passed IS NOT NULL AND status = 'not_judged'), 0::bigint,
	'which is not the same as passed');

-- constraints that a batch cannot be judged by alone
CREATE TABLE strict (
	id		int PRIMARY KEY,
	a		int,
	b		int,
	valid	int,
	CONSTRAINT pair UNIQUE NULLS NOT DISTINCT (a, b)
);
ALTER TABLE strict ADD CONSTRAINT late CHECK (valid > 0) NOT VALID;
CREATE TABLE strict_s (id int, a int, b int, valid int);
INSERT INTO strict_s VALUES (1, 1, NULL, 1), (2, 1, NULL, 1);
SELECT is(outcome(dq_gate.publish('strict_s', 'strict')), 'rejected 2: 2 quarantined', 'NULLS NOT DISTINCT makes NULLs equal');
SELECT is(finding('pair'), 'failed 2 of 2, 2 null', 'both rows are counted');
UPDATE strict_s SET b = id, valid = -1 WHERE id = 2;
SELECT is(outcome(dq_gate.publish('strict_s', 'strict')), 'rejected 2: 2 quarantined', 'a constraint that is NOT VALID holds for new rows');
SELECT is(not_passed(), 'late failed', 'and has its check');

-- MATCH FULL and a key of two columns
CREATE TABLE places (country text, city text, PRIMARY KEY (country, city));
INSERT INTO places VALUES ('fr', 'paris');
CREATE TABLE visits (id int PRIMARY KEY, country text, city text,
	CONSTRAINT place FOREIGN KEY (country, city) REFERENCES places MATCH FULL);
CREATE TABLE visits_s (id int, country text, city text);
INSERT INTO visits_s VALUES (1, 'fr', 'paris'), (2, NULL, NULL), (3, 'fr', NULL), (4, 'fr', 'rome');
SELECT is(outcome(dq_gate.publish('visits_s', 'visits')), 'rejected 4: 4 quarantined', 'MATCH FULL allows no half of a key');
SELECT is(finding('place'), 'failed 2 of 4, 2 null', 'the half key and the orphan fail');
ALTER TABLE visits DROP CONSTRAINT place, ADD CONSTRAINT place FOREIGN KEY (country, city) REFERENCES places;
DELETE FROM visits_s WHERE id = 4;
SELECT is(outcome(dq_gate.publish('visits_s', 'visits')), 'published 3: 3 inserted', 'MATCH SIMPLE does');

-- which key
CREATE TABLE no_key (a int, b int);
CREATE TABLE no_key_s (a int, b int);
SELECT raises($$ SELECT dq_gate.publish('no_key_s', 'no_key') $$, '55000', 'no key.*no_key[^$]*create_gate.*key =>',
	'without a key it says how to give one');
CREATE UNIQUE INDEX no_key_a ON no_key (a);
SELECT raises($$ SELECT dq_gate.publish('no_key_s', 'no_key') $$, '55000', 'no key', 'a unique index over a column that can be NULL is none');
ALTER TABLE no_key ALTER a SET NOT NULL;
INSERT INTO no_key_s VALUES (1, 1);
SELECT is(outcome(dq_gate.publish('no_key_s', 'no_key')), 'published 1: 1 inserted', 'the only unique index over NOT NULL columns is one');
ALTER TABLE no_key ALTER b SET NOT NULL;
CREATE UNIQUE INDEX no_key_b ON no_key (b);
SELECT raises($$ SELECT dq_gate.publish('no_key_s', 'no_key') $$, '55000', 'no key', 'of two such indexes neither is');
DROP INDEX no_key_a, no_key_b;
CREATE UNIQUE INDEX ON no_key (a) WHERE b > 0;
CREATE UNIQUE INDEX ON no_key ((a + b));
SELECT raises($$ SELECT dq_gate.publish('no_key_s', 'no_key') $$, '55000', 'no key', 'nor is one over a part of the rows, or over an expression');

-- a column named like what a check would be called
CREATE TABLE clash (id int PRIMARY KEY, v int CONSTRAINT key_unique CHECK (v > 0), CONSTRAINT not_empty CHECK (v < 10));
SELECT is((SELECT count(DISTINCT check_name) = count(*) FROM dq_gate.checks_of('clash')), true, 'no two checks share a name');

SELECT finish();
