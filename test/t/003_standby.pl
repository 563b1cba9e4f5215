# A hot standby sees the version before a publish or the version after it,
# never one between; it refuses to publish itself, and publishes once promoted.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = new_gate_node('primary', allows_streaming => 1);

$primary->safe_psql('postgres', q{
	CREATE TABLE rate (id int PRIMARY KEY, version int CHECK (version > 0));
	CREATE TABLE rate_staging (id int, version int);
	INSERT INTO rate SELECT g, 1 FROM generate_series(1, 500) g;
	SELECT dq_gate.create_gate('rate', layer => 'gold');
});
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

# --- one publish, held open

my $one = q{SELECT count(DISTINCT version), min(version), count(*) FROM rate};
$primary->safe_psql('postgres', 'INSERT INTO rate_staging SELECT g, 2 FROM generate_series(1, 600) g');
my $publish = background_c($primary,
	[ 'BEGIN', "SELECT verdict FROM dq_gate.publish('rate_staging', 'rate')", 'SELECT pg_sleep(300)', 'COMMIT' ],
	name => 'held');
$primary->poll_query_until('postgres',
	q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'held' AND wait_event = 'PgSleep'});
$primary->safe_psql('postgres', 'CREATE TABLE behind_it (); CHECKPOINT');
$primary->wait_for_catchup($standby);
is($standby->safe_psql('postgres', $one), '1|1|500', 'standby: the version before, while a publish is open');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM dq_gate.runs'), '0', 'standby: no run yet');

$primary->safe_psql('postgres',
	q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'held'});
$publish->finish;
$primary->wait_for_catchup($standby);
is($standby->safe_psql('postgres', $one), '1|1|500', 'standby: the version before, when the publish was cancelled');

$primary->safe_psql('postgres', "SELECT dq_gate.publish('rate_staging', 'rate', 'two')");
$primary->wait_for_catchup($standby);
is($standby->safe_psql('postgres', $one), '1|2|600', 'standby: the version after');
is($standby->safe_psql('postgres', 'SELECT batch_id, verdict, inserted, updated FROM dq_gate.runs'),
	'two|published|100|500', 'standby: and its run');

# --- many publishes, some of them rejected, under the eyes of readers on both

my $reader = q{
	DO $$
	DECLARE
		seen record;
		last int := 0;
		versions int := 0;
		until timestamptz := clock_timestamp() + interval '4 s';
	BEGIN
		WHILE clock_timestamp() < until LOOP
			SELECT count(DISTINCT version) AS versions, min(version) AS version, count(*) AS rows
			INTO seen FROM public.rate;
			IF seen.versions <> 1 OR seen.rows <> 600 OR seen.version < last THEN
				RAISE EXCEPTION 'torn: %', seen;
			END IF;
			versions := versions + (seen.version <> last)::int;
			last := seen.version;
		END LOOP;
		RAISE NOTICE 'saw % versions', versions;
	END $$};
my @readers = map { background_c($_, $reader) } ($primary, $standby);
my $version = 2;
my $until = time() + 4;
while (time() < $until)
{
	$version++;
	$primary->psql('postgres', "UPDATE rate_staging SET version = $version - 1 + (id > 0)::int");
	$primary->psql('postgres', "SELECT dq_gate.publish('rate_staging', 'rate')", stderr => \my $ignored);
	$primary->psql('postgres', 'UPDATE rate_staging SET version = -id');
	$primary->psql('postgres', "SELECT dq_gate.publish('rate_staging', 'rate')", stderr => \my $rejected);
	$primary->safe_psql('postgres', 'VACUUM rate_staging') if $version % 10 == 0;
}
foreach my $name ('primary', 'standby')
{
	my $done = (shift @readers)->finish;
	is($done->{exit}, 0, "$name: no reader saw a torn version") or diag($done->{err});
	my ($seen) = $done->{err} =~ /saw (\d+) versions/;
	cmp_ok($seen // 0, '>', 1, "$name: and readers saw more than one version");
}
$primary->wait_for_catchup($standby);
is( $standby->safe_psql('postgres', $one), "1|$version|600", 'standby: the last version in the end');
foreach my $table ('dq_gate.runs', 'dq_gate.results', 'dq_quarantine.rate')
{
	my $query = "SELECT count(*), md5(string_agg(t::text, ',' ORDER BY t::text)) FROM $table t";
	is($standby->safe_psql('postgres', $query), $primary->safe_psql('postgres', $query),
		"standby: the same $table");
}

# --- what a standby can do, and what it refuses

my ($status, $out, $err);
foreach my $sql ("SELECT dq_gate.publish('rate_staging', 'rate')",
	"SELECT dq_gate.audit('rate_staging', 'rate')",
	"CALL dq_gate.publish_or_fail('rate_staging', 'rate')",
	'SELECT dq_gate.requeue((SELECT max(run_id) FROM dq_quarantine.rate))',
	"SELECT dq_gate.create_gate('rate_staging', key => '{id}')",
	"SELECT dq_gate.alter_gate('rate', layer => 'silver')",
	"SELECT dq_gate.drop_gate('rate')",
	"SELECT dq_gate.expect_range('rate', 'version', max => 9)")
{
	($status, $out, $err) = psql_c($standby, $sql);
	is($status, 1, "standby refuses: $sql");
	like($err, qr/ERROR:  25006: .*(read-only|recovery)/, "standby says why: $sql");
}
($status, $out, $err) = psql_c($standby, q{SELECT count(*) > 3 FROM dq_gate.checks_of('rate')});
is("$status|$out", '0|t', 'standby: checks_of works');
($status, $out, $err) = psql_c($standby, q{SELECT count(*) > 3 FROM dq_gate.results_of((SELECT max(run_id) FROM dq_gate.runs))});
is("$status|$out", '0|t', 'standby: results_of works');

$primary->safe_psql('postgres', 'CREATE TABLE again (LIKE rate_staging)');
$primary->wait_for_catchup($standby);
($status, $out, $err) = psql_c($standby, q{SELECT requeued = quarantined AND requeued > 0 AND dry_run
	FROM dq_gate.requeue((SELECT max(run_id) FROM dq_quarantine.rate), 'again', dry_run => true)});
is("$status|$out", '0|t', 'standby: a requeue can be tried');
($status, $out, $err) = psql_c($standby, q{SELECT sum(row_count) = (SELECT count(*) FROM rate_staging) FROM dq_gate.preview('rate_staging', 'rate') WHERE column_name IS NULL});
is("$status|$out", '0|t', 'standby: preview works');

# --- promoted

my $runs = $standby->safe_psql('postgres', 'SELECT max(run_id) FROM dq_gate.runs');
log_is_clean($primary);
$primary->stop('immediate');
$standby->promote;
$standby->safe_psql('postgres', 'UPDATE rate_staging SET version = 1000000');
is( $standby->safe_psql('postgres', "SELECT verdict, updated, run_id > $runs FROM dq_gate.publish('rate_staging', 'rate')"),
	'published|600|t', 'promoted: publishes, with new run numbers');
is($standby->safe_psql('postgres', $one), '1|1000000|600', 'promoted: the new version');

log_is_clean($standby);
$standby->stop;
done_testing();
