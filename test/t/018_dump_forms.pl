# A database with every kind of check, every setting of a gate, history, profiles
# and requeued rows: whatever the form in which it is dumped and restored, the
# copy judges as the original does, batch by batch, from the first one on.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('forms', conf => "timezone = 'UTC'");
my $dir = PostgreSQL::Test::Utils::tempdir();

$node->safe_psql('postgres', q{
	CREATE ROLE keeper LOGIN;
	CREATE ROLE worker LOGIN;
	GRANT worker TO keeper;
	CREATE DATABASE source});
$node->safe_psql('source', q{
	CREATE EXTENSION dq_gate;
	CREATE EXTENSION citext;
	GRANT CREATE ON DATABASE source TO keeper});

# --- a gate with a check of every kind, as its own test declares it

my $kinds = slurp_file("$FindBin::RealBin/../pgtap/export_import.sql");
my ($tables) = $kinds =~ /^(CREATE SCHEMA "My Lake";\n.*?^CREATE FUNCTION target\(\)[^\n]*\n)/ms;
my ($checks) = $kinds =~ /^(-- a gate with everything, and a check of every kind\n.*?)^CREATE TABLE seen/ms;
ok($tables && $checks, 'the checks of every kind are found');
my ($out, $err) = session($node, "\\set ON_ERROR_STOP on\nGRANT CREATE ON SCHEMA public TO keeper; SET SESSION AUTHORIZATION keeper;\n$tables$checks", db => 'source');
is($err, '', 'they are declared');

# --- gates with other settings, on odd names and types

($out, $err) = session($node, <<'END', db => 'source');
\set ON_ERROR_STOP on
SET SESSION AUTHORIZATION keeper;
CREATE SCHEMA "S x";
CREATE SCHEMA rules;
CREATE TYPE "S x"."Mood" AS ENUM ('good', 'bad "x"');
CREATE DOMAIN "S x".percent AS numeric(5,2) CHECK (VALUE BETWEEN 0 AND 100);
CREATE FUNCTION rules."is Fine"(text) RETURNS bool LANGUAGE plpgsql STABLE SET search_path = public AS $$BEGIN RETURN EXISTS (SELECT FROM "S x".parent p WHERE p.code = $1::citext); END$$;
CREATE FUNCTION rules.short(text) RETURNS bool LANGUAGE sql IMMUTABLE AS $$SELECT length($1) < 9$$;
CREATE TABLE "S x".parent (code public.citext PRIMARY KEY);
CREATE TABLE "S x"."T ""1" ("a""b" int PRIMARY KEY, "select" public.citext REFERENCES "S x".parent, mood "S x"."Mood", share "S x".percent, old_name text CHECK (rules.short(old_name)),
	region text NOT NULL DEFAULT 'EU', at timestamptz, rest jsonb, twice int GENERATED ALWAYS AS ("a""b" * 2) STORED, no int GENERATED ALWAYS AS IDENTITY);
CREATE TABLE "S x"."Staged" ("a""b" int, "select" public.citext, mood "S x"."Mood", share numeric, old_name text, region text, at timestamptz, extra int);
INSERT INTO "S x".parent SELECT 'P' || n FROM generate_series(1, 1000) n;
SELECT dq_gate.create_gate('"S x"."T ""1"', '"S x"."Staged"', '{"a\"b"}', 'gold', 'it''s', E'd\\ \n', check_timeout => '1 min', profile => true, expected_every => '1 day',
	update_columns => '{select,mood,share,at}', compare_columns => '{mood,share}', only_if_newer => 'at', keep_latest_by => 'at', on_rounding => 'allow', on_new_column => 'rescue', rescue_column => 'rest') \g /dev/null
SELECT dq_gate.expect_sql('"S x"."T ""1"', 'fine', 'rules."is Fine"("select"::text) AND mood IS DISTINCT FROM ''bad "x"''::"S x"."Mood"', action => 'quarantine'),
	dq_gate.expect_referential('"S x"."T ""1"', '{select}', '"S x".parent', '{code}', action => 'quarantine'),
	dq_gate.expect_accepted_values('"S x"."T ""1"', 'mood', ARRAY['good', 'bad "x"'], action => 'warn'),
	dq_gate.expect_range('"S x"."T ""1"', 'share', 0, 100, action => 'warn', filter => '"select" = ''p1'''),
	dq_gate.expect_not_null('"S x"."T ""1"', 'old_name', action => 'warn'),
	dq_gate.expect_metric('"S x"."T ""1"', 'avg(share)', 'zscore', NULL, 3, name => 'usual', action => 'warn'),
	dq_gate.expect_stable_distribution('"S x"."T ""1"', 'share', 'psi', 0.2, action => 'warn') \g /dev/null
ALTER TABLE "S x"."T ""1" RENAME old_name TO new_name;
ALTER TABLE "S x"."Staged" RENAME old_name TO new_name;
CREATE TABLE "S x".synced (id int PRIMARY KEY, region text, v int);
CREATE TABLE "S x".synced_s (LIKE "S x".synced);
SELECT dq_gate.create_gate('"S x".synced', '"S x".synced_s', mode => 'sync', scope => 'region = ''EU''', max_delete_rate => 0.5) \g /dev/null
-- without an index: pg_dump --clean does not drop that of a partition
CREATE TABLE "S x".days (day date NOT NULL, n int NOT NULL, v int CHECK (v > 0)) PARTITION BY RANGE (day);
CREATE TABLE "S x".days_1 PARTITION OF "S x".days FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
CREATE TABLE "S x".days_s (day date, n int, v int);
GRANT USAGE ON SCHEMA "S x" TO worker;
GRANT ALL ON "S x".days, "S x".days_s TO worker;
SELECT dq_gate.create_gate('"S x".days', '"S x".days_s', '{day,n}', mode => 'replace', replace_by => '{day}', run_as => 'worker') \g /dev/null
CREATE TABLE "S x".no_gate (id int PRIMARY KEY, v numeric(5,2));
CREATE TABLE "S x".no_gate_s (id int, v numeric);
END
is($err, '', 'more gates');

# --- batches: what they are, for which target

my %table = (
	t => [ '"S x"."Staged"', '"S x"."T ""1"' ],
	synced => [ '"S x".synced_s', '"S x".synced' ],
	days => [ '"S x".days_s', '"S x".days' ],
	no_gate => [ '"S x".no_gate_s', '"S x".no_gate' ],
	kinds => [ '"My Lake"."Staged"', '"My Lake"."Or""ders"' ]);

# What a publish in a database answers, its numbers of runs and times left out
sub judged
{
	my ($db, $table, $rows, $more) = @_;
	my ($staging, $target) = @{ $table{$table} };
	my ($out, $err) = session($node, <<END, db => $db, $db eq 'no_owner' ? () : (user => 'keeper'));
TRUNCATE $staging;
INSERT INTO $staging $rows;
SELECT to_jsonb(r) - '{run_id,batch_id,duration}'::text[] FROM dq_gate.publish('$staging', '$target'$more) r;
SELECT jsonb_agg(to_jsonb(r) - 'run_id' ORDER BY check_no) FROM dq_gate.results r WHERE run_id = (SELECT max(run_id) FROM dq_gate.runs);
END
	$err = join("\n", grep { /ERROR/ } split /\n/, $err);
	return "$out$err";
}

sub t_batch
{
	my ($n, $share, $name) = @_;
	return qq{SELECT n, 'p' || n, 'good', $share, $name, 'EU', '2020-01-01'::timestamptz + n * interval '1 s', n FROM generate_series(1, $n) n};
}

like(judged('source', 't', t_batch(100 + $_, "n % 7 + 0.001 * $_", "'n' || n"), ", as_of => '2020-02-0$_'"), qr/"verdict": "published"/, "source: day $_")
  foreach (1 .. 7);
like(judged('source', 't', t_batch(100, 50, "'n' || n") . q{ UNION ALL SELECT 5000, 'none', 'bad "x"', 1, 'x', NULL, now(), NULL}, ''), qr/"verdict": "rejected"/, 'source: rejected');
like(judged('source', 'synced', q{VALUES (1, 'EU', 1), (2, 'EU', 2), (3, 'EU', 3)}, ", batch_id => 'first'"), qr/"inserted": 3/, 'source: synced');
like(judged('source', 'synced', q{VALUES (1, 'EU', 1), (2, 'EU', 2), (3, 'EU', 3)}, ", batch_id => 'first'"), qr/"skipped"/, 'source: a batch_id is published once');
like(judged('source', 'days', q{VALUES ('2020-02-03', 1, 1), ('2020-02-03', 2, 2)}, ''), qr/"inserted": 2/, 'source: replaced');
like(judged('source', 'days', q{VALUES ('2020-02-03', 1, 1), ('2020-02-03', 2, -2)}, ''), qr/"rejected"/, 'source: rejected by the worker');
like(judged('source', 'no_gate', q{VALUES (1, 1.25), (2, 1000)}, ''), qr/"rejected"/, 'source: without a gate');
like(judged('source', 'kinds', q{(id, total, code) VALUES (1, 1.5, 'a'), (2, NULL, NULL)}, ", as_of => '2020-02-03'"), qr/"verdict": "(published|rejected)"/, 'source: every kind');
($out, $err) = session($node, q{
	TRUNCATE "S x".days_s;
	UPDATE dq_quarantine.days SET v = 2 WHERE v < 0 AND n = 2;
	SELECT * FROM dq_gate.requeue((SELECT max(run_id) FROM dq_gate.runs WHERE target = '"S x".days'::regclass));
}, db => 'source');
unlike($err, qr/ERROR/, 'source: rows are requeued') or diag($err);

# Leaves a session as it is after some commands; returns a sub that ends it
sub left_open
{
	my ($name, @commands) = @_;
	my $session = background_c($node, [ @commands, 'SELECT pg_sleep(600)' ], db => 'source', name => $name);
	my $at = "FROM pg_stat_activity WHERE application_name = '$name' AND query ~ 'pg_sleep'";

	$node->poll_query_until('source', "SELECT count(*) = 1 $at") or die "$name: $session->{err}";
	return sub {
		my $pid = $node->safe_psql('source', "SELECT pid $at");
		$node->safe_psql('source', "SELECT pg_terminate_backend($pid, 60000)");
		$session->finish;
	};
}

# a temporary table is a target, which no dump can hold
my $end_temporary = left_open('temporary', q{
	CREATE TEMP TABLE fleeting (id int PRIMARY KEY);
	CREATE TEMP TABLE fleeting_s (id int);
	SELECT dq_gate.create_gate('fleeting', 'fleeting_s');
	SELECT dq_gate.expect_range('fleeting', 'id', min => 5);
	CREATE TABLE public.lasting (id int PRIMARY KEY);
	SELECT dq_gate.create_gate('lasting', 'fleeting_s');
	SELECT dq_gate.expect_range('lasting', 'id', min => 5);
	INSERT INTO fleeting_s VALUES (1);
	SELECT dq_gate.publish('fleeting_s', 'fleeting')});
# and another run is under way
my $end_run = left_open('busy', 'BEGIN', q{
	TRUNCATE "S x".synced_s}, q{
	INSERT INTO "S x".synced_s VALUES (9, 'EU', 9), (1, 'EU', 1), (2, 'EU', NULL)},
	'COMMIT', 'BEGIN', q{SELECT dq_gate.publish('"S x".synced_s', '"S x".synced')});

# --- every form of it

sub quietly
{
	my ($name, @command) = @_;
	$node->command_checks_all(\@command, 0, [qr/^$/], [qr/^$/], "$name, and nothing to complain");
	return;
}

sub dumped
{
	my ($name, @options) = @_;
	quietly("pg_dump @options", 'pg_dump', @options, '-f', "$dir/$name", '-d', $node->connstr('source'));
	return;
}

sub restored
{
	my ($name, $db, @options) = @_;
	quietly("$db: pg_restore @options", 'pg_restore', '--exit-on-error', @options, '-d', $node->connstr($db), "$dir/$name");
	return;
}

sub replayed
{
	my ($name, $db) = @_;
	quietly("$db: $name", 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-d', $node->connstr($db), '-f', "$dir/$name");
	return;
}

my @copies = qw(custom tar directory plain cleaned cleaned_plain parts no_owner picked);
foreach my $db (@copies)
{
	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->safe_psql($db, join(';', map { "CREATE TABLE other_$_ (id int PRIMARY KEY, v text)" } 1 .. 9));
}
dumped('custom', '-Fc');
$end_run->();
dumped('tar', '-Ft');
dumped('directory', '-Fd', '-j2');
dumped('plain');
dumped('cleaned_plain', '--clean', '--if-exists');
dumped('schema', '--schema-only');
dumped('data', '--data-only');
dumped('picked', '-Fc', '--extension=*', map { ('-n', $_) } '"S x"', '"My Lake"', 'rules', 'dq_quarantine');
$end_temporary->();

restored('custom', 'custom');
restored('tar', 'tar');
restored('directory', 'directory', '-j2');
replayed('plain', 'plain');
foreach my $db ('cleaned', 'cleaned_plain')
{
	restored('custom', $db);
	judged($db, 'days', q{VALUES ('2020-02-03', 1, 1), ('2020-02-03', 2, -2)}, '');
}
restored('custom', 'cleaned', '--clean', '--if-exists');
replayed('cleaned_plain', 'cleaned_plain');
replayed('schema', 'parts');
replayed('data', 'parts');
restored('custom', 'no_owner', '--no-owner', '--no-acl');
restored('picked', 'picked');

# where all belongs to who restored, the roles of the gates have no rights until a gate gets another one
like(judged('no_owner', 'days', q{VALUES ('2020-02-03', 1, 1)}, ''),
	qr/ERROR:  42501: permission denied for table "S x"\.days_s/, 'no_owner: the role of the gate has no rights');

# --- everything that is kept is the same

my $kept = $node->safe_psql('source', q{
	SELECT string_agg(format('SELECT %L, coalesce(string_agg(t::text, E''\n'' ORDER BY t::text), '''') FROM %s t', c.oid::regclass, c.oid::regclass), ' UNION ALL ' ORDER BY c.oid::regclass::text COLLATE "C")
	FROM pg_class c WHERE (c.oid = ANY ((SELECT extconfig FROM pg_extension WHERE extname = 'dq_gate')::oid[]) OR (relnamespace = 'dq_quarantine'::regnamespace AND relname <> 'fleeting')) AND relkind IN ('r', 'S')});
$kept =~ s/'dq_gate\.run_id_seq', .*? FROM dq_gate.run_id_seq t/'dq_gate.run_id_seq', last_value::text FROM dq_gate.run_id_seq/;
# what is about temporary tables is not dumped
my $fleeting = $node->safe_psql('source', q{SELECT count(*) FROM dq_gate.runs WHERE gate ~ '^pg_temp'});
is($fleeting, '1', 'source: a run of a temporary table');
is($node->safe_psql('custom', q{SELECT count(*) FROM dq_gate.runs WHERE gate ~ '^pg_temp'}), '0', 'is not dumped');
is($node->safe_psql('custom', q{SELECT string_agg(target::text, ' ' ORDER BY target::text COLLATE "C") FROM dq_gate.gates}),
	'"My Lake"."Or""ders" "S x"."T ""1" "S x".days "S x".synced', 'and neither is a gate of one');

$node->safe_psql('source', q{CREATE TABLE wind (id int); DROP TABLE wind});
is($node->safe_psql('source', q{SELECT count(*) FROM dq_gate.gates WHERE staging IS NULL}), '1', 'a temporary staging table is forgotten once it is gone');
$node->safe_psql('source', q{
	SELECT dq_gate.drop_gate('lasting');
	DELETE FROM dq_gate.runs WHERE gate ~ '^pg_temp'});
my $source = $node->safe_psql('source', $kept);
is($node->safe_psql($_, $kept), $source, "$_: everything is kept") foreach (@copies);

$node->safe_psql('no_owner', 'SELECT dq_gate.alter_gate(target, run_as => CURRENT_USER::regrole) FROM dq_gate.gates');

# --- and judges as the source does

my @batches = (
	[ 't', t_batch(101, 'n % 7', "'n' || n"), ", as_of => '2020-02-08'" ],
	[ 't', t_batch(400, 'n % 7', "'n' || n"), ", as_of => '2020-02-09'" ],
	[ 't', t_batch(100, 'n % 50', "'a long name' || n") . q{ UNION ALL SELECT 5000, 'none', 'bad "x"', 1000, 'x', NULL, now(), NULL}, '' ],
	[ 'synced', q{VALUES (1, 'EU', 1), (2, 'EU', 2), (3, 'EU', 3)}, ", batch_id => 'first'" ],
	[ 'synced', q{VALUES (1, 'EU', 1), (2, 'EU', 2)}, ", batch_id => 'first'" ],
	[ 'synced', q{VALUES (1, 'EU', 7), (2, 'EU', 2), (4, 'US', 3)}, '' ],
	[ 'synced', q{VALUES (1, 'EU', 7)}, '' ],
	[ 'days', q{VALUES ('2020-02-03', 7, 1)}, '' ],
	[ 'days', q{VALUES ('2020-02-03', 7, -1)}, '' ],
	[ 'no_gate', q{VALUES (1, 1.25), (2, 10)}, '' ],
	[ 'kinds', q{(id, total, code) VALUES (1, 1.5, 'a'), (2, NULL, NULL), (3, 7, 'EU')}, ", as_of => '2020-02-04'" ]);
my $found = '';
foreach my $batch (@batches)
{
	my $expected = judged('source', @$batch);
	$found .= $expected;
	is(judged($_, @$batch), $expected, "$_: judges $batch->[0] $batch->[2]") foreach (@copies);
}
like($found, qr/"volume: [^"]*: 400 rows/, 'the volume was judged');
like($found, qr/"verdict": "skipped"/, 'a batch was known');
like($found, qr/ERROR:  23DQ4/, 'and other content under its name');
like($found, qr/old_name does not exist/, 'the renamed column was missed');

my $told = q{SELECT regexp_replace(dq_gate.report('"S x"."T ""1"'), '\d\d:\d\d:\d\d[^ ]*|\d{8}T\d{6}\.\d+Z|backend \d+|\d+(\.\d+)? m?s', 'x', 'g')};
foreach my $db (@copies)
{
	is($node->safe_psql($db, 'SELECT max(run_id) = (SELECT last_value FROM dq_gate.run_id_seq) FROM dq_gate.runs'), 't', "$db: the numbers go on");
	is($node->safe_psql($db, $told), $node->safe_psql('source', $told), "$db: the report is the same")
	  if $db !~ /cleaned|no_owner/;
	is($node->safe_psql($db, q{SELECT count(*) FROM pg_class WHERE relnamespace = 'dq_quarantine'::regnamespace AND relkind = 'r'}),
		$node->safe_psql('source', q{SELECT count(*) FROM pg_class WHERE relnamespace = 'dq_quarantine'::regnamespace AND relkind = 'r'}),
		"$db: rejected rows went where those before them are");
}

# --- the whole cluster, roles first, into one that knows nothing

my $second = PostgreSQL::Test::Cluster->new('second');
$second->init;
$second->append_conf('postgresql.conf', "timezone = 'UTC'");
$second->start;
$node->command_ok([ 'pg_dumpall', '-d', $node->connstr('postgres'), '-f', "$dir/all", '--no-role-passwords' ], 'pg_dumpall');
my $superuser = $node->safe_psql('postgres', 'SELECT CURRENT_USER');
$second->command_checks_all([ 'psql', '-Xq', '-o', '/dev/null', '-d', $second->connstr('postgres'), '-f', "$dir/all" ],
	0, [qr/^$/], [qr/^(?:psql:\S+ ERROR:  role "\Q$superuser\E" already exists\n)?$/], 'restored');
is($second->safe_psql('source', $kept),
	$node->safe_psql('source', $kept), 'pg_dumpall: everything is kept');
my @last = ('days', q{VALUES ('2020-02-03', 7, -1), ('2020-02-04', 8, 1)}, '');
my $expected = judged('source', @last);
{
	my $first = $node;
	$node = $second;
	is(judged('source', @last), $expected, 'pg_dumpall: judges as the source does');
	$node = $first;
}

# --- a role that dumps without being a superuser

$node->safe_psql('postgres', 'CREATE ROLE backup LOGIN BYPASSRLS; GRANT pg_read_all_data TO backup; CREATE ROLE curious LOGIN; GRANT pg_read_all_data TO curious');
$node->command_checks_all([ 'pg_dump', '-Fc', '-f', "$dir/backup", '-d', $node->connstr('source') . ' user=backup' ], 0, [qr/^$/], [qr/^$/], 'a role with BYPASSRLS and pg_read_all_data dumps');
$node->command_checks_all([ 'pg_dump', '-Fc', '-f', "$dir/curious", '-d', $node->connstr('source') . ' user=curious' ], 1, [qr/^$/], [qr/query would be affected by row-level security policy for table "\w+"/],
	'one that does not see all rows gets no part of them');

# --- roles that are missing: an error, and the way out of it

$second->safe_psql('postgres', q{DROP DATABASE source; DROP DATABASE custom; CREATE DATABASE late});
$second->safe_psql('postgres', "DROP DATABASE $_") foreach grep { $_ ne 'custom' } @copies;
$second->safe_psql('postgres', 'DROP ROLE worker; DROP ROLE keeper');
$second->command_checks_all([ 'pg_restore', '-d', $second->connstr('late'), "$dir/backup" ],
	1, [qr/^$/], [qr/COPY failed for table "gates": ERROR:  role "keeper" does not exist/], 'roles are missing: restore says so');
is($second->safe_psql('late', 'SELECT count(*) FROM dq_gate.gates'), '0', 'and there are no gates');
$second->safe_psql('late', 'DROP EXTENSION dq_gate');
$second->safe_psql('postgres', 'DROP DATABASE late; CREATE DATABASE late; CREATE ROLE keeper LOGIN; CREATE ROLE worker LOGIN; GRANT worker TO keeper');
$second->command_checks_all([ 'pg_restore', '--exit-on-error', '-d', $second->connstr('late'), "$dir/backup" ], 0, [qr/^$/], [qr/^$/], 'with the roles: all of it');
is($second->safe_psql('late', 'SELECT count(*) FROM dq_gate.gates'), '4', 'and the gates are there');

log_is_clean($node);
log_is_clean($second);
$node->stop;
$second->stop;
done_testing();
