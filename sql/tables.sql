/*
 * tables.sql
 *
 * What dq_gate keeps: gates and their checks (configuration), runs and
 * results (the log), and which table quarantines the rows of which target.
 * Only the extension writes them; see rights.sql for who may read them.
 *
 * There are no foreign keys: pg_restore -j fills these tables in any order,
 * with the constraints in place.  See lifecycle.sql for what belongs to a gate
 * or a run, and goes with it.
 */

CREATE TABLE dq_gate.gates (
	target		pg_catalog.regclass PRIMARY KEY,
	staging		pg_catalog.regclass,
	key			pg_catalog.text[],
	layer		pg_catalog.text,
	owner		pg_catalog.text,
	description	pg_catalog.text,
	run_as		pg_catalog.regrole NOT NULL,
	enforce		pg_catalog.bool NOT NULL DEFAULT true,
	samples		pg_catalog.bool NOT NULL DEFAULT true,
	check_timeout	pg_catalog.interval,
	profile		pg_catalog.bool NOT NULL DEFAULT false,
	expected_every	pg_catalog.interval,
	mode		pg_catalog.text NOT NULL DEFAULT 'merge'
				CHECK (mode IN ('merge', 'append', 'insert_only', 'sync', 'replace')),
	scope		pg_catalog.text,
	scope_of_batch	pg_catalog.text,
	scope_of_target	pg_catalog.text,
	replace_by	pg_catalog.text[],
	max_delete_rate	pg_catalog.float8 NOT NULL DEFAULT 1,
	update_columns	pg_catalog.text[],
	exclude_columns	pg_catalog.text[],
	compare_columns	pg_catalog.text[],
	only_if_newer	pg_catalog.text,
	keep_latest_by	pg_catalog.text,
	on_rounding	pg_catalog.text NOT NULL DEFAULT 'fail'
				CHECK (on_rounding IN ('fail', 'allow')),
	on_new_column	pg_catalog.text NOT NULL DEFAULT 'fail'
				CHECK (on_new_column IN ('fail', 'ignore', 'rescue', 'evolve')),
	rescue_column	pg_catalog.text,
	on_missing_column	pg_catalog.text NOT NULL DEFAULT 'default'
				CHECK (on_missing_column IN ('default', 'fail')),
	on_type_change	pg_catalog.text NOT NULL DEFAULT 'fail'
				CHECK (on_type_change IN ('fail', 'widen')),
	after_publish	pg_catalog.text NOT NULL DEFAULT 'keep'
				CHECK (after_publish IN ('keep', 'truncate', 'delete')),
	quarantine_retention	pg_catalog.interval,
	log_retention	pg_catalog.interval,
	alert		pg_catalog.text NOT NULL DEFAULT 'failure'
				CHECK (alert IN ('failure', 'change', 'always', 'never')),
	created_by	pg_catalog.name NOT NULL DEFAULT SESSION_USER,
	created_at	pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
COMMENT ON TABLE dq_gate.gates IS
	'registered gates, one a guarded target; written by create_gate, alter_gate and drop_gate';
COMMENT ON COLUMN dq_gate.gates.target IS 'the published table that the gate guards';
COMMENT ON COLUMN dq_gate.gates.staging IS 'the table where batches land, if the gate names one';
COMMENT ON COLUMN dq_gate.gates.key IS 'merge key; NULL takes it from the primary key of the target';
COMMENT ON COLUMN dq_gate.gates.layer IS 'label such as bronze, silver or gold';
COMMENT ON COLUMN dq_gate.gates.owner IS 'accountable person or team, free text';
COMMENT ON COLUMN dq_gate.gates.enforce IS 'false while the gate is calibrated: checks are logged, and neither block nor move rows';
COMMENT ON COLUMN dq_gate.gates.samples IS 'false: the log of this gate shows no values of rows';
COMMENT ON COLUMN dq_gate.gates.check_timeout IS 'how long a statement of the audit may take; NULL: as long as it does';
COMMENT ON COLUMN dq_gate.gates.profile IS 'true: every run keeps a profile of every column';
COMMENT ON COLUMN dq_gate.gates.expected_every IS 'a batch is expected so often; NULL: as often as before. See overdue';
COMMENT ON COLUMN dq_gate.gates.mode IS
	'how a batch gets into the target: merge, append, insert_only, sync or replace';
COMMENT ON COLUMN dq_gate.gates.scope IS 'the part of the target that is synced or replaced; NULL: all of it';
COMMENT ON COLUMN dq_gate.gates.scope_of_batch IS 'the scope, names resolved when it was given, over a row of the batch';
COMMENT ON COLUMN dq_gate.gates.scope_of_target IS 'the same over a row of the target';
COMMENT ON COLUMN dq_gate.gates.replace_by IS 'columns whose values in a batch name the slices that it replaces';
COMMENT ON COLUMN dq_gate.gates.max_delete_rate IS 'the share of the rows in scope that a sync may delete; 1: no limit';
COMMENT ON COLUMN dq_gate.gates.update_columns IS 'columns that a known row is updated in; NULL: all that are staged';
COMMENT ON COLUMN dq_gate.gates.exclude_columns IS 'columns that a known row is never updated in';
COMMENT ON COLUMN dq_gate.gates.compare_columns IS 'columns that make a known row changed; NULL: all that are updated';
COMMENT ON COLUMN dq_gate.gates.only_if_newer IS 'column by which a staged row is older than the one of the target, and left out';
COMMENT ON COLUMN dq_gate.gates.keep_latest_by IS 'column by which the last of several staged rows of a key is known; NULL: no key comes twice';
COMMENT ON COLUMN dq_gate.gates.on_rounding IS 'whether a value that the type of its column would round fails, or is rounded';
COMMENT ON COLUMN dq_gate.gates.on_new_column IS 'what becomes of a staged column that the target lacks: fail, ignore, rescue or evolve';
COMMENT ON COLUMN dq_gate.gates.rescue_column IS 'the column of type jsonb that keeps such columns';
COMMENT ON COLUMN dq_gate.gates.on_missing_column IS 'whether a column that staging lacks is defaulted in new rows, or fails';
COMMENT ON COLUMN dq_gate.gates.on_type_change IS 'whether the target takes a wider type from staging, or values have to fit';
COMMENT ON COLUMN dq_gate.gates.after_publish IS 'what becomes of the rows in staging that were published: keep, truncate or delete';
COMMENT ON COLUMN dq_gate.gates.quarantine_retention IS 'how long quarantined rows are kept from purge; NULL: for ever';
COMMENT ON COLUMN dq_gate.gates.log_retention IS 'how long runs and their results are kept from purge; NULL: for ever';
COMMENT ON COLUMN dq_gate.gates.alert IS 'which runs are told on the channel dq_gate: each failure, each change, always or never';
COMMENT ON COLUMN dq_gate.gates.run_as IS 'the role that every run of the gate acts as, whoever calls it';

CREATE TABLE dq_gate.checks (
	target		pg_catalog.regclass NOT NULL,
	name		pg_catalog.text NOT NULL,
	check_type	pg_catalog.text NOT NULL,
	columns		pg_catalog.text[] NOT NULL,
	parameters	pg_catalog.jsonb NOT NULL DEFAULT '{}',
	reads_target	pg_catalog.bool NOT NULL DEFAULT false,
	ref_table	pg_catalog.regclass,
	action		pg_catalog.text NOT NULL,
	nulls		pg_catalog.text NOT NULL,
	filter		pg_catalog.text,
	filter_resolved	pg_catalog.text,
	max_rate	pg_catalog.float8,
	max_rows	pg_catalog.int8,
	warn_above	pg_catalog.float8,
	block_above	pg_catalog.float8,
	samples		pg_catalog.bool NOT NULL DEFAULT true,
	tags		pg_catalog.text[] NOT NULL DEFAULT '{}',
	owner		pg_catalog.text,
	description	pg_catalog.text,
	severity	pg_catalog.text,
	arguments	pg_catalog.jsonb NOT NULL,
	created_by	pg_catalog.name NOT NULL DEFAULT SESSION_USER,
	created_at	pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	PRIMARY KEY (target, name)
);
COMMENT ON TABLE dq_gate.checks IS
	'declared checks of the registered gates; see checks_of for all effective checks';
COMMENT ON COLUMN dq_gate.checks.parameters IS
	'what the kind of check needs, names resolved when it was declared';
COMMENT ON COLUMN dq_gate.checks.arguments IS
	'the call that declared the check, its arguments by name; see export_gate';
COMMENT ON COLUMN dq_gate.checks.severity IS 'label such as critical or minor, free text';
COMMENT ON COLUMN dq_gate.checks.ref_table IS 'the other table that the check is about, if there is one';
COMMENT ON COLUMN dq_gate.checks.filter IS 'the rows that the check is about; NULL: all';
COMMENT ON COLUMN dq_gate.checks.reads_target IS
	'the check reads the target itself, which is then locked against writers from the start of a run';

CREATE TABLE dq_gate.mutes (
	target		pg_catalog.regclass NOT NULL,
	muted_at	pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	muted_by	pg_catalog.name NOT NULL DEFAULT SESSION_USER,
	muted_until	pg_catalog.timestamptz NOT NULL,
	reason		pg_catalog.text NOT NULL,
	ended_by	pg_catalog.name,
	PRIMARY KEY (target, muted_at)
);
COMMENT ON TABLE dq_gate.mutes IS
	'when no alert was to be raised by which gate, and why; written by mute and unmute';
COMMENT ON COLUMN dq_gate.mutes.muted_by IS 'the role that was logged in';
COMMENT ON COLUMN dq_gate.mutes.muted_until IS 'when the mute ends, or was ended';
COMMENT ON COLUMN dq_gate.mutes.ended_by IS 'who ended it before its time, or put another one in its place; NULL: nobody';

CREATE TABLE dq_gate.rule_sets (
	rules_hash	pg_catalog.text PRIMARY KEY,
	rules		pg_catalog.jsonb NOT NULL
);
COMMENT ON TABLE dq_gate.rule_sets IS
	'the rules that runs were made under, each set of them once; see rules_of';
COMMENT ON COLUMN dq_gate.rule_sets.rules_hash IS 'SHA-256 of the rules';

CREATE SEQUENCE dq_gate.run_id_seq;

CREATE TABLE dq_gate.runs (
	run_id		pg_catalog.int8 PRIMARY KEY DEFAULT pg_catalog.nextval('dq_gate.run_id_seq'),
	target		pg_catalog.regclass,
	gate		pg_catalog.text NOT NULL,
	staging		pg_catalog.text NOT NULL,
	batch_id	pg_catalog.text NOT NULL,
	as_of		pg_catalog.date,
	batch_time	pg_catalog.timestamp NOT NULL,
	content_digest	pg_catalog.text,
	verdict		pg_catalog.text NOT NULL
				CHECK (verdict IN ('published', 'rejected', 'failed', 'skipped', 'audited')),
	passed		pg_catalog.bool NOT NULL,
	published	pg_catalog.bool NOT NULL,
	enforced	pg_catalog.bool NOT NULL DEFAULT true,
	baseline	pg_catalog.bool NOT NULL DEFAULT false,
	attention	pg_catalog.bool NOT NULL DEFAULT false,
	row_count	pg_catalog.int8,
	inserted	pg_catalog.int8,
	updated		pg_catalog.int8,
	unchanged	pg_catalog.int8,
	deleted		pg_catalog.int8,
	stale		pg_catalog.int8,
	quarantined	pg_catalog.int8,
	dropped		pg_catalog.int8,
	rules_hash	pg_catalog.text,
	checks_run	pg_catalog.int4 NOT NULL,
	checks_failed	pg_catalog.int4 NOT NULL,
	failures	pg_catalog.text[] NOT NULL DEFAULT '{}',
	schema_changes	pg_catalog.text[] NOT NULL DEFAULT '{}',
	error		pg_catalog.text,
	error_sqlstate	pg_catalog.text,
	quarantine	pg_catalog.text,
	layer		pg_catalog.text,
	owner		pg_catalog.text,
	called_by	pg_catalog.name NOT NULL,
	run_as		pg_catalog.name NOT NULL,
	backend_pid	pg_catalog.int4 NOT NULL DEFAULT pg_catalog.pg_backend_pid(),
	application_name	pg_catalog.text,
	started_at	pg_catalog.timestamptz NOT NULL,
	audit_time	pg_catalog.interval,
	publish_time	pg_catalog.interval,
	duration	pg_catalog.interval NOT NULL
);
CREATE INDEX runs_target_idx ON dq_gate.runs (target, run_id DESC);
CREATE INDEX runs_baseline_idx ON dq_gate.runs (target, batch_time DESC, run_id DESC) WHERE baseline;
CREATE INDEX runs_batch_id_idx ON dq_gate.runs (target, batch_id) WHERE published AND content_digest IS NOT NULL;
CREATE INDEX runs_rules_hash_idx ON dq_gate.runs (rules_hash);
CREATE INDEX runs_started_at_idx ON dq_gate.runs (started_at);
CREATE INDEX runs_age_idx ON dq_gate.runs (target, started_at, run_id);
CREATE INDEX runs_attention_idx ON dq_gate.runs (run_id DESC) WHERE attention;
COMMENT ON TABLE dq_gate.runs IS
	'one row a run: who ran which batch, the verdict, the row accounting and the failures';
COMMENT ON COLUMN dq_gate.runs.target IS 'the target; NULL once it is dropped';
COMMENT ON COLUMN dq_gate.runs.gate IS 'qualified name of the target when the run was made';
COMMENT ON COLUMN dq_gate.runs.batch_time IS
	'where the batch stands in the history of its gate: the midnight of as_of, or when the run started, in UTC';
COMMENT ON COLUMN dq_gate.runs.content_digest IS
	'of the rows in staging, whatever their order: a batch that its caller named is published once; NULL where the clock named it';
COMMENT ON COLUMN dq_gate.runs.baseline IS
	'later runs are compared with this one: it was published, no check that blocks had failed, and no later run of the same as_of took its place';
COMMENT ON COLUMN dq_gate.runs.attention IS
	'somebody ought to look at this run: it did not publish, or a check failed, or rows were quarantined or dropped; until it is acknowledged it is in unread';
COMMENT ON COLUMN dq_gate.runs.passed IS 'the audit passed: no check that blocks or skips has failed';
COMMENT ON COLUMN dq_gate.runs.enforced IS 'false: the checks were evaluated, but neither blocked nor moved rows';
COMMENT ON COLUMN dq_gate.runs.published IS 'the batch, less its quarantined rows, is in the target';
COMMENT ON COLUMN dq_gate.runs.row_count IS
	'rows staged; equals inserted + updated + unchanged + stale + quarantined + dropped unless the run was skipped or a dry run';
COMMENT ON COLUMN dq_gate.runs.stale IS
	'rows left out because the target, or the batch, has a newer row of their key';
COMMENT ON COLUMN dq_gate.runs.deleted IS 'rows of the target that went; they are none of the batch';
COMMENT ON COLUMN dq_gate.runs.rules_hash IS 'which rules the run was made under: the same hash, the same rules; NULL where the batch was not looked at';
COMMENT ON COLUMN dq_gate.runs.checks_failed IS 'checks that failed or could not be evaluated, whatever their action';
COMMENT ON COLUMN dq_gate.runs.failures IS 'one text a failed check, its name first';
COMMENT ON COLUMN dq_gate.runs.schema_changes IS
	'what was done, or in a dry run would be, about columns that staging and target do not have alike';
COMMENT ON COLUMN dq_gate.runs.error IS 'why the publish failed, for the verdict failed';
COMMENT ON COLUMN dq_gate.runs.audit_time IS 'time spent auditing';
COMMENT ON COLUMN dq_gate.runs.publish_time IS 'time spent publishing or quarantining';

CREATE TABLE dq_gate.results (
	run_id		pg_catalog.int8 NOT NULL,
	check_no	pg_catalog.int4 NOT NULL,
	check_name	pg_catalog.text NOT NULL,
	check_type	pg_catalog.text NOT NULL,
	columns		pg_catalog.text[] NOT NULL,
	action		pg_catalog.text NOT NULL,
	severity	pg_catalog.text,
	owner		pg_catalog.text,
	origin		pg_catalog.text NOT NULL,
	status		pg_catalog.text NOT NULL
				CHECK (status IN ('passed', 'failed', 'error', 'not_judged')),
	passed		pg_catalog.bool,
	expected_value	pg_catalog.text,
	actual_value	pg_catalog.text,
	threshold	pg_catalog.text,
	examined_rows	pg_catalog.int8,
	failing_rows	pg_catalog.int8,
	null_rows	pg_catalog.int8,
	measured	pg_catalog.float8,
	sample		pg_catalog.jsonb,
	message		pg_catalog.text,
	PRIMARY KEY (run_id, check_no)
);
COMMENT ON TABLE dq_gate.results IS 'one row a check and run: what was expected, what was found';
COMMENT ON COLUMN dq_gate.results.passed IS 'NULL where the check was not judged';
COMMENT ON COLUMN dq_gate.results.origin IS 'declared, or what the check was derived from';
COMMENT ON COLUMN dq_gate.results.failing_rows IS 'rows of the batch that fail the check; for uniqueness, all rows that share their value with another row';
COMMENT ON COLUMN dq_gate.results.null_rows IS 'rows whose value, or whose rule, is NULL';
COMMENT ON COLUMN dq_gate.results.measured IS
	'what the check measured, as a number: of a rule over rows the share of rows that fail it';
COMMENT ON COLUMN dq_gate.results.sample IS 'up to 5 failing rows, as their key and the columns of the check';

CREATE TABLE dq_gate.profiles (
	run_id		pg_catalog.int8 NOT NULL,
	column_name	pg_catalog.text NOT NULL,
	row_count	pg_catalog.int8 NOT NULL,
	null_count	pg_catalog.int8 NOT NULL,
	distinct_count	pg_catalog.int8,
	min_value	pg_catalog.text,
	max_value	pg_catalog.text,
	mean		pg_catalog.float8,
	stddev		pg_catalog.float8,
	quantiles	pg_catalog.float8[],
	top_values	pg_catalog.jsonb,
	min_length	pg_catalog.int4,
	max_length	pg_catalog.int4,
	PRIMARY KEY (run_id, column_name)
);
COMMENT ON TABLE dq_gate.profiles IS
	'what the values of a column looked like, one row a run and column: of gates with a profile, and of columns whose distribution is checked';
COMMENT ON COLUMN dq_gate.profiles.distinct_count IS 'different values, counted; NULL for a type that has no equality';
COMMENT ON COLUMN dq_gate.profiles.quantiles IS
	'of numbers and points in time, which are seconds since 1970: the 0th to the 100th percentile, 101 values; without the first and the last where the gate keeps no values';
COMMENT ON COLUMN dq_gate.profiles.top_values IS 'the 100 most common values with their rows, their share of the rows that have a value, and a key that equal values have in common however they are written';
COMMENT ON COLUMN dq_gate.profiles.min_length IS 'of texts, in characters';

CREATE TABLE dq_gate.acknowledgements (
	run_id		pg_catalog.int8 PRIMARY KEY,
	acknowledged_by	pg_catalog.name NOT NULL DEFAULT SESSION_USER,
	acknowledged_at	pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	note		pg_catalog.text NOT NULL
);
COMMENT ON TABLE dq_gate.acknowledgements IS
	'who has looked at a run that needed attention, and what came of it; written by acknowledge';
COMMENT ON COLUMN dq_gate.acknowledgements.acknowledged_by IS 'the role that was logged in';
COMMENT ON COLUMN dq_gate.acknowledgements.note IS 'why the run need not be looked at again';

CREATE TABLE dq_gate.quarantines (
	target		pg_catalog.regclass PRIMARY KEY,
	quarantine	pg_catalog.regclass NOT NULL UNIQUE
);
COMMENT ON TABLE dq_gate.quarantines IS 'which table keeps the rejected rows of which target';

CREATE TABLE dq_gate.operators (
	target		pg_catalog.regclass NOT NULL,
	operator	pg_catalog.regrole NOT NULL,
	granted_by	pg_catalog.name NOT NULL DEFAULT SESSION_USER,
	granted_at	pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	PRIMARY KEY (target, operator)
);
COMMENT ON TABLE dq_gate.operators IS
	'roles that may run a gate without being members of its role; written by grant_operator and revoke_operator';

-- what pg_dump must carry: configuration and history alike, but for what is about
-- temporary tables, which it does not dump, and without which it could not be restored
SELECT pg_catalog.pg_extension_config_dump('dq_gate.gates',
	$$WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid IN (target, staging) AND c.relpersistence = 't')$$);
SELECT pg_catalog.pg_extension_config_dump('dq_gate.checks',
	$$WHERE NOT EXISTS (SELECT FROM dq_gate.gates g JOIN pg_catalog.pg_class c ON c.oid IN (g.target, g.staging, ref_table)
	WHERE g.target = checks.target AND c.relpersistence = 't')$$);
SELECT pg_catalog.pg_extension_config_dump('dq_gate.mutes',
	$$WHERE NOT EXISTS (SELECT FROM dq_gate.gates g JOIN pg_catalog.pg_class c ON c.oid IN (g.target, g.staging)
	WHERE g.target = mutes.target AND c.relpersistence = 't')$$);
SELECT pg_catalog.pg_extension_config_dump('dq_gate.rule_sets', '');
SELECT pg_catalog.pg_extension_config_dump('dq_gate.run_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dq_gate.runs', $$WHERE gate !~ '^pg_temp_'$$);
SELECT pg_catalog.pg_extension_config_dump('dq_gate.results',
	$$WHERE run_id IN (SELECT r.run_id FROM dq_gate.runs r WHERE r.gate !~ '^pg_temp_')$$);
SELECT pg_catalog.pg_extension_config_dump('dq_gate.profiles',
	$$WHERE run_id IN (SELECT r.run_id FROM dq_gate.runs r WHERE r.gate !~ '^pg_temp_')$$);
SELECT pg_catalog.pg_extension_config_dump('dq_gate.acknowledgements',
	$$WHERE run_id IN (SELECT r.run_id FROM dq_gate.runs r WHERE r.gate !~ '^pg_temp_')$$);
SELECT pg_catalog.pg_extension_config_dump('dq_gate.quarantines',
	$$WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid IN (target, quarantine) AND c.relpersistence = 't')$$);
-- a role that was dropped would be dumped as a number, and be another role wherever that number is taken
SELECT pg_catalog.pg_extension_config_dump('dq_gate.operators',
	$$WHERE operator IN (SELECT r.oid FROM pg_catalog.pg_roles r)
	AND NOT EXISTS (SELECT FROM dq_gate.gates g JOIN pg_catalog.pg_class c ON c.oid IN (g.target, g.staging)
	WHERE g.target = operators.target AND c.relpersistence = 't')$$);

CREATE TYPE dq_gate.run_summary AS (
	run_id		pg_catalog.int8,
	batch_id	pg_catalog.text,
	verdict		pg_catalog.text,
	passed		pg_catalog.bool,
	published	pg_catalog.bool,
	row_count	pg_catalog.int8,
	inserted	pg_catalog.int8,
	updated		pg_catalog.int8,
	unchanged	pg_catalog.int8,
	deleted		pg_catalog.int8,
	stale		pg_catalog.int8,
	quarantined	pg_catalog.int8,
	dropped		pg_catalog.int8,
	checks_failed	pg_catalog.int4,
	failures	pg_catalog.text[],
	duration	pg_catalog.interval
);
COMMENT ON TYPE dq_gate.run_summary IS 'what a run answers: its verdict and row accounting';
