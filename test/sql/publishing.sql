-- What publish, audit and publish_or_fail say, and what they leave in the log
-- and in quarantine.
\set VERBOSITY default
SET client_min_messages = warning;
DROP EXTENSION dq_gate CASCADE;
CREATE EXTENSION dq_gate;
SET client_min_messages = notice;
CREATE SCHEMA publishing;
SET search_path = publishing;

CREATE TABLE customers (customer_id int PRIMARY KEY, name text);
INSERT INTO customers VALUES (1, 'one'), (2, 'two');
CREATE TABLE orders (
	order_id bigint PRIMARY KEY,
	customer_id int NOT NULL REFERENCES customers,
	order_total numeric(8,2) CHECK (order_total >= 0),
	status text
);
CREATE TABLE orders_staging (LIKE orders);
ALTER TABLE orders_staging ALTER order_id DROP NOT NULL, ALTER customer_id DROP NOT NULL;

-- no configuration
INSERT INTO orders_staging VALUES (1, 1, 10, 'new'), (2, 2, 20.50, 'paid');
SELECT run_id, batch_id, verdict, passed, published, row_count, inserted, updated,
	unchanged, deleted, quarantined, dropped, checks_failed, failures
FROM dq_gate.publish('orders_staging', 'orders', batch_id => 'monday', as_of => '2026-01-05') \gx

-- the next day: one row new, one changed, one the same
TRUNCATE orders_staging;
INSERT INTO orders_staging VALUES (1, 1, 10.00, 'new'), (2, 2, 20.50, 'shipped'), (3, 1, 5, 'new');
SELECT verdict, row_count, inserted, updated, unchanged
FROM dq_gate.publish('orders_staging', 'orders', 'tuesday');

-- a bad day
INSERT INTO orders_staging VALUES (4, 9, 1, 'new'), (4, NULL, -1, 'new'), (NULL, 1, 1, 'new');
SELECT verdict, passed, published, row_count, quarantined, checks_failed, failures
FROM dq_gate.publish('orders_staging', 'orders', 'wednesday') \gx
SELECT * FROM orders ORDER BY order_id;
SELECT run_id, batch_id, failed_checks, order_id, customer_id, order_total, status
FROM dq_quarantine.orders ORDER BY order_id, customer_id;
SELECT check_name, check_type, columns, status, passed, expected_value, actual_value,
	threshold, examined_rows, failing_rows, null_rows
FROM dq_gate.results_of(3);
SELECT check_name, sample, message FROM dq_gate.results_of(3) WHERE NOT passed;

-- the same batch, only looked at
SELECT verdict, passed, published, quarantined, checks_failed
FROM dq_gate.audit('orders_staging', 'orders', 'wednesday, again');

-- and with an error for whoever calls
CALL dq_gate.publish_or_fail('orders_staging', 'orders', 'wednesday, at last');

-- an empty batch is no pass
TRUNCATE orders_staging;
SELECT verdict, row_count, failures FROM dq_gate.publish('orders_staging', 'orders', 'thursday');
SELECT check_name, status, passed, examined_rows, message FROM dq_gate.results_of(6);

-- a gate with declared checks
SELECT dq_gate.create_gate('orders', staging => 'orders_staging', layer => 'silver',
						   owner => 'finance-data');
SELECT dq_gate.expect_range('orders', 'order_total', min => 1, max => 1000,
							action => 'quarantine', owner => 'billing');
SELECT dq_gate.expect_sql('orders', 'status_known',
						  $$status IN ('new', 'paid', 'shipped') -- as in the shop$$,
						  action => 'warn', description => 'states of the shop');
SELECT check_name, check_type, rule, action, nulls, owner, origin, description
FROM dq_gate.checks_of('orders');
INSERT INTO orders_staging VALUES (5, 1, 0.5, 'lost'), (6, 1, 5000, 'new'), (7, 2, 50, NULL), (8, 2, NULL, 'paid');
SELECT verdict, passed, published, row_count, inserted, quarantined, checks_failed, failures
FROM dq_gate.publish('orders_staging', 'orders', 'friday') \gx
SELECT failed_checks, order_id, order_total, status FROM dq_quarantine.orders
WHERE run_id = 7 ORDER BY order_id;

-- every row in quarantine leaves nothing to publish
DELETE FROM orders_staging WHERE order_id > 6;
SELECT verdict, row_count, quarantined, failures
FROM dq_gate.publish('orders_staging', 'orders', 'saturday');

-- the audit passes, the publish does not
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN RAISE 'not today' USING DETAIL = 'It is sunday.', ERRCODE = 'P4321'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION refuse();
TRUNCATE orders_staging;
INSERT INTO orders_staging VALUES (9, 1, 9, 'new'), (10, 1, 0, 'new');
SELECT verdict, passed, published, row_count, inserted, quarantined, checks_failed, failures
FROM dq_gate.publish('orders_staging', 'orders', 'sunday') \gx
SELECT verdict, passed, published, error, error_sqlstate, quarantine, layer, owner
FROM dq_gate.runs WHERE batch_id = 'sunday' \gx
SELECT failed_checks, order_id FROM dq_quarantine.orders WHERE batch_id = 'sunday' ORDER BY 2;
CALL dq_gate.publish_or_fail('orders_staging', 'orders', 'sunday evening');
SELECT count(*) FROM orders WHERE order_id IN (9, 10);
DROP TRIGGER refuse ON orders;

-- a rule that cannot be evaluated fails, and leaves the others alone
SELECT dq_gate.expect_sql('orders', 'broken', '100 / order_total > 0');
SELECT verdict, failures FROM dq_gate.publish('orders_staging', 'orders', 'monday again');
SELECT check_name, status, message FROM dq_gate.results_of(11) WHERE status <> 'passed';
ALTER TABLE orders RENAME order_total TO total;
ALTER TABLE orders_staging RENAME order_total TO total;
SELECT check_name, status, message FROM dq_gate.results_of(
	(SELECT run_id FROM dq_gate.audit('orders_staging', 'orders', 'renamed'))) WHERE status <> 'passed';

-- not ready yet: the batch is left alone, and nobody is alarmed
SELECT dq_gate.drop_check('orders', 'broken'), dq_gate.drop_check('orders', 'order_total_range');
SELECT dq_gate.expect_row_count('orders', 100, action => 'skip');
SELECT verdict, passed, published, quarantined, failures FROM dq_gate.publish('orders_staging', 'orders', 'early');
SELECT verdict, passed, failures FROM dq_gate.audit('orders_staging', 'orders', 'early');
CALL dq_gate.publish_or_fail('orders_staging', 'orders', 'early');
SELECT dq_gate.drop_check('orders', 'row_count');

-- drift: the schema contract names what is wrong
ALTER TABLE orders_staging ADD note text, DROP customer_id, ALTER total TYPE boolean USING true;
SELECT verdict, failures FROM dq_gate.publish('orders_staging', 'orders', 'drift') \gx
SELECT batch_id, order_id, total, note FROM dq_quarantine.orders WHERE batch_id = 'drift' ORDER BY 2;

-- the log
SELECT run_id, target, gate, staging, batch_id, as_of, verdict, passed, published, row_count,
	inserted, updated, unchanged, deleted, quarantined, dropped, checks_run, checks_failed
FROM dq_gate.runs ORDER BY run_id;

SELECT dq_gate.drop_gate('orders');
SELECT count(*) FROM dq_gate.checks;
SET client_min_messages = warning;
SET search_path = public;
DROP SCHEMA publishing CASCADE;
