-- Bad input gets an error that names the object and the way out, before any
-- work is done.
\set VERBOSITY default
SET client_min_messages = warning;
DROP EXTENSION dq_gate CASCADE;
CREATE EXTENSION dq_gate;
CREATE SCHEMA bad_input;
SET search_path = bad_input;

CREATE TABLE t (id int PRIMARY KEY, v text, n int GENERATED ALWAYS AS (length(v)) STORED);
CREATE TABLE s (id int, v text);
INSERT INTO s VALUES (1, 'a');
CREATE VIEW a_view AS SELECT * FROM t;
CREATE MATERIALIZED VIEW a_matview AS SELECT * FROM s;
CREATE TABLE no_key (id int, v text);
CREATE TABLE two_keys (a int NOT NULL UNIQUE, b int NOT NULL UNIQUE);

-- tables that cannot play the part
SELECT dq_gate.publish('s', 'no_such_table');
SELECT dq_gate.publish('no_such_table', 't');
SELECT dq_gate.publish('s', 'a_view');
SELECT dq_gate.publish('a_view', 't');
SELECT dq_gate.publish('a_matview', 't');
SELECT dq_gate.publish('s', 'pg_catalog.pg_class');
SELECT dq_gate.publish('s', 'dq_gate.runs');
SELECT dq_gate.publish('t', 't');
SELECT dq_gate.publish(4294967295, 't');
SELECT dq_gate.publish('s', NULL);
SELECT dq_gate.publish(NULL, 't');
CREATE TABLE parent (id int PRIMARY KEY) PARTITION BY LIST (id);
CREATE TABLE child PARTITION OF parent FOR VALUES IN (1);
SELECT dq_gate.publish('child', 'parent');
SELECT dq_gate.publish('parent', 'child');

-- keys
SELECT dq_gate.publish('s', 'no_key');
SELECT dq_gate.publish('s', 'two_keys');
SELECT dq_gate.create_gate('no_key');
SELECT dq_gate.create_gate('no_key', key => ARRAY['id', 'nope']);
SELECT dq_gate.create_gate('no_key', key => ARRAY['id', 'id']);
SELECT dq_gate.create_gate('no_key', key => ARRAY['id', NULL]);
SELECT dq_gate.create_gate('t', key => ARRAY['n']);
CREATE TABLE json_key (doc json);
SELECT dq_gate.create_gate('json_key', key => ARRAY['doc']);
CREATE TABLE s_without_key (v text);
SELECT dq_gate.publish('s_without_key', 't');

-- gates
SELECT dq_gate.alter_gate('t', layer => 'gold');
SELECT dq_gate.drop_gate('t');
SELECT dq_gate.create_gate('a_view');
SELECT dq_gate.create_gate('t', staging => 't');
SELECT dq_gate.create_gate(NULL);
SELECT dq_gate.create_gate('t', staging => 's');
SELECT dq_gate.create_gate('t');

-- checks
SELECT dq_gate.expect_range('t', 'nope', min => 0);
SELECT dq_gate.expect_range('t', 'n', min => 0);
SELECT dq_gate.expect_range('t', 'id');
SELECT dq_gate.expect_range('t', NULL, min => 0);
SELECT dq_gate.expect_range('t', 'id', min => 5, max => 1);
SELECT dq_gate.expect_range('t', 'id', min => 'zero');
SELECT dq_gate.expect_range('t', 'id', min => 0.5);
SELECT dq_gate.expect_range('json_key', 'doc', min => 0);
SELECT dq_gate.expect_range('t', 'id', min => 0, action => 'explode');
SELECT dq_gate.expect_range('t', 'id', min => 0, nulls => 'maybe');
SELECT dq_gate.expect_range('t', 'id', min => 0, name => 'small');
SELECT dq_gate.expect_range('t', 'id', min => 0, name => 'small');
SELECT dq_gate.expect_sql('t', NULL, 'true');
SELECT dq_gate.expect_sql('t', 'x', NULL);
SELECT dq_gate.expect_sql('t', 'x', 'nope > 0');
SELECT dq_gate.expect_sql('t', 'x', 'id');
SELECT dq_gate.expect_sql('t', 'x', 'id > ');
SELECT dq_gate.expect_sql('t', 'x', 'id > 0, v = ''a''');
SELECT dq_gate.expect_sql('t', 'x', 'id > 0; DROP TABLE t');
SELECT dq_gate.expect_sql('t', 'x', 'true FROM t');
SELECT dq_gate.expect_sql('t', 'x', 'count(*) > 0');
SELECT dq_gate.expect_sql('t', 'x', 'batch IS NOT NULL');
SELECT dq_gate.expect_sql('t', 'x', 'tableoid > 0');
SELECT dq_gate.expect_sql('t', 'x', 'id = $1');
SELECT dq_gate.expect_sql('t', 'x', 'random() < id', action => 'quarantine');
SELECT dq_gate.drop_check('t', 'nope');
SELECT dq_gate.drop_check('t', 'id_not_null');

-- transactions
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT dq_gate.publish('s', 't');
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT dq_gate.publish('s', 't');
ROLLBACK;
BEGIN READ ONLY;
SELECT dq_gate.publish('s', 't');
ROLLBACK;
BEGIN;
CALL dq_gate.publish_or_fail('s', 't');
ROLLBACK;

-- nothing of all this has left a trace
SELECT count(*) FROM dq_gate.runs;
SELECT count(*) FROM t;
SELECT name FROM dq_gate.checks;
SELECT target, staging, key FROM dq_gate.gates;

-- rights
CREATE ROLE regress_dq_owner;
CREATE ROLE regress_dq_loader;
CREATE ROLE regress_dq_stranger;
GRANT USAGE ON SCHEMA bad_input TO regress_dq_loader;
CREATE TABLE rt (id int PRIMARY KEY, v text);
CREATE TABLE rs (id int, v text);
INSERT INTO rs VALUES (1, 'a');
ALTER TABLE rt OWNER TO regress_dq_owner;
ALTER TABLE rs OWNER TO regress_dq_owner;
SET ROLE regress_dq_loader;
SELECT dq_gate.publish('bad_input.rs', 'bad_input.rt');
RESET ROLE;
GRANT SELECT ON rs TO regress_dq_loader;
SET ROLE regress_dq_loader;
SELECT dq_gate.publish('bad_input.rs', 'bad_input.rt');
SELECT (dq_gate.audit('bad_input.rs', 'bad_input.rt')).verdict;
SELECT dq_gate.create_gate('bad_input.rt');
SELECT dq_gate.expect_range('bad_input.rt', 'id', min => 0);
RESET ROLE;
GRANT USAGE ON SCHEMA bad_input TO regress_dq_owner, regress_dq_stranger;
SELECT dq_gate.create_gate('rt', run_as => 'regress_dq_loader');
SET ROLE regress_dq_owner;
SELECT dq_gate.publish('bad_input.rs', 'bad_input.rt');
SELECT dq_gate.alter_gate('bad_input.rt', run_as => 'regress_dq_stranger');
SET ROLE regress_dq_stranger;
SELECT dq_gate.drop_gate('bad_input.rt');
SELECT dq_gate.drop_check('bad_input.rt', 'x');
RESET ROLE;

SET search_path = public;
DROP SCHEMA bad_input CASCADE;
DROP ROLE regress_dq_owner, regress_dq_loader, regress_dq_stranger;
