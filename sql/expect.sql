/*
 * expect.sql
 *
 * Declaring checks, one function a kind.  The arguments from action on are
 * the same for all of them.
 */

CREATE FUNCTION dq_gate.expect_not_null(
	target pg_catalog.regclass,
	column_name pg_catalog.text,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_not_null'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_not_null IS
	'declare that a column has a value in every row';

CREATE FUNCTION dq_gate.expect_range(
	target pg_catalog.regclass,
	column_name pg_catalog.text,
	min "any" DEFAULT NULL,
	max "any" DEFAULT NULL,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_range'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_range IS
	'declare that a column lies between min and max, both included; NULL leaves a side open';

CREATE FUNCTION dq_gate.expect_accepted_values(
	target pg_catalog.regclass,
	column_name pg_catalog.text,
	accepted pg_catalog.text[] DEFAULT NULL,
	query pg_catalog.text DEFAULT NULL,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_accepted_values'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_accepted_values IS
	'declare that a column has one of these values, of a list or of a query';

CREATE FUNCTION dq_gate.expect_rejected_values(
	target pg_catalog.regclass,
	column_name pg_catalog.text,
	rejected pg_catalog.text[] DEFAULT NULL,
	query pg_catalog.text DEFAULT NULL,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_rejected_values'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_rejected_values IS
	'declare that a column has none of these values, of a list or of a query';

CREATE FUNCTION dq_gate.expect_pattern(
	target pg_catalog.regclass,
	column_name pg_catalog.text,
	pattern pg_catalog.text,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_pattern'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_pattern IS
	'declare that the text of a column matches a POSIX regular expression';

CREATE FUNCTION dq_gate.expect_like(
	target pg_catalog.regclass,
	column_name pg_catalog.text,
	pattern pg_catalog.text,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_like'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_like IS
	'declare that the text of a column matches a LIKE pattern';

CREATE FUNCTION dq_gate.expect_length(
	target pg_catalog.regclass,
	column_name pg_catalog.text,
	min pg_catalog.int4 DEFAULT NULL,
	max pg_catalog.int4 DEFAULT NULL,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_length'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_length IS
	'declare how long the text of a column is, in characters; of a bytea in bytes, of an array in elements';

CREATE FUNCTION dq_gate.expect_unique(
	target pg_catalog.regclass,
	columns pg_catalog.text[],
	in_target pg_catalog.bool DEFAULT false,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_unique'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_unique IS
	'declare that columns are unique in the batch, and on request in the target';

CREATE FUNCTION dq_gate.expect_referential(
	target pg_catalog.regclass,
	columns pg_catalog.text[],
	ref_table pg_catalog.regclass,
	ref_columns pg_catalog.text[] DEFAULT NULL,
	match pg_catalog.text DEFAULT 'simple',
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_referential'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_referential IS
	'declare that the values of columns stand in another table';

CREATE FUNCTION dq_gate.expect_sql(
	target pg_catalog.regclass,
	name pg_catalog.text,
	expression pg_catalog.text,
	when_ pg_catalog.text DEFAULT NULL,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_sql'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_sql IS
	'declare that a boolean expression over the columns of a staged row is true, on request only where a condition holds';

CREATE FUNCTION dq_gate.expect_ready(
	target pg_catalog.regclass,
	condition pg_catalog.text DEFAULT NULL,
	upstream pg_catalog.regclass DEFAULT NULL,
	idle pg_catalog.bool DEFAULT false,
	deadline pg_catalog.interval DEFAULT NULL,
	action pg_catalog.text DEFAULT 'skip',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_ready'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_ready IS
	'declare when the source is ready: a condition, a gate that has published, or staging that nobody is writing; else the run is skipped, and fails past a deadline';

CREATE FUNCTION dq_gate.expect_query(
	target pg_catalog.regclass,
	name pg_catalog.text,
	query pg_catalog.text,
	min pg_catalog.numeric DEFAULT NULL,
	max pg_catalog.numeric DEFAULT NULL,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_query'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_query IS
	'declare that a query returns no rows, or one number between min and max';

CREATE FUNCTION dq_gate.expect_compare(
	target pg_catalog.regclass,
	left_column pg_catalog.text,
	comparison pg_catalog.text,
	right_column pg_catalog.text,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_compare'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_compare IS
	'declare how two columns of a row compare';

CREATE FUNCTION dq_gate.expect_not_future(
	target pg_catalog.regclass,
	column_name pg_catalog.text,
	tolerance pg_catalog.interval DEFAULT NULL,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_not_future'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_not_future IS
	'declare that a point in time is not after now, or not by more than a tolerance';

CREATE FUNCTION dq_gate.expect_row_count(
	target pg_catalog.regclass,
	min pg_catalog.int8 DEFAULT NULL,
	max pg_catalog.int8 DEFAULT NULL,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_row_count'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_row_count IS
	'declare how many rows a batch has';

CREATE FUNCTION dq_gate.expect_aggregate(
	target pg_catalog.regclass,
	name pg_catalog.text,
	expression pg_catalog.text,
	min pg_catalog.numeric DEFAULT NULL,
	max pg_catalog.numeric DEFAULT NULL,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_aggregate'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_aggregate IS
	'declare that an expression of aggregates over all rows of a batch lies between min and max';

CREATE FUNCTION dq_gate.expect_freshness(
	target pg_catalog.regclass,
	column_name pg_catalog.text,
	max_age pg_catalog.interval,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_freshness'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_freshness IS
	'declare that the latest value of a column is no older than max_age';

CREATE FUNCTION dq_gate.expect_type_fit(
	target pg_catalog.regclass,
	column_name pg_catalog.text,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_type_fit'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_type_fit IS
	'declare what becomes of staged values that the type of a column does not take';

CREATE FUNCTION dq_gate.expect_constraint(
	target pg_catalog.regclass,
	constraint_name pg_catalog.text,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_constraint'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_constraint IS
	'declare what becomes of rows that violate a constraint of the target';

CREATE FUNCTION dq_gate.expect_within(
	target pg_catalog.regclass,
	column_name pg_catalog.text,
	max_past pg_catalog.interval DEFAULT NULL,
	max_future pg_catalog.interval DEFAULT NULL,
	reference pg_catalog.text DEFAULT 'now',
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_within'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_within IS
	'declare how far a point in time may be from now, or from the as_of of the run';

CREATE FUNCTION dq_gate.expect_null_rate(
	target pg_catalog.regclass,
	max_null_rate pg_catalog.float8,
	columns pg_catalog.text[] DEFAULT NULL,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_null_rate'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_null_rate IS
	'declare how many values of each column may be missing; without columns, of each but the key';

CREATE FUNCTION dq_gate.expect_distinct(
	target pg_catalog.regclass,
	columns pg_catalog.text[],
	min pg_catalog.numeric DEFAULT NULL,
	max pg_catalog.numeric DEFAULT NULL,
	min_distinct_rate pg_catalog.numeric DEFAULT NULL,
	max_distinct_rate pg_catalog.numeric DEFAULT NULL,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_distinct'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_distinct IS
	'declare how many different values columns have';

CREATE FUNCTION dq_gate.expect_row_count_match(
	target pg_catalog.regclass,
	ref_table pg_catalog.regclass,
	min_ratio pg_catalog.numeric DEFAULT NULL,
	max_ratio pg_catalog.numeric DEFAULT NULL,
	max_variance pg_catalog.numeric DEFAULT NULL,
	ref_filter pg_catalog.text DEFAULT NULL,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_row_count_match'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_row_count_match IS
	'declare that a batch has as many rows as another table, by a ratio or give or take a percentage';

CREATE FUNCTION dq_gate.expect_schema(
	target pg_catalog.regclass,
	columns pg_catalog.text[] DEFAULT NULL,
	types pg_catalog.text[] DEFAULT NULL,
	match pg_catalog.text DEFAULT 'exact',
	check_order pg_catalog.bool DEFAULT false,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_schema'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_schema IS
	'declare which columns staging has; without columns, those of the target';

CREATE FUNCTION dq_gate.expect_control_totals(
	target pg_catalog.regclass,
	columns pg_catalog.text[] DEFAULT NULL,
	query pg_catalog.text DEFAULT NULL,
	tolerance pg_catalog.numeric DEFAULT NULL,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_control_totals'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_control_totals IS
	'declare that the number of rows and the sums of columns are those of a manifest, or those given with the call';

CREATE FUNCTION dq_gate.expect_reconciled(
	target pg_catalog.regclass,
	source_table pg_catalog.regclass,
	key pg_catalog.text[] DEFAULT NULL,
	sums pg_catalog.text[] DEFAULT NULL,
	source_filter pg_catalog.text DEFAULT NULL,
	tolerance pg_catalog.numeric DEFAULT NULL,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_reconciled'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_reconciled IS
	'declare that a batch has the rows, the sums and the keys of its source';

CREATE FUNCTION dq_gate.expect_series(
	target pg_catalog.regclass,
	column_name pg_catalog.text,
	step pg_catalog.text,
	from_ pg_catalog.text DEFAULT NULL,
	to_ pg_catalog.text DEFAULT NULL,
	by_columns pg_catalog.text[] DEFAULT NULL,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_series'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_series IS
	'declare that a column has a value in every step between two ends';

CREATE FUNCTION dq_gate.expect_volume(
	target pg_catalog.regclass,
	min_ratio pg_catalog.numeric DEFAULT 0.5,
	max_ratio pg_catalog.numeric DEFAULT 2.0,
	history pg_catalog.int4 DEFAULT 14,
	min_history pg_catalog.int4 DEFAULT 5,
	by pg_catalog.text DEFAULT 'batches',
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_volume'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_volume IS
	'declare how many rows a batch has, as a ratio to the median of earlier batches';

CREATE FUNCTION dq_gate.expect_metric(
	target pg_catalog.regclass,
	metric pg_catalog.text,
	method pg_catalog.text DEFAULT 'ratio_to_median',
	min pg_catalog.numeric DEFAULT NULL,
	max pg_catalog.numeric DEFAULT NULL,
	history pg_catalog.int4 DEFAULT 14,
	min_history pg_catalog.int4 DEFAULT 5,
	by pg_catalog.text DEFAULT 'batches',
	min_spread pg_catalog.numeric DEFAULT 0.1,
	season pg_catalog.interval DEFAULT '7 days',
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_metric'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_metric IS
	'declare how a number, of the batch or measured by another check, compares with what it was in earlier batches';

CREATE FUNCTION dq_gate.expect_stable_distribution(
	target pg_catalog.regclass,
	column_name pg_catalog.text,
	method pg_catalog.text DEFAULT 'psi',
	max pg_catalog.numeric DEFAULT NULL,
	history pg_catalog.int4 DEFAULT 14,
	min_history pg_catalog.int4 DEFAULT 5,
	by pg_catalog.text DEFAULT 'batches',
	min_rows pg_catalog.int8 DEFAULT 100,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_stable_distribution'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_stable_distribution IS
	'declare that the values of a column are spread as in earlier batches';

CREATE FUNCTION dq_gate.expect_change_rate(
	target pg_catalog.regclass,
	max_change_rate pg_catalog.float8 DEFAULT NULL,
	max_update_rate pg_catalog.float8 DEFAULT NULL,
	max_delete_rate pg_catalog.float8 DEFAULT NULL,
	action pg_catalog.text DEFAULT 'block',
	owner pg_catalog.text DEFAULT NULL,
	name pg_catalog.text DEFAULT NULL,
	description pg_catalog.text DEFAULT NULL,
	nulls pg_catalog.text DEFAULT NULL,
	filter pg_catalog.text DEFAULT NULL,
	max_rate pg_catalog.float8 DEFAULT NULL,
	max_rows pg_catalog.float8 DEFAULT NULL,
	warn_above pg_catalog.float8 DEFAULT NULL,
	block_above pg_catalog.float8 DEFAULT NULL,
	tags pg_catalog.text[] DEFAULT NULL,
	samples pg_catalog.bool DEFAULT true,
	severity pg_catalog.text DEFAULT NULL)
RETURNS pg_catalog.text
AS 'MODULE_PATHNAME', 'dq_gate_expect_change_rate'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dq_gate.expect_change_rate IS
	'declare how much of the target a batch may change or delete';
