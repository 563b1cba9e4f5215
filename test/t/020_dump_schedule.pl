# Jobs that schedule has made are dumped by pg_cron itself, and publish in the
# copy once they name its server, since they name tables and not numbers.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %node = map { $_ => new_gate_node("schedule_$_") } qw(source copy);
my $dir = PostgreSQL::Test::Utils::tempdir();

plan skip_all => 'pg_cron is not installed'
  if !$node{source}->safe_psql('postgres', q{SELECT 1 FROM pg_available_extensions WHERE name = 'pg_cron'});

foreach my $node (values %node)
{
	$node->safe_psql('postgres', 'CREATE ROLE loader LOGIN');
	start_pg_cron($node, db => 'warehouse');
	$node->safe_psql('postgres', 'CREATE DATABASE warehouse');
}
$node{source}->safe_psql('warehouse', q{
	CREATE EXTENSION pg_cron;
	CREATE EXTENSION dq_gate;
	GRANT USAGE ON SCHEMA cron TO loader;
	CREATE SCHEMA "S x" AUTHORIZATION loader;
	SET SESSION AUTHORIZATION loader;
	CREATE TABLE "S x"."T ""1" (id int PRIMARY KEY, amount int);
	CREATE TABLE "S x".landing (id int, amount int);
	SELECT dq_gate.create_gate('"S x"."T ""1"', '"S x".landing');
	SELECT dq_gate.expect_range('"S x"."T ""1"', 'amount', min => 0, action => 'quarantine');
	INSERT INTO "S x".landing VALUES (1, 1), (2, -1);
	SELECT dq_gate.schedule('"S x"."T ""1"', '0 0 1 1 *')});

# other OIDs in the copy
$node{copy}->safe_psql('warehouse', join(';', map { "CREATE TABLE other_$_ (id int PRIMARY KEY)" } 1 .. 9));
$node{source}->command_checks_all([ 'pg_dump', '-Fc', '-f', "$dir/dump", '-d', $node{source}->connstr('warehouse') ], 0, [qr/^$/], [qr/^$/], 'dumped');
$node{copy}->command_checks_all([ 'pg_restore', '--exit-on-error', '-d', $node{copy}->connstr('warehouse'), "$dir/dump" ], 0, [qr/^$/], [qr/^$/], 'restored, and nothing to complain');
my $job = 'SELECT jobname, schedule, command, database, username, active FROM cron.job';
is($node{copy}->safe_psql('warehouse', $job), $node{source}->safe_psql('warehouse', $job), 'the job is there');
is($node{copy}->safe_psql('warehouse', 'SELECT nodeport FROM cron.job'), $node{source}->port, 'with the port of the server it comes from');

# as the documents say
$node{copy}->safe_psql('warehouse', q{UPDATE cron.job SET nodeport = current_setting('port')::int});
my $soon = $node{copy}->safe_psql('warehouse',
	q{SELECT split_part(extversion, '-', 1)::numeric >= 1.5 FROM pg_extension WHERE extname = 'pg_cron'}) eq 't'
  ? '1 second' : '* * * * *';
my ($status, $out, $err) = psql_c($node{copy}, qq{SELECT dq_gate.schedule('"S x"."T ""1"', '$soon')}, db => 'warehouse', user => 'loader');
is("$out$err", '1', 'it is the job that schedule knows');
my $done = q{SELECT count(*) > 0 FROM cron.job_run_details WHERE status IN ('failed', 'succeeded')};
my $deadline = time + 75;
sleep 1 while $node{copy}->safe_psql('warehouse', $done) ne 't' && time < $deadline;
is($node{copy}->safe_psql('warehouse', q{SELECT status FROM cron.job_run_details WHERE status IN ('failed', 'succeeded') ORDER BY runid LIMIT 1}), 'succeeded', 'and succeeds');
is($node{copy}->safe_psql('warehouse', q{SELECT verdict, inserted, quarantined, called_by FROM dq_gate.runs ORDER BY run_id LIMIT 1}), 'published|1|1|loader', 'in the copy');
is($node{copy}->safe_psql('warehouse', 'TABLE "S x"."T ""1"'), '1|1', 'into its table');
is($node{source}->safe_psql('warehouse', 'SELECT count(*) FROM dq_gate.runs'), '0', 'and not where it comes from');
($status, $out, $err) = psql_c($node{copy}, q{SELECT dq_gate.unschedule('"S x"."T ""1"')}, db => 'warehouse', user => 'loader');
is("$out$err", 't', 'unscheduled');

foreach my $node (values %node)
{
	log_is_clean($node);
	$node->stop;
}
done_testing();
