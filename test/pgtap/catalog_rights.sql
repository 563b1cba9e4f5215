-- what the catalogs say of the rights of the extension itself, so that a new table, view or function cannot be forgotten
\ir include/helpers.sql
SELECT plan(16);

CREATE VIEW relations AS
	SELECT c.* FROM pg_class c WHERE c.relnamespace = 'dq_gate'::regnamespace AND c.relkind IN ('r', 'v', 'S', 'm', 'p', 'f');
CREATE VIEW functions AS
	SELECT p.* FROM pg_proc p WHERE p.pronamespace = 'dq_gate'::regnamespace;

-- tables: rows are hidden, nobody but the owner writes
SELECT is_empty($$ SELECT relname FROM relations WHERE relkind NOT IN ('r', 'v', 'S') $$, 'there are tables, views and sequences, whose rights are tested below');
SELECT is_empty($$ SELECT relname FROM relations WHERE relkind = 'r' AND NOT relrowsecurity $$, 'row-level security is enabled for every table');
SELECT is_empty($$ SELECT relname FROM relations c WHERE relkind = 'r' AND has_table_privilege('public', c.oid, 'SELECT')
	AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid) $$, 'every table that PUBLIC may read has a policy');
SELECT is_empty($$ SELECT c.relname, p.polname FROM pg_policy p JOIN relations c ON c.oid = p.polrelid
	WHERE p.polcmd <> 'r' OR NOT polpermissive OR pg_get_expr(p.polqual, p.polrelid) !~ 'dq_gate\.may_(read|see_rows)\(' $$, 'policies are for reading, and ask who may');
SELECT is_empty($$ SELECT relname FROM relations c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname IN ('sample', 'message', 'failures', 'error', 'top_values', 'min_value')
	JOIN pg_policy p ON p.polrelid = c.oid WHERE pg_get_expr(p.polqual, p.polrelid) !~ 'dq_gate\.may_see_rows\(' $$, 'what shows values is for those who may see all rows');
SELECT is_empty($$ SELECT relname, privilege_type FROM relations, aclexplode(relacl) WHERE grantee <> relowner AND (privilege_type <> 'SELECT' OR grantee <> 0 OR is_grantable) $$,
	'tables and views are read by PUBLIC at most, and sequences not even that');
SELECT is_empty($$ SELECT c.relname FROM relations c WHERE relkind = 'S' AND relacl IS NOT NULL AND EXISTS (SELECT FROM aclexplode(relacl) WHERE grantee <> relowner) $$, 'sequences are the owner''s alone');
SELECT is_empty($$ SELECT a.attname FROM relations c JOIN pg_attribute a ON a.attrelid = c.oid WHERE a.attacl IS NOT NULL $$, 'no column has rights of its own');

-- views: with the rights of whoever looks
SELECT is_empty($$ SELECT relname FROM relations WHERE relkind = 'v' AND NOT COALESCE(reloptions, '{}') && '{security_invoker=true,security_invoker=on}' $$, 'every view is one of the invoker');

-- functions: with the rights of whoever calls
SELECT is_empty($$ SELECT p.oid::regprocedure FROM functions p WHERE prosecdef AND NOT 'search_path=pg_catalog, pg_temp' = ANY (COALESCE(proconfig, '{}')) $$, 'a SECURITY DEFINER function has its search_path pinned');
SELECT is_empty($$ SELECT p.oid::regprocedure FROM functions p WHERE prosecdef AND has_function_privilege('public', p.oid, 'EXECUTE')
	-- this one answers with OIDs that pg_class shows to all
	AND p.oid <> 'dq_gate.stray_quarantines()'::regprocedure $$, 'and is not for PUBLIC to call');
SELECT is_empty($$ SELECT p.oid::regprocedure FROM functions p WHERE prorettype IN ('trigger'::regtype, 'event_trigger'::regtype) AND has_function_privilege('public', p.oid, 'EXECUTE') $$, 'neither is a trigger function, which anybody could make a trigger of');
SELECT is_empty($$ SELECT p.oid::regprocedure FROM functions p JOIN pg_language l ON l.oid = p.prolang WHERE l.lanname <> 'c' AND prokind <> 'a'
	AND NOT 'search_path=pg_catalog, pg_temp' = ANY (COALESCE(proconfig, '{}')) $$, 'every function that is not C has its search_path pinned; those in C do it themselves');
SELECT is_empty($$ SELECT p.oid::regprocedure FROM functions p WHERE NOT has_function_privilege('public', p.oid, 'EXECUTE')
	AND NOT prosecdef AND prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype) $$, 'all others check rights themselves, and anybody may call them');

-- schemas
SELECT is_empty($$ SELECT nspname, privilege_type FROM pg_namespace, aclexplode(nspacl) WHERE nspname IN ('dq_gate', 'dq_quarantine') AND grantee <> nspowner AND privilege_type <> 'USAGE' $$, 'nobody creates anything in its schemas');
SELECT is((SELECT count(*)::int FROM pg_namespace WHERE nspname = 'dq_gate'), 1, 'of which there is one, and one for quarantine once there is any');

SELECT finish();
