# Whatever dies in the middle of a publish: the target is as before, no run is
# half logged, no row half quarantined, and the next publish works.  What was
# committed stays.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('crash');

$node->safe_psql('postgres', q{
	CREATE TABLE booking (id int PRIMARY KEY, seats int);
	CREATE TABLE booking_staging (id int, seats int);
	INSERT INTO booking SELECT g, 1 FROM generate_series(1, 100) g;
	INSERT INTO booking_staging SELECT g, 2 FROM generate_series(1, 200) g;

	-- stops in the middle of the MERGE while the table tells it to
	CREATE TABLE brake (on_row int, stage text);
	CREATE FUNCTION slow_down() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF EXISTS (SELECT FROM public.brake WHERE on_row = NEW.id AND stage = 'publish') THEN
			PERFORM pg_sleep(300);
		END IF;
		RETURN NEW;
	END $$;
	CREATE TRIGGER slow_down BEFORE INSERT OR UPDATE ON booking FOR EACH ROW EXECUTE FUNCTION slow_down();
	-- and in the middle of an audit
	CREATE FUNCTION slow_check(id int) RETURNS bool LANGUAGE plpgsql AS $$
	BEGIN
		IF EXISTS (SELECT FROM public.brake WHERE on_row = id AND stage = 'audit') THEN
			PERFORM pg_sleep(300);
		END IF;
		RETURN true;
	END $$;
	SELECT dq_gate.create_gate('booking');
	SELECT dq_gate.expect_sql('booking', 'slow_check', 'slow_check(id)');
	SELECT dq_gate.expect_range('booking', 'seats', max => 3);
});
my $target = 'SELECT count(*), sum(seats) FROM booking';

# Starts a publish that hangs at a row; returns it and its pid
sub hanging_publish
{
	my ($stage, $row, $sql) = @_;
	$node->safe_psql('postgres', "TRUNCATE brake; INSERT INTO brake VALUES ($row, '$stage')");
	my $publish = background_c($node, $sql, name => 'hanging');
	$node->poll_query_until('postgres',
		q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'hanging' AND wait_event = 'PgSleep'})
	  or die 'the publish does not hang';
	my $pid = $node->safe_psql('postgres',
		q{SELECT pid FROM pg_stat_activity WHERE application_name = 'hanging'});
	return ($publish, $pid);
}

sub is_as_before
{
	my ($name) = @_;
	is($node->safe_psql('postgres', $target), '100|100', "$name: the target is as before");
	is(evidence($node, 'dq_quarantine.booking'), '0|0|none', "$name: no run, no result, no quarantine");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM booking_staging'), '200', "$name: the batch is still staged");
	is( $node->safe_psql('postgres', q{SELECT count(*) FROM pg_locks WHERE pid <> pg_backend_pid()
			AND (locktype IN ('object', 'advisory') OR relation IN ('booking'::regclass, 'booking_staging'::regclass))}),
		'0', "$name: no lock is left");
	return;
}

my $function = "SELECT dq_gate.publish('booking_staging', 'booking')";
my $procedure = "CALL dq_gate.publish_or_fail('booking_staging', 'booking')";

# --- one backend is told to go

foreach my $case ([ 'publish', 150, $function ], [ 'publish', 150, $procedure ], [ 'audit', 199, $function ])
{
	my ($stage, $row, $sql) = @$case;
	my ($publish, $pid) = hanging_publish($stage, $row, $sql);
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
	$publish->finish;
	like($publish->{err}, qr/57P01: terminating connection/, "terminated in $stage: told so");
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid");
	is_as_before("terminated in $stage");
}

# the client goes away: the server goes on or gives up, but not half
{
	my ($publish, $pid) = hanging_publish('publish', 150, $function);
	$publish->{run}->kill_kill;
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid");
	is_as_before('client gone');
}

# --- one backend is killed, and takes the others with it

{
	my ($publish, $pid) = hanging_publish('publish', 150, $function);
	kill 'KILL', $pid;
	$publish->finish;
	isnt($publish->{exit}, 0, 'killed: the caller is cut off');
	$node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'no recovery';
	is_as_before('killed');
}

# --- the server stops at once

foreach my $case ([ 'publish', 150, $procedure ], [ 'audit', 199, $procedure ])
{
	my ($stage, $row, $sql) = @$case;
	my ($publish) = hanging_publish($stage, $row, $sql);
	$node->stop('immediate');
	$publish->finish;
	$node->start;
	is_as_before("stopped in $stage");
}

# --- a rejection dies before its commit, with the first quarantine table of the target

{
	$node->safe_psql('postgres', 'TRUNCATE brake');
	my $reject = background_c($node,
		[ 'BEGIN', 'UPDATE booking_staging SET seats = 9 WHERE id = 1', $function, 'SELECT pg_sleep(300)' ],
		name => 'hanging');
	$node->poll_query_until('postgres',
		q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'hanging' AND wait_event = 'PgSleep'})
	  or die 'the rejection does not hang';
	$node->stop('immediate');
	$reject->finish;
	like($reject->{err}, qr/rejected/, 'stopped after a rejection: it was one');
	$node->start;
	is_as_before('stopped after a rejection');
}

# --- a publish that waits to be committed survives, and is seen when it is

{
	$node->safe_psql('postgres', "TRUNCATE brake; BEGIN; $function; PREPARE TRANSACTION 'publish'");
	$node->stop('immediate');
	$node->start;
	is($node->safe_psql('postgres', $target), '100|100', 'prepared: readers see the version before');
	is(evidence($node, 'dq_quarantine.booking'), '0|0|none', 'prepared: no run yet');
	my ($status, $out, $err) = psql_c($node, $function, options => '-c lock_timeout=100ms');
	like($err, qr/55P03: gate public\.booking is busy/, 'prepared: the gate is still held');
	$node->safe_psql('postgres', "COMMIT PREPARED 'publish'");
	is($node->safe_psql('postgres', $target), '200|400', 'prepared: committed, the version after');
	is(evidence($node, 'dq_quarantine.booking'), '1|1|none', 'prepared: with its run');
}

# --- what is committed stays

{
	my ($status, $out, $err);
	$node->safe_psql('postgres', 'UPDATE booking_staging SET seats = 3');
	($status) = psql_c($node, $procedure);
	is($status, 0, 'after all that a publish works');
	$node->safe_psql('postgres', 'UPDATE booking_staging SET seats = 4 WHERE id = 7');
	($status, $out, $err) = psql_c($node, $procedure);
	like($err, qr/23DQ1/, 'and a rejection');
	$node->stop('immediate');
	$node->start;
	is($node->safe_psql('postgres', $target), '200|600', 'the publish survives a crash');
	is(evidence($node, 'dq_quarantine.booking'), '3|3|200', 'the evidence survives a crash');
	is( $node->safe_psql('postgres', 'SELECT count(*) FROM (SELECT run_id FROM dq_gate.runs GROUP BY run_id HAVING count(*) > 1) d'),
		'0', 'run numbers are unique');
	($status, $out) = psql_c($node,
		"SELECT verdict, run_id > (SELECT max(run_id) FROM dq_gate.runs) FROM dq_gate.publish('booking_staging', 'booking')");
	is($out, 'rejected|t', 'and go on after the crash');
}

log_is_clean($node);
$node->stop;
done_testing();
