# schedule has pg_cron itself publish, as the role that scheduled, over a
# connection and in a background worker: a rejected batch makes the job failed,
# with the reason, and its evidence is kept.  Ticks that come while a run is at
# work do not pile up (case O26).
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($status, $out, $err);
my %node = map { $_ => new_gate_node("pg_cron_$_") } qw(connection worker);
my $first = $node{connection};

plan skip_all => 'pg_cron is not installed'
  if !$first->safe_psql('postgres', q{SELECT 1 FROM pg_available_extensions WHERE name = 'pg_cron'});

my $schema = q{
	CREATE ROLE loader LOGIN;
	CREATE ROLE other LOGIN;
	CREATE ROLE nobody_logs_in;
	GRANT CREATE ON DATABASE postgres TO loader;
	SET ROLE loader;
	CREATE SCHEMA "S x";
	CREATE TABLE "S x"."it's bad" (id int PRIMARY KEY, amount int);
	CREATE TABLE "S x"."it's bad, staged" (id int, amount int);
	CREATE TABLE "S x".good (id int PRIMARY KEY);
	CREATE TABLE "S x".good_staging (id int);
	CREATE TABLE "S x".no_gate (id int PRIMARY KEY);
	CREATE VIEW "S x".a_view AS SELECT 1 AS id;
	SELECT dq_gate.create_gate('"S x"."it''s bad"', '"S x"."it''s bad, staged"');
	SELECT dq_gate.expect_range('"S x"."it''s bad"', 'amount', min => 0);
	SELECT dq_gate.create_gate('"S x".good', '"S x".good_staging');
	GRANT USAGE ON SCHEMA "S x" TO other, nobody_logs_in;
	GRANT SELECT ON ALL TABLES IN SCHEMA "S x" TO other, nobody_logs_in;
	INSERT INTO "S x"."it's bad, staged" VALUES (1, 1), (2, -1);
	INSERT INTO "S x".good_staging VALUES (1), (2), (3);
};
my $bad = q{'"S x"."it''s bad"'};
my $good = q{'"S x".good'};
my $all_day = q{'* * * * *'};

$_->safe_psql('postgres', $schema) foreach values %node;

sub refused
{
	my ($user, $call, $sqlstate, $message, $name) = @_;
	($status, $out, $err) = psql_c($first, "SELECT dq_gate.$call", user => $user);
	like($err, qr/^ERROR:  $sqlstate: $message/m, "$name: refused");
	return;
}

# --- without pg_cron; a schema that somebody named like its own is not it

refused('loader', "schedule($good, $all_day)", '42704', 'extension pg_cron is not installed in database "postgres"', 'no pg_cron');
like($err, qr/^HINT: .*shared_preload_libraries.*cron\.database_name.*CREATE EXTENSION pg_cron/m, 'no pg_cron: with the way out');
like($err, qr/CALL dq_gate\.publish_or_fail\('"S x"\.good_staging', '"S x"\.good', tick => '1 minute'\)/, 'no pg_cron: and the command for another database');
refused('loader', "unschedule($good)", '42704', 'extension pg_cron is not installed', 'no pg_cron, unschedule');
like($err, qr/If pg_cron is in another database, end the job there\./, 'no pg_cron, unschedule: with the way out');
$first->safe_psql('postgres', q{
	SET ROLE loader;
	CREATE SCHEMA cron;
	CREATE FUNCTION cron.schedule(text, text, text) RETURNS int8 LANGUAGE sql AS 'SELECT 1::int8'});
refused('loader', "schedule($good, $all_day)", '42704', 'extension pg_cron is not installed', 'a planted schema');
$first->safe_psql('postgres', 'DROP SCHEMA cron CASCADE');

# --- with it

foreach my $name (sort keys %node)
{
	my $node = $node{$name};
	start_pg_cron($node, workers => $name eq 'worker');
	$node->safe_psql('postgres', 'CREATE EXTENSION pg_cron');
}
refused('loader', "schedule($good, $all_day)", '42501', 'permission denied for schema cron of pg_cron', 'no right');
like($err, qr/^HINT:  GRANT USAGE ON SCHEMA cron TO loader\./m, 'no right: with the way out');
$_->safe_psql('postgres', 'GRANT USAGE ON SCHEMA cron TO loader, other, nobody_logs_in') foreach values %node;

refused('loader', "schedule(NULL, $all_day)", '22004', 'argument "target" must not be NULL', 'NULL target');
refused('loader', "schedule($good, NULL)", '22004', 'argument "schedule" must not be NULL', 'NULL schedule');
refused('loader', "schedule($good, 'every day')", '22023', 'gate "S x"\.good: .*every day', 'a bad schedule');
like($err, qr/^HINT:  \S/m, 'a bad schedule: with the way out');
refused('loader', qq{schedule('"S x".no_gate', $all_day)}, '55000', 'gate "S x"\.no_gate: no staging table is known', 'no staging');
refused('loader', qq{schedule('"S x".a_view', $all_day, $good)}, '42809', '"S x"\.a_view is not an ordinary', 'a view');
refused('loader', "schedule($good, $all_day, $good)", '22023', 'staging and target are the same table', 'the same table');
refused('loader', "schedule(4711::regclass, $all_day, $good)", '42P01', 'table with OID 4711 does not exist', 'a dropped table');
refused('loader', "schedule($good, $all_day, job_name => repeat('x', 64))", '42622', 'gate "S x"\.good: the name of a job', 'a long name');
refused('other', "schedule($good, $all_day)", '42501', 'gate "S x"\.good: must be able to SET ROLE "loader"', 'not his gate');
($status, $out, $err) = psql_c($first, [ 'SET ROLE nobody_logs_in', qq{SELECT dq_gate.schedule('"S x".no_gate', $all_day, '"S x".good_staging')} ]);
like($err, qr/ERROR:  0P000: gate "S x"\.no_gate: role "nobody_logs_in" cannot log in/, 'NOLOGIN: refused');
($status, $out, $err) = psql_c($first, [ 'CREATE TEMP TABLE t (id int)', "SELECT dq_gate.schedule($good, $all_day, 't')" ], user => 'loader');
like($err, qr/ERROR:  42809: t is a temporary table/, 'a temporary table: refused');
is($first->safe_psql('postgres', 'SELECT count(*) FROM cron.job'), '0', 'what is refused leaves no job');

# from 1.5 on, pg_cron counts seconds; before, a minute has to pass
my $soon = $first->safe_psql('postgres',
	q{SELECT split_part(extversion, '-', 1)::numeric >= 1.5 FROM pg_extension WHERE extname = 'pg_cron'}) eq 't'
  ? q{'1 second'} : $all_day;
my $tick = $soon eq $all_day ? q{'1 minute'} : $soon;
my %jobs;
foreach my $name (sort keys %node)
{
	($status, $out, $err) = psql_c($node{$name},
		[ "SELECT dq_gate.schedule($bad, '0 0 1 1 *')", "SELECT dq_gate.schedule($bad, $soon)", "SELECT dq_gate.schedule($good, $soon, job_name => 'nightly')" ],
		user => 'loader');
	my @ids = split /\n/, $out;
	is($err, '', "$name: scheduled");
	is($ids[1], $ids[0], "$name: scheduled again, it is the same job");
	is($node{$name}->safe_psql('postgres', 'SELECT jobname, command, username FROM cron.job ORDER BY jobid'),
		qq{dq_gate "S x"."it's bad"|CALL dq_gate.publish_or_fail('"S x"."it''s bad, staged"', '"S x"."it''s bad"', tick => $tick)|loader\n}
		. qq{nightly|CALL dq_gate.publish_or_fail('"S x".good_staging', '"S x".good', tick => $tick)|loader},
		"$name: the jobs");
	$jobs{$name} = \@ids;
}
refused('loader', "schedule($bad, $all_day, job_name => 'nightly')", '42710',
	'gate "S x"\."it\'s bad": role "loader" has another job named "nightly"', 'a name that is taken');

my $deadline = time + 75;
foreach my $name (sort keys %node)
{
	my $node = $node{$name};
	my $done = q{SELECT count(DISTINCT jobid) FROM cron.job_run_details WHERE status IN ('failed', 'succeeded')};

	sleep 1 while $node->safe_psql('postgres', $done) < 2 && time < $deadline;
	my ($rejected, $published) = map {
		$node->safe_psql('postgres', "SELECT status, username, replace(return_message, E'\\n', ' ')
			FROM cron.job_run_details WHERE jobid = $_ AND status IN ('failed', 'succeeded') ORDER BY runid LIMIT 1")
	} @{ $jobs{$name} }[ 1, 2 ];
	like($rejected, qr/^failed\|loader\|.*gate "S x"\."it's bad": batch .* rejected: amount_range: 1 of 2 rows/,
		"$name: a rejected batch makes the job fail, with the reason");
	like($published, qr/^succeeded\|loader\|/, "$name: a good batch makes it succeed");

	($status, $out, $err) = psql_c($node, [ "SELECT dq_gate.unschedule($bad)", "SELECT dq_gate.unschedule($good, 'nightly')" ], user => 'loader');
	is($out, "t\nt", "$name: unscheduled");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM cron.job'), '0', "$name: the jobs are gone");
	is($node->safe_psql('postgres', q{SELECT verdict, called_by, quarantined, published FROM dq_gate.runs WHERE gate = '"S x"."it''s bad"' ORDER BY run_id LIMIT 1}),
		'rejected|loader|2|f', "$name: the rejected run is kept");
	is($node->safe_psql('postgres', q{SELECT q.id, q.failed_checks FROM dq_quarantine."it's bad" q
			WHERE run_id = (SELECT min(run_id) FROM dq_gate.runs WHERE verdict = 'rejected') ORDER BY 1}),
		"1|{}\n2|{amount_range}", "$name: so are its rows, with their reasons");
	is($node->safe_psql('postgres', q{SELECT (SELECT count(*) FROM "S x"."it's bad"), (SELECT count(*) FROM "S x".good)}),
		'0|3', "$name: only the good batch is published");
}

# --- a schedule that is faster than its job, and a check that needs a date

foreach my $name (sort keys %node)
{
	my $node = $node{$name};

	psql_c($node, [ q{
		SET search_path = "S x";
		CREATE TABLE slow (id int PRIMARY KEY);
		CREATE TABLE slow_staging (id int);
		INSERT INTO slow_staging VALUES (1);
		SELECT dq_gate.create_gate('slow', 'slow_staging');
		SELECT dq_gate.expect_query('slow', 'a_while', 'SELECT 1 FROM (SELECT pg_sleep(2.5) IS NULL AS n OFFSET 0) AS s WHERE n');
		SELECT dq_gate.expect_ready('slow', 'dq_gate.as_of() = current_date - 1');},
		qq{SELECT dq_gate.schedule('"S x".slow', $soon, days_ago => 1)}], user => 'loader');
	is($node->safe_psql('postgres', 'SELECT command FROM cron.job'),
		qq{CALL dq_gate.publish_or_fail('"S x".slow_staging', '"S x".slow', as_of => CURRENT_DATE - (1), tick => $tick)}, "$name: the batch of the day before");
}
if ($soon ne $all_day)
{
	my $of_slow = q{FROM dq_gate.runs WHERE gate = '"S x".slow'};

	foreach my $node (values %node)
	{
		$node->poll_query_until('postgres', "SELECT count(*) >= 3 $of_slow AND verdict = 'published'");
		psql_c($node, q{SELECT dq_gate.unschedule('"S x".slow')}, user => 'loader');
		$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE query ~ 'publish_or_fail' AND state = 'active' AND pid <> pg_backend_pid()});
	}
	my %before = map { $_ => $node{$_}->safe_psql('postgres', "SELECT count(*) $of_slow") } keys %node;
	sleep 3;
	foreach my $name (sort keys %node)
	{
		my $node = $node{$name};

		is($node->safe_psql('postgres', "SELECT count(*) $of_slow"), $before{$name}, "$name: nothing more starts once it is unscheduled");
		is($node->safe_psql('postgres', "SELECT count(*) FROM (SELECT started_at < lag(started_at + duration) OVER (ORDER BY run_id) AS meets $of_slow AND verdict = 'published') AS r WHERE meets"),
			'0', "$name: one run at a time");
		is($node->safe_psql('postgres', "SELECT string_agg(DISTINCT verdict, ', ' ORDER BY verdict), bool_and(as_of = (started_at AT TIME ZONE 'UTC')::date - 1) $of_slow"),
			'published, skipped|t', "$name: ticks that were put off are recorded as skipped");
		is($node->safe_psql('postgres', "SELECT count(*) $of_slow AND verdict = 'skipped' AND failures[1] !~ '^tick: run [0-9]+ had not ended when this one was due [(]skip[)]\$'"),
			'0', "$name: with the reason");
	}
}
else
{
	psql_c($_, q{SELECT dq_gate.unschedule('"S x".slow')}, user => 'loader') foreach values %node;
}

# --- unschedule ends what schedule made for this role, and nothing else

refused('loader', "unschedule($bad)", '42704', 'gate "S x"\."it\'s bad": role "loader" has no job named "dq_gate ""?S x', 'no such job');
refused('loader', 'unschedule(NULL)', '22004', 'argument "target" must not be NULL', 'unschedule NULL');
psql_c($first, [ "SELECT dq_gate.schedule($bad, '0 0 1 1 *')", q{SELECT cron.schedule('tidy', '0 0 1 1 *', 'VACUUM')} ], user => 'loader');
refused('other', "unschedule($bad)", '42704', 'gate .*: role "other" has no job', 'the job of another role');
refused('loader', "unschedule($bad, 'tidy')", '42704', 'gate .*: role "loader" has no job named "tidy" that publishes', 'a job for something else');
is($first->safe_psql('postgres', 'SELECT count(*) FROM cron.job'), '2', 'what is refused ends no job');
my $long = 'n' x 60;
psql_c($first, qq{CREATE TABLE "S x".$long (id int PRIMARY KEY)}, user => 'loader');
my @calls = (qq{schedule('"S x".$long', '0 0 1 1 *', '"S x".good_staging') > 0}, qq{unschedule('"S x".$long')});
($status, $out, $err) = psql_c($first, [ map { "SELECT dq_gate.$_" } @calls ], user => 'loader');
is("$out$err", "t\nt", 'a table with a long name');

# --- an operator of the gate schedules it, on the staging table of the gate

psql_c($first, "SELECT dq_gate.grant_operator($good, 'other')", user => 'loader');
refused('other', qq{schedule($good, '0 0 1 1 *', '"S x"."it''s bad, staged"')}, '42501', 'gate "S x"\.good: must be able to SET ROLE "loader"',
	'an operator, another staging table');
like($err, qr/^HINT:  The job would run as "other", which has to be a member of that role, or an operator of the gate on its own staging table\.$/m,
	'an operator: with the way out');
($status, $out, $err) = psql_c($first, [ "SELECT dq_gate.schedule($good, '0 0 1 1 *') > 0", "SELECT dq_gate.unschedule($good)" ], user => 'other');
is("$out$err", "t\nt", 'an operator may schedule and unschedule');
psql_c($first, "SELECT dq_gate.revoke_operator($good, 'other')", user => 'loader');
refused('other', "schedule($good, '0 0 1 1 *')", '42501', 'gate "S x"\.good: must be able to SET ROLE "loader"', 'an operator no more');

foreach my $node (values %node)
{
	log_is_clean($node);
	$node->stop;
}
done_testing();
