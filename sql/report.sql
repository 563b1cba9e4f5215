/*
 * report.sql
 *
 * The log told in words, for whoever looks into an incident in psql: a row a
 * line, so that a command can be copied out of it as it stands, and 78
 * characters a line, to which psql adds a margin.
 *
 * It shows what the reader may see of the log.  Rows in quarantine have rights
 * of their own: they are not read, but the query for them is there.  What
 * quotes a name is a command and never wrapped.
 */

CREATE FUNCTION dq_gate.wrapped_lines(label pg_catalog.text, value pg_catalog.text)
RETURNS pg_catalog.text[]
AS $$
DECLARE
	rest	text := btrim(regexp_replace(value, '[[:space:][:cntrl:]]+', ' ', 'g'));
	room	integer := 78 - length(label);
	blank	integer;
	lines	text[] := '{}';
BEGIN
	IF rest IS NULL OR rest = '' THEN
		RETURN lines;
	END IF;
	WHILE length(rest) > room LOOP
		-- the last blank that lets the line fit, or else the first one
		blank := COALESCE(room + 2 - NULLIF(strpos(reverse(left(rest, room + 1)), ' '), 0), NULLIF(strpos(rest, ' '), 0));
		EXIT WHEN blank IS NULL;
		lines := lines || (label || left(rest, blank - 1));
		rest := substr(rest, blank + 1);
		label := repeat(' ', length(label));
	END LOOP;
	RETURN lines || (label || rest);
END
$$
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION dq_gate.wrapped_lines(pg_catalog.text, pg_catalog.text) IS
	'the value wrapped at blanks behind the label; called by report and explain_run';

CREATE FUNCTION dq_gate.explain_run(run_id pg_catalog.int8)
RETURNS SETOF pg_catalog.text
AS $$
DECLARE
	r			dq_gate.runs;	-- the run
	before		dq_gate.runs;	-- the one before it that looked at its batch
	good		dq_gate.runs;	-- the last one before it that was good
	gate		text;			-- the target as it is called now, NULL once it is dropped
	staging		text;			-- staging, if it still exists
	back		text;			-- where quarantined rows would go back to, if it exists
	quarantine	text;			-- as it is called now
	lines		text[] := '{}';
	keys		text[];			-- columns whose values are other ones in each batch
	items		text[];
	said		text;
	seen		text;			-- who has acknowledged it
	arguments	text[];
	f			record;
	passed		record;
	n			bigint;
BEGIN
	IF $1 IS NULL THEN
		RAISE EXCEPTION 'argument "run_id" must not be NULL' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	SELECT x.* INTO r FROM dq_gate.runs x WHERE x.run_id = $1;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'run % does not exist', $1 USING ERRCODE = 'undefined_object',
			HINT = 'The runs are in dq_gate.runs, unless they were purged; each is shown to those who may read all rows of its target.';
	END IF;

	SELECT format('%I.%I', s.nspname, c.relname) INTO gate
	FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace WHERE c.oid = r.target;
	SELECT format('%I.%I', s.nspname, c.relname) INTO staging
	FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
	WHERE s.nspname = (parse_ident(r.staging))[1] AND c.relname = (parse_ident(r.staging))[2]
	AND NOT pg_is_other_temp_schema(s.oid);
	SELECT format('%I.%I', s.nspname, c.relname) INTO back
	FROM dq_gate.gates g JOIN pg_class c ON c.oid = g.staging JOIN pg_namespace s ON s.oid = c.relnamespace
	WHERE g.target = r.target;
	back := COALESCE(back, staging);
	SELECT format('%I.%I', s.nspname, c.relname) INTO quarantine
	FROM dq_gate.quarantines q JOIN pg_class c ON c.oid = q.quarantine JOIN pg_namespace s ON s.oid = c.relnamespace
	WHERE q.target = r.target AND r.quarantine IS NOT NULL;
	IF gate IS NULL THEN
		quarantine := r.quarantine;
	END IF;
	SELECT x.* INTO before FROM dq_gate.runs x
	WHERE x.target = r.target AND x.run_id < r.run_id AND x.rules_hash IS NOT NULL ORDER BY x.run_id DESC LIMIT 1;
	SELECT x.* INTO good FROM dq_gate.runs x
	WHERE x.target = r.target AND x.run_id < r.run_id AND x.published AND x.checks_failed = 0
	ORDER BY x.run_id DESC LIMIT 1;
	IF good.run_id IS NULL THEN
		-- something may fail in every run
		SELECT x.* INTO good FROM dq_gate.runs x
		WHERE x.target = r.target AND x.run_id < r.run_id AND x.baseline
		ORDER BY x.run_id DESC LIMIT 1;
	END IF;

	-- who, when, from where to where
	lines := lines || dq_gate.wrapped_lines('', format('Run %s of gate %s: %s', r.run_id, r.gate, r.verdict));
	lines := lines || dq_gate.wrapped_lines('  batch     ', r.batch_id || COALESCE(', as of ' || to_char(r.as_of, 'YYYY-MM-DD'), ''));
	lines := lines || dq_gate.wrapped_lines('  staging   ', r.staging || CASE WHEN staging IS NULL THEN ', which does not exist any more' ELSE '' END);
	lines := lines || dq_gate.wrapped_lines('  target    ', CASE WHEN gate IS NULL THEN r.gate || ', which does not exist any more' ELSE gate END);
	lines := lines || dq_gate.wrapped_lines('  started   ', format('%s by %s as %s%s', to_char(r.started_at, 'YYYY-MM-DD HH24:MI:SS'), r.called_by, r.run_as,
		', application ' || NULLIF(r.application_name, '')));
	lines := lines || dq_gate.wrapped_lines('  took      ', to_char(r.duration, 'HH24:MI:SS.MS') || COALESCE(', the audit ' || to_char(r.audit_time, 'HH24:MI:SS.MS'), '')
		|| COALESCE(', the publish ' || to_char(r.publish_time, 'HH24:MI:SS.MS'), ''));
	IF before.rules_hash = r.rules_hash THEN
		lines := lines || dq_gate.wrapped_lines('  rules     ', format('the same as in run %s', before.run_id));
	ELSIF before.rules_hash IS NOT NULL THEN
		SELECT array_agg(CASE WHEN a.check_name IS NULL THEN 'new ' WHEN b.check_name IS NULL THEN 'gone ' ELSE 'changed ' END
			|| COALESCE(b.check_name, a.check_name) ORDER BY COALESCE(b.check_name, a.check_name)) INTO items
		FROM dq_gate.rules_of(before.run_id) a FULL JOIN dq_gate.rules_of(r.run_id) b ON b.check_name = a.check_name
		WHERE a IS DISTINCT FROM b;
		lines := lines || dq_gate.wrapped_lines('  rules     ', format('changed since run %s: %s%s', before.run_id,
			COALESCE(array_to_string(items[:5], ', '), 'in what rules_of does not show'),
			', and ' || NULLIF(greatest(cardinality(items) - 5, 0), 0) || ' more'));
	END IF;

	-- what became of the rows
	SELECT string_agg(c.n || ' ' || c.word, ', ' ORDER BY c.place) INTO said
	FROM (VALUES (1, r.inserted, 'inserted'), (2, r.updated, 'updated'), (3, r.unchanged, 'unchanged'),
		(4, r.stale, 'stale'), (5, r.quarantined, 'quarantined'), (6, r.dropped, 'dropped')) AS c (place, n, word)
	WHERE c.n > 0;
	lines := lines || dq_gate.wrapped_lines('  rows      ', r.row_count || ' staged' || COALESCE(': ' || said, '')
		|| CASE WHEN r.deleted > 0 THEN format('; %s deleted from the target', r.deleted) ELSE '' END);
	lines := lines || dq_gate.wrapped_lines('  outcome   ', CASE r.verdict
		WHEN 'published' THEN CASE WHEN r.quarantined > 0 THEN 'The batch is in the target, less the rows in quarantine.'
			ELSE 'The batch is in the target.' END
		WHEN 'rejected' THEN CASE WHEN r.rules_hash IS NULL THEN 'The source was not found ready. The batch was not looked at, and nothing was moved.'
			ELSE 'The audit failed. The target is as it was, the whole batch went to quarantine, and staging was left as it was.' END
		WHEN 'failed' THEN 'The audit passed, and the target refused the batch. It is as it was, the whole batch went to quarantine, and staging was left as it was.'
		WHEN 'skipped' THEN CASE WHEN r.checks_failed > 0 THEN 'It was not time for this batch. Nothing was moved.'
			ELSE format('Nothing was moved: %s.', r.failures[1]) END
		ELSE 'A dry run: nothing was moved. The batch would ' || CASE
			WHEN r.passed THEN 'pass the audit.'
			WHEN EXISTS (SELECT FROM dq_gate.results s WHERE s.run_id = r.run_id AND s.status = 'failed' AND s.action = 'skip') THEN 'be skipped.'
			ELSE 'be rejected.' END
		END || CASE WHEN r.enforced THEN '' ELSE ' The gate did not enforce its checks.' END);
	lines := lines || dq_gate.wrapped_lines('  error     ', r.error || COALESCE(' (' || r.error_sqlstate || ')', ''));
	lines := lines || dq_gate.wrapped_lines('  columns   ', array_to_string(r.schema_changes, '; '));
	lines := lines || dq_gate.wrapped_lines('  kept in   ', CASE WHEN r.quarantine IS NOT NULL
		THEN COALESCE(quarantine, r.quarantine || ', which does not exist any more') END);
	SELECT format('muted by %s until %s: %s', m.muted_by, to_char(m.muted_until, 'YYYY-MM-DD HH24:MI:SS'), m.reason) INTO said
	FROM dq_gate.mutes m
	WHERE m.target = r.target AND r.attention AND r.started_at + r.duration >= m.muted_at AND r.started_at + r.duration < m.muted_until
	ORDER BY m.muted_at DESC LIMIT 1;
	lines := lines || dq_gate.wrapped_lines('  alert     ', said);
	SELECT format('acknowledged by %s, %s: %s', a.acknowledged_by, to_char(a.acknowledged_at, 'YYYY-MM-DD HH24:MI:SS'), a.note) INTO seen
	FROM dq_gate.acknowledgements a WHERE a.run_id = r.run_id;
	lines := lines || dq_gate.wrapped_lines('  attention ', COALESCE(seen, CASE WHEN r.attention THEN 'needed, and not acknowledged yet' END));

	-- what failed
	IF r.checks_failed > 0 THEN
		lines := lines || ''::text || format('Failed in run %s: %s of %s checks', r.run_id, r.checks_failed, r.checks_run);
	END IF;
	FOR f IN
		SELECT s.* FROM dq_gate.results s WHERE s.run_id = r.run_id AND s.status IN ('failed', 'error')
		ORDER BY s.action IN ('block', 'skip') DESC, s.action = 'warn', s.failing_rows DESC NULLS LAST, s.check_no LIMIT 10
	LOOP
		lines := lines || dq_gate.wrapped_lines('  ', f.check_name || ' (' || concat_ws(', ', f.action, f.severity, f.owner)
			|| CASE f.status WHEN 'error' THEN '), not evaluated' ELSE ')' END);
		lines := lines || dq_gate.wrapped_lines('    expected   ', f.expected_value);
		lines := lines || dq_gate.wrapped_lines('    actual     ', f.actual_value);
		lines := lines || dq_gate.wrapped_lines('    threshold  ', f.threshold);
		lines := lines || dq_gate.wrapped_lines('    message    ', f.message);
		FOR n IN 0 .. 2 LOOP
			lines := lines || dq_gate.wrapped_lines(CASE n WHEN 0 THEN '    sample     ' ELSE '               ' END,
				CASE WHEN length(f.sample ->> n::integer) > 200 THEN left(f.sample ->> n::integer, 197) || '...' ELSE f.sample ->> n::integer END);
		END LOOP;
		CONTINUE WHEN r.target IS NULL;
		SELECT x.run_id, x.started_at INTO passed
		FROM dq_gate.runs x JOIN dq_gate.results s ON s.run_id = x.run_id
		WHERE x.target = r.target AND x.run_id < r.run_id AND s.check_name = f.check_name AND s.passed
		ORDER BY x.run_id DESC LIMIT 1;
		SELECT count(*) INTO n
		FROM dq_gate.runs x JOIN dq_gate.results s ON s.run_id = x.run_id
		WHERE x.target = r.target AND x.run_id BETWEEN COALESCE(passed.run_id, 0) AND r.run_id
		AND s.check_name = f.check_name AND s.status IN ('failed', 'error');
		lines := lines || dq_gate.wrapped_lines('    passed     ', CASE WHEN passed.run_id IS NULL THEN 'never before'
			ELSE format('last in run %s, %s', passed.run_id, to_char(passed.started_at, 'YYYY-MM-DD HH24:MI:SS')) END
			|| CASE n WHEN 1 THEN '; this is the first run in which it failed' ELSE format('; failed in %s runs%s', n, CASE WHEN passed.run_id IS NULL THEN '' ELSE ' since' END) END);
	END LOOP;
	IF r.checks_failed > 10 THEN
		lines := lines || format('  and %s more', r.checks_failed - 10);
	END IF;

	-- what is different from when it was good
	IF good.run_id IS NOT NULL THEN
		SELECT COALESCE((SELECT g.key FROM dq_gate.gates g WHERE g.target = r.target),
			(SELECT array_agg(a.attname::text) FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
			 WHERE i.indrelid = r.target AND i.indisprimary), '{}') INTO keys;
		SELECT array_agg(m.said ORDER BY m.score DESC, m.said) INTO items
		FROM (
			SELECT v.said, v.score
			FROM dq_gate.profiles a JOIN dq_gate.profiles b ON b.column_name = a.column_name,
			-- numeric, in which no difference overflows
			LATERAL (VALUES
				(format('%s: NULL in %s%% of the rows, was %s%%', a.column_name,
					trim_scale(round(100.0 * b.null_count / b.row_count, 1)), trim_scale(round(100.0 * a.null_count / a.row_count, 1))),
				 10 * abs(b.null_count::numeric / b.row_count - a.null_count::numeric / a.row_count)),
				(format('%s: %s different values, was %s', a.column_name, b.distinct_count, a.distinct_count),
				 abs(ln((b.distinct_count + 1.0) / (a.distinct_count + 1.0)))),
				(format('%s: mean %s, was %s', a.column_name,
					CASE WHEN abs(b.mean) BETWEEN 1e-30 AND 1e30 THEN b.mean::float4::text ELSE b.mean::text END,
					CASE WHEN abs(a.mean) BETWEEN 1e-30 AND 1e30 THEN a.mean::float4::text ELSE a.mean::text END),
				 -- that of points in time, in seconds since 1970, says nothing
				 CASE WHEN NOT EXISTS (SELECT FROM pg_attribute c JOIN pg_type t ON t.oid = c.atttypid
									   WHERE c.attrelid = r.target AND c.attname = a.column_name AND t.typcategory = 'D')
				 THEN abs(b.mean::numeric - a.mean::numeric) / COALESCE(NULLIF(a.stddev::numeric, 0), NULLIF(abs(a.mean::numeric), 0), 1) END),
				(format('%s: smallest %s, was %s', a.column_name, b.min_value, a.min_value),
				 CASE WHEN b.min_value <> a.min_value THEN abs(b.quantiles[1]::numeric - a.quantiles[1]::numeric)
					/ COALESCE(NULLIF(a.quantiles[101]::numeric - a.quantiles[1]::numeric, 0), NULLIF(abs(a.quantiles[1]::numeric), 0), 1) END),
				(format('%s: largest %s, was %s', a.column_name, b.max_value, a.max_value),
				 CASE WHEN b.max_value <> a.max_value THEN abs(b.quantiles[101]::numeric - a.quantiles[101]::numeric)
					/ COALESCE(NULLIF(a.quantiles[101]::numeric - a.quantiles[1]::numeric, 0), NULLIF(abs(a.quantiles[101]::numeric), 0), 1) END)
			) AS v (said, score)
			WHERE a.run_id = good.run_id AND b.run_id = r.run_id AND a.row_count > 0 AND b.row_count > 0
			AND NOT a.column_name = ANY (keys)
			AND v.score >= 0.1
			ORDER BY v.score DESC, v.said LIMIT 5
		) AS m;
		IF items IS NULL THEN
			SELECT array_agg(m.said ORDER BY m.score DESC, m.said) INTO items
			FROM (
				SELECT format('%s: measured %s, was %s', a.check_name,
						CASE WHEN abs(b.measured) BETWEEN 1e-30 AND 1e30 THEN b.measured::float4::text ELSE b.measured::text END,
						CASE WHEN abs(a.measured) BETWEEN 1e-30 AND 1e30 THEN a.measured::float4::text ELSE a.measured::text END) AS said,
					abs(b.measured::numeric - a.measured::numeric) / greatest(abs(a.measured::numeric), abs(b.measured::numeric)) AS score
				FROM dq_gate.results a JOIN dq_gate.results b ON b.check_name = a.check_name
				WHERE a.run_id = good.run_id AND b.run_id = r.run_id AND a.measured <> b.measured
				ORDER BY 2 DESC, 1 LIMIT 5
			) AS m;
		END IF;
		IF items IS NOT NULL THEN
			lines := lines || ''::text || format('What changed since run %s, %s, the last good one before', good.run_id, to_char(good.started_at, 'YYYY-MM-DD HH24:MI:SS'));
			FOR n IN 1 .. cardinality(items) LOOP
				lines := lines || dq_gate.wrapped_lines('  ', items[n]);
			END LOOP;
		END IF;
	END IF;

	-- what to do; each can be pasted as it stands
	lines := lines || ''::text || 'Next'::text;
	lines := lines || 'SELECT check_name, status, message'::text || format('FROM dq_gate.results_of(%s)%s;', r.run_id,
		CASE WHEN r.checks_failed > 0 THEN ' WHERE NOT passed' ELSE '' END);
	IF before.rules_hash <> r.rules_hash THEN
		lines := lines || '-- rules that are new or changed'::text
			|| format('SELECT * FROM dq_gate.rules_of(%s)', r.run_id) || format('EXCEPT SELECT * FROM dq_gate.rules_of(%s);', before.run_id);
	END IF;
	IF quarantine IS NOT NULL THEN
		lines := lines || '-- the rows, with the checks that each of them failed'::text
			|| format('SELECT * FROM %s', quarantine) || format('WHERE run_id = %s LIMIT 20;', r.run_id);
	END IF;
	IF gate IS NOT NULL AND staging IS NOT NULL AND NOT r.published AND (r.checks_failed > 0 OR r.error IS NOT NULL) THEN
		arguments := ARRAY[quote_literal(staging), quote_literal(gate), 'batch_id => ' || quote_literal(r.batch_id)]
			|| CASE WHEN r.as_of IS NULL THEN NULL ELSE ARRAY['as_of => ' || quote_literal(r.as_of)] END;
		lines := lines || '-- try again what is in staging by now; publish takes the same arguments'::text;
		IF length(array_to_string(arguments, ', ')) <= 48 THEN
			lines := lines || format('SELECT * FROM dq_gate.audit(%s);', array_to_string(arguments, ', '));
		ELSE
			lines := lines || 'SELECT * FROM dq_gate.audit('::text;
			FOR n IN 1 .. cardinality(arguments) LOOP
				lines := lines || ('    ' || arguments[n] || CASE n WHEN cardinality(arguments) THEN ');' ELSE ',' END);
			END LOOP;
		END IF;
	END IF;
	IF gate IS NOT NULL AND back IS NOT NULL AND quarantine IS NOT NULL AND r.quarantined > 0 THEN
		lines := lines || CASE WHEN r.published THEN '-- once they are corrected, put the rows back into staging'
			ELSE '-- once staging is empty: put the rows that were kept back into it' END::text
			|| format('SELECT * FROM dq_gate.requeue(%s);', r.run_id);
	END IF;
	IF r.attention AND seen IS NULL THEN
		lines := lines || '-- once you know what came of it'::text
			|| format('SELECT dq_gate.acknowledge(%s, ''...'');', r.run_id);
	END IF;

	RETURN QUERY SELECT unnest(lines);
END
$$
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION dq_gate.explain_run(pg_catalog.int8) IS
	'the story of a run, a row a line, with the commands to go on with';

CREATE FUNCTION dq_gate.report(target pg_catalog.regclass, since pg_catalog.interval DEFAULT '7 days')
RETURNS SETOF pg_catalog.text
AS $$
DECLARE
	gate_name	text;
	g			dq_gate.gates;
	last		dq_gate.runs;	-- the last one that was published
	incident	bigint;			-- the last run that was not clean
	lines		text[];
	said		text;
	sizes		bigint[];
	n			bigint;
BEGIN
	IF target IS NULL OR since IS NULL THEN
		RAISE EXCEPTION 'argument "%" must not be NULL', CASE WHEN target IS NULL THEN 'target' ELSE 'since' END
			USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF since <= interval '0' THEN
		RAISE EXCEPTION 'argument "since" must be positive' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'It is how far to look back: ''7 days''.';
	END IF;
	SELECT format('%I.%I', s.nspname, c.relname) INTO gate_name
	FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace WHERE c.oid = $1;
	IF gate_name IS NULL THEN
		RAISE EXCEPTION 'table with OID % does not exist', $1::oid USING ERRCODE = 'undefined_table';
	END IF;
	IF NOT dq_gate.may_see_rows($1) THEN
		RAISE EXCEPTION 'permission denied for table %', gate_name USING ERRCODE = 'insufficient_privilege',
			HINT = 'The log of a gate is shown to those who may read all rows of its target.';
	END IF;
	SELECT x.* INTO g FROM dq_gate.gates x WHERE x.target = $1;
	SELECT x.* INTO last FROM dq_gate.runs x WHERE x.target = $1 AND x.published ORDER BY x.run_id DESC LIMIT 1;

	-- the gate
	lines := dq_gate.wrapped_lines('', CASE WHEN g.target IS NULL THEN format('Table %s, no gate is registered', gate_name)
		ELSE format('Gate %s, mode %s', gate_name, g.mode) || COALESCE(', layer ' || g.layer, '') || COALESCE(', owner ' || g.owner, '')
			|| CASE WHEN g.enforce THEN '' ELSE ', checks are not enforced' END END);
	SELECT format('%I.%I', s.nspname, c.relname) INTO said
	FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace WHERE c.oid = g.staging;
	lines := lines || dq_gate.wrapped_lines('  staging         ', COALESCE(said, last.staging));
	lines := lines || dq_gate.wrapped_lines('  last published  ', CASE WHEN last.run_id IS NULL THEN 'never'
		ELSE format('%s, run %s, batch %s', to_char(last.started_at, 'YYYY-MM-DD HH24:MI:SS'), last.run_id, last.batch_id) END);
	-- a gate that is tried out learns to expect a batch every second
	SELECT format('by %s, since %s', date_trunc('second', o.overdue_by), to_char(o.expected_by, 'YYYY-MM-DD HH24:MI:SS')) INTO said
	FROM dq_gate.overdue() o WHERE o.gate = gate_name AND o.overdue_by >= interval '1 minute';
	lines := lines || dq_gate.wrapped_lines('  overdue         ', said);
	SELECT format('until %s by %s: %s', to_char(m.muted_until, 'YYYY-MM-DD HH24:MI:SS'), m.muted_by, m.reason) INTO said
	FROM dq_gate.mutes m WHERE m.target = $1 AND m.muted_until > clock_timestamp();
	lines := lines || dq_gate.wrapped_lines('  alerts muted    ', said);
	SELECT count(*) INTO n FROM dq_gate.unread u WHERE u.target = $1;
	lines := lines || dq_gate.wrapped_lines('  unread          ', CASE WHEN n > 0 THEN format('%s run%s that nobody has acknowledged', n, CASE n WHEN 1 THEN '' ELSE 's' END) END);
	SELECT string_agg(v.n || ' ' || v.verdict, ', ' ORDER BY v.n DESC, v.verdict), sum(v.n) INTO said, n
	FROM (SELECT x.verdict, count(*) AS n FROM dq_gate.runs x
		  WHERE x.target = $1 AND x.started_at > now() - since GROUP BY 1) AS v;
	lines := lines || dq_gate.wrapped_lines(format('  %s  ', rpad('last ' || since, greatest(14, length('last ' || since)))), COALESCE(said, 'no run'));

	-- how much was published, the oldest first
	SELECT array_agg(x.row_count ORDER BY x.run_id) INTO sizes
	FROM (SELECT y.run_id, y.row_count FROM dq_gate.runs y WHERE y.target = $1 AND y.published
		  ORDER BY y.run_id DESC LIMIT 20) AS x;
	SELECT string_agg(CASE getdatabaseencoding() WHEN 'UTF8' THEN chr(9601 + b.level) ELSE substr('_.-~=+*#', b.level + 1, 1) END, '' ORDER BY b.place)
		|| format(' of %s to %s rows staged, in %s published runs', min(b.size), max(b.size), count(*)) INTO said
	FROM (SELECT u.size, u.place, COALESCE(round(7.0 * u.size / NULLIF(max(u.size) OVER (), 0)), 0)::integer AS level
		  FROM unnest(sizes) WITH ORDINALITY AS u (size, place)) AS b;
	lines := lines || dq_gate.wrapped_lines('  volume          ', said);

	-- the last runs
	IF n > 0 THEN
		SELECT max(x.run_id) INTO incident FROM dq_gate.runs x
		WHERE x.target = $1 AND x.started_at > now() - since AND (x.checks_failed > 0 OR x.error IS NOT NULL);
		SELECT lines || ''::text || array_agg(rtrim(format('%s  %s  %s %s  %s  %s', lpad(y.run, y.run_width), rpad(y.started, 19), rpad(y.verdict, 9),
			lpad(y.size, y.size_width), lpad(y.quarantined, 11),
			CASE WHEN length(y.batch) > y.room THEN left(y.batch, y.room - 3) || '...' ELSE y.batch END)) ORDER BY y.run_id DESC NULLS FIRST) INTO lines
		FROM (
			SELECT x.*, max(length(x.run)) OVER () AS run_width, max(length(x.size)) OVER () AS size_width,
				-- enough for a batch_id that the clock has made, where numbers are small
				greatest(78 - 48 - max(length(x.run)) OVER () - max(length(x.size)) OVER (), 10)::integer AS room
			FROM (
				SELECT NULL::bigint AS run_id, 'run' AS run, 'started' AS started, 'verdict' AS verdict, 'rows' AS size, 'quarantined' AS quarantined, 'batch' AS batch
				UNION ALL
				(SELECT r.run_id, r.run_id::text, to_char(r.started_at, 'YYYY-MM-DD HH24:MI:SS'), r.verdict, COALESCE(r.row_count::text, ''),
					COALESCE(r.quarantined::text, ''), regexp_replace(r.batch_id, '[[:space:][:cntrl:]]+', ' ', 'g')
				 FROM dq_gate.runs r WHERE r.target = $1 AND r.started_at > now() - since
				 ORDER BY r.run_id DESC LIMIT 10)
			) AS x
		) AS y;
		IF incident IS NULL THEN
			lines := lines || ''::text || 'Nothing failed in these runs.'::text;
		ELSE
			SELECT count(*) INTO n FROM dq_gate.runs x WHERE x.target = $1 AND x.run_id > incident;
			lines := lines || ''::text || CASE n WHEN 0 THEN 'Something failed in the last run.'
				WHEN 1 THEN format('Something failed in run %s, and nothing in the run after it.', incident)
				ELSE format('Something failed in run %s, and nothing in the %s runs after it.', incident, n) END::text || ''::text;
		END IF;
	END IF;

	RETURN QUERY SELECT unnest(lines);
	IF incident IS NOT NULL THEN
		RETURN QUERY SELECT dq_gate.explain_run(incident);
	END IF;
END
$$
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION dq_gate.report(pg_catalog.regclass, pg_catalog.interval) IS
	'what happened lately to a target, a row a line: its last runs, and what failed in the last one that was not clean';
