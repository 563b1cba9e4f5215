# publish_or_fail commits the evidence of a batch that does not get through and
# then fails (cases O25, O27): exit status, SQLSTATE, message, and what a new
# session sees; contexts in which it cannot commit are refused before any work.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('publish_or_fail');
my ($status, $out, $err);

$node->safe_psql('postgres', q{
	CREATE TABLE payment (id int PRIMARY KEY, amount int);
	CREATE TABLE payment_staging (id int, amount int);
	SELECT dq_gate.create_gate('payment', 'payment_staging', owner => 'billing');
	SELECT dq_gate.expect_range('payment', 'amount', min => 0);

	CREATE FUNCTION state(OUT runs int8, OUT last_run int8, OUT target int8, OUT staging int8)
	LANGUAGE sql AS $$
		SELECT (SELECT count(*) FROM dq_gate.runs), (SELECT last_value FROM dq_gate.run_id_seq),
			(SELECT count(*) FROM payment), (SELECT count(*) FROM payment_staging)
	$$;
});
my $call = "CALL dq_gate.publish_or_fail('payment_staging', 'payment', 'monday')";

sub load
{
	my ($rows) = @_;
	$node->safe_psql('postgres',
		"TRUNCATE payment_staging; INSERT INTO payment_staging VALUES $rows");
	return;
}

sub last_run
{
	my ($columns) = @_;
	return $node->safe_psql('postgres',
		"SELECT $columns FROM dq_gate.runs ORDER BY run_id DESC LIMIT 1");
}

# --- the function tells by its verdict and a warning, and the evidence stays

load('(1, -1), (2, 2)');
($status, $out, $err) = psql_c($node,
	"SELECT run_id, verdict, published FROM dq_gate.publish('payment_staging', 'payment', 'sunday')");
my ($run_id) = $out =~ /^(\d+)\|rejected\|f$/;
is($status, 0, 'publish: a rejected batch is no error');
ok($run_id, 'publish: the verdict is in the answer');
like($err, qr/WARNING:.*gate public\.payment: batch "sunday" rejected \(run $run_id\): amount_range/,
	'publish: the warning names gate, batch, run and check');
is(last_run('verdict, passed, published, row_count, inserted, quarantined'),
	'rejected|f|f|2|0|2', 'publish: a new session sees the run');
is( $node->safe_psql('postgres',
		"SELECT status, passed, examined_rows, failing_rows FROM dq_gate.results_of($run_id) WHERE check_name = 'amount_range'"),
	'failed|f|2|1', 'publish: a new session sees what the check found');
is( $node->safe_psql('postgres',
		'SELECT id, amount, failed_checks, batch_id FROM dq_quarantine.payment ORDER BY id'),
	"1|-1|{amount_range}|sunday\n2|2|{}|sunday",
	'publish: a new session sees the rows with their reasons');
is($node->safe_psql('postgres', 'SELECT count(*) FROM payment'), '0', 'publish: the target is untouched');

# --- the procedure fails

($status, $out, $err) = psql_c($node, $call);
$run_id = last_run('run_id');
is($status, 1, 'rejected: psql -c fails');
like($err, qr/^ERROR:  23DQ1: gate public\.payment: batch "monday" rejected: amount_range: 1 of 2 rows/m,
	'rejected: SQLSTATE, gate, batch and failure in the message');
like($err, qr/^DETAIL: .*run_id $run_id\b.*dq_quarantine\.payment, 2 rows/m,
	'rejected: run_id and quarantine in the detail');
like($err, qr/^HINT: .*dq_gate\.results_of\($run_id\)/m, 'rejected: the query to look at in the hint');
unlike($err, qr/WARNING/, 'rejected: said once');
is(last_run('verdict, batch_id, row_count, quarantined'), 'rejected|monday|2|2',
	'rejected: the run is committed');
is( $node->safe_psql('postgres', "SELECT count(*) FROM dq_quarantine.payment WHERE run_id = $run_id"),
	'2', 'rejected: the quarantine is committed');
is($node->safe_psql('postgres', 'SELECT count(*) FROM payment_staging'), '2',
	'rejected: the batch stays in staging');
($status, $out, $err) = psql_c($node, 'SELECT * FROM dq_gate.results_of(' . $run_id . ')');
is($status, 0, 'rejected: the query of the hint runs');

my ($hint) = do { my @r = psql_c($node, $call); $r[2] =~ /^HINT: .*?(SELECT [^;]*)/m };
($status, $out, $err) = psql_c($node, $hint);
like($out, qr/amount_range/, 'rejected: the hint can be pasted');

($status, $out, $err) = psql_c($node, $call, on_error_stop => 1);
is($status, 1, 'rejected: psql -c with ON_ERROR_STOP fails');
($status) = $node->psql('postgres', "$call;\nSELECT 1;");
is($status, 3, 'rejected: a script with ON_ERROR_STOP stops');

# --- empty batch

$node->safe_psql('postgres', 'TRUNCATE payment_staging');
($status, $out, $err) = psql_c($node, $call);
is($status, 1, 'empty: fails');
like($err, qr/ERROR:  23DQ1: .*not_empty/, 'empty: says so');
is(last_run('verdict, row_count, quarantined'), 'rejected|0|0', 'empty: is logged');

# --- published

load('(1, 1), (2, 2)');
($status, $out, $err) = psql_c($node, $call =~ s/monday/good monday/r);
is("$status$out$err", '0', 'published: psql -c succeeds and says nothing');
is(last_run('verdict, inserted'), 'published|2', 'published: is logged');

# --- audit passed, publish fails

$node->safe_psql('postgres', q{
	CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		RAISE EXCEPTION 'closed for %', NEW.id USING DETAIL = 'year end', ERRCODE = 'ZZ001';
	END $$;
	CREATE TRIGGER refuse BEFORE INSERT ON payment FOR EACH ROW WHEN (NEW.id = 13) EXECUTE FUNCTION refuse();
});
load('(2, 20), (3, 30), (13, 130)');
my $before = $node->safe_psql('postgres', 'SELECT * FROM payment ORDER BY id');
($status, $out, $err) = psql_c($node, $call);
$run_id = last_run('run_id');
is($status, 1, 'failed: psql -c fails');
like($err, qr/^ERROR:  23DQ2: gate public\.payment: batch "monday" failed to publish: publish: closed for 13/m,
	'failed: SQLSTATE and cause in the message');
like($err, qr/^DETAIL: .*run_id $run_id\b.*dq_quarantine\.payment, 3 rows/m, 'failed: run_id in the detail');
is(last_run('verdict, passed, published, inserted, updated, quarantined, error_sqlstate'),
	'failed|t|f|0|0|3|ZZ001', 'failed: is logged');
like(last_run('error'), qr/closed for 13.*year end/, 'failed: with the error');
is($node->safe_psql('postgres', 'SELECT * FROM payment ORDER BY id'), $before,
	'failed: the target is as before');
is( $node->safe_psql('postgres', "SELECT count(*) FROM dq_quarantine.payment WHERE run_id = $run_id"),
	'3', 'failed: the batch is quarantined');
($status, $out, $err) = psql_c($node,
	"SELECT verdict, quarantined FROM dq_gate.publish('payment_staging', 'payment')");
is("$status|$out", '0|failed|3', 'failed: the function answers it');
like($err, qr/WARNING:.*failed to publish/, 'failed: and warns');

# deferred constraints fail while the failure can still be logged
$node->safe_psql('postgres', q{
	CREATE TABLE ledger (id int PRIMARY KEY, payment int REFERENCES payment DEFERRABLE INITIALLY DEFERRED,
		position int UNIQUE DEFERRABLE INITIALLY DEFERRED);
	CREATE TABLE ledger_staging (LIKE ledger);
	CREATE FUNCTION gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.payment = 4711; RETURN NEW; END $$;
	CREATE TRIGGER gone BEFORE INSERT ON ledger FOR EACH ROW EXECUTE FUNCTION gone();
	INSERT INTO ledger_staging VALUES (1, 1, 1);
});
($status, $out, $err) = psql_c($node, "CALL dq_gate.publish_or_fail('ledger_staging', 'ledger')");
like($err, qr/^ERROR:  23DQ2: .*foreign key constraint/m, 'failed: a deferred constraint is caught');
is(last_run('verdict, error_sqlstate'), 'failed|23503', 'failed: and logged');
is($node->safe_psql('postgres', 'SELECT count(*) FROM ledger'), '0', 'failed: and nothing is in the target');

# --- where it may commit

load('(4, -4)');
foreach my $context (
	[ 'a DO block', "DO \$\$ BEGIN $call; END \$\$" ],
	[ 'a DO block with a loop over a query',
		"DO \$\$ DECLARE r record; BEGIN FOR r IN SELECT 1 FROM generate_series(1, 3) LOOP $call; END LOOP; END \$\$" ],
	[ 'a procedure', 'CALL nightly()' ],
	[ 'an extra semicolon', "$call;" ])
{
	my ($name, $sql) = @$context;
	$node->safe_psql('postgres',
		"CREATE OR REPLACE PROCEDURE nightly() LANGUAGE plpgsql AS \$\$ BEGIN $call; END \$\$");
	my $runs = last_run('run_id');
	($status, $out, $err) = psql_c($node, $sql);
	is($status, 1, "$name: fails");
	like($err, qr/ERROR:  23DQ1: /, "$name: SQLSTATE");
	is(last_run("verdict, run_id > $runs"), 'rejected|t', "$name: the evidence is committed");
}
load('(4, 4)');
($status, $out, $err) = psql_c($node, "DO \$\$ BEGIN $call; END \$\$");
is($status, 0, 'a DO block: succeeds where the batch passes');
is(last_run('verdict, inserted'), 'published|1', 'a DO block: and publishes');

# --- where it may not: refused before any work, whether the batch would pass or not

$node->safe_psql('postgres', qq{
	CREATE FUNCTION in_function() RETURNS void LANGUAGE plpgsql AS \$\$ BEGIN $call; END \$\$;
	CREATE PROCEDURE with_set() LANGUAGE plpgsql SET search_path = public AS \$\$ BEGIN $call; END \$\$;
	CREATE PROCEDURE definer() LANGUAGE plpgsql SECURITY DEFINER AS \$\$ BEGIN $call; END \$\$;
});
foreach my $rows ('(5, 5)', '(5, -5)')
{
	load($rows);
	my $state = $node->safe_psql('postgres', 'SELECT * FROM state()');
	my @contexts = (
		[ 'a second statement in the message', "$call; SELECT 1" ],
		[ 'a first statement in the message', "SET search_path TO public; $call" ],
		[ 'a transaction block', [ 'BEGIN', $call, 'COMMIT' ] ],
		[ 'a transaction block in one message', "BEGIN; $call; COMMIT" ],
		[ 'a function', 'SELECT in_function()' ],
		[ 'a procedure with SET', 'CALL with_set()' ],
		[ 'a SECURITY DEFINER procedure', 'CALL definer()' ],
		[ 'a block with an exception handler',
			"DO \$\$ BEGIN BEGIN $call; EXCEPTION WHEN division_by_zero THEN NULL; END; END \$\$" ],
		[ 'a DO block within a transaction block', [ 'BEGIN', "DO \$\$ BEGIN $call; END \$\$", 'COMMIT' ] ]);
	foreach my $context (@contexts)
	{
		my ($name, $sql) = @$context;
		($status, $out, $err) = psql_c($node, $sql);
		like($err, qr/ERROR:  2D000: dq_gate\.publish_or_fail must be called alone/, "$name $rows: refused");
		like($err, qr/HINT: .*CALL dq_gate\.publish_or_fail.*dq_gate\.publish\b/s, "$name $rows: with the way out");
		is($node->safe_psql('postgres', 'SELECT * FROM state()'), $state, "$name $rows: nothing happened");
	}

	# a handler that swallows the error must not swallow evidence with it
	($status, $out, $err) = psql_c($node,
		"DO \$\$ BEGIN BEGIN $call; EXCEPTION WHEN OTHERS THEN RAISE WARNING 'caught %', SQLSTATE; END; END \$\$");
	like($err, qr/caught 2D000/, "an exception handler $rows: sees the refusal");
	is($node->safe_psql('postgres', 'SELECT * FROM state()'), $state, "an exception handler $rows: nothing happened");
}

($out, $err) = session($node, <<"END");
BEGIN;
SAVEPOINT here;
$call;
ROLLBACK TO here;
SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND (locktype IN ('object', 'advisory')
	OR relation IN ('payment'::regclass, 'payment_staging'::regclass));
SELECT verdict FROM dq_gate.publish('payment_staging', 'payment');
COMMIT;
END
like($out, qr/^0\nrejected$/, 'refused in a transaction: no lock is left, and publish works there');

# --- isolation, read-only, NULL

load('(6, 6)');
my $state = $node->safe_psql('postgres', 'SELECT * FROM state()');
foreach my $level ('repeatable read', 'serializable')
{
	(my $escaped = $level) =~ s/ /\\ /;
	($status, $out, $err) = psql_c($node, $call, options => "-c default_transaction_isolation=$escaped");
	is($status, 1, "$level: fails");
	like($err, qr/ERROR:  0A000: cannot publish in a transaction with isolation level \U$level/, "$level: refused");
	like($err, qr/HINT: .*READ COMMITTED/i, "$level: with the way out");
}
($status, $out, $err) = psql_c($node, $call, options => '-c default_transaction_read_only=on');
like($err, qr/ERROR:  25006: .*read-only/, 'read-only: refused');
($status, $out, $err) = psql_c($node, "CALL dq_gate.publish_or_fail(NULL, 'payment')");
like($err, qr/ERROR:  22004: argument "staging" must not be NULL/, 'NULL staging: refused');
($status, $out, $err) = psql_c($node, "CALL dq_gate.publish_or_fail('payment_staging', NULL)");
like($err, qr/ERROR:  22004: argument "target" must not be NULL/, 'NULL target: refused');
is($node->safe_psql('postgres', 'SELECT * FROM state()'), $state, 'refused calls leave no trace');

# --- the session is as it was after an error

load('(7, -7)');
$call =~ s/monday/tuesday/;
($out, $err) = session($node, <<"END");
CREATE TEMP TABLE settings AS SELECT name, setting FROM pg_settings;
$call;
$call;
SELECT count(*) FROM pg_settings JOIN settings s USING (name) WHERE pg_settings.setting IS DISTINCT FROM s.setting;
SELECT current_user = session_user;
SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND (locktype IN ('object', 'advisory')
	OR relation IN ('payment'::regclass, 'payment_staging'::regclass));
UPDATE payment_staging SET amount = 7;
$call;
SELECT amount FROM payment WHERE id = 7;
END
is($out, "0\nt\n0\n7", 'after errors the session goes on with its settings, its role and no locks');
is(() = $err =~ /ERROR:  23DQ1/g, 2, 'each call of a session fails for itself');
unlike($err, qr/WARNING/, 'nothing is left behind in the session');

log_is_clean($node);
$node->stop;
done_testing();
