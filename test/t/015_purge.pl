# purge commits between its steps, waits for nobody and lets nobody wait, acts
# as the owner of what it deletes, and can be scheduled with pg_cron itself.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($status, $out, $err);
my $node = new_gate_node('purge');

# old runs of a gate, as many as asked for, and a new one, since the last run stays: each with 3 results, the old ones
# with rows in quarantine if there are any to be
my $helpers = q{
	CREATE FUNCTION old_runs(target regclass, runs int, rows int DEFAULT 0, gate text DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		quarantine text := CASE WHEN rows > 0 THEN coalesce(replace(gate, 'public.', 'dq_quarantine.'), (SELECT q.quarantine::text FROM dq_gate.quarantines q WHERE q.target = old_runs.target)) END;
		ids bigint[];
	BEGIN
		INSERT INTO dq_gate.rule_sets VALUES ('rules', '[]') ON CONFLICT DO NOTHING;
		WITH made AS (
			INSERT INTO dq_gate.runs (target, gate, staging, batch_id, batch_time, verdict, passed, published, row_count, quarantined, quarantine, rules_hash, checks_run, checks_failed, called_by, run_as, started_at, duration)
			SELECT target, coalesce(gate, target::text), 's', n, now() - interval '1 year', 'audited', true, false, 10, rows, quarantine, 'rules', 3, 0, 'loader', 'loader', CASE WHEN n > runs THEN now() ELSE now() - interval '1 year' + n * interval '1 second' END, '1 second'
			FROM generate_series(1, runs + 1) n ORDER BY n RETURNING run_id
		) SELECT array_agg(run_id ORDER BY run_id) INTO ids FROM made;
		INSERT INTO dq_gate.results (run_id, check_no, check_name, check_type, columns, action, origin, status, passed)
		SELECT id, no, 'c' || no, 'sql', '{}', 'block', 'declared', 'passed', true FROM unnest(ids) id, generate_series(1, 3) no;
		IF rows > 0 THEN
			EXECUTE format('INSERT INTO %s (run_id, batch_id, quarantined_at, failed_checks, id) SELECT id, ''b'', now() - interval ''1 year'', ''{c1}'', row_number() OVER (ORDER BY id, n) FROM unnest($1) id, generate_series(1, $2) n', quarantine) USING ids[:runs], rows;
		END IF;
	END
	$$;
	-- the log as it has to be at any moment: no run without its results, and the reverse
	CREATE FUNCTION torn() RETURNS bigint LANGUAGE sql AS $$
		SELECT (SELECT count(*) FROM dq_gate.runs r WHERE r.rules_hash = 'rules' AND (SELECT count(*) FROM dq_gate.results s WHERE s.run_id = r.run_id) <> 3)
			+ (SELECT count(*) FROM dq_gate.results s WHERE NOT EXISTS (SELECT FROM dq_gate.runs r WHERE r.run_id = s.run_id))
	$$;
	CREATE ROLE loader LOGIN;
	CREATE ROLE member LOGIN IN ROLE loader;
	CREATE ROLE stranger LOGIN;
	GRANT CREATE ON SCHEMA public TO loader;
};
# a gate with a quarantine
sub gate
{
	my ($n, $name, $settings) = @_;
	$settings //= q{quarantine_retention => '1 day', log_retention => '1 day'};
	$n->safe_psql('postgres', qq{
		SET ROLE loader;
		SET client_min_messages = error;
		CREATE TABLE $name (id int PRIMARY KEY);
		CREATE TABLE ${name}_s (id int);
		INSERT INTO ${name}_s VALUES (1), (-1);
		SELECT dq_gate.create_gate('$name', '${name}_s', $settings), dq_gate.expect_range('$name', 'id', min => 0, action => 'quarantine'), dq_gate.expect_volume('$name', action => 'declare');
		SELECT dq_gate.publish('${name}_s', '$name')});
	return;
}

sub rows_in
{
	my ($name) = @_;
	return $node->safe_psql('postgres', "SELECT count(*) FROM dq_quarantine.$name WHERE quarantined_at < now() - interval '1 day'");
}

sub runs_of
{
	my ($name) = @_;
	return $node->safe_psql('postgres', "SELECT count(*) FROM dq_gate.runs WHERE target = '$name'::regclass AND started_at < now() - interval '1 day'");
}

$node->safe_psql('postgres', $helpers);
gate($node, 'g');

# --- where it can be called, and with what

my $call = 'CALL dq_gate.purge()';
($out, $err) = session($node, "BEGIN;\n$call;\nROLLBACK;\n");
like($err, qr/ERROR:  2D000: dq_gate\.purge must be called alone, outside a transaction block/, 'in a transaction block: refused');
like($err, qr/^DETAIL:  .*Nothing was done\.$/m, 'nothing was done');
($status, $out, $err) = psql_c($node, "$call; $call");
like($err, qr/ERROR:  2D000/, 'in one message with another statement: refused');
($status, $out, $err) = psql_c($node, "DO \$\$ BEGIN $call; END \$\$");
is($status, 0, 'in a DO block: it runs');
like($err, qr/^NOTICE:  00000: 1 gate purged: 0 quarantined rows, 0 runs, 0 results, 0 profiles$/m, 'and says so');
($status, $out, $err) = psql_c($node, $call, options => '-c default_transaction_isolation=serializable');
like($err, qr/ERROR:  0A000: cannot purge in a transaction with isolation level SERIALIZABLE\n(?s:.*)HINT:  SET default_transaction_isolation TO 'read committed'/, 'SERIALIZABLE: refused');
($status, $out, $err) = psql_c($node, $call, options => '-c default_transaction_read_only=on');
like($err, qr/ERROR:  25006: cannot execute dq_gate\.purge in a read-only transaction/, 'read-only: refused');
foreach my $bad (
	[ 'step_rows => 0', '22023', '"step_rows" must be between 1 and 1000000' ],
	[ 'step_rows => NULL', '22023', '"step_rows" must be between 1 and 1000000' ],
	[ q{default_log_retention => '0'}, '22023', '"default_log_retention" must be more than 0' ],
	[ q{default_quarantine_retention => '-1 day'}, '22023', '"default_quarantine_retention" must not be negative' ],
	[ q{default_quarantine_retention => '1001 years'}, '22023', 'at most 1000 years' ],
	[ '4711::regclass', '42P01', 'target table with OID 4711 does not exist' ],
	[ q{'dq_gate.gates'}, '42809', 'dq_gate\.gates cannot be a target table' ])
{
	my ($arguments, $sqlstate, $message) = @$bad;
	($status, $out, $err) = psql_c($node, "CALL dq_gate.purge($arguments)");
	like($err, qr/^ERROR:  $sqlstate: .*$message/m, "purge($arguments): refused");
}
$node->safe_psql('postgres', q{SET ROLE loader; CREATE TABLE plain (id int PRIMARY KEY)});
($status, $out, $err) = psql_c($node, q{CALL dq_gate.purge('plain')}, user => 'loader');
like($err, qr/NOTICE:  00000: gate public\.plain keeps everything\nHINT:  .*quarantine_retention/, 'a table without retention: said');

# --- steps are committed; what a trigger stops in the middle stays done

$node->safe_psql('postgres', q{
	SELECT old_runs('g', 50, 4);
	SET ROLE loader;
	CREATE TABLE fired (id int, fired_as name, memory bigint);
	CREATE FUNCTION on_delete() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF OLD.id = 101 THEN PERFORM pg_advisory_xact_lock(42); END IF;
		INSERT INTO public.fired VALUES (OLD.id, current_user);
		RETURN OLD;
	END $$;
	CREATE TRIGGER on_delete BEFORE DELETE ON dq_quarantine.g FOR EACH ROW EXECUTE FUNCTION on_delete()});
my $blocker = background_c($node, [ 'SELECT pg_advisory_lock(42)', "SELECT pg_sleep(600)" ], name => 'blocker');
$node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted)});
my $purge = background_c($node, q{CALL dq_gate.purge('g', step_rows => 10)}, name => 'purge');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'purge' AND wait_event = 'advisory'}), 'a purge that a trigger stops in the middle');
is(rows_in('g'), 100, 'what it did before is committed, for others to see');
is(runs_of('g'), 50, 'no run has gone before its rows');

# meanwhile nobody waits for it
($status, $out, $err) = psql_c($node, q{SELECT verdict FROM dq_gate.publish('g_s', 'g')}, user => 'loader', options => '-c statement_timeout=20s');
is($out, 'published', 'a run that quarantines rows does not wait for it');
($status, $out, $err) = psql_c($node, q{CALL dq_gate.purge('g', step_rows => 30)}, user => 'loader', options => '-c statement_timeout=20s');
is($status, 0, 'nor does another purge');
is(rows_in('g'), 10, 'which does the rest, and leaves what is in the step of the first one');
is(runs_of('g'), 3, 'and the runs that still have rows');
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'purge'});
$purge->finish;
like($purge->{err}, qr/ERROR:  57014: canceling statement/, 'cancelled');
is(rows_in('g'), 10, 'its last step is undone, and no other');
is($node->safe_psql('postgres', 'SELECT torn()'), 0, 'the log is whole');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'blocker'});
$blocker->finish;
($status, $out, $err) = psql_c($node, q{CALL dq_gate.purge('g')});
like($err, qr/1 gate purged: 10 quarantined rows, 3 runs, 9 results/, 'the next one goes on');
is($node->safe_psql('postgres', q{SELECT count(*), string_agg(DISTINCT fired_as, ',') FROM fired}), '200|loader', 'the trigger fired for each row, as the owner of the table, whoever purged');

# --- locks of others: left for the next time

$node->safe_psql('postgres', q{SELECT old_runs('g', 20, 1)});
my $holder = $node->background_psql('postgres');
my $run = $node->safe_psql('postgres', q{SELECT min(run_id) FROM dq_quarantine.g WHERE quarantined_at < now() - interval '1 day'});
$holder->query_safe(qq{BEGIN; SELECT FROM dq_quarantine.g WHERE run_id = $run FOR UPDATE; SELECT FROM dq_gate.runs WHERE run_id = $run + 1 FOR KEY SHARE; DELETE FROM dq_quarantine.g WHERE run_id = $run + 1});
($status, $out, $err) = psql_c($node, q{CALL dq_gate.purge('g')}, options => '-c statement_timeout=20s');
like($err, qr/1 gate purged: 18 quarantined rows, 18 runs/, 'rows and runs that somebody has locked are left');
is($node->safe_psql('postgres', 'SELECT torn()'), 0, 'with their results');
$holder->query_safe('ROLLBACK; BEGIN; LOCK TABLE dq_quarantine.g IN ACCESS EXCLUSIVE MODE');
($status, $out, $err) = psql_c($node, q{CALL dq_gate.purge('g')}, options => '-c statement_timeout=20s');
like($err, qr/1 gate purged: 0 quarantined rows, 0 runs.*\nDETAIL:  Somebody has locked dq_quarantine\.g, which is left for the next time\./, 'a quarantine that is locked is left as a whole, with its runs');
$holder->query_safe(q{ROLLBACK; SET client_min_messages = error; BEGIN; TRUNCATE g_s; INSERT INTO g_s VALUES (2), (-2); SELECT dq_gate.publish('g_s', 'g')});
($status, $out, $err) = psql_c($node, q{CALL dq_gate.purge('g')}, options => '-c statement_timeout=20s');
like($err, qr/1 gate purged: 2 quarantined rows, 2 runs/, 'a run that is not committed is not waited for');
$holder->query_safe('COMMIT');

# --- rules go when no run has them, and never from under a run

$node->safe_psql('postgres', q{UPDATE dq_gate.runs SET started_at = now() - interval '1 year', attention = false WHERE target = 'g'::regclass; UPDATE dq_quarantine.g SET quarantined_at = now() - interval '1 year'; TRUNCATE g_s; INSERT INTO g_s VALUES (1)});
$holder->query_safe(q{BEGIN; SELECT dq_gate.publish('g_s', 'g')});
my $hash = $holder->query_safe(q{SELECT rules_hash FROM dq_gate.runs WHERE run_id = (SELECT max(run_id) FROM dq_gate.runs)});
$node->safe_psql('postgres', q{SELECT old_runs('g', 1); DELETE FROM dq_gate.runs WHERE rules_hash <> 'rules'});
($status, $out, $err) = psql_c($node, q{CALL dq_gate.purge('g', unacknowledged => true)}, options => '-c statement_timeout=20s');
is($status, 0, 'rules of a run that is not committed are not waited for');
$holder->query_safe('COMMIT');
is($node->safe_psql('postgres', qq{SELECT count(*) FROM dq_gate.runs JOIN dq_gate.rule_sets USING (rules_hash) WHERE rules_hash = '$hash'}), 1, 'and stay with it');
$node->safe_psql('postgres', qq{DELETE FROM dq_gate.runs WHERE rules_hash = '$hash'});
$holder->query_safe(qq{BEGIN; DELETE FROM dq_gate.rule_sets WHERE rules_hash = '$hash'});
my $publish = background_c($node, q{SELECT verdict FROM dq_gate.publish('g_s', 'g')}, name => 'publish');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'publish' AND wait_event_type = 'Lock'}), 'a run whose rules are just being purged waits for that');
$holder->query_safe('COMMIT');
$publish->finish;
is($publish->{out}, 'published', 'and is published');
is($node->safe_psql('postgres', qq{SELECT count(*) FROM dq_gate.runs JOIN dq_gate.rule_sets USING (rules_hash) WHERE rules_hash = '$hash'}), 1, 'with rules of its own');
# between keeping the rules and writing the run
$node->safe_psql('postgres', qq{
	CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN PERFORM pg_advisory_xact_lock(43); RETURN NEW; END \$\$;
	CREATE TRIGGER hold BEFORE INSERT ON dq_gate.runs FOR EACH ROW WHEN (NEW.rules_hash = '$hash') EXECUTE FUNCTION hold();
	DELETE FROM dq_gate.runs WHERE rules_hash = '$hash';
	SELECT old_runs('g', 1)});
$holder->query_safe('SELECT pg_advisory_lock(43)');
$publish = background_c($node, q{SELECT verdict FROM dq_gate.publish('g_s', 'g')}, name => 'publish');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'publish' AND wait_event = 'advisory'}), 'a run that has kept its rules, and is not written');
($status, $out, $err) = psql_c($node, q{CALL dq_gate.purge('g')}, options => '-c statement_timeout=20s');
like($err, qr/ 1 run, 3 results/, 'purge does not wait for it');
$holder->query_safe('SELECT pg_advisory_unlock(43)');
$publish->finish;
is($publish->{out}, 'published', 'nor takes its rules from it') or diag($publish->{err});
$node->safe_psql('postgres', 'DROP TRIGGER hold ON dq_gate.runs');
$holder->quit;

# --- two at once

gate($node, 'twice');
$node->safe_psql('postgres', q{SELECT old_runs('twice', 300, 2)});
my @purges = map { background_c($node, q{CALL dq_gate.purge('twice', step_rows => 3)}) } 1 .. 2;
my %sum;
foreach (@purges)
{
	$_->finish;
	is($_->{exit}, 0, 'two purges at once: neither fails') or diag($_->{err});
	$sum{$2} += $1 while $_->{err} =~ /(\d+) (quarantined row|run|result)s?\b/g;
}
is(rows_in('twice') . ' ' . $node->safe_psql('postgres', 'SELECT torn()'), '0 0', 'the quarantine is purged, and the log whole');
psql_c($node, q{CALL dq_gate.purge('twice')});
is(runs_of('twice'), 0, 'and nothing is left');
is($sum{'quarantined row'}, 600, 'what they have said adds up');

# --- who may, and as whom

gate($node, 'h', q{log_retention => '1 day'});
$node->safe_psql('postgres', q{SELECT old_runs('g', 5, 1), old_runs('h', 5)});
($status, $out, $err) = psql_c($node, q{CALL dq_gate.purge('g')}, user => 'stranger');
like($err, qr/ERROR:  42501: permission denied to purge gate public\.g\nDETAIL:  It runs as role loader, and is purged by members of that role only\./, 'a stranger: refused');
($status, $out, $err) = psql_c($node, q{CALL dq_gate.purge('plain', default_log_retention => '1 day')}, user => 'stranger');
like($err, qr/ERROR:  42501: permission denied to purge gate public\.plain\nDETAIL:  It is purged by the owner of its target\./, 'a table without a gate: its owner');
($status, $out, $err) = psql_c($node, q{CALL dq_gate.purge()}, user => 'stranger');
like($err, qr/0 gates purged.*\nDETAIL:  3 gates that only others may purge are left out\./, 'of all gates he has none, and it says so');
is(runs_of('g') + runs_of('h'), 10, 'nothing has gone');
($status, $out, $err) = psql_c($node, q{CALL dq_gate.purge()}, user => 'member');
like($err, qr/3 gates purged: 5 quarantined rows, 10 runs, 30 results/, 'a member of the role of the gates purges them all');

$node->safe_psql('postgres', q{
	SELECT old_runs('g', 5, 1), old_runs('h', 5);
	SET ROLE loader;
	CREATE OR REPLACE FUNCTION on_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ALTER ROLE loader SUPERUSER; RETURN OLD; END $$});
($status, $out, $err) = psql_c($node, q{CALL dq_gate.purge('g')});
like($err, qr/ERROR:  42501: .*\n(?s:.*)purge of gate public\.g/, 'a trigger that wants more than its owner has: fails');
($status, $out, $err) = psql_c($node, $call);
isnt($status, 0, 'of all gates, one that cannot be purged makes the call fail');
like($err, qr/^ERROR:  42501: 1 gate could not be purged\nDETAIL:  gate public\.g: .*\nHINT:  The others are\.$/m, 'in the end');
like($err, qr/3 gates purged: 0 quarantined rows, 5 runs/, 'and not the others');
$node->safe_psql('postgres', q{SET ROLE loader; CREATE OR REPLACE FUNCTION on_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RESET ROLE; RETURN OLD; END $$});
($status, $out, $err) = psql_c($node, q{CALL dq_gate.purge('g')});
like($err, qr/ERROR:  42501: cannot set parameter "role" within security-/, 'nor does it get at the session');
is($node->safe_psql('postgres', q{SELECT rolsuper FROM pg_roles WHERE rolname = 'loader'}), 'f', 'it got nothing');

$node->safe_psql('postgres', q{SET ROLE loader; CREATE OR REPLACE FUNCTION on_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN CASE WHEN OLD.id > 2 THEN OLD END; END $$});
($status, $out, $err) = psql_c($node, q{CALL dq_gate.purge('g', step_rows => 2)});
like($err, qr/DETAIL:  Triggers have kept rows in dq_quarantine\.g\./, 'a trigger that keeps rows: said');
($status, $out, $err) = psql_c($node, q{CALL dq_gate.purge('g')});
is(rows_in('g') . ' ' . runs_of('g'), '2 2', 'it is not tried forever, and keeps the runs');
$node->safe_psql('postgres', q{DROP TRIGGER on_delete ON dq_quarantine.g});
psql_c($node, q{CALL dq_gate.purge('g')});

# --- what is left of dropped targets

gate($node, 'gone');
$node->safe_psql('postgres', q{SELECT old_runs('gone', 4, 1); SELECT old_runs('gone', 6); DROP TABLE gone});
my $gone = q{SELECT count(*) FROM dq_gate.runs WHERE target IS NULL};
my $kept = $node->safe_psql('postgres', $gone);
psql_c($node, q{CALL dq_gate.purge(default_log_retention => '1 day')}, user => 'loader');
is($node->safe_psql('postgres', $gone), $kept, 'runs of a dropped target are for the owner of the extension');
psql_c($node, $call);
is($node->safe_psql('postgres', $gone), $kept, 'and kept unless it is said for how long');
($status, $out, $err) = psql_c($node, q{CALL dq_gate.purge(default_log_retention => '1 day')});
like($err, qr/ 6 runs, 18 results/, 'then they go');
is($node->safe_psql('postgres', $gone), $kept - 6, 'but not those with rows in the quarantine that is left');
$node->safe_psql('postgres', 'DROP TABLE dq_quarantine.gone');
psql_c($node, q{CALL dq_gate.purge(default_log_retention => '1 day')});
is($node->safe_psql('postgres', $gone), $kept - 10, 'until somebody drops that');

# --- many steps: no growth, and no look at the whole log

$node->safe_psql('postgres', q{
	GRANT pg_read_all_stats TO loader;
	SELECT old_runs('g', 1500, 1);
	TRUNCATE fired;
	SET ROLE loader;
	CREATE OR REPLACE FUNCTION on_delete() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO public.fired SELECT OLD.id, current_user, sum(total_bytes) FROM pg_backend_memory_contexts;
		RETURN OLD;
	END $$;
	CREATE TRIGGER on_delete BEFORE DELETE ON dq_quarantine.g FOR EACH ROW WHEN (OLD.id IN (200, 1400)) EXECUTE FUNCTION on_delete();
	RESET ROLE;
	CREATE FUNCTION on_run() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO public.fired SELECT OLD.batch_id::int + 10000, current_user, sum(total_bytes) FROM pg_backend_memory_contexts;
		RETURN OLD;
	END $$;
	CREATE TRIGGER on_run BEFORE DELETE ON dq_gate.runs FOR EACH ROW WHEN (OLD.batch_id IN ('200', '1400')) EXECUTE FUNCTION on_run();
});
$node->safe_psql('postgres', 'VACUUM ANALYZE');
my $scans = q{SELECT pg_stat_force_next_flush(); SELECT seq_scan FROM pg_stat_all_tables WHERE relid = 'dq_gate.results'::regclass};
my $before = $node->safe_psql('postgres', $scans);
psql_c($node, q{CALL dq_gate.purge('g', step_rows => 1)});
is(runs_of('g'), 0, 'thousands of steps');
my @memory = split /\n/, $node->safe_psql('postgres', 'SELECT memory FROM fired ORDER BY id');
is(scalar(@memory), 4, 'looked at four times');
cmp_ok(abs($memory[1] - $memory[0]), '<', 100_000, 'memory does not grow from step to step, of the quarantine') or diag("@memory");
cmp_ok(abs($memory[3] - $memory[2]), '<', 100_000, 'nor of the log') or diag("@memory");
is($node->safe_psql('postgres', $scans), $before, 'no step reads all results');
$node->safe_psql('postgres', 'DROP TRIGGER on_run ON dq_gate.runs');

# --- scheduled with pg_cron, over a connection and in a background worker

my $cron = $node->safe_psql('postgres', q{SELECT 1 FROM pg_available_extensions WHERE name = 'pg_cron'});
foreach my $mode ($cron ? qw(connection worker) : ())
{
	my $scheduled = new_gate_node("purge_$mode");

	start_pg_cron($scheduled, workers => $mode eq 'worker');
	$scheduled->safe_psql('postgres', $helpers . 'CREATE EXTENSION pg_cron; GRANT USAGE ON SCHEMA cron TO loader;');
	gate($scheduled, 'g');
	$scheduled->safe_psql('postgres', q{SELECT old_runs('g', 20, 2)});
	# from 1.5 on, pg_cron counts seconds; before, a minute has to pass
	my $soon = $scheduled->safe_psql('postgres',
		q{SELECT CASE WHEN split_part(extversion, '-', 1)::numeric >= 1.5 THEN '1 second' ELSE '* * * * *' END FROM pg_extension WHERE extname = 'pg_cron'});
	psql_c($scheduled, qq{SELECT cron.schedule('purge', '$soon', 'CALL dq_gate.purge()')}, user => 'loader');
	my $deadline = time + 75;
	sleep 1 while $scheduled->safe_psql('postgres', q{SELECT count(*) FROM cron.job_run_details WHERE status IN ('failed', 'succeeded')}) < 1 && time < $deadline;
	is($scheduled->safe_psql('postgres', q{SELECT status FROM cron.job_run_details WHERE status IN ('failed', 'succeeded') ORDER BY runid LIMIT 1}), 'succeeded', "pg_cron, $mode: purge succeeds");
	is($scheduled->safe_psql('postgres', q{SELECT (SELECT count(*) FROM dq_gate.runs WHERE started_at < now() - interval '1 day'), (SELECT count(*) FROM dq_quarantine.g WHERE quarantined_at < now() - interval '1 day')}), '0|0', "pg_cron, $mode: and has purged");
	log_is_clean($scheduled);
	$scheduled->stop;
}

log_is_clean($node);
$node->stop;
done_testing();
