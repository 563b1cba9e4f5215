# Foreign tables and partitions: a batch cannot be merged into them, and nobody
# can lock them.  They are refused when the gate is made and when it is run.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('foreign');

if ($node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'}) eq '0')
{
	$node->stop;
	plan(skip_all => 'postgres_fdw is not installed');
}

my ($host, $port) = ($node->host, $node->port);
$node->safe_psql('postgres', qq{
	CREATE EXTENSION postgres_fdw;
	CREATE SERVER loopback FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
	CREATE USER MAPPING FOR CURRENT_USER SERVER loopback;
	CREATE TABLE far_rows (day date NOT NULL, id int NOT NULL, v int);
	CREATE FOREIGN TABLE "Far away" (day date NOT NULL, id int NOT NULL, v int) SERVER loopback OPTIONS (table_name 'far_rows');
	CREATE TABLE parted (day date NOT NULL, id int NOT NULL, v int) PARTITION BY RANGE (day);
	CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
	CREATE TABLE parent (day date NOT NULL, id int NOT NULL, v int);
	CREATE TABLE staging (day date, id int, v int);
	INSERT INTO staging VALUES ('2026-01-05', 1, 1);
});

# Each statement raises this error
sub refused
{
	my ($sql, $pattern, $name) = @_;
	my ($out, $err) = session($node, "SET client_min_messages = error; $sql;");

	like($err, $pattern, $name);
	return;
}

my %modes = (
	merge => '', append => '', insert_only => '', sync => '',
	replace => q{, replace_by => '{day}'});
my $is_foreign = qr/42809: .*"Far away" cannot be a target table.*foreign tables/s;

foreach my $mode (sort keys %modes)
{
	refused(qq{SELECT dq_gate.create_gate('"Far away"', key => '{id}', mode => '$mode'$modes{$mode})}, $is_foreign, "a foreign table gets no gate, $mode");
}
refused(q{SELECT dq_gate.publish('staging', '"Far away"')}, $is_foreign, 'and is no target without one');
refused(q{SELECT dq_gate.expect_not_null('"Far away"', 'v')}, $is_foreign, 'nor has it checks');
refused(q{SELECT dq_gate.publish('"Far away"', 'parent')}, qr/42809: .*"Far away" cannot be a staging table.*foreign tables.*copy it/s, 'it is no staging table');

# gates whose targets get a foreign part later
my $is_part = qr/42809: .*target public\.(parted|parent) cannot be published into.*public\."Far away" is a foreign table.*detach the foreign part/s;
foreach my $mode (sort keys %modes)
{
	foreach my $target ('parted', 'parent')
	{
		my ($attach, $detach) = $target eq 'parted'
		  ? (q{ALTER TABLE parted ATTACH PARTITION "Far away" DEFAULT}, q{ALTER TABLE parted DETACH PARTITION "Far away"})
		  : (q{ALTER FOREIGN TABLE "Far away" INHERIT parent}, q{ALTER FOREIGN TABLE "Far away" NO INHERIT parent});

		$node->safe_psql('postgres', qq{
			SELECT dq_gate.create_gate('$target', key => '{day,id}', mode => '$mode'$modes{$mode});
			SELECT verdict FROM dq_gate.publish('staging', '$target');
			$attach});
		refused("SELECT dq_gate.publish('staging', '$target')", $is_part, "$target with a foreign part is refused when it is run, $mode");
		refused("SELECT dq_gate.audit('staging', '$target')", $is_part, 'in a dry run');
		refused("SELECT dq_gate.alter_gate('$target', layer => 'gold')", $is_part, 'when the gate is altered');
		$node->safe_psql('postgres', "SELECT dq_gate.drop_gate('$target')");
		refused("SELECT dq_gate.create_gate('$target', key => '{day,id}', mode => '$mode'$modes{$mode})", $is_part, 'and when it is made');
		is($node->safe_psql('postgres', "$detach; SELECT count(*) FROM $target; DELETE FROM $target"), '1', 'what was published before is there');
	}
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM far_rows'), '0', 'nothing went to the other server');

# a partition is a target of its own
$node->safe_psql('postgres', q{ALTER TABLE parted ATTACH PARTITION "Far away" DEFAULT});
is($node->safe_psql('postgres', q{SET client_min_messages = error; SELECT dq_gate.create_gate('parted_1', key => '{day,id}');
	SELECT verdict FROM dq_gate.publish('staging', 'parted_1')}), "parted_1\npublished", 'a partition of its own beside a foreign one is a target');

# staging with a part that cannot be locked
$node->safe_psql('postgres', q{CREATE TABLE land (day date, id int, v int); ALTER FOREIGN TABLE "Far away" INHERIT land}) if
  $node->safe_psql('postgres', q{ALTER TABLE parted DETACH PARTITION "Far away"}) eq '';
refused(q{SELECT dq_gate.publish('land', 'parent')}, qr/42809: .*land cannot be a staging table.*"Far away" is a foreign table/s, 'staging with a foreign part is refused');
refused(q{SELECT dq_gate.alter_gate('parted_1', staging => 'land')}, qr/42809: .*land cannot be a staging table/s, 'also as that of a gate');

log_is_clean($node);
$node->stop;
done_testing();
