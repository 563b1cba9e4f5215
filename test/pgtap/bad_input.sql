-- what cannot work says so clearly, before anything is done
\ir include/helpers.sql
SELECT plan(65);

CREATE TABLE t (id int PRIMARY KEY, v int, n text);
CREATE TABLE s (id int, v int, n text);
INSERT INTO s VALUES (1, 1, 'a');

-- relations that are no tables
CREATE VIEW view_of_t AS TABLE t;
CREATE MATERIALIZED VIEW matview_of_s AS TABLE s;
CREATE SEQUENCE counter;
CREATE INDEX s_v ON s (v);
CREATE TYPE composite AS (id int);
SELECT raises(format('SELECT dq_gate.%s(%L, %L)', f, 's', r), '42809', 'cannot be a target', format('%s refuses %s as target', f, r))
FROM unnest(ARRAY['publish', 'audit']) f, unnest(ARRAY['view_of_t', 'matview_of_s', 'counter', 's_v', 'composite']) r;
SELECT raises(format('SELECT dq_gate.%s(%L, %L)', f, r, 't'), '42809', 'cannot be a staging', format('%s refuses %s as staging', f, r))
FROM unnest(ARRAY['publish', 'audit']) f, unnest(ARRAY['view_of_t', 'matview_of_s', 'counter']) r;
SELECT raises($$ SELECT dq_gate.publish('view_of_t', 't') $$, '42809', 'view[^$]*copy it into', 'a view as staging gets a way out');
SELECT raises($$ SELECT dq_gate.create_gate('view_of_t') $$, '42809', 'view_of_t cannot be a target', 'a gate cannot guard a view');
SELECT raises($$ SELECT dq_gate.create_gate('t', staging => 'view_of_t') $$, '42809', 'view_of_t cannot be a staging', 'nor take batches from one');
SELECT raises($$ SELECT dq_gate.expect_range('view_of_t', 'v', min => 0) $$, '42809', 'view_of_t cannot be a target', 'nor have a check on one');
SELECT raises($$ SELECT * FROM dq_gate.checks_of('view_of_t') $$, '42809', 'view_of_t cannot be a target', 'nor show one');
SELECT raises($$ SELECT dq_gate.publish('s', 'pg_class') $$, '42809', 'pg_class.*[^$]*belongs to the system', 'a catalog cannot be a target');
SELECT raises($$ SELECT dq_gate.publish('s', 'dq_gate.runs') $$, '42809', 'dq_gate', 'nor can the log');
SELECT raises($$ SELECT dq_gate.publish('nowhere', 't') $$, '42P01', '"nowhere" does not exist', 'staging that does not exist');
SELECT raises($$ SELECT dq_gate.publish('s', 'nowhere') $$, '42P01', '"nowhere" does not exist', 'a target that does not exist');
SELECT raises($$ SELECT dq_gate.publish(999999999::oid, 't') $$, '42P01', '999999999', 'a number that is no table');
SELECT raises($$ SELECT dq_gate.publish('s', 999999999::oid) $$, '42P01', '999999999', 'on either side');
SELECT raises($$ SELECT dq_gate.publish('t', 't') $$, '22023', 'same table', 'staging and target are one');
SELECT raises($$ SELECT dq_gate.create_gate('t', staging => 't') $$, '22023', 'same table', 'nor can a gate have it so');

-- NULL where a table is wanted
SELECT raises($$ SELECT dq_gate.publish(NULL, 't') $$, '22004', 'staging', 'no staging');
SELECT raises($$ SELECT dq_gate.publish('s', NULL) $$, '22004', 'target', 'no target');
SELECT raises($$ SELECT dq_gate.audit('s', NULL) $$, '22004', 'target', 'no target to audit for');
SELECT raises($$ SELECT dq_gate.create_gate(NULL) $$, '22004', 'target', 'no target to guard');
SELECT raises($$ SELECT dq_gate.alter_gate(NULL) $$, '22004', 'target', 'no gate to change');
SELECT raises($$ SELECT * FROM dq_gate.checks_of(NULL) $$, '22004', 'target', 'no target to show');
SELECT raises($$ SELECT dq_gate.expect_range(NULL, 'v', min => 0) $$, '22004', 'target', 'no target for a range');
SELECT raises($$ SELECT dq_gate.expect_range('t', NULL, min => 0) $$, '22004', 'column_name', 'no column for a range');
SELECT raises($$ SELECT dq_gate.expect_sql('t', NULL, 'v > 0') $$, '22004', 'name', 'no name for a rule');
SELECT raises($$ SELECT dq_gate.expect_sql('t', 'x', NULL) $$, '22004', 'expression', 'no expression for a rule');

-- the key
CREATE TABLE no_key_staged (v int, n text);
INSERT INTO no_key_staged VALUES (1, 'a');
SELECT raises($$ SELECT dq_gate.publish('no_key_staged', 't') $$, '42703', 'key column id .*missing in.*no_key_staged', 'a key column that is not staged');
SELECT raises($$ SELECT dq_gate.create_gate('t', key => '{id,nothing}') $$, '42703', 'key column nothing', 'a key column that does not exist');
SELECT raises($$ SELECT dq_gate.create_gate('t', key => '{id,id}') $$, '42701', 'id.*twice', 'a key column named twice');
SELECT raises($$ SELECT dq_gate.create_gate('t', key => ARRAY['id', NULL]) $$, '22004', 'NULL', 'a key column without a name');
CREATE TABLE documents (doc json, v int);
SELECT raises($$ SELECT dq_gate.create_gate('documents', key => '{doc}') $$, '42883', 'doc.*json.*equality', 'a key that cannot be compared');

-- declared checks
SELECT raises($$ SELECT dq_gate.expect_range('t', 'nothing', min => 0) $$, '42703', 'column nothing', 'a column that does not exist');
SELECT raises($$ SELECT dq_gate.expect_range('t', 'v') $$, '22023', 'min, max or both', 'a range without bounds');
SELECT raises($$ SELECT dq_gate.expect_range('t', 'v', min => 5, max => 1) $$, '22023', 'min 5 is above max 1', 'bounds the wrong way round');
SELECT raises($$ SELECT dq_gate.expect_range('t', 'v', min => 'abc') $$, '22P02', 'min of a range on column v[^$]*integer', 'a bound that the column could not hold');
SELECT raises($$ SELECT dq_gate.expect_range('t', 'v', max => '99999999999') $$, '22003', 'max of a range on column v', 'nor one out of its range');
SELECT raises($$ SELECT dq_gate.expect_range('documents', 'doc', min => '{}') $$, '42883', 'doc.*json.*order', 'a column that has no order');
SELECT raises($$ SELECT dq_gate.expect_sql('t', 'x', 'nothing > 0') $$, '42703', 'nothing', 'an expression over a column that does not exist');
SELECT raises($$ SELECT dq_gate.expect_sql('t', 'x', 'v + 1') $$, '42804', 'boolean', 'an expression that is not boolean');
SELECT raises($$ SELECT dq_gate.expect_sql('t', 'x', 'v >') $$, '42601', 'syntax', 'half an expression');
SELECT raises($$ SELECT dq_gate.expect_sql('t', 'x', 'count(*) > 1') $$, '42803', 'aggregate', 'an aggregate');
SELECT raises($$ SELECT dq_gate.expect_sql('t', 'x', 'batch IS NOT NULL') $$, '0A000', 'whole row', 'a whole row');
SELECT raises($$ SELECT dq_gate.expect_sql('t', 'x', 'generate_series(1, v) > 0') $$, '0A000', 'set-returning', 'more than one answer a row');

-- the rest of the world
SELECT raises($$ SELECT dq_gate.alter_gate('t', owner => 'x') $$, '42704', 'no gate is registered.*[^$]*create_gate', 'a gate that does not exist cannot be changed');
SELECT raises($$ SELECT dq_gate.drop_gate('t') $$, '42704', 'no gate is registered', 'nor dropped');

BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT raises($$ SELECT dq_gate.publish('s', 't') $$, '0A000', 'REPEATABLE READ[^$]*READ COMMITTED', 'a snapshot older than the locks is refused');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT raises($$ SELECT dq_gate.publish('s', 't') $$, '0A000', 'SERIALIZABLE[^$]*READ COMMITTED', 'on either level');
COMMIT;
BEGIN READ ONLY;
SELECT throws_ok($$ SELECT dq_gate.publish('s', 't') $$, '25006', NULL, 'so is a transaction that cannot write');
COMMIT;

SELECT is_empty('TABLE t', 'nothing was published by all this');
SELECT is_empty('TABLE dq_gate.runs', 'and no run recorded');
SELECT is_empty('TABLE dq_gate.gates', 'and no gate');
SELECT is_empty('TABLE dq_gate.checks', 'and no check');

SELECT finish();
