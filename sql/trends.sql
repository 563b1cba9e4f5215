/*
 * trends.sql
 *
 * Looking at the log: views of it, for dashboards and for whoever is on call,
 * and the gates whose batch is late.
 *
 * Everything here shows what the reader may see of the log itself: the views
 * are those of the invoker, and row-level security of the tables applies.
 */

CREATE VIEW dq_gate.dq_check_results WITH (security_invoker = true) AS
SELECT s.run_id,
	COALESCE(r.as_of, (r.started_at AT TIME ZONE 'UTC')::pg_catalog.date) AS pipeline_run_dt,
	r.layer,
	r.gate AS table_name,
	s.check_type,
	s.check_name,
	s.expected_value,
	s.actual_value,
	s.threshold,
	s.passed,
	s.message AS failure_message,
	s.status,
	s.action,
	s.severity,
	s.owner,
	r.batch_id,
	r.verdict,
	r.started_at
FROM dq_gate.results s
JOIN dq_gate.runs r ON r.run_id OPERATOR(pg_catalog.=) s.run_id;
COMMENT ON VIEW dq_gate.dq_check_results IS
	'what each check found in each run, under the column names of a common results table';
COMMENT ON COLUMN dq_gate.dq_check_results.pipeline_run_dt IS
	'the as_of of the run, or the date of the run in UTC';
COMMENT ON COLUMN dq_gate.dq_check_results.table_name IS 'qualified name of the target when the run was made';
COMMENT ON COLUMN dq_gate.dq_check_results.passed IS 'NULL where the check was not judged';

/*
 * Each value beside the baselines that stood before it in the history of its
 * gate, which are counted so that a frame can name the last 14 of them: a run
 * that is none does not count, and sees the same as the next baseline.
 */
CREATE VIEW dq_gate.check_trend WITH (security_invoker = true) AS
SELECT w.target,
	w.gate,
	w.check_name,
	w.check_type,
	w.run_id,
	w.batch_id,
	w.as_of,
	w.batch_time,
	w.verdict,
	w.baseline,
	w.status,
	w.measured,
	w.earlier[pg_catalog.cardinality(w.earlier)] AS previous,
	w.measured OPERATOR(pg_catalog.-) w.earlier[pg_catalog.cardinality(w.earlier)] AS change,
	(SELECT pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY e.value)
	 FROM pg_catalog.unnest(w.earlier) AS e (value)) AS median
FROM (
	SELECT n.*,
		pg_catalog.array_agg(n.measured) FILTER (WHERE n.baseline) OVER (
			PARTITION BY n.target, n.gone, n.check_name ORDER BY n.baselines
			RANGE BETWEEN 14 PRECEDING AND 1 PRECEDING) AS earlier
	FROM (
		SELECT r.target, CASE WHEN r.target IS NULL THEN r.gate END AS gone, r.gate,
			s.check_name, s.check_type, r.run_id, r.batch_id, r.as_of, r.batch_time,
			r.verdict, r.baseline, s.status, s.measured,
			pg_catalog.count(*) FILTER (WHERE r.baseline) OVER (
				PARTITION BY r.target, CASE WHEN r.target IS NULL THEN r.gate END, s.check_name
				ORDER BY r.batch_time)
			OPERATOR(pg_catalog.-) pg_catalog.count(*) FILTER (WHERE r.baseline) OVER (
				PARTITION BY r.target, CASE WHEN r.target IS NULL THEN r.gate END, s.check_name, r.batch_time)
				AS baselines
		FROM dq_gate.runs r
		JOIN dq_gate.results s ON s.run_id OPERATOR(pg_catalog.=) r.run_id
		WHERE s.measured IS NOT NULL
	) AS n
) AS w;
COMMENT ON VIEW dq_gate.check_trend IS
	'what each check measured in each run, beside what it measured in the baselines before';
COMMENT ON COLUMN dq_gate.check_trend.batch_time IS 'where the batch stands in the history of its gate, in UTC';
COMMENT ON COLUMN dq_gate.check_trend.baseline IS 'whether later runs are compared with this one';
COMMENT ON COLUMN dq_gate.check_trend.previous IS 'what the last baseline before this batch measured';
COMMENT ON COLUMN dq_gate.check_trend.change IS 'measured less previous';
COMMENT ON COLUMN dq_gate.check_trend.median IS 'of up to 14 baselines before this batch';

CREATE VIEW dq_gate.pass_rate WITH (security_invoker = true) AS
SELECT r.layer,
	r.owner,
	pg_catalog.date_trunc('week', r.started_at AT TIME ZONE 'UTC')::pg_catalog.date AS week,
	pg_catalog.count(*) AS runs,
	pg_catalog.count(*) FILTER (WHERE r.verdict OPERATOR(pg_catalog.=) 'published') AS published,
	pg_catalog.count(*) FILTER (WHERE r.verdict OPERATOR(pg_catalog.=) 'rejected') AS rejected,
	pg_catalog.count(*) FILTER (WHERE r.verdict OPERATOR(pg_catalog.=) 'failed') AS failed,
	pg_catalog.count(*) FILTER (WHERE r.verdict OPERATOR(pg_catalog.=) 'skipped') AS skipped,
	pg_catalog.sum(c.judged)::pg_catalog.int8 AS checks_judged,
	pg_catalog.sum(c.passed)::pg_catalog.int8 AS checks_passed,
	pg_catalog.round(pg_catalog.sum(c.passed) OPERATOR(pg_catalog./)
					 NULLIF(pg_catalog.sum(c.judged), 0), 4) AS pass_rate
FROM dq_gate.runs r
CROSS JOIN LATERAL (
	SELECT pg_catalog.count(s.passed) AS judged, pg_catalog.count(*) FILTER (WHERE s.passed) AS passed
	FROM dq_gate.results s
	WHERE s.run_id OPERATOR(pg_catalog.=) r.run_id
) AS c
WHERE r.verdict OPERATOR(pg_catalog.<>) 'audited'
GROUP BY 1, 2, 3;
COMMENT ON VIEW dq_gate.pass_rate IS
	'how runs and their checks went, by layer, owner and week; dry runs are left out';
COMMENT ON COLUMN dq_gate.pass_rate.owner IS 'of the gate when the run was made';
COMMENT ON COLUMN dq_gate.pass_rate.week IS 'the Monday that the week of the run began with, in UTC';
COMMENT ON COLUMN dq_gate.pass_rate.checks_judged IS 'checks that passed, failed or could not be evaluated';
COMMENT ON COLUMN dq_gate.pass_rate.pass_rate IS 'checks_passed of checks_judged, from 0 to 1';

/*
 * What came before the seven days is looked for once a check, not once a
 * failure.
 */
CREATE VIEW dq_gate.failed_checks WITH (security_invoker = true) AS
WITH judged AS (
	SELECT r.run_id, r.target, r.gate, r.layer, r.batch_id, r.as_of, r.verdict, r.started_at,
		s.check_no, s.check_name, s.check_type, s.columns, s.action, s.severity, s.owner, s.status, s.passed,
		s.failing_rows, s.message, s.sample,
		pg_catalog.max(r.run_id) FILTER (WHERE s.passed) OVER (
			PARTITION BY r.target, s.check_name ORDER BY r.run_id) AS passed_run,
		pg_catalog.max(r.started_at) FILTER (WHERE s.passed) OVER (
			PARTITION BY r.target, s.check_name ORDER BY r.run_id) AS passed_at
	FROM dq_gate.runs r
	JOIN dq_gate.results s ON s.run_id OPERATOR(pg_catalog.=) r.run_id
	WHERE r.started_at OPERATOR(pg_catalog.>) (pg_catalog.now() OPERATOR(pg_catalog.-) '7 days'::pg_catalog.interval)
	AND r.target IS NOT NULL AND s.passed IS NOT NULL
), recent AS (
	SELECT j.*,
		pg_catalog.min(j.started_at) FILTER (WHERE NOT j.passed) OVER (
			PARTITION BY j.target, j.check_name, j.passed_run) AS failed_since
	FROM judged j
), earlier AS (
	SELECT k.target, k.check_name, p.started_at AS passed_at, f.started_at AS failed_since
	FROM (SELECT DISTINCT target, check_name FROM recent WHERE NOT passed AND passed_run IS NULL) AS k
	LEFT JOIN LATERAL (
		SELECT r.run_id, r.started_at
		FROM dq_gate.runs r
		JOIN dq_gate.results s ON s.run_id OPERATOR(pg_catalog.=) r.run_id
		WHERE r.target OPERATOR(pg_catalog.=) k.target
		AND r.started_at OPERATOR(pg_catalog.<=) (pg_catalog.now() OPERATOR(pg_catalog.-) '7 days'::pg_catalog.interval)
		AND s.check_name OPERATOR(pg_catalog.=) k.check_name AND s.passed
		ORDER BY r.run_id DESC LIMIT 1
	) AS p ON true
	LEFT JOIN LATERAL (
		SELECT pg_catalog.min(r.started_at) AS started_at
		FROM dq_gate.runs r
		JOIN dq_gate.results s ON s.run_id OPERATOR(pg_catalog.=) r.run_id
		WHERE r.target OPERATOR(pg_catalog.=) k.target
		AND r.started_at OPERATOR(pg_catalog.<=) (pg_catalog.now() OPERATOR(pg_catalog.-) '7 days'::pg_catalog.interval)
		AND r.run_id OPERATOR(pg_catalog.>) COALESCE(p.run_id, 0)
		AND s.check_name OPERATOR(pg_catalog.=) k.check_name AND NOT s.passed
	) AS f ON true
)
SELECT n.run_id,
	n.started_at,
	n.gate,
	n.layer,
	n.batch_id,
	n.as_of,
	n.verdict,
	n.check_name,
	n.check_type,
	n.columns,
	n.action,
	n.severity,
	n.owner,
	n.status,
	n.failing_rows,
	n.message,
	n.sample,
	COALESCE(e.failed_since, n.failed_since) AS failing_since,
	COALESCE(n.passed_at, e.passed_at) AS last_passed
FROM recent n
LEFT JOIN earlier e ON e.target OPERATOR(pg_catalog.=) n.target
	AND e.check_name OPERATOR(pg_catalog.=) n.check_name AND n.passed_run IS NULL
WHERE NOT n.passed
ORDER BY n.run_id DESC, n.check_no;
COMMENT ON VIEW dq_gate.failed_checks IS
	'checks that failed, or could not be evaluated, in the last 7 days, the newest first';
COMMENT ON COLUMN dq_gate.failed_checks.started_at IS 'when the run started in which it failed';
COMMENT ON COLUMN dq_gate.failed_checks.owner IS 'of the check, or else of the gate';
COMMENT ON COLUMN dq_gate.failed_checks.failing_since IS
	'when the first run started in which it failed and after which it has not passed';
COMMENT ON COLUMN dq_gate.failed_checks.last_passed IS 'when the last run before started in which it passed; NULL: it never did';

CREATE FUNCTION dq_gate.overdue(at pg_catalog.timestamptz DEFAULT pg_catalog.now(),
								OUT gate pg_catalog.text,
								OUT owner pg_catalog.text,
								OUT last_published pg_catalog.timestamptz,
								OUT expected_every pg_catalog.interval,
								OUT source pg_catalog.text,
								OUT expected_by pg_catalog.timestamptz,
								OUT overdue_by pg_catalog.interval)
RETURNS SETOF pg_catalog.record
AS $$
	SELECT d.gate, d.owner, d.last_published, d.expected_every, d.source, d.expected_by,
		$1 OPERATOR(pg_catalog.-) d.expected_by
	FROM (
		SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS gate, g.owner, p.last_published,
			COALESCE(g.expected_every, h.usual) AS expected_every,
			CASE WHEN g.expected_every IS NULL THEN 'learned' ELSE 'declared' END AS source,
			CASE WHEN g.expected_every IS NULL
				 THEN p.last_published OPERATOR(pg_catalog.+)
					  GREATEST(h.usual OPERATOR(pg_catalog.*) 1.5::pg_catalog.float8, h.longest)
				 ELSE COALESCE(p.last_published, g.created_at) OPERATOR(pg_catalog.+) g.expected_every
			END AS expected_by
		FROM dq_gate.gates g
		JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) g.target::pg_catalog.oid
		JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
		CROSS JOIN LATERAL (
			-- the gaps between the latest baselines, which the index on them has in this order
			SELECT pg_catalog.count(*) AS published, pg_catalog.max(b.started_at) AS last_published,
				pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY b.gap) AS usual,
				pg_catalog.max(b.gap) AS longest
			FROM (
				SELECT r.started_at, r.started_at OPERATOR(pg_catalog.-)
					pg_catalog.lag(r.started_at) OVER (ORDER BY r.started_at) AS gap
				FROM (SELECT started_at FROM dq_gate.runs
					  WHERE target OPERATOR(pg_catalog.=) g.target AND baseline
					  ORDER BY batch_time DESC, run_id DESC LIMIT 15) AS r
			) AS b
		) AS h
		CROSS JOIN LATERAL (
			-- a batch let through while the gate was calibrated has arrived, but is no baseline
			SELECT GREATEST(h.last_published, pg_catalog.max(u.started_at)) AS last_published
			FROM (SELECT r.started_at, r.published, r.enforced FROM dq_gate.runs r
				  WHERE r.target OPERATOR(pg_catalog.=) g.target
				  ORDER BY r.run_id DESC LIMIT 100) AS u
			WHERE u.published AND NOT u.enforced
		) AS p
		-- to whom the runs are not shown, none has arrived
		WHERE dq_gate.may_see_rows(g.target)
		AND (g.expected_every IS NOT NULL OR h.published OPERATOR(pg_catalog.>=) 5)
	) AS d
	WHERE d.expected_by OPERATOR(pg_catalog.<) $1
	ORDER BY 7 DESC, 1
$$
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION dq_gate.overdue(pg_catalog.timestamptz) IS
	'the gates whose batch is late, by the interval that was declared for them or by their own history';
