/*
 * schedule.sql
 *
 * Publishing by pg_cron.  Both functions run as the caller, so that the job is
 * the caller's.  dq_gate does not need pg_cron: what is known of it is here,
 * and looked up when it is called.
 */

CREATE FUNCTION dq_gate.schema_of_pg_cron(command pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.name
AS $$
DECLARE
	schema_name		pg_catalog.name;
BEGIN
	-- the schema that is the extension's own, not one that somebody named like it
	SELECT n.nspname INTO schema_name
	FROM pg_catalog.pg_extension e
	JOIN pg_catalog.pg_depend d ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass
		AND d.refobjid OPERATOR(pg_catalog.=) e.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'
	JOIN pg_catalog.pg_namespace n ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_namespace'::pg_catalog.regclass
		AND d.objid OPERATOR(pg_catalog.=) n.oid
	WHERE e.extname OPERATOR(pg_catalog.=) 'pg_cron';

	IF schema_name IS NULL THEN
		RAISE EXCEPTION USING
			ERRCODE = 'undefined_object',
			MESSAGE = pg_catalog.format('extension pg_cron is not installed in database "%s"', pg_catalog.current_database()),
			HINT = pg_catalog.concat(
				'Add pg_cron to shared_preload_libraries, set cron.database_name to this database, restart the server, and CREATE EXTENSION pg_cron here.',
				CASE WHEN command IS NULL THEN ' If pg_cron is in another database, end the job there.'
				ELSE pg_catalog.format(' If pg_cron is in another database, call cron.schedule_in_database there, with the command %s and the database %L.',
					command, pg_catalog.current_database()) END);
	END IF;
	IF NOT pg_catalog.has_schema_privilege(schema_name, 'USAGE') THEN
		RAISE EXCEPTION USING
			ERRCODE = 'insufficient_privilege',
			MESSAGE = pg_catalog.format('permission denied for schema %I of pg_cron', schema_name),
			HINT = pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I.', schema_name, CURRENT_USER);
	END IF;
	RETURN schema_name;
END
$$
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION dq_gate.schema_of_pg_cron(pg_catalog.text) IS
	'the schema of pg_cron, or an error if the caller cannot use it here';

CREATE FUNCTION dq_gate.name_of_job(target pg_catalog.regclass,
									job_name pg_catalog.text)
RETURNS pg_catalog.text
AS $$
	-- before 1.5, pg_cron has names of 63 bytes
	SELECT COALESCE($2, 'dq_gate ' OPERATOR(pg_catalog.||)
		CASE WHEN pg_catalog.octet_length($1::pg_catalog.text) OPERATOR(pg_catalog.<=) 55
			 THEN $1::pg_catalog.text ELSE pg_catalog.md5($1::pg_catalog.text) END)
$$
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION dq_gate.name_of_job(pg_catalog.regclass, pg_catalog.text) IS
	'the name of the job that publishes into target, if it is given no other';

CREATE FUNCTION dq_gate.schedule(target pg_catalog.regclass,
								 schedule pg_catalog.text,
								 staging pg_catalog.regclass DEFAULT NULL,
								 job_name pg_catalog.text DEFAULT NULL,
								 days_ago pg_catalog.int4 DEFAULT NULL)
RETURNS pg_catalog.int8
AS $$
DECLARE
	-- qualified, since search_path is pinned
	gate_name		pg_catalog.text := target;
	gate_run_as		pg_catalog.regrole;
	gate_staging	pg_catalog.regclass;
	rel				pg_catalog.record;
	job				pg_catalog.text;
	command			pg_catalog.text;
	cron			pg_catalog.name;
	other			pg_catalog.text;
	job_id			pg_catalog.int8;
	said			pg_catalog.text;
	said_hint		pg_catalog.text;
BEGIN
	IF target IS NULL OR schedule IS NULL THEN
		RAISE EXCEPTION USING
			ERRCODE = 'null_value_not_allowed',
			MESSAGE = pg_catalog.format('argument "%s" must not be NULL', CASE WHEN target IS NULL THEN 'target' ELSE 'schedule' END);
	END IF;

	SELECT g.staging, g.run_as INTO gate_staging, gate_run_as
	FROM dq_gate.gates g WHERE g.target OPERATOR(pg_catalog.=) $1;
	gate_staging := COALESCE(staging, gate_staging);
	IF gate_staging IS NULL THEN
		RAISE EXCEPTION USING
			ERRCODE = 'object_not_in_prerequisite_state',
			MESSAGE = pg_catalog.format('gate %s: no staging table is known', gate_name),
			HINT = 'Give the argument "staging", or name the staging table of the gate with dq_gate.alter_gate.';
	END IF;

	FOR rel IN
		SELECT a.relid, c.relkind, c.relpersistence
		FROM pg_catalog.unnest(ARRAY[target, gate_staging]) WITH ORDINALITY AS a (relid, position)
		LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) a.relid
		ORDER BY a.position
	LOOP
		IF rel.relkind IS NULL THEN
			RAISE EXCEPTION USING
				ERRCODE = 'undefined_table',
				MESSAGE = pg_catalog.format('table with OID %s does not exist', rel.relid::pg_catalog.oid);
		ELSIF rel.relpersistence OPERATOR(pg_catalog.=) 't' THEN
			RAISE EXCEPTION USING
				ERRCODE = 'wrong_object_type',
				MESSAGE = pg_catalog.format('%s is a temporary table', rel.relid),
				HINT = 'A job has a session of its own, and needs tables that last.';
		ELSIF rel.relkind NOT IN ('r', 'p') THEN
			RAISE EXCEPTION USING
				ERRCODE = 'wrong_object_type',
				MESSAGE = pg_catalog.format('%s is not an ordinary or partitioned table', rel.relid),
				HINT = 'Name the target first, and the table in which its batches land as "staging".';
		END IF;
	END LOOP;
	IF gate_staging OPERATOR(pg_catalog.=) target THEN
		RAISE EXCEPTION USING
			ERRCODE = 'invalid_parameter_value',
			MESSAGE = pg_catalog.format('staging and target are the same table: %s', gate_name);
	END IF;

	-- a job that could only ever fail
	IF NOT (SELECT r.rolcanlogin FROM pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) CURRENT_USER) THEN
		RAISE EXCEPTION USING
			ERRCODE = 'invalid_role_specification',
			MESSAGE = pg_catalog.format('gate %s: role "%s" cannot log in, and so cannot have a job', gate_name, CURRENT_USER),
			HINT = 'Schedule as a role with LOGIN that may run the gate.';
	END IF;
	IF NOT dq_gate.may_run(target, gate_staging) THEN
		RAISE EXCEPTION USING
			ERRCODE = 'insufficient_privilege',
			MESSAGE = pg_catalog.format('gate %s: must be able to SET ROLE "%s"', gate_name, pg_catalog.pg_get_userbyid(gate_run_as)),
			HINT = pg_catalog.format('The job would run as "%s", which has to be a member of that role, or an operator of the gate on its own staging table.', CURRENT_USER);
	END IF;

	-- due with every minute that begins, or every so many seconds; a tick that finds another one at work is skipped
	command := pg_catalog.format('CALL dq_gate.publish_or_fail(%L, %L, %stick => %L)', gate_staging, gate_name,
		'as_of => CURRENT_DATE' OPERATOR(pg_catalog.||) CASE
			WHEN days_ago OPERATOR(pg_catalog.<>) 0 THEN pg_catalog.format(' - (%s)', days_ago) ELSE '' END
			OPERATOR(pg_catalog.||) CASE WHEN days_ago IS NOT NULL THEN ', ' END,
		CASE WHEN schedule OPERATOR(pg_catalog.~*) '^\s*\d+\s+seconds?\s*$' THEN pg_catalog.btrim(schedule) ELSE '1 minute' END);
	cron := dq_gate.schema_of_pg_cron(command);

	job := dq_gate.name_of_job(target, job_name);
	IF pg_catalog.octet_length(job) OPERATOR(pg_catalog.>) 63 THEN
		RAISE EXCEPTION USING
			ERRCODE = 'name_too_long',
			MESSAGE = pg_catalog.format('gate %s: the name of a job must not be longer than 63 bytes', gate_name);
	END IF;

	-- pg_cron replaces a job of this name, which may be one for something else
	EXECUTE pg_catalog.format('SELECT j.command FROM %I.job j
		WHERE j.jobname::pg_catalog.text OPERATOR(pg_catalog.=) $1
		AND j.username OPERATOR(pg_catalog.=) CURRENT_USER::pg_catalog.text
		AND NOT (j.database OPERATOR(pg_catalog.=) pg_catalog.current_database()::pg_catalog.text
				 AND pg_catalog.starts_with(j.command, ''CALL dq_gate.publish_or_fail('')
				 AND pg_catalog.strpos(j.command, $2) OPERATOR(pg_catalog.>) 0)', cron)
		INTO other USING job, pg_catalog.format(', %L, ', gate_name);
	IF other IS NOT NULL THEN
		RAISE EXCEPTION USING
			ERRCODE = 'duplicate_object',
			MESSAGE = pg_catalog.format('gate %s: role "%s" has another job named "%s"', gate_name, CURRENT_USER, job),
			DETAIL = pg_catalog.format('Its command is: %s', other),
			HINT = pg_catalog.format('Give another job_name, or end that job with SELECT %I.unschedule(%L).', cron, job);
	END IF;

	BEGIN
		EXECUTE pg_catalog.format('SELECT %I.schedule($1, $2, $3)', cron)
			INTO job_id USING job, schedule, command;
	EXCEPTION WHEN invalid_parameter_value THEN
		GET STACKED DIAGNOSTICS said = MESSAGE_TEXT, said_hint = PG_EXCEPTION_HINT;
		RAISE EXCEPTION USING
			ERRCODE = 'invalid_parameter_value',
			MESSAGE = pg_catalog.format('gate %s: %s', gate_name, said),
			HINT = COALESCE(NULLIF(said_hint, ''), 'Give the schedule in cron''s form, such as ''15 6 * * *''.');
	END;
	RETURN job_id;
END
$$
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION dq_gate.schedule(pg_catalog.regclass, pg_catalog.text, pg_catalog.regclass, pg_catalog.text, pg_catalog.int4) IS
	'have pg_cron publish what is in staging, as the calling role; answers the id of the job';

CREATE FUNCTION dq_gate.unschedule(target pg_catalog.regclass,
								   job_name pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.bool
AS $$
DECLARE
	-- qualified, since search_path is pinned
	gate_name		pg_catalog.text := target;
	job				pg_catalog.text;
	cron			pg_catalog.name;
	job_id			pg_catalog.int8;
	done			pg_catalog.bool;
BEGIN
	IF target IS NULL THEN
		RAISE EXCEPTION USING
			ERRCODE = 'null_value_not_allowed',
			MESSAGE = 'argument "target" must not be NULL';
	END IF;
	cron := dq_gate.schema_of_pg_cron();
	job := dq_gate.name_of_job(target, job_name);

	EXECUTE pg_catalog.format('SELECT j.jobid FROM %I.job j
		WHERE j.jobname::pg_catalog.text OPERATOR(pg_catalog.=) $1
		AND j.username OPERATOR(pg_catalog.=) CURRENT_USER::pg_catalog.text
		AND pg_catalog.starts_with(j.command, ''CALL dq_gate.publish_or_fail('')', cron)
		INTO job_id USING job;
	IF job_id IS NULL THEN
		RAISE EXCEPTION USING
			ERRCODE = 'undefined_object',
			MESSAGE = pg_catalog.format('gate %s: role "%s" has no job named "%s" that publishes', gate_name, CURRENT_USER, job),
			HINT = pg_catalog.format('See SELECT jobname, username, command FROM %I.job;', cron);
	END IF;
	EXECUTE pg_catalog.format('SELECT %I.unschedule($1)', cron) INTO done USING job_id;
	RETURN done;
END
$$
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION dq_gate.unschedule(pg_catalog.regclass, pg_catalog.text) IS
	'end a job that schedule has made for the calling role';
