# A target that is altered by a run: as the role of the gate, lent to the
# caller, with event triggers that see what they see otherwise.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('schema_drift');
my ($status, $out, $err);

$node->safe_psql('postgres', q{
	CREATE ROLE etl LOGIN;
	CREATE ROLE operator LOGIN IN ROLE etl;
	CREATE SCHEMA mart AUTHORIZATION etl;
	CREATE SCHEMA ops;
	GRANT USAGE ON SCHEMA mart, ops TO PUBLIC;
	CREATE TABLE ops.ddl (what text, who text);
	GRANT INSERT ON ops.ddl TO PUBLIC;
	CREATE FUNCTION ops.note() RETURNS event_trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity = 'mart.visit') THEN
			INSERT INTO ddl SELECT command_tag || ' ' || object_identity, current_user FROM pg_event_trigger_ddl_commands();
		END IF;
	END $$;
});
($status, $out, $err) = psql_c($node, q{
	CREATE TABLE mart.visit (id int PRIMARY KEY, n int);
	CREATE TABLE mart.visit_staging (id int, n bigint, place text);
	INSERT INTO mart.visit VALUES (1, 1);
	INSERT INTO mart.visit_staging VALUES (2, 3000000000, 'b');
	SELECT dq_gate.create_gate('mart.visit', on_new_column => 'evolve', on_type_change => 'widen');
}, user => 'etl');
is($status, 0, 'a gate that alters its target');

sub publish
{
	my ($path) = @_;
	($status, $out, $err) = psql_c($node, [ "SET search_path = $path",
		"SELECT verdict FROM dq_gate.publish('mart.visit_staging', 'mart.visit')" ], user => 'operator');
	return $out;
}
my $columns = q{SELECT string_agg(attname || ' ' || atttypid::regtype, ', ' ORDER BY attnum) FROM pg_attribute
	WHERE attrelid = 'mart.visit'::regclass AND attnum > 0 AND NOT attisdropped};

# === an event trigger that fails
$node->safe_psql('postgres', 'CREATE EVENT TRIGGER note ON ddl_command_end WHEN TAG IN (\'ALTER TABLE\') EXECUTE FUNCTION ops.note()');
is(publish('mart'), 'failed', 'an event trigger that does not find its table fails the publish');
is($node->safe_psql('postgres', 'SELECT error_sqlstate, schema_changes FROM dq_gate.runs'), '42P01|{}', 'as it fails any other ALTER TABLE');
is($node->safe_psql('postgres', $columns), 'id integer, n integer', 'and the target is as it was');
is($node->safe_psql('postgres', 'SELECT place FROM dq_quarantine.visit'), 'b', 'the batch is in quarantine, new column and all');

# === one that works, with the search_path of the caller
is(publish('ops'), 'published', 'with the search_path that it needs');
is($node->safe_psql('postgres', $columns), 'id integer, n bigint, place text', 'the target has changed');
is($node->safe_psql('postgres', 'TABLE ops.ddl'), 'ALTER TABLE mart.visit|etl', 'in one statement, as the role of the gate');
like($err, qr/NOTICE: .*gate mart\.visit: batch "[^"]*" brought other columns \(run \d+\): added column place text, widened column n from integer to bigint/, 'and the caller is told');
is($node->safe_psql('postgres', 'SELECT schema_changes FROM dq_gate.runs ORDER BY run_id DESC LIMIT 1'), '{"added column place text","widened column n from integer to bigint"}', 'so is the log');

# === publish_or_fail, and a session that goes on
$node->safe_psql('postgres', 'ALTER TABLE mart.visit_staging ADD more int');
($status, $out, $err) = psql_c($node, [ 'SET search_path = ops',
	"CALL dq_gate.publish_or_fail('mart.visit_staging', 'mart.visit')", 'SHOW search_path',
	'SELECT id, more FROM mart.visit ORDER BY id' ], user => 'operator');
is($status, 0, 'publish_or_fail alters it as well');
is($out, "ops\n1|\n2|", 'and the session goes on as before');

# === many columns at once
$node->safe_psql('postgres', q{DO $$ BEGIN EXECUTE 'ALTER TABLE mart.visit_staging ' || (SELECT string_agg(format('ADD "Column %s" numeric(8,2)', i), ', ') FROM generate_series(1, 200) i); END $$});
is(publish('ops'), 'published', '200 columns at once');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_attribute WHERE attrelid = 'mart.visit'::regclass AND attname ~ '^Column'"), '200', 'are added');
log_is_clean($node);
done_testing();
