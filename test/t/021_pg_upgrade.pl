# pg_upgrade takes a cluster with gates: to the same version, since there is no
# other one here, but by the way that goes to the next.
use strict;
use warnings;
use Cwd;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $old = new_gate_node('old');
my $new = PostgreSQL::Test::Cluster->new('new');
$new->init;

$old->safe_psql('postgres', q{
	CREATE ROLE keeper LOGIN;
	CREATE SCHEMA "S x" AUTHORIZATION keeper;
	SET SESSION AUTHORIZATION keeper;
	CREATE TABLE "S x"."T ""1" (id int PRIMARY KEY, v int);
	CREATE TABLE "S x".landing (id int, v int);
	SELECT dq_gate.create_gate('"S x"."T ""1"', '"S x".landing');
	SELECT dq_gate.expect_range('"S x"."T ""1"', 'v', min => 0, action => 'quarantine')});
my $publish = q{SELECT verdict, inserted, unchanged, quarantined, failures FROM dq_gate.publish('"S x".landing', '"S x"."T ""1"')};
foreach my $n (1 .. 6)
{
	$old->safe_psql('postgres', qq{TRUNCATE "S x".landing; INSERT INTO "S x".landing SELECT g, CASE g WHEN 7 THEN -1 ELSE g END FROM generate_series(1, 100) g});
	psql_c($old, $publish, user => 'keeper');
}
my $kept = q{
	SELECT string_agg(t::text, E'\n' ORDER BY t::text) FROM dq_gate.gates t
	UNION ALL SELECT string_agg(t::text, E'\n' ORDER BY t::text) FROM dq_gate.checks t
	UNION ALL SELECT string_agg(t::text, E'\n' ORDER BY t::text) FROM dq_gate.runs t
	UNION ALL SELECT string_agg(t::text, E'\n' ORDER BY t::text) FROM dq_gate.results t
	UNION ALL SELECT string_agg(t::text, E'\n' ORDER BY t::text) FROM dq_gate.quarantines t
	UNION ALL SELECT string_agg(t::text, E'\n' ORDER BY t::text) FROM dq_quarantine."T ""1" t
	UNION ALL SELECT string_agg(concat_ws(' ', evtname, evtenabled, evtevent, evttags), E'\n' ORDER BY evtname) FROM pg_event_trigger
	UNION ALL SELECT string_agg(concat_ws(' ', relname, coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner))), E'\n' ORDER BY relname) FROM pg_class WHERE relnamespace = 'dq_gate'::regnamespace
	UNION ALL SELECT string_agg(pg_describe_object(classid, objid, 0), E'\n' ORDER BY pg_describe_object(classid, objid, 0)) FROM pg_depend
		WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'dq_gate')
	UNION ALL SELECT concat_ws(' ', extversion, extconfig::regclass[], extcondition) FROM pg_extension WHERE extname = 'dq_gate'};
my $before = $old->safe_psql('postgres', $kept);
$old->stop;

my $bindir = $old->config_data('--bindir');
my $directory = getcwd();
chdir PostgreSQL::Test::Utils::tempdir() or die $!;
command_ok([ 'pg_upgrade', '--no-sync', '-d', $old->data_dir, '-D', $new->data_dir, '-b', $bindir, '-B', $bindir,
		'-s', $new->host, '-p', $old->port, '-P', $new->port ], 'pg_upgrade');
chdir $directory or die $!;

$new->start;
is($new->safe_psql('postgres', $kept), $before, 'all of it is there');
my ($status, $out, $err) = psql_c($new, $publish, user => 'keeper');
is($out, 'published|0|99|1|{"v_range: 1 of 100 rows: v below 0 (quarantine)"}', 'and works');
$new->safe_psql('postgres', q{TRUNCATE "S x".landing; INSERT INTO "S x".landing VALUES (1, 1)});
($status, $out, $err) = psql_c($new, $publish, user => 'keeper');
like($out, qr/^rejected.*"volume: [^"]*: 1 row/, 'with its history');
$new->safe_psql('postgres', q{DROP TABLE "S x"."T ""1"});
is($new->safe_psql('postgres', 'SELECT count(*) FROM dq_gate.gates'), '0', 'and its event trigger');

log_is_clean($new);
$new->stop;
done_testing();
