# Who listens on the channel dq_gate is told what he ought to look at: when it is
# committed and not before, what the gate wants to be told of, without a value
# of a row, and always in JSON that fits.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use IPC::Run;
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('alerts', extra => [ '--no-locale', '-E', 'UTF8' ]);
my $db = 'postgres';

$node->safe_psql('postgres', q{
	CREATE ROLE outsider LOGIN;
	CREATE SCHEMA "S x";
	CREATE TABLE "S x"."Or""ders" (id int PRIMARY KEY, v int, note text);
	CREATE TABLE staged (id int, v int, note text);
	CREATE TABLE plain (id int PRIMARY KEY, v int, note text);
	SELECT dq_gate.create_gate('"S x"."Or""ders"', owner => 'the "team"', layer => 'silver');
	SELECT dq_gate.expect_volume('"S x"."Or""ders"', action => 'declare');
	SELECT dq_gate.expect_range('"S x"."Or""ders"', 'v', max => 100, action => 'quarantine', owner => 'v-team', severity => 'minor', name => 'large "v"');
	SELECT dq_gate.expect_row_count('"S x"."Or""ders"', max => 4, action => 'skip', name => 'ready');
});
my $target = q{'"S x"."Or""ders"'};

# --- a session that listens, of somebody who may read nothing

my %listener;
my $asked = 0;

sub listen_in
{
	my ($database) = @_;
	%listener = (in => "LISTEN dq_gate;\n", out => '', err => '');
	$listener{run} = IPC::Run::start(
		[ 'psql', '-XAtq', '-h', $node->host, '-p', $node->port, '-U', 'outsider', '-d', $database ],
		'<', \$listener{in}, '>', \$listener{out}, '2>', \$listener{err},
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	$db = $database;
	heard_raw();
	return;
}

END
{
	# psql waits for more to do
	$listener{run}->kill_kill if $listener{run};
}

# What was heard since it was asked last.  A query that begins after a
# notification was sent ends with it.
sub heard_raw
{
	my $end = 'asked ' . ++$asked;
	$listener{out} = '';
	$listener{in} .= "SELECT '$end';\n\\echo $end\n";
	$listener{run}->pump until $listener{out} =~ /^$end\n(.*\n)*$end\n/m;
	die $listener{err} if $listener{err} ne '';
	return $listener{out} =~ /^Asynchronous notification "dq_gate" with payload "(.*)" received from server process with PID \d+\.$/mg;
}

sub heard { return map { decode_json($_) } heard_raw(); }

# The alerts in words, with what is asked for
sub words
{
	my (@fields) = @_;
	return join(' / ', sort map {
		my $alert = $_;
		join(' ', map { ref $alert->{$_} ? '[' . join('; ', @{ $alert->{$_} }) . ']' : $alert->{$_} // 'null' } @fields)
	} heard());
}

sub sql { return $node->safe_psql($db, $_[0]); }

# Stages rows and publishes them; its verdict
sub publish
{
	my ($rows, $into, $more) = @_;
	$into //= $target;
	$more //= '';
	return sql("TRUNCATE staged; INSERT INTO staged VALUES $rows;")
	  . sql("SET client_min_messages = error; SELECT verdict FROM dq_gate.publish('staged', $into$more)");
}

my $good = "(1, 1, 'a')";
my $warned = "(1, 1, 'a'), (2, 1000, 'secret')";
my $bad = "(1, 1, 'a'), (1, 2, 'secret')";

listen_in('postgres');

# --- what is told, and to whom

is(publish($good), 'published', 'a good batch');
is(words('gate'), '', 'is told to nobody');
is(publish($warned, $target, ", batch_id => 'b 2', as_of => '2026-01-05'"), 'published', 'rows in quarantine');
my ($alert) = heard();
my $run = sql('SELECT max(run_id) FROM dq_gate.runs');
is_deeply($alert, {
		event => 'run', gate => '"S x"."Or""ders"', schema => 'S x', table => 'Or"ders', layer => 'silver', run_id => $run,
		batch_id => 'b 2', as_of => '2026-01-05', verdict => 'published', status => 'warned', previous_status => 'good',
		row_count => 2, quarantined => 1, dropped => 0, checks_failed => 1,
		owners => [ 'the "team"', 'v-team' ], severities => ['minor'],
		failures => ['large "v": 1 of 2 rows: v above 100 (quarantine)'], failures_left_out => 0,
		truncated => JSON::PP::false },
	'are told to one who may read nothing: which gate, which run, what failed, and who owns it')
  or diag(explain($alert));
is(publish($bad), 'rejected', 'a rejected batch');
is(words('verdict', 'status', 'previous_status', 'as_of', 'failures', 'owners'),
	'rejected failed warned null [key_unique: id is not unique in the batch: 1 duplicated value in 2 rows, 1 surplus] [the "team"]', 'is told as well');
sql("SELECT dq_gate.audit('staged', $target)");
is(words('gate'), '', 'a dry run is not');
is(publish("(1, 1, 'a'), (2, 1, 'a'), (3, 1, 'a'), (4, 1, 'a'), (5, 1000, 'a')"), 'skipped', 'a run that is skipped');
is(words('gate'), '', 'nor that');
is(publish($bad, "'plain'"), 'rejected', 'a target without a gate');
is(words('gate', 'layer', 'previous_status', 'owners', 'severities'), 'public.plain null null [] []', 'tells failures');
publish($good, "'plain'");
is(words('gate'), '', 'and no more');

# --- when it is committed

sub in_session { return session($node, "SET client_min_messages = error;\n$_[0]", db => $db); }
my $call = "SELECT verdict FROM dq_gate.publish('staged', $target);";

publish($bad);
heard();
is((in_session("BEGIN; $call ROLLBACK;"))[0], 'rejected', 'a run that is rolled back');
is(words('gate'), '', 'was none');
is((in_session("BEGIN; SAVEPOINT s; $call ROLLBACK TO s; COMMIT;"))[0], 'rejected', 'to a savepoint');
is(words('gate'), '', 'neither');
my $holder = background_c($node, [ 'SELECT pg_advisory_lock(1)', 'SELECT pg_sleep(300)' ], name => 'holder');
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'holder' AND wait_event = 'PgSleep'});
my $open = background_c($node, [ 'SET client_min_messages = error', 'BEGIN', $call, 'SELECT pg_advisory_lock(1)', 'COMMIT' ], name => 'open');
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM dq_gate.activity WHERE phase ~ 'done'});
is(words('gate'), '', 'nothing is told before the transaction ends');
sql(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holder'});
$holder->finish;
$open->finish;
is(words('verdict'), 'rejected', 'but then');
is((in_session("BEGIN; $call $call COMMIT;"))[0], "rejected\nrejected", 'two runs in a transaction');
is(words('status', 'previous_status'), 'failed failed / failed failed', 'are two');
my ($status, $out, $err) = psql_c($node, "CALL dq_gate.publish_or_fail('staged', $target)");
like($err, qr/23DQ1/, 'publish_or_fail raises an error');
is(words('verdict', 'failures_left_out'), 'rejected 0', 'and is heard all the same');

# --- what a gate wants to be told of

sub alerts
{
	my ($word) = @_;
	sql("SELECT dq_gate.alter_gate($target, alert => '$word')");
	my @said;
	foreach my $rows ($good, $good, $warned, $warned, $bad, $bad, $warned, $good)
	{
		publish($rows);
		push @said, words('status') || '-';
	}
	return "@said";
}

is(alerts('failure'), '- - warned warned failed failed warned -', 'each that needs attention');
is(alerts('change'), '- - warned - failed - warned good', 'each that is another than the one before');
is(alerts('always'), 'good good warned warned failed failed warned good', 'each');
is(alerts('never'), '- - - - - - - -', 'none');
is(sql("SELECT count(*) > 0 FROM dq_gate.unread WHERE target = ${target}::regclass"), 't', 'which is unread all the same');
is(sql("SELECT dq_gate.alter_gate($target, alert => ''); SELECT alert FROM dq_gate.gates"), qq{"S x"."Or""ders"\nfailure}, 'an empty word is the default');
sql(q{SELECT dq_gate.create_gate('plain', alert => 'change')});
publish($bad, "'plain'");
is(words('status', 'previous_status'), 'failed good', 'a change since a run without a gate');
sql('CREATE TABLE fresh (LIKE plain INCLUDING ALL)');
sql(q{SELECT dq_gate.create_gate('fresh', alert => 'change')});
publish($good, "'fresh'");
is(words('status', 'previous_status'), '', 'the first run of all is no change if it is good');
sql("DROP TABLE fresh; CREATE TABLE fresh (LIKE plain INCLUDING ALL); SELECT dq_gate.create_gate('fresh', alert => 'change')");
publish($bad, "'fresh'");
is(words('status', 'previous_status'), 'failed null', 'but if it fails');
sql("SELECT dq_gate.audit('staged', 'fresh')");
publish($bad, "'fresh'");
is(words('status'), '', 'a dry run in between is no run to compare with');

# --- silence for a while

sub mute { return sql("SELECT dq_gate.mute($target, now() + interval '$_[0]', 'backfill')"); }

publish($bad);
heard();
mute('1 hour');
is(publish($bad), 'rejected', 'a gate that is muted goes on');
is(words('gate'), '', 'and tells nothing');
is(sql('SELECT max(run_id) = (SELECT max(run_id) FROM dq_gate.runs) FROM dq_gate.unread'), 't', 'its run is unread');
is(publish($bad, "'plain'"), 'rejected', 'another gate');
is(words('gate'), '', 'which tells changes');
sql("SELECT dq_gate.alter_gate('plain', alert => 'always')");
publish($bad, "'plain'");
is(words('gate'), 'public.plain', 'is not muted');
is(sql("SELECT dq_gate.unmute($target)"), 't', 'it is ended');
publish($bad);
is(words('gate'), '"S x"."Or""ders"', 'and it tells again');
is(sql("SELECT dq_gate.unmute($target)"), 'f', 'there is none any more');
mute('1 second');
publish($bad);
is(words('gate'), '', 'a short one');
sleep(1.5);
$node->poll_query_until('postgres', 'SELECT bool_and(muted_until < clock_timestamp()) FROM dq_gate.mutes');
publish($bad);
is(words('gate'), '"S x"."Or""ders"', 'ends by itself');

# what changed meanwhile is told afterwards
sql("SELECT dq_gate.alter_gate($target, alert => 'change')");
publish($good);
is(words('status', 'previous_status'), 'good failed', 'good again');
mute('1 hour');
publish($bad);
sql("SELECT dq_gate.unmute($target)");
publish($bad);
is(words('status', 'previous_status'), 'failed good', 'a failure that began while it was muted is told when that is over');
mute('1 hour');
publish($good);
publish($bad);
sql("SELECT dq_gate.unmute($target)");
publish($bad);
is(words('status'), '', 'one that was told before is not told again');
mute('1 hour');
mute('2 hours');
is(sql("SELECT count(*), count(*) FILTER (WHERE muted_until > clock_timestamp()), count(*) FILTER (WHERE ended_by = current_user) FROM dq_gate.mutes WHERE target = ${target}::regclass AND reason = 'backfill'"),
	'6|1|4', 'a mute takes the place of the one before, and all are kept');
sql("SELECT dq_gate.unmute($target); SELECT dq_gate.alter_gate($target, alert => 'failure')");

# --- no value of a row

sql(q{
	CREATE TABLE secret (id int PRIMARY KEY, v int, note text, day date);
	CREATE TABLE secret_staged (id int, v int, note text, day date);
	INSERT INTO secret_staged VALUES (77001, 77002, 'sec-77003-ret', '7704-01-01'), (77005, 77006, 'sec-77007-ret', '1877-07-07');
	CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no % here', NEW.note; END $$;
	CREATE TRIGGER refuse BEFORE INSERT ON secret FOR EACH ROW EXECUTE FUNCTION refuse();
	SELECT dq_gate.create_gate('secret');
	SELECT dq_gate.expect_aggregate('secret', 'aggregate', 'max(v)', max => 5, action => 'warn');
	SELECT dq_gate.expect_aggregate('secret', 'broken_aggregate', 'min(note::int)', max => 5, action => 'warn');
	SELECT dq_gate.expect_sql('secret', 'broken', 'note::int > 0', action => 'warn');
	SELECT dq_gate.expect_accepted_values('secret', 'note', '{a,b}', name => 'values', action => 'warn');
	SELECT dq_gate.expect_range('secret', 'v', max => 5, name => 'range', action => 'warn');
	SELECT dq_gate.expect_not_future('secret', 'day', name => 'future', action => 'warn');
	SELECT dq_gate.expect_distinct('secret', '{note}', max => 1, name => 'distinct', action => 'warn');
	SELECT dq_gate.expect_query('secret', 'query', 'SELECT * FROM public.secret_staged', action => 'warn')});
$out = sql("SET client_min_messages = error; SELECT verdict, failures FROM dq_gate.publish('secret_staged', 'secret')");
like($out, qr/^failed.*770/s, 'a run whose log has values of rows');
my ($said) = heard_raw();
unlike($said, qr/77|sec-|-ret/, 'the alert has none');
is(join("\n", sort @{ decode_json($said)->{failures} }), join("\n",
		'aggregate: max(v) not at most 5 (warn)',
		'broken: could not be evaluated (warn)',
		'broken_aggregate: could not be evaluated (warn)',
		'distinct: number of distinct note not at most 1: 2 in 2 rows (warn)',
		'future: 1 of 2 rows: day in the future (warn)',
		'publish: SQLSTATE P0001',
		'query: 2 rows: found by the query (warn)',
		'range: 2 of 2 rows: v above 5 (warn)',
		'values: 2 of 2 rows: note not in (\'a\', \'b\') (warn)'), 'but what failed, by which rule, and how many rows');
is(decode_json($said)->{failures}[0], 'publish: SQLSTATE P0001', 'first what kept the batch out');

# --- always JSON that fits

sub long_names
{
	my ($letter, $database) = @_;
	sql(qq{
		CREATE TABLE wide (id int PRIMARY KEY, v int, note text);
		SELECT dq_gate.create_gate('wide', owner => repeat('$letter', 3000), layer => repeat('$letter"\\', 1000));
		SELECT dq_gate.expect_sql('wide', repeat('$letter', 100 + n % 7) || n, 'v < ' || n, action => CASE WHEN n < 100 THEN 'warn' ELSE 'block' END,
			owner => n || repeat('$letter', 50), severity => n || repeat(E'\\n\\x01', 300)) FROM generate_series(1, 100) n});
	is(publish("(1, 1000, 'a')", "'wide'", ", batch_id => repeat(E'$letter\\x02', 2000)"), 'rejected', "$database: 100 checks with long names fail");
	my ($long) = heard_raw();
	my $size = length($long);
	cmp_ok($size, '>', 7000, "$database: the room is used");
	cmp_ok($size, '<', 8000, "$database: and is enough");
	(my $literal = $long) =~ s/'/''/g;
	is($node->safe_psql($db, "SELECT concat_ws('|', a ->> 'gate', a ->> 'truncated', jsonb_array_length(a -> 'failures') + (a ->> 'failures_left_out')::int, (a ->> 'checks_failed'), left(a #>> '{failures,0}', 12) ~ '^($letter)+\$', a #>> '{failures,0}' ~ '100: 1 of 1 row: not satisfied: \\(?v < 100')
		FROM (SELECT '$literal'::jsonb) a (a)"), 'public.wide|true|100|100|t|t', "$database: the server reads it, what blocked comes first, and it says how many are left out");
	return;
}

long_names("\xe2\x82\xac", 'UTF8');
long_names_in($_->[0], $_->[1]) foreach ([ 'EUC_JP', "\xb4\xc1" ], [ 'LATIN1', "\xe9" ], [ 'SQL_ASCII', "\xe2\x82\xac" ]);

sub long_names_in
{
	my ($encoding, $letter) = @_;
	$listener{run}->kill_kill;
	$node->safe_psql('postgres', "CREATE DATABASE in_$encoding TEMPLATE template0 ENCODING '$encoding' LOCALE 'C'");
	$node->safe_psql("in_\L$encoding", 'CREATE EXTENSION dq_gate; CREATE TABLE staged (id int, v int, note text)');
	local $ENV{PGCLIENTENCODING} = $encoding;
	listen_in("in_\L$encoding");
	long_names($letter, $encoding);
	return;
}
$listener{run}->kill_kill;
listen_in('postgres');

# --- transactions that are to be prepared

publish($bad);
heard();
($out, $err) = in_session("BEGIN; $call PREPARE TRANSACTION 'p';");
like($err, qr/0A000: cannot PREPARE a transaction that has executed LISTEN, UNLISTEN,? or NOTIFY/, 'one that tells something cannot be prepared');
is(words('gate'), '', 'and is rolled back');
sql("SELECT dq_gate.alter_gate($target, alert => 'never')");
($out, $err) = in_session("BEGIN; $call PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p';");
is("$out$err", 'rejected', 'unless its gate never does');
sql("SELECT dq_gate.alter_gate($target, alert => 'failure')");
publish($good);
($out, $err) = in_session("BEGIN; $call PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p';");
is("$out$err", 'published', 'or has nothing to tell');

# --- what did not arrive

sql(q{SELECT dq_gate.alter_gate('plain', expected_every => '1 hour', owner => 'plain people', alert => 'change')});
sql(qq{SELECT dq_gate.alter_gate($target, expected_every => '1 hour')});
is(sql('SELECT dq_gate.alert_overdue()'), '0', 'nothing is late');
is(words('gate'), '', 'nothing is told');
is(sql(q{SELECT dq_gate.alert_overdue(now() + interval '1 day')}), '2', 'tomorrow');
is(words('event', 'gate', 'schema', 'table', 'owners', 'source', 'expected_every'),
	'overdue "S x"."Or""ders" S x Or"ders [the "team"] declared 01:00:00 / overdue public.plain public plain [plain people] declared 01:00:00', 'two gates are late');
mute('1 hour');
is(sql(q{SELECT dq_gate.alert_overdue(now() + interval '1 day')}), '1', 'one of them is muted');
is(words('gate'), 'public.plain', 'the other one is told');
sql(q{SELECT dq_gate.alter_gate('plain', alert => 'never')});
is(sql(q{SELECT dq_gate.alert_overdue(now() + interval '1 day')}), '0', 'the other one never tells anything');
sql(qq{SELECT dq_gate.unmute($target); SELECT dq_gate.alter_gate('plain', alert => 'always')});
is((session($node, q{SELECT dq_gate.alert_overdue(now() + interval '1 day');}, user => 'outsider'))[0], '0', 'who may read no target tells nothing of it');
is(words('gate'), '', 'to nobody');

# --- a dump has all of it

sql('SELECT dq_gate.acknowledge(max(run_id), $$it\'s "known"$$) FROM dq_gate.unread');
mute('1 hour');
my $kept = q{SELECT 'ack', * FROM dq_gate.acknowledgements; SELECT 'mute', * FROM dq_gate.mutes ORDER BY target::text, muted_at;
	SELECT 'unread', run_id, owners FROM dq_gate.unread; SELECT alert FROM dq_gate.gates ORDER BY target::text};
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ], 'a dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f', $dump, $node->connstr('restored') ], 'restored');
is($node->safe_psql('restored', $kept), sql($kept), 'has acknowledgements, mutes, and what is unread');
like(sql($kept), qr/^ack\|.*known.*^mute\|.*^unread\|/ms, 'of which there are some');

$listener{run}->kill_kill;
log_is_clean($node);
$node->stop;
done_testing();
