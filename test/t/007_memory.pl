# A session that publishes for a long time does not grow, whatever becomes of
# the batches, in many transactions or in one (case O34).
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('memory');

$node->safe_psql('postgres', q{
	CREATE TABLE parent (id int PRIMARY KEY);
	INSERT INTO parent SELECT generate_series(1, 10);
	CREATE TABLE tick (id int PRIMARY KEY, v int CHECK (v > 0), code varchar(3) UNIQUE, parent int REFERENCES parent, amount numeric);
	CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
	CREATE TRIGGER refuse BEFORE INSERT ON tick FOR EACH ROW WHEN (NEW.id = 1000) EXECUTE FUNCTION refuse();
	CREATE FUNCTION fragile(int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RETURN 1 / ($1 - 2000) < 9; END $$;
	SELECT dq_gate.create_gate('tick');
	SELECT dq_gate.expect_volume('tick', action => 'declare');
	SELECT dq_gate.expect_range('tick', 'amount', max => 100, action => 'quarantine');
	SELECT dq_gate.expect_sql('tick', 'fragile', 'fragile(id)');

	CREATE TABLE good (id int, v int, code text, parent int, amount numeric);
	CREATE TABLE parted (LIKE good);
	CREATE TABLE bad (LIKE good);
	CREATE TABLE refused (LIKE good);
	CREATE TABLE broken (LIKE good);
	INSERT INTO good SELECT g, g, g, g, g FROM generate_series(1, 5) g;
	INSERT INTO parted SELECT g, g, g, g, g * 30 FROM generate_series(1, 5) g;
	INSERT INTO bad SELECT g / 2, -g, 'too long', 20 + g, g FROM generate_series(1, 5) g;
	INSERT INTO refused VALUES (1000, 1, 'a', 1, 1);
	INSERT INTO broken VALUES (2000, 1, 'a', 1, 1);
});

my %expected = (good => 'published', parted => 'published', bad => 'rejected', refused => 'failed', broken => 'rejected');
my $contexts = q{SELECT 'bytes', sum(total_bytes) FROM pg_backend_memory_contexts;};
my $largest = q{SELECT 'in', name, count(*), sum(total_bytes) FROM pg_backend_memory_contexts GROUP BY name ORDER BY 4 DESC LIMIT 5;};

# --- one transaction a publish

my $rounds = 150;
my $round = join('', map { "SELECT verdict FROM dq_gate.publish('$_', 'tick');\n" } sort keys %expected)
  . "CALL dq_gate.publish_or_fail('good', 'tick');\nCALL dq_gate.publish_or_fail('bad', 'tick');\n"
  . "SELECT verdict FROM dq_gate.audit('bad', 'tick');\n";
my ($out, $err) = session($node, "SET client_min_messages = error;\n"
	. $round x 10 . $contexts . $round x $rounds . $contexts . $largest);
my @verdicts = $out =~ /^(published|rejected|failed|audited)$/mg;
is(scalar(@verdicts), 6 * ($rounds + 10), 'every run answered');
is(join(',', @verdicts[ -6 .. -1 ]), 'rejected,rejected,published,published,failed,audited', 'as it should');
is((() = $err =~ /ERROR:  23DQ1/g), $rounds + 10, 'every failing call failed');
my ($before, $after) = $out =~ /^bytes\|(\d+)$/mg;
cmp_ok($after - $before, '<', 100_000, 'many transactions: ' . 8 * $rounds . ' runs later the memory of the session is what it was')
  or diag("$before, then $after\n", join("\n", grep { /^in/ } split /\n/, $out));

# --- many publishes in one transaction

my $loop = q{
	DO $$
	BEGIN
		FOR i IN 1 .. %d LOOP
			PERFORM dq_gate.publish('good', 'tick');
			PERFORM dq_gate.publish('parted', 'tick');
			PERFORM dq_gate.publish('bad', 'tick');
			PERFORM dq_gate.publish('refused', 'tick');
			PERFORM dq_gate.publish('broken', 'tick');
		END LOOP;
	END $$;};
($out, $err) = session($node, "SET client_min_messages = error;\nBEGIN;"
	. sprintf($loop, 20) . $contexts . sprintf($loop, 200) . $contexts . $largest . 'COMMIT;' . $contexts);
is($err, '', 'one transaction: no error');
($before, $after, my $end) = $out =~ /^bytes\|(\d+)$/mg;
# subtransactions and locks are remembered until the end, a few bytes each, and so is what is told of 800 runs
cmp_ok($after - $before, '<', 1000 * 2048, 'one transaction: 1000 runs take less than two kilobytes each')
  or diag("$before, then $after\n", join("\n", grep { /^in/ } split /\n/, $out));
cmp_ok($end, '<', $before + 500_000, 'one transaction: given back at its end');

# --- many requeues of one run

$node->safe_psql('postgres', 'CREATE TABLE again (LIKE bad)');
$loop = q{
	DO $$
	DECLARE
		run bigint := (SELECT max(run_id) FROM dq_gate.runs WHERE staging = 'public.bad' AND quarantined > 0);
	BEGIN
		FOR i IN 1 .. %d LOOP
			DELETE FROM again;
			UPDATE dq_quarantine.tick SET requeued_at = NULL WHERE run_id = run;
			PERFORM dq_gate.requeue(run, 'again');
		END LOOP;
		ASSERT (SELECT count(*) FROM again) = 5;
	END $$;};
($out, $err) = session($node, "SET client_min_messages = error;\n" . sprintf($loop, 20) . $contexts . sprintf($loop, 500) . $contexts . $largest);
is($err, '', 'requeues: no error');
($before, $after) = $out =~ /^bytes\|(\d+)$/mg;
cmp_ok($after - $before, '<', 100_000, 'requeues: 500 of them later the memory of the session is what it was')
  or diag("$before, then $after\n", join("\n", grep { /^in/ } split /\n/, $out));

log_is_clean($node);
$node->stop;
done_testing();
