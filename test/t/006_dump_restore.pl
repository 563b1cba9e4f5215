# Gates, checks, history and quarantine survive dump and restore into a database
# with other OIDs (case O33), and follow their tables when these are renamed,
# moved or dropped.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('dump');
my $dir = PostgreSQL::Test::Utils::tempdir();

$node->safe_psql('postgres', q{
	CREATE ROLE keeper LOGIN;
	CREATE SCHEMA "Ware House" AUTHORIZATION keeper;
	CREATE DATABASE source});
$node->safe_psql('source', 'CREATE EXTENSION dq_gate');
$node->safe_psql('source', q{
	ALTER DATABASE source SET timezone = 'UTC';
	CREATE SCHEMA "Ware House" AUTHORIZATION keeper;
	SET SESSION AUTHORIZATION keeper;
	CREATE TABLE "Ware House"."Stock ""1""" ("Id" int PRIMARY KEY, "n, of" int CHECK ("n, of" < 1000), note text);
	CREATE TABLE "Ware House".landing ("Id" int, "n, of" int, note text);
	CREATE TABLE "Ware House".plain (id int PRIMARY KEY, v numeric(5,2));
	CREATE TABLE "Ware House".plain_staging (id int, v numeric);
	CREATE FUNCTION "Ware House".known(text) RETURNS bool LANGUAGE sql IMMUTABLE AS $$SELECT $1 <> 'unknown'$$;
	SELECT dq_gate.create_gate('"Ware House"."Stock ""1"""', '"Ware House".landing', layer => 'silver', owner => 'O''Brien', description => 'a\b');
	SELECT dq_gate.expect_range('"Ware House"."Stock ""1"""', 'n, of', min => 0, action => 'quarantine', owner => 'shop');
	SELECT dq_gate.expect_sql('"Ware House"."Stock ""1"""', 'known', '"Ware House".known(note)', action => 'warn');
	SELECT dq_gate.expect_sql('"Ware House"."Stock ""1"""', 'even', '"Id" % 2 = 0');
	RESET SESSION AUTHORIZATION;
	CREATE TABLE public.dropped (id int PRIMARY KEY);
	CREATE TABLE public.dropped_staging (id int);
	SELECT dq_gate.expect_range('dropped', 'id', min => 0);
	INSERT INTO dropped_staging VALUES (-1);
});
my $batch = '"Ware House".landing';
my $target = '"Ware House"."Stock ""1"""';
my $publish = qq{SELECT verdict, published, row_count, inserted, updated, unchanged, quarantined, checks_failed, failures
	FROM dq_gate.publish('$batch', '$target')};

sub judge
{
	my ($db, $rows) = @_;
	$node->safe_psql($db, "TRUNCATE $batch; INSERT INTO $batch VALUES $rows");
	my ($out) = session($node, "$publish;", db => $db, user => 'keeper');
	return $out;
}

like(judge('source', q{(2, 2, 'a'), (4, 4, 'b')}), qr/^published\|t\|2\|2/, 'source: published');
like(judge('source', q{(2, 2, 'a'), (4, -4, 'b'), (6, 6, 'unknown')}), qr/^published\|t\|3\|1\|0\|1\|1\|2/, 'source: some rows quarantined');
like(judge('source', q{(3, 3, 'c')}), qr/^rejected\|f/, 'source: rejected');
psql_c($node, "SELECT dq_gate.publish('dropped_staging', 'dropped')", db => 'source');
psql_c($node, qq{SELECT dq_gate.publish('"Ware House".plain_staging', '"Ware House".plain')}, db => 'source');
$node->safe_psql('source', 'DROP TABLE dropped');

# --- a dropped table leaves nothing that hurts others

is($node->safe_psql('source', q{SELECT count(*) FROM dq_gate.gates WHERE target::text ~ 'dropped|^[0-9]+$'}), '0', 'dropped: its gate is gone');
is($node->safe_psql('source', q{SELECT count(*) FROM dq_gate.checks WHERE target::text ~ 'dropped|^[0-9]+$'}), '0', 'dropped: its checks are gone');
is($node->safe_psql('source', q{SELECT count(*) FROM dq_gate.quarantines WHERE target::text ~ '^[0-9]+$' OR quarantine::text ~ '^[0-9]+$'}), '0', 'dropped: no mapping is left');
is($node->safe_psql('source', q{SELECT count(*) FROM dq_gate.runs WHERE gate = 'public.dropped'}), '1', 'dropped: its history stays');
is($node->safe_psql('source', q{SELECT count(*) FROM dq_quarantine.dropped}), '1', 'dropped: its quarantine stays');
like(judge('source', q{(2, 2, 'a'), (4, 4, 'b')}), qr/^published/, 'dropped: other gates go on');

# --- dump, and restore beside other tables

my $content = q{
	SELECT string_agg(t::text, E'\n' ORDER BY t::text) FROM (SELECT 'gate', * FROM dq_gate.gates) t
	UNION ALL SELECT string_agg(t::text, E'\n' ORDER BY t::text) FROM (SELECT 'check', * FROM dq_gate.checks) t
	UNION ALL SELECT string_agg(t::text, E'\n' ORDER BY t::text) FROM (SELECT 'run', * FROM dq_gate.runs) t
	UNION ALL SELECT string_agg(t::text, E'\n' ORDER BY t::text) FROM (SELECT 'result', * FROM dq_gate.results) t
	UNION ALL SELECT string_agg(t::text, E'\n' ORDER BY t::text) FROM (SELECT 'quarantines', * FROM dq_gate.quarantines) t
	UNION ALL SELECT string_agg(t::text, E'\n' ORDER BY t::text) FROM (SELECT 'row', * FROM dq_quarantine."Stock ""1""") t
	UNION ALL SELECT string_agg(t::text, E'\n' ORDER BY t::text) FROM (SELECT 'is', c.oid::regclass, relowner::regrole, a.* FROM pg_class c,
		aclexplode(coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner))) a
		WHERE relkind IN ('r', 'S') AND relnamespace IN ('dq_quarantine'::regnamespace, 'dq_gate'::regnamespace)) t
	UNION ALL SELECT string_agg(t::text, E'\n' ORDER BY t::text) FROM (SELECT evtname, evtenabled, evtfoid::regproc FROM pg_event_trigger) t
	UNION ALL SELECT last_value::text FROM dq_gate.run_id_seq};
my $oids = qq{SELECT '$target'::regclass::oid, '$batch'::regclass::oid};
my $source = $node->safe_psql('source', $content);

$node->command_ok([ 'pg_dump', '-Fc', '-d', $node->connstr('source'), '-f', "$dir/custom" ], 'pg_dump -Fc');
$node->command_ok([ 'pg_dump', '-d', $node->connstr('source'), '-f', "$dir/plain" ], 'pg_dump');
foreach my $db ('custom', 'plain', 'cleaned')
{
	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->safe_psql('postgres', "ALTER DATABASE $db SET timezone = 'UTC'");
	$node->safe_psql($db, "CREATE TABLE other_$_ (id int PRIMARY KEY, v text)") foreach (1 .. 5);
}
$node->command_checks_all([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('custom'), "$dir/custom" ],
	0, [qr/^$/], [qr/^$/], 'pg_restore, and nothing to complain');
$node->command_checks_all([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-d', $node->connstr('plain'), '-f', "$dir/plain" ],
	0, [qr/^$/], [qr/^$/], 'restore of a plain dump, and nothing to complain');

# over an older state of itself
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('cleaned'), "$dir/custom" ], 'restore once');
judge('cleaned', q{(8, 8, 'later')});
$node->command_checks_all([ 'pg_restore', '--exit-on-error', '--clean', '--if-exists', '-d', $node->connstr('cleaned'), "$dir/custom" ],
	0, [qr/^$/], [qr/^$/], 'pg_restore --clean over a newer state');

foreach my $db ('custom', 'plain', 'cleaned')
{
	isnt($node->safe_psql($db, $oids), $node->safe_psql('source', $oids), "$db: the OIDs are others");
	is($node->safe_psql($db, $content), $source, "$db: gates, checks, log, quarantine, rights and numbering are the same");
}

# --- it goes on as the source does

my @batches = (
	q{(2, 2, 'a'), (4, 4, 'b')},
	q{(2, 20, 'a'), (4, -4, 'b'), (10, 10, 'unknown')},
	q{(3, 3, 'c'), (5, -5, 'c'), (7, 5000, NULL)},
	q{(2, 1, 'a'), (2, 2, 'b'), (NULL, 2, 'b')});
foreach my $rows (@batches)
{
	my $expected = judge('source', $rows);
	foreach my $db ('custom', 'plain', 'cleaned')
	{
		is(judge($db, $rows), $expected, "$db: judges $rows as the source does");
	}
}
$source = $node->safe_psql('source', q{
	SELECT run_id, verdict, gate, quarantine, run_as FROM dq_gate.runs ORDER BY run_id});
my $kept = q{SELECT count(*), count(DISTINCT run_id), string_agg(DISTINCT "Id"::text, ',') FROM dq_quarantine."Stock ""1"""};
my $checks = qq{SELECT string_agg(c::text, E'\\n') FROM dq_gate.checks_of('$target') c};
foreach my $db ('custom', 'plain', 'cleaned')
{
	is( $node->safe_psql($db, q{SELECT run_id, verdict, gate, quarantine, run_as FROM dq_gate.runs ORDER BY run_id}),
		$source, "$db: the history goes on, with the next numbers");
	is($node->safe_psql($db, $kept), $node->safe_psql('source', $kept), "$db: quarantine goes on in the same table");
	is( $node->safe_psql($db, q{SELECT count(*) FROM pg_class WHERE relnamespace = 'dq_quarantine'::regnamespace AND relkind = 'r'}),
		$node->safe_psql('source', q{SELECT count(*) FROM pg_class WHERE relnamespace = 'dq_quarantine'::regnamespace AND relkind = 'r'}),
		"$db: and not in another one");
	is($node->safe_psql($db, $checks), $node->safe_psql('source', $checks), "$db: the effective checks are the same");
}
foreach my $table ('gates', 'checks', 'runs')
{
	my ($status, $out, $err) = psql_c($node, "DELETE FROM dq_gate.$table", db => 'custom', user => 'keeper');
	like($err, qr/ERROR:  42501/, "restored $table cannot be written");
}

# --- renamed and moved

$node->safe_psql('plain', q{
	ALTER TABLE "Ware House"."Stock ""1""" RENAME TO article;
	ALTER TABLE "Ware House".landing RENAME TO arrivals;
	CREATE SCHEMA moved AUTHORIZATION keeper;
	ALTER TABLE "Ware House".article SET SCHEMA moved;
	ALTER FUNCTION "Ware House".known(text) RENAME TO known_to_us;
	TRUNCATE "Ware House".arrivals;
	INSERT INTO "Ware House".arrivals VALUES (100, 100, 'x'), (102, -1, 'x');
});
my ($out, $err) = session($node, q{
	SELECT target, staging, layer FROM dq_gate.gates;
	SELECT count(*) FROM dq_gate.checks WHERE target = 'moved.article'::regclass;
	SELECT verdict, inserted, quarantined, failures FROM dq_gate.publish('"Ware House".arrivals', 'moved.article');
	SELECT gate, quarantine FROM dq_gate.runs ORDER BY run_id DESC LIMIT 1;
	SELECT count(*) FROM dq_quarantine."Stock ""1""" WHERE "Id" = 102;
	ALTER TABLE "Ware House".plain RENAME TO plainer;
}, db => 'plain', user => 'keeper');
like($out, qr/^moved\.article\|"Ware House"\.arrivals\|silver\n3\n/, 'renamed: gate and checks stay attached');
like($out, qr/\nmoved\.article\|dq_quarantine\."Stock ""1"""\n1$/, 'renamed: quarantine goes on in the same table');
like($out, qr/\n(published\|1\|1|rejected\|0\|2)/, 'renamed: judged');
if ($out =~ /rejected/)
{
	# the renamed function may break the check, but then it says so
	like($out, qr/known: could not be evaluated/, 'renamed: a check whose function was renamed says so');
}

log_is_clean($node);
$node->stop;
done_testing();
