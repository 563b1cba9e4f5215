# A scheduler that calls faster than a run lasts (case O26): one run at a time,
# what comes meanwhile or too late is recorded as skipped and does not pile up.
# And the checks that say whether the source is ready, beside those who load it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('ticks');

$node->safe_psql('postgres', q{
	CREATE TABLE shift (id int PRIMARY KEY);
	CREATE TABLE shift_staging (id int);
	CREATE TABLE other_staging (id int);
	INSERT INTO shift_staging VALUES (1), (2);
	INSERT INTO other_staging VALUES (1), (2);
	CREATE FUNCTION checked(int) RETURNS bool LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM pg_advisory_xact_lock(4713);
		RETURN true;
	END $$;
	SELECT dq_gate.create_gate('shift', 'shift_staging');
	SELECT dq_gate.expect_sql('shift', 'checked', 'checked(id)');
});

sub tick
{
	my ($staging, $tick) = @_;
	return "CALL dq_gate.publish_or_fail('$staging', 'shift', tick => '$tick')";
}

sub runs
{
	return $node->safe_psql('postgres', q{SELECT coalesce(string_agg(verdict || ' ' || n, ', ' ORDER BY verdict), '')
		FROM (SELECT verdict, count(*) AS n FROM dq_gate.runs GROUP BY verdict) AS v});
}

sub failures
{
	return $node->safe_psql('postgres', q{SELECT failures[1] FROM dq_gate.runs ORDER BY run_id DESC LIMIT 1});
}

# somebody whom the runs wait for, until he is let go
sub hold
{
	my $holder = background_c($node, [ 'SELECT pg_advisory_lock(4713)', 'SELECT pg_sleep(300)' ], name => 'holder');
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'holder' AND wait_event = 'PgSleep'});
	return $holder;
}

sub let_go
{
	my ($holder) = @_;
	$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holder'});
	$holder->finish;
	return;
}

sub wait_for
{
	my ($name, $event) = @_;
	$node->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = '$name' AND wait_event = '$event'")
	  or die "$name does not wait for $event";
	return;
}

my ($status, $out, $err);

# --- while a tick is at work, another one ends at once

my $holder = hold();
my $first = background_c($node, tick('shift_staging', '1 minute'), name => 'first');
wait_for('first', 'advisory');
my @others = map { background_c($node, tick('shift_staging', '1 minute'), name => "other$_") } 1 .. 5;
foreach my $other (@others)
{
	$other->finish;
	is($other->{exit}, 0, 'a tick while another one is at work: no failure');
	like($other->{err}, qr/^NOTICE: .*skipped.*: tick\nDETAIL:  tick: another one is under way \(skip\)$/m, 'and it says why');
}
is(runs(), 'skipped 5', 'all are recorded while the first is at work');
is($node->safe_psql('postgres', q{SELECT DISTINCT passed, published, row_count IS NULL, inserted IS NULL, rules_hash IS NULL, checks_run FROM dq_gate.runs}),
	'f|f|t|t|t|0', 'with nothing counted');

# a call by hand waits, and so does the tick of another staging table: they have something of their own to do
foreach my $sql ("SELECT dq_gate.publish('shift_staging', 'shift')", "CALL dq_gate.publish_or_fail('shift_staging', 'shift')", tick('other_staging', '1 minute'))
{
	($status, $out, $err) = psql_c($node, $sql, options => '-c lock_timeout=300ms');
	like($err, qr/^ERROR:  55P03: gate public\.shift is busy$/m, "waits: $sql");
}
is(runs(), 'skipped 5', 'none of these is recorded');
let_go($holder);
$first->finish;
is($first->{exit}, 0, 'the first one ends');
is(runs(), 'published 1, skipped 5', 'one run in all');

# --- a tick that has waited for another run comes late

$holder = hold();
my $manual = background_c($node, "SELECT verdict FROM dq_gate.publish('shift_staging', 'shift')", name => 'manual');
wait_for('manual', 'advisory');
my $late = background_c($node, tick('shift_staging', '1 minute'), name => 'late');
wait_for('late', 'object');
my $later = background_c($node, tick('shift_staging', '1 minute'), name => 'later');
$later->finish;
like($later->{err}, qr/tick: another one is under way/, 'no two ticks wait');
my $other = background_c($node, tick('other_staging', '1 minute'), name => 'other');
wait_for('other', 'object');
let_go($holder);
$_->finish foreach $manual, $late, $other;
is($manual->{out}, 'published', 'the run that was called by hand');
my $manual_id = $node->safe_psql('postgres', q{SELECT max(run_id) FROM dq_gate.runs WHERE application_name = 'manual'});
like($late->{err}, qr/DETAIL:  tick: run $manual_id had not ended when this one was due \(skip\)$/m, 'the tick that waited for it is skipped');
is($other->{exit} . $other->{err}, '0', 'but not that of another staging table');
is(runs(), 'published 3, skipped 7', 'which is published');

# --- a scheduler that makes up for ticks that it could not start: those of minutes ...

sleep 1 while (localtime)[0] > 45;
$node->safe_psql('postgres', "SELECT dq_gate.publish('shift_staging', 'shift')");
foreach (1 .. 3)
{
	($status, $out, $err) = psql_c($node, tick('shift_staging', '1 minute'));
	like("$status$err", qr/^0NOTICE.*tick: run \d+ had not ended when this one was due/s, 'a tick of a minute in which a run was at work');
}
is(runs(), 'published 4, skipped 10', 'is skipped');
$node->safe_psql('postgres', q{UPDATE dq_gate.runs SET started_at = started_at - interval '1 minute' WHERE verdict = 'published'});
($status, $out, $err) = psql_c($node, tick('shift_staging', '1 minute'));
is("$status$err", '0', 'a tick of the next minute is not');
is(runs(), 'published 5, skipped 10', 'it runs');

# ... and those of seconds
psql_c($node, tick('shift_staging', '3 seconds'));
is(runs(), 'published 6, skipped 10', 'a run that was shorter than it is from tick to tick puts off none');
$node->safe_psql('postgres', q{UPDATE dq_gate.runs SET started_at = clock_timestamp() - interval '4 seconds', duration = '4 seconds' WHERE run_id = (SELECT max(run_id) FROM dq_gate.runs)});
($status, $out, $err) = psql_c($node, tick('shift_staging', '3 seconds'));
is(runs(), 'published 6, skipped 11', 'one that was longer puts off the next one');
sleep 3;
($status, $out, $err) = psql_c($node, tick('shift_staging', '3 seconds'));
is(runs(), 'published 7, skipped 11', 'and no more');
foreach my $tick ('0', '-1 minute', '0.5 seconds')
{
	($status, $out, $err) = psql_c($node, tick('shift_staging', $tick));
	like($err, qr/^ERROR:  22023: "tick" must be 1 second or more/m, "tick $tick: refused");
}
is(runs(), 'published 7, skipped 11', 'before anything is done');
($status, $out, $err) = psql_c($node, "CALL dq_gate.publish_or_fail('shift_staging', 'shift')");
is(runs(), 'published 8, skipped 11', 'a call that says nothing of ticks is none');

# --- readiness does not stand in the way of those who load, nor wait for them

$node->safe_psql('postgres', q{
	SELECT dq_gate.drop_check('shift', 'checked');
	SELECT dq_gate.expect_ready('shift', 'false', name => 'never')});
my $load = 'INSERT INTO %s SELECT 3; SELECT pg_sleep(300)';
my $loader = background_c($node, 'BEGIN; ' . sprintf($load, 'shift_staging'), name => 'loader');
wait_for('loader', 'PgSleep');
($status, $out, $err) = psql_c($node, "SELECT verdict FROM dq_gate.publish('shift_staging', 'shift')", options => '-c lock_timeout=1s');
is($out, 'skipped', 'what is not ready is skipped while somebody loads');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_locks WHERE relation = 'shift_staging'::regclass AND mode = 'ShareRowExclusiveLock'}), '0', 'and leaves no lock');

$node->safe_psql('postgres', q{SELECT dq_gate.drop_check('shift', 'never'); SELECT dq_gate.expect_ready('shift', idle => true)});
my $pid = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE application_name = 'loader'});
($status, $out, $err) = psql_c($node, "SELECT verdict FROM dq_gate.publish('shift_staging', 'shift')", options => '-c lock_timeout=1s');
is($out, 'skipped', 'staging that somebody writes is not ready');
is(failures(), "ready: not ready: nobody is writing staging, written by backend $pid (skip)", 'and the run says who it is');
is($node->safe_psql('postgres', "SELECT verdict, passed FROM dq_gate.audit('shift_staging', 'shift')"), 'audited|f', 'a dry run as well');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
$loader->finish;
is($node->safe_psql('postgres', "SELECT verdict FROM dq_gate.publish('shift_staging', 'shift')"), 'published', 'once nobody does, it is published');
my $prepared = q{BEGIN; INSERT INTO shift_staging VALUES (4); PREPARE TRANSACTION 'load'};
$node->safe_psql('postgres', $prepared);
is($node->safe_psql('postgres', "SELECT verdict FROM dq_gate.publish('shift_staging', 'shift')"), 'skipped', 'a prepared transaction writes as well');
is(failures(), 'ready: not ready: nobody is writing staging, written by a prepared transaction (skip)', 'and is named');
$node->safe_psql('postgres', q{COMMIT PREPARED 'load'});
$node->safe_psql('postgres', q{
	CREATE TABLE parts (id int) PARTITION BY RANGE (id);
	CREATE TABLE "Part 1" PARTITION OF parts DEFAULT;
	INSERT INTO parts VALUES (7)});
$loader = background_c($node, 'BEGIN; ' . sprintf($load, '"Part 1"'), name => 'loader');
wait_for('loader', 'PgSleep');
is($node->safe_psql('postgres', "SELECT verdict FROM dq_gate.publish('parts', 'shift')"), 'skipped', 'so is a loader of a partition');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'loader'});
$loader->finish;
my $reader = background_c($node, 'BEGIN; SELECT * FROM parts; SELECT pg_sleep(300)', name => 'reader');
wait_for('reader', 'PgSleep');
is($node->safe_psql('postgres', "SELECT verdict FROM dq_gate.publish('parts', 'shift')"), 'published', 'who only reads it is none');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'reader'});
$reader->finish;

# a deadline makes the procedure fail, and the evidence is kept
$node->safe_psql('postgres', q{SELECT dq_gate.drop_check('shift', 'ready'); SELECT dq_gate.expect_ready('shift', 'false', deadline => '6 hours', name => 'manifest')});
($status, $out, $err) = psql_c($node, q{CALL dq_gate.publish_or_fail('shift_staging', 'shift', as_of => '2020-01-01')}, options => '-c timezone=UTC');
like("$status $err", qr/^1 .*ERROR:  23DQ1: .*rejected: manifest: not ready: false, past the deadline of 2020-01-01 06:00:00\+00$/m, 'past its deadline it is a failure');
like(failures(), qr/^manifest: not ready: false, past the deadline/, 'which is logged');

log_is_clean($node);
$node->stop;
done_testing();
