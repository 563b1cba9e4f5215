-- audit_table: what is bad already in a published table
\ir include/helpers.sql
SELECT plan(41);
SET client_min_messages = error;

-- a result in words: "failed 1 of 3, 2 null"
CREATE FUNCTION backlog(target regclass, name text) RETURNS text LANGUAGE sql AS $$
	SELECT status || coalesce(' ' || failing_rows, '') || coalesce(' of ' || examined_rows, '')
		|| coalesce(', ' || nullif(null_rows, 0) || ' null', '')
	FROM dq_gate.audit_table(target) WHERE check_name = name
$$;
CREATE FUNCTION log_rows() RETURNS bigint LANGUAGE sql AS
	'SELECT (SELECT count(*) FROM dq_gate.runs) + (SELECT count(*) FROM dq_gate.results) + (SELECT count(*) FROM dq_gate.rule_sets)';

CREATE TABLE customers (customer_id int PRIMARY KEY);
INSERT INTO customers VALUES (1), (2);
CREATE TABLE orders (
	order_id int PRIMARY KEY,
	customer_id int,
	total numeric(8,2),
	status text,
	placed date,
	tax numeric GENERATED ALWAYS AS (total * 0.2) STORED
);

-- a table without a gate, on what follows from the target
SELECT results_eq($$ SELECT check_name, check_type, columns, rule, action, status, examined_rows, failing_rows, null_rows, sample, message, owner FROM dq_gate.audit_table('orders') $$,
	$$ VALUES ('key_unique', 'unique', '{order_id}'::text[], 'order_id is unique in the table', 'block', 'not_judged', 0::int8, NULL::int8, 0::int8, NULL::jsonb, 'no rows', NULL),
		('order_id_not_null', 'not_null', '{order_id}', 'order_id is not NULL', 'block', 'not_judged', 0, 0, 0, NULL, 'no rows', NULL) $$,
	'an empty table without a gate');
INSERT INTO orders VALUES (1, 1, 10, 'new', '2026-01-01'), (2, 2, 20, 'paid', NULL), (3, 7, -5, 'lost', NULL), (4, NULL, NULL, NULL, NULL);
ALTER TABLE orders ADD CONSTRAINT positive CHECK (total > 0) NOT VALID;
SELECT is(backlog('orders', 'key_unique'), 'passed 0 of 4', 'a derived check');
SELECT is(backlog('orders', 'positive'), 'failed 1 of 4, 1 null', 'a constraint that was never validated');
SELECT is((SELECT count(*)::int FROM dq_gate.gates), 0, 'no gate came to be');

-- declared checks
SELECT dq_gate.create_gate('orders', owner => 'sales') \g /dev/null
SELECT dq_gate.expect_range('orders', 'total', min => 0, max => 100) \g /dev/null
SELECT dq_gate.expect_range('orders', 'total', min => 0, max => 100, nulls => 'fail', name => 'total_known', owner => 'billing') \g /dev/null
SELECT dq_gate.expect_accepted_values('orders', 'status', ARRAY['new', 'paid'], action => 'quarantine') \g /dev/null
SELECT dq_gate.expect_referential('orders', ARRAY['customer_id'], 'customers') \g /dev/null
SELECT dq_gate.expect_not_null('orders', 'placed', filter => $$ status = 'paid' $$) \g /dev/null
SELECT dq_gate.expect_sql('orders', 'cheap', 'total < 50', nulls => 'pass', action => 'warn') \g /dev/null
SELECT is(backlog('orders', 'total_range'), 'failed 1 of 4, 1 null', 'fails, and NULL passes');
SELECT is(backlog('orders', 'total_known'), 'failed 2 of 4, 1 null', 'or does not');
SELECT is(backlog('orders', 'status_accepted_values'), 'failed 1 of 4, 1 null', 'one with another action');
SELECT is(backlog('orders', 'customer_id_referential'), 'failed 1 of 4, 1 null', 'one with a query of its own');
SELECT is(backlog('orders', 'placed_not_null'), 'failed 1 of 1, 1 null', 'one with a filter');
SELECT is(backlog('orders', 'cheap'), 'passed 0 of 4, 1 null', 'one that passes');
SELECT is((SELECT ROW(rule, action, sample, message, owner)::text FROM dq_gate.audit_table('orders') WHERE check_name = 'total_range'),
	'("total between 0 and 100",block,"[{""total"": -5.00, ""order_id"": 3}]","1 of 4 rows: total not between 0 and 100, for example {""total"": -5.00, ""order_id"": 3}",sales)',
	'rule, action, sample, message and owner');
SELECT is((SELECT owner FROM dq_gate.audit_table('orders') WHERE check_name = 'total_known'), 'billing', 'the owner of the check itself');
SELECT is((SELECT rule FROM dq_gate.audit_table('orders') WHERE check_name = 'placed_not_null'), $$placed is not NULL, where  status = 'paid' $$, 'the rule tells the filter');

-- limits are judged as in a run
SELECT dq_gate.expect_range('orders', 'total', min => 0, name => 'tolerant', max_rows => 1) \g /dev/null
SELECT dq_gate.expect_range('orders', 'total', min => 15, name => 'levels', action => 'warn', block_above => 1) \g /dev/null
SELECT is(backlog('orders', 'tolerant'), 'passed 1 of 4, 1 null', 'a tolerance');
SELECT is((SELECT ROW(status, action, failing_rows)::text FROM dq_gate.audit_table('orders') WHERE check_name = 'levels'), '(failed,block,2)', 'a level');

-- what is not about rows, or not evaluated
SELECT dq_gate.expect_row_count('orders', min => 100) \g /dev/null
SELECT dq_gate.expect_freshness('orders', 'placed', '1 day') \g /dev/null
SELECT dq_gate.expect_sql('orders', 'known', 'total > 0', action => 'declare') \g /dev/null
SELECT is((SELECT string_agg(check_name, ', ') FROM dq_gate.audit_table('orders') WHERE check_type IN ('row_count', 'freshness', 'not_empty', 'schema_contract', 'unique_in_target')), NULL,
	'checks of a batch are left out');
SELECT is((SELECT status || ': ' || message FROM dq_gate.audit_table('orders') WHERE check_name = 'known'), 'not_judged: declared only, not evaluated', 'a declared rule is not evaluated');
SELECT dq_gate.expect_sql('orders', 'of_batch', 'dq_gate.batch_id() IS NULL AND dq_gate.as_of() IS NULL') \g /dev/null
SELECT is(backlog('orders', 'of_batch'), 'passed 0 of 4', 'there is no batch to know');
SELECT dq_gate.expect_within('orders', 'placed', max_past => '1 day', reference => 'as_of') \g /dev/null
SELECT is((SELECT status || ': ' || message FROM dq_gate.audit_table('orders') WHERE check_name = 'placed_within'), 'not_judged: the table has no as_of, only a batch has one', 'nor its date');

-- a broken check leaves the others alone
CREATE FUNCTION half(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 / 0';
SELECT dq_gate.expect_sql('orders', 'halved', 'half(order_id) > 0') \g /dev/null
SELECT dq_gate.expect_not_null('orders', 'status', name => 'has_status') \g /dev/null
SELECT is((SELECT status || ': ' || message FROM dq_gate.audit_table('orders') WHERE check_name = 'halved'), 'error: could not be evaluated: division by zero', 'a broken check');
SELECT is(backlog('orders', 'has_status'), 'failed 1 of 4, 1 null', 'leaves the others alone');
ALTER TABLE orders RENAME status TO state;
SELECT is((SELECT status || ': ' || message FROM dq_gate.audit_table('orders') WHERE check_name = 'has_status'), 'error: could not be evaluated: column status does not exist in the target', 'a column that is gone');
ALTER TABLE orders RENAME state TO status;

-- nothing is logged, nothing changed
CREATE FUNCTION writes() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.customers VALUES (9); RETURN true; END $$;
SELECT dq_gate.expect_sql('orders', 'writes', 'writes()') \g /dev/null
SELECT matches((SELECT status || ': ' || message FROM dq_gate.audit_table('orders') WHERE check_name = 'writes'), 'error: .*read-only transaction', 'a rule cannot write');
SELECT dq_gate.drop_check('orders', 'writes') \g /dev/null
SELECT is((SELECT count(*)::int FROM customers), 2, 'and has not');
SELECT is(log_rows(), 0::bigint, 'nothing was logged');
BEGIN READ ONLY;
SELECT backlog('orders', 'total_range') AS found \gset
SELECT coalesce(pg_current_xact_id_if_assigned()::text, 'none') AS xid \gset
SELECT is(:'found'::text, 'failed 1 of 4, 1 null', 'in a transaction that is read-only');
SELECT is(:'xid'::text, 'none', 'it takes no transaction id');
SELECT is((SELECT count(*)::int FROM pg_locks WHERE relation = 'orders'::regclass AND pid = pg_backend_pid() AND mode <> 'AccessShareLock'), 0, 'readers'' locks alone');
COMMIT;
SELECT is((SELECT string_agg(ctid || ' ' || o, ';') FROM orders o), '(0,1) (1,1,10.00,new,2026-01-01,2.000);(0,2) (2,2,20.00,paid,,4.000);(0,3) (3,7,-5.00,lost,,-1.000);(0,4) (4,,,,,)', 'no row was touched');

-- no key at all, and inheriting rows
CREATE TABLE loose ("Mixed Case" int, "sel""ect" text);
CREATE TABLE looser () INHERITS (loose);
INSERT INTO loose VALUES (1, 'a'), (1, NULL);
INSERT INTO looser VALUES (1, 'b');
SELECT dq_gate.create_gate('loose', key => ARRAY['Mixed Case']) \g /dev/null
SELECT is(backlog('loose', 'key_unique'), 'failed 3 of 3', 'names that need quotes, and a key that the gate gives');
SELECT dq_gate.expect_not_null('loose', 'sel"ect') \g /dev/null
SELECT is((SELECT message FROM dq_gate.audit_table('loose') WHERE check_name = 'sel"ect_not_null'), '1 of 3 rows: "sel""ect" is NULL, for example {"sel\"ect": null, "Mixed Case": 1}', 'in messages as well');
CREATE TABLE keyless (v int NOT NULL);
INSERT INTO keyless VALUES (1);
SELECT is(backlog('keyless', 'v_not_null'), 'passed 0 of 1', 'no key is needed');

-- partitions
CREATE SCHEMA "Odd Schema";
CREATE TABLE "Odd Schema"."Parts" (id int, at int NOT NULL, v int, UNIQUE (id, at)) PARTITION BY RANGE (at);
CREATE TABLE parts_1 PARTITION OF "Odd Schema"."Parts" FOR VALUES FROM (0) TO (10);
CREATE TABLE parts_2 PARTITION OF "Odd Schema"."Parts" FOR VALUES FROM (10) TO (20);
INSERT INTO "Odd Schema"."Parts" VALUES (1, 1, 1), (1, 11, NULL), (2, 12, 5);
SELECT dq_gate.create_gate('"Odd Schema"."Parts"', key => ARRAY['id', 'at']) \g /dev/null
SELECT dq_gate.expect_range('"Odd Schema"."Parts"', 'v', max => 4) \g /dev/null
SELECT dq_gate.expect_unique('"Odd Schema"."Parts"', ARRAY['id']) \g /dev/null
SELECT is(backlog('"Odd Schema"."Parts"', 'v_range'), 'failed 1 of 3, 1 null', 'rows of all partitions');
SELECT is((SELECT message FROM dq_gate.audit_table('"Odd Schema"."Parts"') WHERE check_name = 'id_unique'), 'id is not unique in the table: 1 duplicated value in 2 rows, 1 surplus, for example {"id": 1, "rows": 2}', 'compared across them');

-- a hundred columns
SELECT format('CREATE TABLE wide (id int PRIMARY KEY, %s)', string_agg('c' || i || ' int NOT NULL', ', ')) FROM generate_series(1, 99) i \gexec
SELECT format('INSERT INTO wide SELECT %s', string_agg(i::text, ', ')) FROM generate_series(1, 100) i \gexec
SELECT is((SELECT count(*) || ' ' || string_agg(DISTINCT status, ',') FROM dq_gate.audit_table('wide')), '101 passed', 'a table of 100 columns');

-- rights are those of audit
SELECT raises($$ SELECT * FROM dq_gate.audit_table(NULL) $$, '22004', 'target', 'no table');
CREATE VIEW seen AS SELECT 1 AS one;
SELECT raises($$ SELECT * FROM dq_gate.audit_table('seen') $$, '42809', 'seen cannot be a target table', 'a view');
SET ROLE dq_outsider;
SELECT raises($$ SELECT * FROM dq_gate.audit_table('keyless') $$, '42501', 'permission denied for table public.keyless[^$]*dq_outsider[^$]*SELECT', 'a role that may not read the table');
SELECT raises($$ SELECT * FROM dq_gate.audit_table('orders') $$, '42501', 'permission denied for gate public.orders[^$]*not a member', 'or act as the role of the gate');
RESET ROLE;
GRANT SELECT ON keyless TO dq_outsider;
SET ROLE dq_outsider;
SELECT is(backlog('keyless', 'v_not_null'), 'passed 0 of 1', 'one that may read it');
RESET ROLE;
ALTER TABLE keyless ENABLE ROW LEVEL SECURITY;
SET ROLE dq_outsider;
SELECT raises($$ SELECT * FROM dq_gate.audit_table('keyless') $$, '42501', 'row-level security of table public.keyless would hide rows', 'but would not see all rows');
RESET ROLE;

SELECT finish();
