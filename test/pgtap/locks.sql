-- which locks a run holds while its checks are evaluated, as a check itself sees them
\ir include/helpers.sql
SELECT plan(16);

CREATE TABLE p (id int PRIMARY KEY);
INSERT INTO p VALUES (1);
CREATE TABLE t (id int PRIMARY KEY, v int REFERENCES p, code text) PARTITION BY RANGE (id);
CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (100);
CREATE TABLE s (id int, v int, code text);
CREATE TABLE s_child () INHERITS (s);
INSERT INTO s VALUES (1, 1, 'a');

-- the modes in which this backend has locked a relation
CREATE FUNCTION modes(rel regclass) RETURNS text STABLE LANGUAGE sql SET search_path = pg_catalog AS $$
	SELECT string_agg(DISTINCT mode, ',' ORDER BY mode) FROM pg_locks
	WHERE pid = pg_backend_pid() AND locktype = 'relation' AND relation = rel AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
$$;
CREATE FUNCTION show(int) RETURNS bool STABLE LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 's %; s_child %; t %; t1 %; p %; gate %', public.modes('public.s'), public.modes('public.s_child'), public.modes('public.t'), public.modes('public.t1'), public.modes('public.p'),
		(SELECT string_agg(mode, ',') FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'object' AND classid = 'dq_gate.gates'::regclass AND objid = 'public.t'::regclass);
END
$$;
CREATE FUNCTION locks(OUT s text, OUT s_child text, OUT t text, OUT t1 text, OUT p text, OUT gate text) LANGUAGE plpgsql AS $$
DECLARE
	parts text[] := regexp_match(message('show'), 's (.*); s_child (.*); t (.*); t1 (.*); p (.*); gate ([^ ]*)');
BEGIN
	s := parts[1]; s_child := parts[2]; t := parts[3]; t1 := parts[4]; p := parts[5]; gate := parts[6];
END
$$;
SELECT dq_gate.expect_sql('t', 'show', 'show(id)', action => 'warn') \g /dev/null

SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT is(finding('show'), 'error', 'a check looks at the locks');
SELECT matches((SELECT s FROM locks()), '(^|,)ShareLock', 'staging is locked against writers');
SELECT matches((SELECT s_child FROM locks()), '(^|,)ShareLock', 'and so are its children');
SELECT is((SELECT t FROM locks()), 'AccessShareLock', 'the target is not yet, where no check reads it');
SELECT is((SELECT gate FROM locks()), 'ExclusiveLock', 'the gate is ours alone');
SELECT unalike((SELECT p FROM locks()), '%Exclusive%', 'a table that is only referred to is not locked against writers');

-- a check that reads the target has it locked from the start
SELECT dq_gate.expect_sql('t', 'reads', 'NOT EXISTS (SELECT 1 FROM t old WHERE old.id <> batch.id AND old.code = batch.code)') \g /dev/null
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT matches((SELECT t FROM locks()), 'ShareRowExclusiveLock', 'a rule that reads the target keeps other writers off it from the start');
SELECT matches((SELECT t1 FROM locks()), 'ShareRowExclusiveLock', 'and off its partitions');
SELECT dq_gate.drop_check('t', 'reads'), dq_gate.expect_sql('t', 'reads', 'batch.id > 0 OR batch.id IN (SELECT id FROM t1)') \g /dev/null
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT matches((SELECT t1 FROM locks()), 'ShareRowExclusiveLock', 'so does one that reads only a partition of it');
SELECT dq_gate.drop_check('t', 'reads') \g /dev/null
ALTER TABLE t ADD parent int REFERENCES t;
ALTER TABLE s ADD parent int;
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT matches((SELECT t FROM locks()), 'ShareRowExclusiveLock', 'and so does a reference to itself');
ALTER TABLE t DROP parent;
ALTER TABLE s DROP parent;
SELECT dq_gate.alter_gate('t', key => '{code}') \g /dev/null
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT matches((SELECT t FROM locks()), 'ShareRowExclusiveLock', 'and a key that no index guarantees');
SELECT dq_gate.alter_gate('t', key => '{}') \g /dev/null

-- a dry run
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT is((SELECT ROW(s, t)::text FROM locks()), '(AccessShareLock,AccessShareLock)', 'an audit keeps nobody from writing');
SELECT is((SELECT coalesce(nullif(gate, ''), '<NULL>') FROM locks()), '<NULL>', 'and holds no gate');

-- readers are never locked out
BEGIN;
SELECT dq_gate.publish('s', 't') \g /dev/null
SELECT unalike(modes('t'), '%AccessExclusive%', 'a publish does not lock readers out of the target');
SELECT unalike(modes('s'), '%AccessExclusive%', 'nor out of staging');
SELECT matches(modes('t'), 'ShareRowExclusiveLock', 'and keeps other writers out until it is committed');
COMMIT;

SELECT finish();
