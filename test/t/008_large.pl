# A large batch is counted exactly and does not pass through the memory of the
# backend; a cancel is heeded at once (case O34).
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = new_gate_node('large', conf => "shared_buffers = 16MB\nmax_wal_size = 4GB\nmax_parallel_workers_per_gather = 0");

$node->safe_psql('postgres', q{
	CREATE TABLE big (id int PRIMARY KEY, v text NOT NULL);
	CREATE TABLE big_staging AS SELECT g AS id, repeat('x', 200) AS v FROM generate_series(1, 300000) g;
	UPDATE big_staging SET v = NULL WHERE id % 2 = 0;
	INSERT INTO big_staging SELECT 5, 'x' FROM generate_series(1, 199);
	VACUUM ANALYZE big_staging;
	SELECT dq_gate.expect_sql('big', 'only_x', $$v ~ '^x+$'$$);
});
my $peak = q{SELECT 'peak', substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)');};
my $has_proc = -r '/proc/self/status';
$peak = q{SELECT 'peak', 0;} if !$has_proc;

my ($out, $err) = session($node, qq{
	SET client_min_messages = error;
	SELECT count(*) FROM big_staging WHERE v ~ 'y';
	SELECT count(*) FROM dq_gate.checks_of('big', 'big_staging') WHERE false;
	$peak
	SELECT verdict, row_count, inserted, quarantined FROM dq_gate.publish('big_staging', 'big');
	$peak
	SELECT check_type, columns, failing_rows, examined_rows, null_rows, jsonb_array_length(sample) FROM dq_gate.results
		WHERE NOT passed ORDER BY check_type;
	SELECT count(*), count(*) FILTER (WHERE failed_checks = '{}') FROM dq_quarantine.big;
	SELECT count(*) FROM big;
});
like($out, qr/^rejected\|300199\|0\|300199$/m, 'rejected, and all rows kept');
like($out, qr/^not_null\|\{v\}\|150000\|300199\|150000\|5$/m, 'rows without a value are counted exactly, and a few shown');
like($out, qr/^sql\|\{v\}\|150000\|300199\|150000\|5$/m, 'also by the declared rule, which NULL does not satisfy');
like($out, qr/^unique\w*\|\{id\}\|200\|300199\|0?\|[1-5]$/m, 'rows that share a key are counted exactly')
  or diag($out);
like($out, qr/^300199\|149999$/m, 'each row with its own reasons');
like($out, qr/^0$/m, 'nothing is published');
my ($before, $after) = $out =~ /^peak\|(\d+)$/mg;
cmp_ok($after - $before, '<', 40_000, 'the backend needed a few megabytes, not the size of the batch')
  or diag("from $before kB to $after kB");

# repaired, it goes through
$node->safe_psql('postgres', q{
	DELETE FROM big_staging WHERE v = 'x';
	UPDATE big_staging SET v = 'x' WHERE v IS NULL;
	VACUUM ANALYZE big_staging});
($out, $err) = session($node, qq{
	SELECT count(*) FROM big_staging WHERE v ~ 'y';
	$peak
	SELECT verdict, row_count, inserted, updated, quarantined FROM dq_gate.publish('big_staging', 'big');
	$peak
	UPDATE big_staging SET v = 'xx' WHERE id % 3 = 0;
	SELECT verdict, row_count, inserted, updated, unchanged FROM dq_gate.publish('big_staging', 'big');
	SELECT count(*), sum(length(v)) FROM big;
});
like($out, qr/^published\|300000\|300000\|0\|0$/m, 'repaired, it is published');
like($out, qr/^published\|300000\|0\|100000\|200000$/m, 'and again, with exact counts');
($before, $after) = $out =~ /^peak\|(\d+)$/mg;
cmp_ok($after - $before, '<', 60_000, 'publishing needed a few megabytes too')
  or diag("from $before kB to $after kB");

# a cancel in the middle of the scan
$node->safe_psql('postgres', q{SELECT dq_gate.expect_sql('big', 'costly', $$repeat(v, 2000) !~ '(a|b)+c'$$)});
my $run = background_c($node, "SELECT dq_gate.publish('big_staging', 'big')", name => 'cancelled');
$node->poll_query_until('postgres',
	q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'cancelled' AND state = 'active'
		AND clock_timestamp() > query_start + interval '300 ms'}) or die 'the run does not run';
my $start = time();
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'cancelled'});
$run->finish;
like($run->{err}, qr/57014/, 'cancelled');
cmp_ok(time() - $start, '<', 2, 'within a moment');

# --- ten times the rows take no more memory, however many of them fail, and
# whatever looks at each of them

$node->append_conf('postgresql.conf', "shared_buffers = 2MB\nwork_mem = 1MB");
$node->restart;

my %grown;
my $small = 10_000;
foreach my $size ($small, 10 * $small)
{
	$node->safe_psql('postgres', qq{
		DROP SCHEMA IF EXISTS bulk CASCADE;
		CREATE SCHEMA bulk;
		CREATE TABLE bulk.parent (id int PRIMARY KEY);
		INSERT INTO bulk.parent SELECT generate_series(1, $size / 2);
		CREATE TABLE bulk.target (id int PRIMARY KEY, v text NOT NULL, parent int, day date, amount numeric, code text);
		CREATE TABLE bulk.staging AS
		SELECT g AS id, repeat(CASE g % 2 WHEN 0 THEN 'y' ELSE 'x' END, 200) AS v, g AS parent, date '2000-01-01' + g % 5000 AS day,
			g::numeric / 7 AS amount, 'code ' || g / 2 AS code
		FROM generate_series(1, $size) g;
		CREATE TABLE bulk.source AS SELECT id + $size / 2 AS id, amount FROM bulk.staging;
		-- not analyzed, as a batch that has just arrived
		VACUUM bulk.parent, bulk.staging, bulk.source;
		SELECT dq_gate.create_gate('bulk.target', profile => true);
		SELECT dq_gate.expect_pattern('bulk.target', 'v', '^x+\$', action => 'quarantine');
		SELECT dq_gate.expect_referential('bulk.target', '{parent}', 'bulk.parent', '{id}', action => 'drop');
		SELECT dq_gate.expect_compare('bulk.target', 'id', '<', 'parent', action => 'warn');
		SELECT dq_gate.expect_unique('bulk.target', '{code}', action => 'warn');
		SELECT dq_gate.expect_distinct('bulk.target', '{code}', min => $size, action => 'warn');
		SELECT dq_gate.expect_series('bulk.target', 'day', '1 day', action => 'warn');
		SELECT dq_gate.expect_reconciled('bulk.target', 'bulk.source', key => '{id}', sums => '{amount}', action => 'warn');
		SELECT dq_gate.expect_query('bulk.target', 'each_row', 'SELECT * FROM bulk.staging', action => 'warn');
		SELECT dq_gate.expect_control_totals('bulk.target', columns => '{amount}',
			query => 'SELECT v, id AS row_count, amount FROM bulk.staging', action => 'warn')});
	my $run = "SELECT verdict, row_count, inserted, quarantined, dropped, checks_failed FROM dq_gate.publish('bulk.staging', 'bulk.target');";
	foreach my $outcome ('published', 'rejected', 'failed')
	{
		my $before = {
			published => '',
			rejected => q{SELECT dq_gate.expect_range('bulk.target', 'id', min => 0, max => 1);},
			failed => q{SELECT dq_gate.drop_check('bulk.target', 'id_range');
				CREATE FUNCTION bulk.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
				CREATE TRIGGER refuse AFTER INSERT ON bulk.target FOR EACH STATEMENT EXECUTE FUNCTION bulk.refuse();
				TRUNCATE bulk.target;} }->{$outcome};
		my ($out, $err) = session($node, qq{
			SET client_min_messages = error;
			SELECT count(*) FROM bulk.staging WHERE v ~ 'z';
			$before
			SELECT count(*) FROM dq_gate.audit('bulk.parent', 'bulk.target') WHERE false;
			$peak
			$run
			$peak});
		my $fourth = $size / 4;
		my $half = $size / 2;
		like($out, { published => qr/^published\|$size\|$fourth\|$half\|$fourth\|8$/m,
				rejected => qr/^rejected\|$size\|0\|$size\|0\|9$/m,
				failed => qr/^failed\|$size\|0\|$size\|0\|8$/m }->{$outcome}, "$size rows, $outcome")
		  or diag("$out\n$err");
		my ($first, $last) = $out =~ /^peak\|(\d+)$/mg;
		$grown{$outcome}{$size} = $last - $first;
	}
}
foreach my $outcome (sort keys %grown)
{
	# what is sorted or hashed may fill work_mem, which the small batch does not
	cmp_ok($grown{$outcome}{ 10 * $small }, '<', $grown{$outcome}{$small} + 6_000, "$outcome: ten times the rows, about the same memory")
	  or diag("$grown{$outcome}{$small} kB, then $grown{$outcome}{10 * $small} kB");
}

log_is_clean($node);
$node->stop;
done_testing();
