# The view activity shows to other sessions what a run is doing, what it waits
# for and what is not committed yet; however a run ends, nothing of it stays.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('activity');

$node->safe_psql('postgres', q{
	CREATE SCHEMA "S x";
	CREATE TABLE "S x"."a""b" (id int PRIMARY KEY, hours int);
	CREATE TABLE shift (id int PRIMARY KEY, hours int);
	CREATE TABLE shift_staging (id int, hours int);
	INSERT INTO shift_staging VALUES (1, 8), (2, 9), (3, 30);

	-- somebody waits there, while somebody else holds the lock of that name
	CREATE FUNCTION wait_at(place text) RETURNS bool LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM pg_advisory_xact_lock_shared(hashtext(place));
		RETURN true;
	END $$;
	CREATE FUNCTION written() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM public.wait_at('publish');
		RETURN NEW;
	END $$;
	CREATE TRIGGER written BEFORE INSERT OR UPDATE ON shift FOR EACH ROW EXECUTE FUNCTION written();

	SELECT dq_gate.create_gate('shift');
	SELECT dq_gate.expect_volume('shift', action => 'declare');
	SELECT dq_gate.expect_sql('shift', 'scanned', $$wait_at('scan')$$);
	SELECT dq_gate.expect_range('shift', 'hours', max => 24, action => 'quarantine');
	SELECT dq_gate.create_gate('"S x"."a""b"');
});

my $publish = "SELECT verdict FROM dq_gate.publish('shift_staging', 'shift')";
my $preview = "SELECT 'previewed' FROM dq_gate.preview('shift_staging', 'shift') WHERE change = 'unfit'";
my $audit = "SELECT verdict FROM dq_gate.audit('shift_staging', 'shift')";
my $or_fail = "CALL dq_gate.publish_or_fail('shift_staging', 'shift')";

# --- what holds a run up, and who looks at it

sub hold
{
	my (@sql) = @_;
	my $holder = background_c($node, [ @sql, 'SELECT pg_sleep(300)' ], name => 'holder');
	$node->poll_query_until('postgres',
		q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'holder' AND wait_event = 'PgSleep'})
	  or die 'the holder does not hold';
	return $holder;
}

sub hold_at { return hold("SELECT pg_advisory_lock(hashtext('$_[0]'))"); }
sub hold_table { return hold('BEGIN', "LOCK TABLE $_[0] IN $_[1] MODE"); }

sub end_backend
{
	my ($name, $how) = @_;
	$node->safe_psql('postgres',
		"SELECT pg_${how}_backend(pid) FROM pg_stat_activity WHERE application_name = '$name'");
	return;
}

sub release
{
	my ($holder) = @_;
	end_backend('holder', 'terminate');
	$holder->finish;
	return;
}

# Sooner or later the view shows just these rows
sub shows
{
	my ($columns, $expected, $name) = @_;
	ok($node->poll_query_until('postgres',
			"SELECT coalesce(string_agg(concat_ws('|', $columns), ', ' ORDER BY application_name, phase_since, gate, phase), 'nothing') FROM dq_gate.activity",
			$expected), $name);
	return;
}

# Neither in the view nor, as they come from there, in the lock table
sub nothing_left
{
	my ($name) = @_;
	is($node->safe_psql('postgres',
		q{SELECT (SELECT count(*) FROM dq_gate.activity), (SELECT count(*) FROM pg_locks WHERE locktype = 'object')}),
		'0|0', "$name: nothing is left");
	return;
}

my $columns = q{gate, dry_run, phase, coalesce(row_count::text, '?'), waiting_for,
	CASE WHEN blocked_by = ARRAY(SELECT pid FROM pg_stat_activity WHERE application_name = 'holder') THEN 'by the holder' ELSE blocked_by::text END};

nothing_left('at first');

# the first one makes the quarantine table
is($node->safe_psql('postgres', $publish), 'published', 'a run');
nothing_left('a run in a transaction of its own');

my @places = (
	[ 'the gate', sub { hold('BEGIN', $publish) }, 'taking locks', '?', 'gate shift' ],
	[ 'a loader', sub { hold_table('shift_staging', 'ROW EXCLUSIVE') }, 'taking locks', '?', 'table shift_staging' ],
	[ 'the rules', sub { hold_table('dq_gate.checks', 'ACCESS EXCLUSIVE') }, 'planning', '?', 'table dq_gate.checks' ],
	[ 'a rule', sub { hold_at('scan') }, 'auditing', '?', 'advisory' ],
	[ 'a writer', sub { hold_table('shift', 'ROW EXCLUSIVE') }, 'taking locks', '3', 'table shift' ],
	[ 'the quarantine', sub { hold_table('dq_quarantine.shift', 'EXCLUSIVE') }, 'quarantining', '3', 'table dq_quarantine.shift' ],
	[ 'a trigger', sub { hold_at('publish') }, 'publishing', '3', 'advisory' ],
	[ 'the log', sub { hold_table('dq_gate.runs', 'EXCLUSIVE') }, 'logging', '3', 'table dq_gate.runs' ],
	[ 'a query', sub { hold_at('query') }, 'auditing', '3', 'advisory' ],
	# one that reads the target has it locked from the start
	[ 'a writer before a query', sub { hold_table('shift', 'ROW EXCLUSIVE') }, 'taking locks', '?', 'table shift' ]);

foreach my $place (@places)
{
	my ($what, $hold, @expected) = @$place;
	my ($phase, $rows, $lock) = @expected;
	# the gate is held by a run that is done
	my $before = $what eq 'the gate' ? 'public.shift|f|done, not yet committed|3, ' : '';
	$node->safe_psql('postgres', q{SELECT dq_gate.expect_query('shift', 'queried', $$SELECT wait_at('query')::int$$, min => 1)})
	  if $what eq 'a query';
	$node->safe_psql('postgres', q{SELECT dq_gate.expect_query('shift', 'published', $$SELECT count(*) FROM shift$$, min => 0)})
	  if $what eq 'a writer before a query';

	foreach my $end ('let through', 'cancel', 'terminate', 'timeout')
	{
		# each row is to be written again
		$node->safe_psql('postgres', 'UPDATE shift SET hours = 1');
		my $holder = $hold->();
		my $run = background_c($node, [ $end eq 'timeout' ? "SET statement_timeout = '300ms'" : 'SELECT', $publish ],
			name => 'runner');

		# a moment is enough to see it, where it ends by itself
		shows(qq{(application_name = 'runner')::int, $columns},
			($before ? '0|' . $before : '') . "1|public.shift|f|$phase|$rows|$lock|by the holder", "$what, $end: is seen")
		  if $end ne 'timeout';
		end_backend('runner', $end) if $end eq 'cancel' || $end eq 'terminate';
		release($holder) if $end eq 'let through';
		$run->finish;
		like($end eq 'let through' ? $run->{out} : $run->{err},
			{ 'let through' => qr/^published$/m, cancel => qr/57014: canceling statement due to user/,
				terminate => qr/57P01/, timeout => qr/57014: canceling statement due to statement timeout/ }->{$end},
			"$what, $end: ends so");
		release($holder) if $end ne 'let through';
		nothing_left("$what, $end");
	}
}

# --- the details

my $holder = hold_at('query');
my $run = background_c($node, $publish, name => 'runner');
shows('phase', 'auditing', 'a run');
is($node->safe_psql('postgres', q{
	SELECT target = 'shift'::regclass, usename = current_user, application_name, pid = (SELECT pid FROM pg_stat_activity WHERE application_name = 'runner'),
		run_id = (SELECT last_value FROM dq_gate.run_id_seq), state, wait_event_type, wait_event, query ~ 'dq_gate.publish',
		started_at <= phase_since, phase_since <= now(), started_at > now() - interval '5 min', waiting_since <= clock_timestamp(),
		waiting_since >= phase_since
	FROM dq_gate.activity}),
	't|t|runner|t|t|active|Lock|advisory|t|t|t|t|t|t', 'who, when and what');

# who may not read the target sees that it is busy, no more
$node->safe_psql('postgres', q{
	CREATE ROLE outsider LOGIN; CREATE ROLE reader LOGIN; CREATE ROLE watcher LOGIN;
	GRANT pg_monitor TO watcher; GRANT SELECT ON shift TO reader;
	CREATE DATABASE elsewhere});
my %seen = (
	outsider => 'public.shift|auditing|t|t|<insufficient privilege>|',
	reader => 'public.shift|auditing|f|f|<insufficient privilege>|',
	watcher => "public.shift|auditing|f|f|$publish|Lock");
foreach my $role (sort keys %seen)
{
	my ($status, $out) = psql_c($node,
		'SELECT gate, phase, run_id IS NULL, row_count IS NULL, query, wait_event_type FROM dq_gate.activity', user => $role);
	is($out, $seen{$role}, "$role sees what he may");
}
$node->safe_psql('elsewhere', 'CREATE EXTENSION dq_gate');
is($node->safe_psql('elsewhere', 'SELECT count(*) FROM dq_gate.activity'), '0', 'another database does not show it');
release($holder);
$run->finish;

# --- a dry run, and a batch that is rejected

$holder = hold_at('query');
$run = background_c($node, $audit, name => 'runner');
shows($columns, 'public.shift|t|auditing|3|advisory|by the holder', 'a dry run');
release($holder);
$run->finish;
nothing_left('a dry run');

$node->safe_psql('postgres', q{SELECT dq_gate.expect_row_count('shift', min => 10)});
$holder = hold_table('dq_quarantine.shift', 'EXCLUSIVE');
$run = background_c($node, $or_fail, name => 'runner');
shows($columns, 'public.shift|f|quarantining|3|table dq_quarantine.shift|by the holder', 'a batch that is rejected');
release($holder);
$run->finish;
like($run->{err}, qr/23DQ1/, 'and is');
nothing_left('a batch that is rejected');
$node->safe_psql('postgres', q{SELECT dq_gate.drop_check('shift', 'row_count')});

# one whose publish fails is quarantined behind it
$node->safe_psql('postgres', q{
	CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
	CREATE TRIGGER refuse AFTER UPDATE ON shift FOR EACH ROW EXECUTE FUNCTION refuse();
	ALTER TABLE shift DISABLE TRIGGER USER;
	UPDATE shift SET hours = 1;
	ALTER TABLE shift ENABLE TRIGGER refuse});
$holder = hold_table('dq_gate.runs', 'EXCLUSIVE');
$run = background_c($node, $publish, name => 'runner');
shows($columns, 'public.shift|f|logging|3|table dq_gate.runs|by the holder', 'a publish that failed');
release($holder);
$run->finish;
is($run->{out}, 'failed', 'and did');
nothing_left('a publish that failed');
$node->safe_psql('postgres', 'DROP FUNCTION refuse() CASCADE');

# --- several runs in one transaction

my $mine = q{SELECT coalesce(string_agg(concat_ws('|', gate, phase, row_count), ', ' ORDER BY gate), 'nothing') FROM dq_gate.activity WHERE pid = pg_backend_pid();};
my $other = q{SELECT verdict FROM dq_gate.publish('shift_staging', '"S x"."a""b"');};
my $done_shift = 'public.shift|done, not yet committed|3';
my $done_other = '"S x"."a""b"|done, not yet committed|3';
my ($out, $err) = session($node, qq{
	\\set ON_ERROR_STOP 0
	BEGIN;
	$audit; $mine
	$preview; $mine
	$publish; $mine
	$other $mine
	SAVEPOINT here; $publish; $mine
	ROLLBACK TO here; $mine
	COMMIT; $mine
	BEGIN;
	SAVEPOINT here; $publish; $mine
	ROLLBACK TO here; $mine
	$other $mine
	SAVEPOINT here; $publish; RELEASE here; $mine
	SAVEPOINT here; SELECT pg_advisory_lock(hashtext('query')); SET LOCAL statement_timeout = '200ms';
	SELECT dq_gate.publish('nothing', 'shift'); ROLLBACK TO here; $mine
	ROLLBACK; $mine
	SELECT pg_advisory_unlock_all();
});
is($out, join("\n", 'audited', 'nothing', 'previewed', 'nothing', 'published', $done_shift, 'published', "$done_other, $done_shift",
		'published', "$done_other, $done_shift", "$done_other, $done_shift", 'nothing',
		'published', $done_shift, 'nothing', 'published', $done_other, 'published', "$done_other, $done_shift", '',
		"$done_other, $done_shift", 'nothing', ''),
	'two gates in a transaction, and savepoints');

# an error that is caught, with a cancel in the middle of a run
$holder = hold_at('query');
($out, $err) = session($node, qq{
	BEGIN;
	SET LOCAL statement_timeout = '300ms';
	SAVEPOINT here;
	$publish;
	ROLLBACK TO here;
	$mine
	SELECT count(*) FROM pg_locks WHERE locktype = 'object' AND pid = pg_backend_pid();
	DO \$\$
	BEGIN
		PERFORM dq_gate.publish('shift_staging', 'shift');
	EXCEPTION WHEN query_canceled THEN
		RAISE NOTICE 'caught';
	END \$\$;
	$mine
	SELECT count(*) FROM pg_locks WHERE locktype = 'object' AND pid = pg_backend_pid();
	COMMIT});
is($out, "nothing\n0\nnothing\n0", 'a run that was cancelled is gone before its transaction ends');
like($err, qr/57014.*caught/s, 'caught');
release($holder);

# the second gate waits, while the first is done
$holder = hold_at('query');
$run = background_c($node, [ 'BEGIN', $other =~ s/;$//r, $publish, 'ROLLBACK' ], name => 'runner');
shows('gate, phase, row_count', "$done_other, public.shift|auditing|3", 'the first of two gates waits for its commit');
release($holder);
$run->finish;
is($run->{out}, "published\npublished", 'both');
nothing_left('two gates, rolled back');

# --- a run in a run, of another gate and of the same one

$node->safe_psql('postgres', q{
	CREATE TABLE day (id int PRIMARY KEY);
	CREATE TABLE day_staging AS SELECT 1 AS id;
	CREATE FUNCTION cascade() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF pg_trigger_depth() = 1 THEN
			PERFORM dq_gate.publish('day_staging', 'day');
		ELSIF pg_trigger_depth() = 2 THEN
			PERFORM dq_gate.publish('shift_staging', 'shift');
		END IF;
		RETURN NULL;
	END $$;
	CREATE TRIGGER cascade AFTER INSERT ON day FOR EACH STATEMENT EXECUTE FUNCTION cascade()});
$holder = hold_at('scan');
$run = background_c($node, [ 'BEGIN', q{SELECT verdict FROM dq_gate.publish('day_staging', 'day')}, $mine, 'COMMIT' ], name => 'runner');
ok($node->poll_query_until('postgres',
		q{SELECT string_agg(gate || '|' || phase, ', ' ORDER BY gate) FROM dq_gate.activity WHERE application_name = 'runner'},
		'public.day|publishing, public.day|publishing, public.shift|auditing'), 'runs in a run');
release($holder);
$run->finish;
is($run->{out}, "published\npublic.day|done, not yet committed|1, $done_shift", 'each is done once');
nothing_left('runs in a run');

# --- a prepared transaction has no backend, and tells nobody

$node->safe_psql('postgres', q{SELECT dq_gate.alter_gate('shift', alert => 'never')});
$node->safe_psql('postgres', "BEGIN; $publish; PREPARE TRANSACTION 'two';");
is($node->safe_psql('postgres', 'SELECT pid IS NULL, gate, phase, row_count FROM dq_gate.activity'),
	't|public.shift|done, not yet committed|3', 'a prepared transaction');
$node->restart;
is($node->safe_psql('postgres', 'SELECT pid IS NULL, gate, phase, row_count FROM dq_gate.activity'),
	't|public.shift|done, not yet committed|3', 'also after a restart');
$node->safe_psql('postgres', "COMMIT PREPARED 'two'");
nothing_left('a prepared transaction');

# --- a number that takes more than 32 bits

$node->safe_psql('postgres', q{SELECT setval('dq_gate.run_id_seq', 3 * 4294967296 + 7)});
($out) = session($node, "BEGIN; $publish; SELECT run_id FROM dq_gate.activity; ROLLBACK;");
is($out, "published\n12884901896", 'a long run_id');

# --- the lock table does not fill

my $locks = q{SELECT 'locks', count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'object';};
my $loop = q{DO $$ BEGIN FOR i IN 1 .. %d LOOP PERFORM dq_gate.publish('day_staging', 'day'), dq_gate.audit('day_staging', 'day'); END LOOP; END $$;};
$node->safe_psql('postgres', 'DROP TRIGGER cascade ON day');
($out, $err) = session($node, "BEGIN;\n" . sprintf($loop, 1) . $locks . sprintf($loop, 500) . $locks
	. "SELECT dq_gate.publish('day_staging', 'day') IS NULL;\n" x 5 . $locks . 'COMMIT;' . $locks);
my @counts = $out =~ /^locks\|(\d+)$/mg;
is("@counts[1 .. 3]", "$counts[0] $counts[0] 0", 'a thousand runs in a transaction leave what one leaves');
cmp_ok($counts[0], '<', 8, 'which is not much');

log_is_clean($node);
$node->stop;
done_testing();
