# Every way into dq_gate, walked through by one script, so that tests can walk
# it as somebody else or with something in the way.
package Doors;

use strict;
use warnings;
use Exporter 'import';
use Test::More;

our @EXPORT = qw(doors_script all_doors_are_in);

# They have no call of their own: what uses them
my %indirectly = (
	forget_dropped_tables => 'DROP TABLE',
	delete_with_it => 'dq_gate.drop_gate(',
	say_what_stays => 'DROP EXTENSION dq_gate CASCADE',
	stray_quarantines => 'dq_gate.housekeeping',
	sample_rows_step => 'dq_gate.sample_rows(');

# A session in a database without a schema shop.  All names and operators in it
# are qualified: what the session finds by its search_path is up to the test.
# It shows nothing that depends on the clock.
sub doors_script
{
	return <<'END';
CREATE SCHEMA shop;
CREATE TABLE shop.parent (id pg_catalog.int4 PRIMARY KEY, region pg_catalog.text);
INSERT INTO shop.parent VALUES (1, 'EU'), (2, 'US');
CREATE TABLE shop.item (id pg_catalog.int4 PRIMARY KEY, n pg_catalog.int4 CHECK (n OPERATOR(pg_catalog.>=) -5), t pg_catalog.text UNIQUE,
	parent pg_catalog.int4 REFERENCES shop.parent, price pg_catalog.numeric, low pg_catalog.int4, high pg_catalog.int4,
	day pg_catalog.date, at pg_catalog.timestamptz, doc pg_catalog.jsonb, tags pg_catalog.text[], ok pg_catalog.bool NOT NULL DEFAULT true, rest pg_catalog.jsonb);
CREATE TABLE shop.item_s (id pg_catalog.int4, n pg_catalog.text, t pg_catalog.text, parent pg_catalog.int4, price pg_catalog.text,
	low pg_catalog.int4, high pg_catalog.int4, day pg_catalog.date, at pg_catalog.timestamptz, doc pg_catalog.jsonb, tags pg_catalog.text[]);
CREATE TABLE shop.orders AS SELECT id AS parent FROM shop.parent;
SELECT dq_gate.create_gate('shop.item', 'shop.item_s', key => '{id}', layer => 'silver', owner => 'x', expected_every => '1 day', profile => true);
SELECT dq_gate.alter_gate('shop.item', description => 'y', only_if_newer => 'at', keep_latest_by => 'at', on_new_column => 'rescue', rescue_column => 'rest', exclude_columns => '{tags}');
SELECT dq_gate.may_read('shop.item'), dq_gate.may_see_rows('shop.item'), dq_gate.may_run('shop.item', 'shop.item_s');
SELECT dq_gate.grant_operator('shop.item', 'door_keeper'), dq_gate.revoke_operator('shop.item', 'door_keeper'), dq_gate.grant_operator('shop.item', 'door_keeper');
SELECT target, operator, granted_by FROM dq_gate.operators;

SELECT dq_gate.expect_not_null('shop.item', 't', filter => 'id OPERATOR(pg_catalog.>) 0'), dq_gate.expect_range('shop.item', 'n', min => 0, max => 100, action => 'quarantine'),
	dq_gate.expect_accepted_values('shop.item', 't', '{a,b,c,d,e,f}', action => 'warn'), dq_gate.expect_rejected_values('shop.item', 't', '{z}'),
	dq_gate.expect_pattern('shop.item', 't', '^[a-z]$'), dq_gate.expect_like('shop.item', 't', '%', action => 'warn'), dq_gate.expect_length('shop.item', 't', max => 5),
	dq_gate.expect_unique('shop.item', '{t}', max_rows => 3), dq_gate.expect_referential('shop.item', '{parent}', 'shop.parent', '{id}'),
	dq_gate.expect_sql('shop.item', 'rule', 'n OPERATOR(pg_catalog.<>) 77 AND dq_gate.batch_id() IS NOT NULL'),
	dq_gate.expect_query('shop.item', 'query', 'SELECT id FROM shop.parent WHERE id OPERATOR(pg_catalog.<) 0'),
	dq_gate.expect_not_future('shop.item', 'at'), dq_gate.expect_row_count('shop.item', min => 1),
	dq_gate.expect_aggregate('shop.item', 'mean', 'pg_catalog.avg(price)', max => 1000), dq_gate.expect_freshness('shop.item', 'at', '100 years');
SELECT dq_gate.expect_type_fit('shop.item', 'n', action => 'quarantine'), dq_gate.expect_constraint('shop.item', 'item_n_check', action => 'quarantine'),
	dq_gate.expect_within('shop.item', 'at', '100 years'), dq_gate.expect_null_rate('shop.item', 0.9, '{doc}'), dq_gate.expect_distinct('shop.item', '{t}', 1, 20),
	dq_gate.expect_row_count_match('shop.item', 'shop.parent', 0.1, 10), dq_gate.expect_schema('shop.item', '{id}', '{integer}', 'at_least'),
	dq_gate.expect_control_totals('shop.item', '{price}', 'SELECT pg_catalog.count(*) AS row_count, pg_catalog.sum(price::pg_catalog.numeric) AS price FROM shop.item_s'),
	dq_gate.expect_reconciled('shop.item', 'shop.orders', '{parent}', '{parent}', action => 'warn'),
	dq_gate.expect_series('shop.item', 'day', '1 day', $$'2026-01-01'$$, $$'2026-01-02'$$, action => 'warn'), dq_gate.expect_volume('shop.item', action => 'warn'),
	dq_gate.expect_metric('shop.item', 'pg_catalog.avg(price)', 'zscore', max => 100, name => 'usual', action => 'warn'),
	dq_gate.expect_stable_distribution('shop.item', 't', action => 'warn'), dq_gate.expect_change_rate('shop.item', 1, action => 'warn'), dq_gate.expect_sql('shop.item', 'spare', 'ok'),
	dq_gate.expect_ready('shop.item', 'SELECT pg_catalog.count(*) OPERATOR(pg_catalog.>) 0 FROM shop.parent', deadline => '1 day'), dq_gate.expect_ready('shop.item', idle => true),
	dq_gate.expect_ready('shop.item', upstream => 'shop.parent', action => 'declare');
SELECT dq_gate.drop_check('shop.item', 'spare');
SELECT check_name, check_type, columns, rule, action, nulls, filter, tolerance FROM dq_gate.checks_of('shop.item');
SELECT dq_gate.export_gate('shop.item');
SELECT * FROM dq_gate.import_gate(dq_gate.export_gate('shop.item'));
-- an operator that stands alone is one that the path finds when it is declared, or imported
BEGIN;
SET LOCAL search_path = pg_catalog;
SELECT dq_gate.expect_compare('shop.item', 'low', '<=', 'high');
COMMIT;

INSERT INTO shop.item_s VALUES (1, '1', 'a', 1, '1.5', 1, 2, '2026-01-01', '2026-01-01 10:00+00', '{"k": 1}', '{x,y}'), (2, '2', 'b', 2, '2.5', 1, 2, '2026-01-02', '2026-01-01 11:00+00', '{}', '{}'),
	(3, '300', 'c', 1, '3.5', 1, 2, '2026-01-02', '2026-01-01 11:00+00', NULL, NULL);
SELECT * FROM dq_gate.preview('shop.item_s', 'shop.item', 'b0', '2026-01-01');
SELECT run_id, batch_id, verdict, passed, row_count, inserted, updated, unchanged, quarantined, checks_failed, failures FROM dq_gate.publish('shop.item_s', 'shop.item', 'b1', '2026-01-01');
SELECT run_id, verdict, row_count, failures FROM dq_gate.publish('shop.item_s', 'shop.item', 'b1', '2026-01-01');
SELECT requeued, requeued_before FROM dq_gate.requeue(1, dry_run => true);
UPDATE shop.item_s SET n = '7', at = '2026-01-02 10:00+00', doc = '{"k": 2}', price = (id OPERATOR(pg_catalog.*) 2)::pg_catalog.text;
SELECT * FROM dq_gate.preview('shop.item_s', 'shop.item', 'b0', '2026-01-01');
SELECT run_id, verdict, row_count, inserted, updated, unchanged, quarantined, failures FROM dq_gate.publish('shop.item_s', 'shop.item', 'b2', '2026-01-02');
UPDATE shop.item_s SET n = 'x', t = 'long one', parent = 9, low = 3, price = '' WHERE id OPERATOR(pg_catalog.=) 2;
SELECT run_id, verdict, passed, failures FROM dq_gate.audit('shop.item_s', 'shop.item', 'b3', '2026-01-03');
SELECT run_id, verdict, row_count, quarantined, failures FROM dq_gate.publish('shop.item_s', 'shop.item', 'b3', '2026-01-03');
CALL dq_gate.publish_or_fail('shop.item_s', 'shop.item', 'b4', '2026-01-04');
CALL dq_gate.publish_or_fail('shop.item_s', 'shop.item', 'b4', '2026-01-04', tick => '1 day');
SELECT run_id, gate, verdict, failures FROM dq_gate.unread;
SELECT dq_gate.acknowledge(1, 'seen'), dq_gate.acknowledge(5, 'seen');
SELECT run_id, note FROM dq_gate.acknowledgements ORDER BY run_id;
LISTEN dq_gate;
SELECT dq_gate.mute('shop.item', '2100-01-01', 'known'), dq_gate.unmute('shop.item');
SELECT target, reason FROM dq_gate.mutes;
SELECT dq_gate.alert_overdue();
UNLISTEN dq_gate;
TRUNCATE shop.item_s;
SELECT quarantined, requeued, requeued_before FROM dq_gate.requeue(5);
SELECT id, n, t, parent FROM shop.item_s ORDER BY id;
SELECT id, n, t, parent, price, at, doc, tags, rest FROM shop.item ORDER BY id;
SELECT run_id, failed_checks, id, n FROM dq_quarantine.item ORDER BY run_id, id;

SELECT target, staging, key, mode, owner FROM dq_gate.gates;
SELECT target, name, check_type, columns, parameters, action, filter_resolved, arguments FROM dq_gate.checks ORDER BY name COLLATE "C";
SELECT run_id, gate, verdict, failures, error FROM dq_gate.runs ORDER BY run_id;
SELECT run_id, check_name, status, expected_value, actual_value, threshold, failing_rows, sample FROM dq_gate.results WHERE check_type OPERATOR(pg_catalog.<>) 'freshness' ORDER BY run_id, check_no;
SELECT run_id, column_name, distinct_count, min_value, max_value FROM dq_gate.profiles ORDER BY run_id, column_name COLLATE "C";
SELECT target, quarantine FROM dq_gate.quarantines;
SELECT pg_catalog.count(*) FROM dq_gate.rule_sets;
SELECT last_value FROM dq_gate.run_id_seq;
SELECT check_name, status, failing_rows, sample FROM dq_gate.results_of(4) WHERE check_type OPERATOR(pg_catalog.<>) 'freshness';
SELECT check_name, rule, action FROM dq_gate.rules_of(4);
SELECT run_id, table_name, check_name, passed FROM dq_gate.dq_check_results ORDER BY run_id, check_name COLLATE "C";
SELECT run_id, check_name, measured, previous, median FROM dq_gate.check_trend WHERE check_type OPERATOR(pg_catalog.<>) 'freshness' ORDER BY run_id, check_name COLLATE "C";
SELECT layer, owner, runs, published, checks_judged, checks_passed FROM dq_gate.pass_rate;
SELECT run_id, check_name, failing_rows FROM dq_gate.failed_checks;
SELECT gate, owner, expected_every, source FROM dq_gate.overdue('2100-01-01');
BEGIN;
SELECT verdict FROM dq_gate.audit('shop.item_s', 'shop.item', 'b5');
SELECT gate, phase FROM dq_gate.activity;
ROLLBACK;
SELECT pg_catalog.count(*) FROM dq_gate.report('shop.item');
SELECT pg_catalog.count(*) FROM dq_gate.explain_run(4);
SELECT dq_gate.wrapped_lines('a ', 'b c');
SELECT check_name, status, failing_rows, sample FROM dq_gate.audit_table('shop.item') WHERE check_type OPERATOR(pg_catalog.<>) 'freshness';
SELECT * FROM dq_gate.constraint_ddl('shop.item');
SELECT check_type, columns, statement FROM dq_gate.suggest_checks('shop.item');
SELECT check_type, columns, statement FROM dq_gate.suggest_checks('shop.parent', 1);
SELECT * FROM dq_gate.calibrate('shop.item', true);
SELECT dq_gate.fits('1', 23, -1), dq_gate.fits('x', 23, -1), dq_gate.try_cast('1', 0::pg_catalog.int4, -1), dq_gate.try_cast('x', 0::pg_catalog.int4, -1);
SELECT dq_gate.batch_id(), dq_gate.as_of(), dq_gate.name_of_job('shop.item', NULL);
SELECT dq_gate.sample_rows(2, 'id'::pg_catalog.text, id) FROM shop.item;
SELECT dq_gate.schema_of_pg_cron();
SELECT dq_gate.schedule('shop.item', '1 1 1 1 1');
SELECT dq_gate.unschedule('shop.item');
SELECT dq_gate.alter_gate('shop.item', mode => 'sync', scope => 'id OPERATOR(pg_catalog.<) 100', max_delete_rate => 0.9, after_publish => 'delete', only_if_newer => '', keep_latest_by => '');
TRUNCATE shop.item_s;
INSERT INTO shop.item_s VALUES (4, '4', 'd', 1, '4.5', 1, 2, '2026-01-05', '2026-01-05 10:00+00', '{}', '{}'), (1, '4', 'a', 1, '4.5', 1, 2, '2026-01-05', '2026-01-05 10:00+00', '{}', '{}');
SELECT run_id, verdict, inserted, updated, deleted, quarantined, failures FROM dq_gate.publish('shop.item_s', 'shop.item', 'b6', '2026-01-06');
SELECT dq_gate.alter_gate('shop.item', mode => 'replace', scope => '', exclude_columns => '{}', replace_by => '{day}', max_delete_rate => 1);
INSERT INTO shop.item_s VALUES (5, '5', 'e', 2, '5.5', 1, 2, '2026-01-05', '2026-01-05 10:00+00', '{}', '{}');
SELECT run_id, verdict, inserted, deleted, failures FROM dq_gate.publish('shop.item_s', 'shop.item', 'b7', '2026-01-07');
SELECT id, n, t, day FROM shop.item ORDER BY id;
SELECT dq_gate.alter_gate('shop.item', quarantine_retention => '1 day', log_retention => '1 day');
SELECT quarantined_rows, runs FROM dq_gate.purgeable('shop.item');
CALL dq_gate.purge('shop.item');
SELECT gate, role, unacknowledged FROM dq_gate.housekeeping ORDER BY role, gate;
BEGIN;
SET LOCAL client_min_messages = warning;
DROP EXTENSION dq_gate CASCADE;
ROLLBACK;
SELECT dq_gate.drop_gate('shop.item');
DROP TABLE dq_quarantine.item;
DROP SCHEMA shop CASCADE;
END
}

# A table, view or function that the script leaves out would be tested by nobody
sub all_doors_are_in
{
	my ($node) = @_;
	my $script = doors_script();
	my @names = split /\n/, $node->safe_psql('postgres', q{
		SELECT p.proname FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
		JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid WHERE e.extname = 'dq_gate'
		UNION SELECT c.relname FROM pg_class c JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
		JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid WHERE e.extname = 'dq_gate' AND c.relkind NOT IN ('c', 'i')
		ORDER BY 1});

	cmp_ok(scalar @names, '>', 60, 'the doors are known');
	foreach my $name (@names)
	{
		my $indirectly = $indirectly{$name};
		ok($indirectly ? index($script, $indirectly) >= 0 : $script =~ /\bdq_gate\.\Q$name\E\b/,
			"the script of Doors.pm goes through $name");
	}
	return;
}

1;
