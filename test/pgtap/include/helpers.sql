--
-- What the tests say in one word.  Included by them, no test itself.
--

-- the answer of a run in words, with the counts that are not 0: "published 3: 1 inserted, 2 updated"
CREATE FUNCTION outcome(run dq_gate.run_summary) RETURNS text LANGUAGE sql AS $$
	SELECT run.verdict || ' ' || run.row_count || coalesce(': ' || string_agg(n || ' ' || word, ', ' ORDER BY place), '')
	FROM (VALUES (1, run.inserted, 'inserted'), (2, run.updated, 'updated'), (3, run.unchanged, 'unchanged'),
		(4, run.deleted, 'deleted'), (5, run.stale, 'stale'), (6, run.quarantined, 'quarantined'), (7, run.dropped, 'dropped')) AS count (place, n, word)
	WHERE n IS DISTINCT FROM 0
$$;

CREATE FUNCTION last_run() RETURNS bigint LANGUAGE sql AS 'SELECT max(run_id) FROM dq_gate.runs';

-- a result of the last run in words: "failed 1 of 3, 2 null"
CREATE FUNCTION finding(name text) RETURNS text LANGUAGE sql AS $$
	SELECT status || coalesce(' ' || failing_rows, '') || coalesce(' of ' || examined_rows, '')
		|| coalesce(', ' || nullif(null_rows, 0) || ' null', '')
	FROM dq_gate.results_of(last_run()) WHERE check_name = name
$$;

CREATE FUNCTION message(name text) RETURNS text LANGUAGE sql AS
	'SELECT message FROM dq_gate.results_of(last_run()) WHERE check_name = name';

-- the checks of the last run that did not pass, with their status
CREATE FUNCTION not_passed() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(check_name || ' ' || status, ', ' ORDER BY check_name)
	FROM dq_gate.results_of(last_run()) WHERE status IN ('failed', 'error')
$$;

-- the statement raises an error of this state, with a message, detail and hint that match; nothing is left of what it did
CREATE FUNCTION raises(statement text, state text, pattern text, name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text; detail text; hint text;
BEGIN
	BEGIN
		EXECUTE statement;
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
		RETURN ok(sqlstate = state AND concat_ws(E'\n', message, detail, hint) ~ pattern, name)
			|| CASE WHEN sqlstate = state AND concat_ws(E'\n', message, detail, hint) ~ pattern THEN ''
				ELSE E'\n' || diag(format('raised %s: %s', sqlstate, concat_ws(' | ', message, detail, hint))) END;
	END;
	RETURN ok(false, name) || E'\n' || diag('raised nothing');
END
$$;
