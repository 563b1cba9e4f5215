-- registering, changing and forgetting a gate, and who may
\ir include/helpers.sql
SELECT plan(63);

CREATE TABLE t (id int, v int, code text UNIQUE NOT NULL);
CREATE TABLE s (id int, v int, code text);
INSERT INTO s VALUES (1, -1, 'a'), (2, 2, 'b');

-- create
SELECT is(dq_gate.create_gate('t', staging => 's', key => '{id}', layer => 'silver', owner => 'finance-data', description => 'orders as billed'), 't'::regclass,
	'create_gate answers with the target');
SELECT results_eq('SELECT target, staging, key, layer, owner, description, run_as::text, created_by FROM dq_gate.gates',
	$$ VALUES ('t'::regclass, 's'::regclass, '{id}'::text[], 'silver', 'finance-data', 'orders as billed', 'dq_tester', name 'dq_tester') $$, 'the gate is what was said');
SELECT raises($$ SELECT dq_gate.create_gate('t') $$, '42710', 'already exists[^$]*alter_gate', 'a target has one gate');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 2: 2 inserted', 'it publishes by its key');
SELECT results_eq('SELECT layer, owner, called_by, run_as, gate, staging FROM dq_gate.runs WHERE run_id = last_run()',
	$$ VALUES ('silver', 'finance-data', name 'dq_tester', name 'dq_tester', 'public.t', 'public.s') $$, 'the run tells whose it is');
SELECT ok((SELECT bool_and(owner = 'finance-data') FROM dq_gate.results_of(last_run())), 'and so does each result');
SELECT dq_gate.expect_range('t', 'v', min => -5, owner => 'billing', description => 'no large refunds') \g /dev/null
SELECT results_eq('SELECT owner, description, nulls, rule, origin FROM dq_gate.checks_of(''t'') WHERE check_name = ''v_range''',
	$$ VALUES ('billing', 'no large refunds', 'pass', 'v >= -5', 'declared') $$, 'a check may have an owner of its own');
SELECT is((SELECT count(*) FROM dq_gate.checks_of('t') WHERE owner <> 'finance-data'), 1::bigint, 'the others have that of the gate');

-- a key that no index of the target guarantees
SELECT ok((SELECT count(*) = 1 FROM dq_gate.checks_of('t') WHERE check_type = 'unique_in_target'), 'a key that the target does not guarantee is checked there');
INSERT INTO t VALUES (1, 7, 'c');
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 2: 2 quarantined', 'a staged row that would change two rows of the target');
SELECT is(not_passed(), 'key_unique_in_target failed', 'is found before it does');
DELETE FROM t WHERE code = 'c';
INSERT INTO t VALUES (9, 7, 'd'), (9, 7, 'e');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 2: 2 unchanged', 'duplicates that the batch does not touch are none of its business');

-- alter: what is NULL stays, what is empty goes back
SELECT is(dq_gate.alter_gate('t', owner => 'sales', key => '{code}'), 't'::regclass, 'alter_gate');
SELECT results_eq('SELECT staging, key, layer, owner, description FROM dq_gate.gates',
	$$ VALUES ('s'::regclass, '{code}'::text[], 'silver', 'sales', 'orders as billed') $$, 'changes what is given and nothing else');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 2: 2 unchanged', 'by another key');
SELECT is((SELECT count(*) FROM dq_gate.checks_of('t') WHERE check_type = 'unique_in_target'), 0::bigint, 'which the target guarantees');
SELECT dq_gate.alter_gate('t', key => '{}', layer => '', description => '') \g /dev/null
SELECT results_eq('SELECT key, layer, owner, description FROM dq_gate.gates', $$ VALUES (NULL::text[], NULL, 'sales', NULL) $$, 'an empty value takes a property back');
SELECT is((SELECT columns FROM dq_gate.checks_of('t') WHERE check_name = 'key_unique'), '{code}'::text[], 'the key is derived again');
SELECT raises($$ SELECT dq_gate.alter_gate('t', key => '{nothing}') $$, '42703', 'nothing', 'a key that does not exist');
SELECT is((SELECT key FROM dq_gate.gates), NULL, 'changes nothing');

-- a key of more than one column, in another order than the index has
CREATE TABLE two (a int, b int, v int, PRIMARY KEY (a, b));
CREATE TABLE two_s (a int, b int, v int);
INSERT INTO two VALUES (1, 2, 0);
INSERT INTO two_s VALUES (1, 2, 5), (2, 1, 6);
SELECT dq_gate.create_gate('two', key => '{b,a}') \g /dev/null
SELECT is(outcome(dq_gate.publish('two_s', 'two')), 'published 2: 1 inserted, 1 updated', 'a key in another order');
SELECT is((SELECT count(*) FROM dq_gate.checks_of('two') WHERE check_type LIKE 'unique%'), 1::bigint, 'is the key that the index has');

-- declaring a check registers a gate
CREATE TABLE u (id int PRIMARY KEY, v int);
CREATE TABLE u_s (id int, v int);
INSERT INTO u_s VALUES (1, 1);
SELECT is(dq_gate.expect_sql('u', 'positive', 'v > 0'), 'positive', 'a check on a table without a gate');
SELECT results_eq('SELECT run_as::text, key, staging FROM dq_gate.gates WHERE target = ''u''::regclass', $$ VALUES ('dq_tester', NULL::text[], NULL::regclass) $$, 'registers one with defaults');

-- drop
SELECT lives_ok($$ SELECT dq_gate.drop_gate('t') $$, 'drop_gate');
SELECT is_empty('SELECT 1 FROM dq_gate.gates WHERE target = ''t''::regclass', 'forgets the gate');
SELECT is_empty('SELECT 1 FROM dq_gate.checks WHERE target = ''t''::regclass', 'and its checks');
SELECT is((SELECT count(*) FROM dq_gate.checks_of('t') WHERE origin = 'declared'), 0::bigint, 'which are not in force any more');
SELECT is((SELECT count(*) FROM dq_gate.runs WHERE target = 't'::regclass), 4::bigint, 'the log stays');
SELECT is((SELECT count(*) FROM dq_quarantine.t), 2::bigint, 'and the quarantine');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 2: 2 unchanged', 'the target is guarded by what is derived from it');
SELECT is((SELECT count(*) FROM dq_gate.checks WHERE target = 'u'::regclass), 1::bigint, 'other gates are as they were');

-- a gate whose tables go
CREATE TABLE gone (id int PRIMARY KEY);
CREATE TABLE gone_s (id int);
SELECT dq_gate.create_gate('gone', staging => 'gone_s') \g /dev/null
DROP TABLE gone_s;
SELECT lives_ok($$ SELECT * FROM dq_gate.checks_of('gone') $$, 'a gate whose staging was dropped');
SELECT is(outcome(dq_gate.publish('u_s', 'u')), 'published 1: 1 inserted', 'does not trouble others');
DROP TABLE gone;
SELECT is(outcome(dq_gate.publish('u_s', 'u')), 'published 1: 1 unchanged', 'nor does one whose target was');
SELECT lives_ok('SELECT * FROM dq_gate.gates', 'and the gates can be looked at');

-- who may: dq_outsider has no rights on these tables, dq_loader some
CREATE SCHEMA lake;
CREATE TABLE lake.t (id int PRIMARY KEY, v int);
CREATE TABLE lake.s (id int, v int);
INSERT INTO lake.s VALUES (1, 1), (2, -2);
SET ROLE dq_outsider;
SELECT raises($$ SELECT dq_gate.publish('lake.s', 'lake.t') $$, '42501', 'lake', 'who may not use the schema may not publish');
RESET ROLE;
GRANT USAGE ON SCHEMA lake TO dq_outsider, dq_loader;
SET ROLE dq_outsider;
SELECT raises($$ SELECT dq_gate.publish('lake.s', 'lake.t') $$, '42501', 'permission denied for table lake\.s[^$]*dq_outsider.*SELECT', 'nor who may not read staging');
SELECT raises($$ SELECT dq_gate.audit('lake.s', 'lake.t') $$, '42501', 'permission denied for table lake\.s', 'nor audit');
RESET ROLE;
GRANT SELECT ON lake.s TO dq_outsider;
SET ROLE dq_outsider;
SELECT raises($$ SELECT dq_gate.publish('lake.s', 'lake.t') $$, '42501', 'permission denied for table lake\.t[^$]*INSERT', 'nor who may not write the target');
RESET ROLE;
GRANT SELECT, INSERT ON lake.t TO dq_outsider;
SET ROLE dq_outsider;
SELECT raises($$ SELECT dq_gate.publish('lake.s', 'lake.t') $$, '42501', 'permission denied for table lake\.t[^$]*UPDATE', 'all of it');
SELECT raises($$ SELECT dq_gate.create_gate('lake.t') $$, '42501', 'must be owner', 'nor register a gate for a table of somebody else');
SELECT raises($$ SELECT dq_gate.expect_range('lake.t', 'v', min => 0) $$, '42501', 'must be owner', 'nor declare a check on it');
RESET ROLE;
GRANT UPDATE ON lake.t TO dq_outsider;
SET ROLE dq_outsider;
SELECT is((dq_gate.publish('lake.s', 'lake.t')).verdict, 'published', 'who may read the one and write the other may publish where there is no gate');
SELECT is((SELECT run_as || ' ' || called_by FROM dq_gate.runs WHERE target = 'lake.t'::regclass), 'dq_outsider dq_outsider', 'as itself');
RESET ROLE;

SELECT dq_gate.create_gate('lake.t') \g /dev/null
SELECT dq_gate.expect_range('lake.t', 'v', min => 0, action => 'quarantine') \g /dev/null
SET ROLE dq_outsider;
SELECT raises($$ SELECT dq_gate.publish('lake.s', 'lake.t') $$, '42501', 'gate lake\.t[^$]*dq_tester.*dq_outsider', 'a gate takes membership in its role');
SELECT raises($$ SELECT dq_gate.audit('lake.s', 'lake.t') $$, '42501', 'gate lake\.t', 'to audit as well');
SELECT raises($$ SELECT dq_gate.alter_gate('lake.t', run_as => 'dq_outsider') $$, '42501', '', 'and cannot be taken over');
SELECT raises($$ SELECT dq_gate.drop_gate('lake.t') $$, '42501', '', 'nor removed');
SELECT raises($$ SELECT dq_gate.drop_check('lake.t', 'v_range') $$, '42501', '', 'nor softened');
RESET ROLE;

-- run_as
SELECT raises($$ SELECT dq_gate.alter_gate('lake.t', run_as => 'pg_read_all_data') $$, '42501', 'pg_read_all_data', 'a gate cannot run as a role that one is not a member of');
SELECT dq_gate.alter_gate('lake.t', run_as => 'dq_loader') \g /dev/null
SELECT is((SELECT run_as::text FROM dq_gate.gates WHERE target = 'lake.t'::regclass), 'dq_loader', 'but as one that one is');
SELECT raises($$ SELECT dq_gate.publish('lake.s', 'lake.t') $$, '42501', 'permission denied for table lake\.s[^$]*dq_loader', 'whose rights then count, not those of the caller');
GRANT SELECT ON lake.s TO dq_loader;
GRANT SELECT, INSERT, UPDATE ON lake.t TO dq_loader;
SELECT is(outcome(dq_gate.publish('lake.s', 'lake.t')), 'published 2: 1 unchanged, 1 quarantined', 'with them it runs');
SELECT is((SELECT run_as || ' ' || called_by FROM dq_gate.runs WHERE run_id = last_run()), 'dq_loader dq_tester', 'as that role, and the log says for whom');
SELECT table_owner_is('dq_quarantine', (SELECT relname FROM dq_gate.quarantines q JOIN pg_class c ON c.oid = q.quarantine WHERE q.target = 'lake.t'::regclass), 'dq_loader',
	'its quarantine belongs to that role');
SET ROLE dq_loader;
SELECT is((dq_gate.publish('lake.s', 'lake.t')).verdict, 'published', 'the role itself may run it');
SELECT lives_ok($$ SELECT dq_gate.alter_gate('lake.t', owner => 'loaders') $$, 'and change it');
RESET ROLE;
SELECT dq_gate.alter_gate('lake.t', run_as => 'dq_tester') \g /dev/null
SELECT is((SELECT pg_get_userbyid(relowner) FROM dq_gate.quarantines q JOIN pg_class c ON c.oid = q.quarantine WHERE q.target = 'lake.t'::regclass), name 'dq_tester',
	'the quarantine goes with the gate to another role');
SET ROLE dq_loader;
SELECT raises($$ SELECT dq_gate.publish('lake.s', 'lake.t') $$, '42501', 'gate lake\.t', 'and the old one has no say any more');
SELECT raises($$ SELECT dq_gate.alter_gate('lake.t', owner => 'loaders') $$, '42501', '', 'nor may change it');
RESET ROLE;

-- what others may see of a gate
REVOKE ALL ON lake.t FROM dq_outsider;
SET ROLE dq_outsider;
SELECT is_empty($$ SELECT 1 FROM dq_gate.gates WHERE target = 'lake.t'::regclass $$, 'who may not read a target does not see its gate');
SELECT raises($$ SELECT * FROM dq_gate.checks_of('lake.t') $$, '42501', 'lake\.t', 'nor its checks');
RESET ROLE;

SELECT finish();
