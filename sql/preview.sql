/*
 * preview.sql
 *
 * What a publish would do, before it does.
 */

CREATE FUNCTION dq_gate.preview(staging pg_catalog.regclass,
								target pg_catalog.regclass,
								batch_id pg_catalog.text DEFAULT NULL,
								as_of pg_catalog.date DEFAULT NULL,
								totals pg_catalog.jsonb DEFAULT NULL,
								samples pg_catalog.int4 DEFAULT 5,
								OUT change pg_catalog.text,
								OUT column_name pg_catalog.text,
								OUT row_count pg_catalog.int8,
								OUT sample pg_catalog.jsonb)
RETURNS SETOF pg_catalog.record
AS 'MODULE_PATHNAME', 'dq_gate_preview'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.preview(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text, pg_catalog.date, pg_catalog.jsonb, pg_catalog.int4) IS
	'what publish would do with the batch in staging: how many rows are inserted, updated, deleted and so on, and which columns change; logs and changes nothing';

/*
 * Some rows of many as jsonb, without converting the others: called by the
 * statements of an audit and of a preview.
 */
CREATE FUNCTION dq_gate.sample_rows_step(state pg_catalog.jsonb, count pg_catalog.int4, VARIADIC pairs "any")
RETURNS pg_catalog.jsonb
AS 'MODULE_PATHNAME', 'dq_gate_sample_rows_step'
LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dq_gate.sample_rows_step(pg_catalog.jsonb, pg_catalog.int4, "any") IS
	'the rows kept so far and one more, unless there are enough; see sample_rows';

CREATE AGGREGATE dq_gate.sample_rows(count pg_catalog.int4, VARIADIC pairs "any") (
	SFUNC = dq_gate.sample_rows_step,
	STYPE = pg_catalog.jsonb,
	COMBINEFUNC = pg_catalog.jsonb_concat,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE dq_gate.sample_rows(pg_catalog.int4, VARIADIC "any") IS
	'so many rows, whichever come first, as names and values; each parallel worker keeps as many';
