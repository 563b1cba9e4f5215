# DROP EXTENSION takes gates and log, and neither target, staging nor rejected
# rows; it says so.  What is left is no harm to a new installation, and what
# somebody planted is no part of it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('farewell');
my ($status, $out, $err);
my $superuser = $node->safe_psql('postgres', 'SELECT CURRENT_USER');

# What is left of the schemas and tables of a database
my $left = q{SELECT string_agg(c.oid::regclass::text, ' ' ORDER BY c.oid::regclass::text COLLATE "C")
	FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind = 'r' AND (nspname !~ '^pg_|information_schema')};
my $schema = q{SELECT nspowner::regrole, nspacl, obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = 'dq_quarantine'};

$node->safe_psql('postgres', q{CREATE ROLE keeper LOGIN; CREATE ROLE planter LOGIN; CREATE ROLE "Ad min" SUPERUSER LOGIN});

sub fresh
{
	my ($db) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->safe_psql($db, q{GRANT CREATE ON SCHEMA public TO keeper});
	return;
}

sub with_tables
{
	my ($db) = @_;
	$node->safe_psql($db, q{
		SET SESSION AUTHORIZATION keeper;
		CREATE TABLE t (id int PRIMARY KEY, v int);
		CREATE TABLE s (id int, v int);
		INSERT INTO s VALUES (1, 1), (1, -1);
		SELECT dq_gate.create_gate('t', 's');
		SELECT dq_gate.expect_range('t', 'v', min => 0)});
	return;
}

# --- without rejected rows there is nothing to leave

fresh('a');
$node->safe_psql('a', 'CREATE EXTENSION dq_gate');
is($node->safe_psql('a', $schema), '', 'the schema is made when it is needed');
with_tables('a');
($status, $out, $err) = psql_c($node, 'DROP EXTENSION dq_gate', db => 'a');
is($status, 0, 'dropped');
like($err, qr/^NOTICE:  00000: gates, checks and the log go with dq_gate; targets, staging tables and rejected rows stay\nLOCATION[^\n]*$/, 'it says what stays');
is($node->safe_psql('a', $left), 's t', 'target and staging stay');
is($node->safe_psql('a', q{SELECT count(*) FROM pg_event_trigger}), '0', 'nothing else does');

# --- with them, without and with CASCADE

foreach my $cascade ('', ' CASCADE')
{
	my $db = $cascade ? 'c' : 'b';
	fresh($db);
	$node->safe_psql($db, 'CREATE EXTENSION dq_gate');
	with_tables($db);
	# what an installation may have set up for other schemas
	$node->safe_psql($db, 'ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO PUBLIC; ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO planter WITH GRANT OPTION');
	psql_c($node, q{SELECT dq_gate.publish('s', 't')}, db => $db, user => 'keeper');
	is($node->safe_psql($db, $schema), "$superuser|{$superuser=UC/$superuser,=U/$superuser}|rejected rows, one table a guarded target, made by dq_gate; they stay when it is dropped",
		'the schema of rejected rows: whose it is, who may look into it, and what it is');
	psql_c($node, q{CREATE VIEW lately AS SELECT * FROM dq_gate.runs}, db => $db);
	if (!$cascade)
	{
		($status, $out, $err) = psql_c($node, 'DROP EXTENSION dq_gate', db => $db);
		like($err, qr/^ERROR:  2BP01: .*\nDETAIL:  view lately depends on table dq_gate.runs$/m, 'a view on the log is in the way, as usual');
		unlike($err, qr/dq_quarantine\.t depends/, 'rejected rows are not');
		$node->safe_psql($db, 'DROP VIEW lately');
	}
	($status, $out, $err) = psql_c($node, "DROP EXTENSION IF EXISTS plpgsql2, dq_gate$cascade", db => $db);
	is($status, 0, "DROP EXTENSION$cascade");
	like($err, qr/^DETAIL:  Rejected rows are in dq_quarantine\.t\.\nHINT:  When they are of no use any more, DROP SCHEMA dq_quarantine CASCADE\.$/m, 'it says where rejected rows are');
	is($node->safe_psql($db, $left), 'dq_quarantine.t s t', 'target, staging and rejected rows stay');
	is($node->safe_psql($db, 'SELECT count(*), count(DISTINCT run_id) FROM dq_quarantine.t'), '2|1', 'all of them');
}
($status, $out, $err) = psql_c($node, 'CREATE EXTENSION citext; DROP EXTENSION citext', db => 'b');
is($err, '', 'other extensions go without a word');

# --- dq_gate goes with plpgsql, and rejected rows stay all the same

$node->safe_psql('postgres', 'CREATE DATABASE language');
$node->safe_psql('language', 'CREATE EXTENSION dq_gate; GRANT CREATE ON SCHEMA public TO keeper');
with_tables('language');
psql_c($node, q{SELECT dq_gate.publish('s', 't')}, db => 'language', user => 'keeper');
$node->safe_psql('language', 'DROP EXTENSION plpgsql CASCADE');
is($node->safe_psql('language', $left), 'dq_quarantine.t s t', 'DROP EXTENSION plpgsql CASCADE: rejected rows stay');

# --- and again: the old table is not taken up, since its rows have numbers of runs that are given again

($status, $out, $err) = psql_c($node, [ 'CREATE EXTENSION dq_gate', 'SELECT count(*) FROM dq_gate.runs' ], db => 'b', user => 'Ad min');
is("$out$err", '0', 'another superuser installs it over what is left');
$node->safe_psql('b', q{SET SESSION AUTHORIZATION keeper; SELECT dq_gate.create_gate('t', 's'); SELECT dq_gate.expect_range('t', 'v', min => 0)});
psql_c($node, q{SELECT dq_gate.publish('s', 't')}, db => 'b', user => 'keeper');
is($node->safe_psql('b', $left =~ s/WHERE/WHERE nspname <> 'dq_gate' AND/r), 'dq_quarantine.public_t_rejected dq_quarantine.t s t', 'new rejected rows are beside the old ones');
is($node->safe_psql('b', 'SELECT count(*) FROM dq_quarantine.t UNION ALL SELECT count(*) FROM dq_quarantine.public_t_rejected'), "2\n2", 'in a table of their own');
($status, $out, $err) = psql_c($node, [ q{CREATE TEMP TABLE now AS SELECT run_id FROM dq_gate.runs}, q{TRUNCATE s}, q{SELECT requeued FROM dq_gate.requeue((SELECT run_id FROM now))} ], db => 'b', user => 'keeper');
is("$out$err", '2', 'and go back alone');
is($node->safe_psql('b', 'SELECT count(requeued_at) FROM dq_quarantine.t'), '0', 'the old ones are not touched');
# as the HINT says
($status, $out, $err) = psql_c($node, [ 'DROP EXTENSION dq_gate', 'DROP SCHEMA dq_quarantine CASCADE' ], db => 'b');
is($node->safe_psql('b', $left), 's t', 'rejected rows are dropped by who means to');

# --- DROP SCHEMA while it is installed

fresh('d');
$node->safe_psql('d', 'CREATE EXTENSION dq_gate');
with_tables('d');
psql_c($node, q{SELECT dq_gate.publish('s', 't')}, db => 'd', user => 'keeper');
$node->safe_psql('d', 'SET client_min_messages = error; DROP SCHEMA dq_quarantine CASCADE');
is($node->safe_psql('d', 'SELECT (SELECT count(*) FROM dq_gate.gates), (SELECT count(*) FROM dq_gate.runs), (SELECT count(*) FROM dq_gate.quarantines)'), '1|1|0', 'gates and log stay when rejected rows are dropped');
psql_c($node, q{SELECT dq_gate.publish('s', 't')}, db => 'd', user => 'keeper');
is($node->safe_psql('d', 'SELECT count(*) FROM dq_quarantine.t'), '2', 'and the next ones are kept');

# --- two first runs at once make one schema

fresh('e');
$node->safe_psql('e', 'CREATE EXTENSION dq_gate');
with_tables('e');
$node->safe_psql('e', q{SET SESSION AUTHORIZATION keeper; CREATE TABLE t2 (id int PRIMARY KEY); CREATE TABLE s2 (id int); INSERT INTO s2 VALUES (1), (1)});
my $first = background_c($node, [ 'BEGIN', q{SELECT verdict FROM dq_gate.publish('s', 't')}, 'SELECT pg_sleep(2)', 'COMMIT' ], db => 'e', user => 'keeper', name => 'first');
$node->poll_query_until('e', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'first' AND query ~ 'pg_sleep'});
($status, $out, $err) = psql_c($node, q{SELECT verdict FROM dq_gate.publish('s2', 't2')}, db => 'e', user => 'keeper');
$first->finish;
is($out, 'rejected', 'the second one waits for the first');
is($node->safe_psql('e', 'SELECT (SELECT count(*) FROM dq_quarantine.t), (SELECT count(*) FROM dq_quarantine.t2)'), '2|2', 'and both keep their rows');

# --- planted schemas

fresh('f');
$node->safe_psql('postgres', 'GRANT CREATE ON DATABASE f TO planter');
psql_c($node, 'CREATE SCHEMA dq_quarantine', db => 'f', user => 'planter');
($status, $out, $err) = psql_c($node, 'CREATE EXTENSION dq_gate', db => 'f');
like($err, qr/^ERROR:  42P06: schema dq_quarantine already exists and belongs to role planter, which is no superuser\nDETAIL:  .*could drop them\.\nHINT:  Look at what is in it, then .*ALTER SCHEMA dq_quarantine OWNER TO/m, 'planted before: refused');
$node->safe_psql('f', q{ALTER SCHEMA dq_quarantine OWNER TO "Ad min"; GRANT CREATE ON SCHEMA dq_quarantine TO PUBLIC, keeper; GRANT ALL ON SCHEMA dq_quarantine TO planter WITH GRANT OPTION});
$node->safe_psql('f', 'CREATE TABLE dq_quarantine.t (run_id int)');
($status, $out, $err) = psql_c($node, 'CREATE EXTENSION dq_gate', db => 'f');
is("$status$err", '0', 'given to a superuser: adopted');
is($node->safe_psql('f', q{SELECT string_agg(CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END || ' ' || privilege_type, ', ' ORDER BY grantee) FROM pg_namespace, aclexplode(nspacl) WHERE nspname = 'dq_quarantine' AND grantee <> nspowner}),
	'PUBLIC USAGE, planter USAGE', 'and closed');
with_tables('f');
psql_c($node, q{SELECT dq_gate.publish('s', 't')}, db => 'f', user => 'keeper');
is($node->safe_psql('f', q{SELECT (SELECT count(*) FROM dq_quarantine.t), (SELECT count(*) FROM dq_quarantine.public_t_rejected)}), '0|2', 'a planted table is not adopted');

fresh('g');
$node->safe_psql('g', 'CREATE EXTENSION dq_gate');
with_tables('g');
$node->safe_psql('postgres', 'GRANT CREATE ON DATABASE g TO planter');
psql_c($node, 'CREATE SCHEMA dq_quarantine', db => 'g', user => 'planter');
($status, $out, $err) = psql_c($node, q{SELECT verdict FROM dq_gate.publish('s', 't')}, db => 'g', user => 'keeper');
like($err, qr/^ERROR:  55000: schema dq_quarantine belongs to role planter, and cannot hold rejected rows\nDETAIL:  Its owner could drop them\.\nHINT:  .*ALTER SCHEMA dq_quarantine OWNER TO \Q$superuser\E/m, 'planted after: no rejected row goes there');
is($node->safe_psql('g', 'SELECT count(*) FROM dq_gate.runs'), '0', 'and no run says it did');
$node->safe_psql('g', "ALTER SCHEMA dq_quarantine OWNER TO $superuser");
($status, $out, $err) = psql_c($node, q{SELECT verdict FROM dq_gate.publish('s', 't')}, db => 'g', user => 'keeper');
is($out, 'rejected', 'the way out of the HINT');
is($node->safe_psql('g', 'SELECT count(*) FROM dq_quarantine.t'), '2', 'is one, without rights of PUBLIC on the schema');

# --- it stays where it is

($status, $out, $err) = psql_c($node, [ 'CREATE SCHEMA elsewhere', 'ALTER EXTENSION dq_gate SET SCHEMA elsewhere' ], db => 'g');
like($err, qr/^ERROR:  0A000: extension "dq_gate" does not support SET SCHEMA/, 'ALTER EXTENSION SET SCHEMA is refused');
($status, $out, $err) = psql_c($node, 'ALTER EXTENSION dq_gate UPDATE', db => 'g');
like("$status$err", qr/^0NOTICE:  00000: version "[^"]+" of extension "dq_gate" is already installed/, 'there is nothing to update to');

log_is_clean($node);
$node->stop;
done_testing();
