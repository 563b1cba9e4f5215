--
-- What CREATE EXTENSION leaves behind.
--
SELECT extname, extrelocatable FROM pg_extension WHERE extname = 'dq_gate';

-- every function and table says what it is for
SELECT p.oid::regprocedure AS undocumented
FROM pg_proc p
WHERE p.pronamespace = 'dq_gate'::regnamespace AND obj_description(p.oid, 'pg_proc') IS NULL;
SELECT c.oid::regclass AS undocumented
FROM pg_class c
WHERE c.relnamespace = 'dq_gate'::regnamespace AND c.relkind = 'r' AND obj_description(c.oid, 'pg_class') IS NULL;

-- nothing of it can be written by PUBLIC
SELECT c.oid::regclass AS writable
FROM pg_class c, aclexplode(c.relacl) a
WHERE c.relnamespace = 'dq_gate'::regnamespace AND a.grantee = 0 AND a.privilege_type <> 'SELECT';
