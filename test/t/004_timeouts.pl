# Timeouts and cancellations are the caller's wish and not a finding (case O29):
# they reach him as they are, nothing is logged or quarantined, no lock or
# setting is left behind, and the next publish works at once.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('timeouts');

$node->safe_psql('postgres', q{
	CREATE TABLE shift (id int PRIMARY KEY, hours int);
	CREATE TABLE shift_staging (id int, hours int);
	INSERT INTO shift_staging VALUES (1, 8), (2, 9);

	-- what a check or a trigger does in the middle of a run
	CREATE TABLE happening (stage text, what text);
	CREATE FUNCTION happen(at text) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		what text := (SELECT h.what FROM public.happening h WHERE h.stage = at);
	BEGIN
		IF what = 'sleep' THEN
			PERFORM pg_sleep(300);
		ELSIF what = 'wait' THEN
			PERFORM pg_advisory_xact_lock(4713);
		ELSIF what = 'nowait' THEN
			LOCK TABLE public.held IN ACCESS SHARE MODE NOWAIT;
		ELSIF what IS NOT NULL THEN
			RAISE EXCEPTION 'as if' USING ERRCODE = what;
		END IF;
	END $$;
	CREATE FUNCTION checked(int) RETURNS bool LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM public.happen('audit');
		RETURN true;
	END $$;
	CREATE FUNCTION written() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM public.happen('publish');
		RETURN NEW;
	END $$;
	CREATE TRIGGER written BEFORE INSERT ON shift FOR EACH ROW EXECUTE FUNCTION written();
	CREATE TABLE held ();
	SELECT dq_gate.create_gate('shift');
	SELECT dq_gate.expect_sql('shift', 'checked', 'checked(id)');
	SELECT dq_gate.expect_range('shift', 'hours', max => 24);
});

my $function = "SELECT verdict FROM dq_gate.publish('shift_staging', 'shift')";
my $procedure = "CALL dq_gate.publish_or_fail('shift_staging', 'shift')";
my $audit = "SELECT verdict FROM dq_gate.audit('shift_staging', 'shift')";

# somebody who holds what the runs wait for, from the beginning to the end
my $holder = background_c($node,
	[ 'SELECT pg_advisory_lock(4713)', 'BEGIN', 'LOCK TABLE held', 'SELECT pg_sleep(300)' ],
	name => 'holder');
$node->poll_query_until('postgres',
	q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'holder' AND wait_event = 'PgSleep'})
  or die 'the holder does not hold';

sub set_happening
{
	my ($stage, $what) = @_;
	$node->safe_psql('postgres', "TRUNCATE happening; INSERT INTO happening VALUES ('$stage', '$what')");
	return;
}

sub nothing_happened
{
	my ($name) = @_;
	is($node->safe_psql('postgres', 'SELECT count(*) FROM shift'), '0', "$name: the target is as before");
	is(evidence($node, 'dq_quarantine.shift'), '0|0|none', "$name: nothing logged, nothing quarantined");
	return;
}

# what a session finds after the error; it has set the timeouts itself
my $remember = q{CREATE TEMP TABLE before AS SELECT name, setting FROM pg_settings;};
my $look = q{
	SELECT 'settings', count(*) FROM pg_settings s JOIN before b USING (name) WHERE s.setting IS DISTINCT FROM b.setting;
	SELECT 'role', current_user = session_user;
	SELECT 'locks', count(*) FROM pg_locks WHERE pid = pg_backend_pid()
		AND (locktype IN ('object', 'advisory') OR relation IN ('shift'::regclass, 'shift_staging'::regclass));
};
my $in_order = "settings|0\nrole|t\nlocks|0";

# --- a setting of the session strikes, in either stage, through either door

foreach my $stage ('audit', 'publish')
{
	foreach my $door ($function, $procedure, $audit)
	{
		next if $door eq $audit && $stage eq 'publish';
		my ($name) = $door =~ /dq_gate\.(\w+)/;

		set_happening($stage, 'sleep');
		my ($out, $err) = session($node,
			"SET statement_timeout = '300ms'; $remember $door; $look SHOW statement_timeout;");
		like($err, qr/^ERROR:  57014: canceling statement due to statement timeout/m, "statement_timeout in $stage of $name");
		is($out, "$in_order\n300ms", "statement_timeout in $stage of $name: the session is in order");
		nothing_happened("statement_timeout in $stage of $name");

		set_happening($stage, 'wait');
		($out, $err) = session($node, "SET lock_timeout = '300ms'; $remember $door; $look SHOW lock_timeout;");
		like($err, qr/^ERROR:  55P03: canceling statement due to lock timeout/m, "lock_timeout in $stage of $name");
		is($out, "$in_order\n300ms", "lock_timeout in $stage of $name: the session is in order");
		nothing_happened("lock_timeout in $stage of $name");
	}

	# errors that say something of the server or of other sessions, not of the batch
	set_happening($stage, 'nowait');
	my ($out, $err) = session($node, "$remember $function; $look");
	like($err, qr/^ERROR:  55P03: could not obtain lock/m, "NOWAIT in $stage");
	is($out, $in_order, "NOWAIT in $stage: the session is in order");
	nothing_happened("NOWAIT in $stage");
	foreach my $code ('40001', '40P01', '53200', '53100', '57P01', '58030', 'XX001')
	{
		set_happening($stage, $code);
		($out, $err) = session($node, "$remember $function; $look");
		like($err, qr/^ERROR:  $code: as if/m, "$code in $stage reaches the caller");
		is($out, $in_order, "$code in $stage: the session is in order");
		nothing_happened("$code in $stage");
	}
}

# --- cancelled from outside

foreach my $stage ('audit', 'publish')
{
	foreach my $door ($function, $procedure)
	{
		my ($name) = $door =~ /dq_gate\.(\w+)/;
		set_happening($stage, 'sleep');
		my $run = background_c($node, [ $remember, $door, split /;/, $look ], name => 'cancelled');
		$node->poll_query_until('postgres',
			q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'cancelled' AND wait_event = 'PgSleep'})
		  or die 'the run does not hang';
		$node->safe_psql('postgres',
			q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'cancelled'});
		$run->finish;
		like($run->{err}, qr/^ERROR:  57014: canceling statement due to user request/m, "cancel in $stage of $name");
		is($run->{out}, $in_order, "cancel in $stage of $name: the session is in order");
		nothing_happened("cancel in $stage of $name");
	}
}

# --- caught by the caller, in a transaction that goes on

foreach my $stage ('audit', 'publish')
{
	set_happening($stage, 'sleep');
	my ($out, $err) = session($node, <<"END");
SET statement_timeout = '300ms';
$remember
BEGIN;
SAVEPOINT here;
$function;
ROLLBACK TO here;
$look
SET LOCAL statement_timeout = 0;
TRUNCATE happening;
$function;
SELECT count(*) FROM shift;
ROLLBACK;
$look
END
	like($err, qr/57014/, "savepoint around $stage: cancelled");
	is($out, "$in_order\npublished\n2\n$in_order", "savepoint around $stage: rolled back, and the next publish works in the same transaction");

	($out, $err) = session($node, <<"END");
SET statement_timeout = '300ms';
$remember
DO \$\$
DECLARE
	code text;
BEGIN
	PERFORM dq_gate.publish('shift_staging', 'shift');
EXCEPTION WHEN query_canceled THEN
	GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE;
	RAISE NOTICE 'caught % as % with %', code, current_user = session_user, current_setting('search_path');
END \$\$;
$look
END
	like($err, qr/NOTICE:  00000: caught 57014 as t with "\$user", public/, "handler around $stage: has its role and path back");
	is($out, $in_order, "handler around $stage: the session is in order");
	nothing_happened("handler around $stage");
}

# --- a check that takes its own time limit is a broken check; see what it did not stop

$node->safe_psql('postgres', 'TRUNCATE happening');
foreach my $code ('22012', '42P01', 'P0001', '23505', '0A000')
{
	set_happening('audit', $code);
	my ($out, $err) = session($node, "BEGIN; $function; SELECT status, message ~ 'as if' FROM dq_gate.results WHERE check_name = 'checked' ORDER BY run_id DESC LIMIT 1; ROLLBACK;");
	is($out, "rejected\nerror|t", "$code in a check is a finding");
	set_happening('publish', $code);
	($out, $err) = session($node, "BEGIN; $function; SELECT error_sqlstate FROM dq_gate.runs ORDER BY run_id DESC LIMIT 1; ROLLBACK;");
	is($out, "failed\n$code", "$code in the publish is logged");
}

# --- at once

$node->safe_psql('postgres', 'TRUNCATE happening');
my ($status, $out, $err) = psql_c($node, "SELECT verdict, inserted FROM dq_gate.publish('shift_staging', 'shift')",
	options => '-c statement_timeout=0 -c lock_timeout=1000');
is("$status|$out", '0|published|2', 'after all that a publish works at once');

$node->safe_psql('postgres',
	q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holder'});
$holder->finish;
log_is_clean($node);
$node->stop;
done_testing();
