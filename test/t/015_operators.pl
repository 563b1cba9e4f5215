# Roles that were granted to run a gate without being members of its role: what
# they may do, what they may not, and that no value of a row reaches them.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest qw(:DEFAULT as must $status $out $err);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('operators');

$node->safe_psql('postgres', q{
	CREATE ROLE etl LOGIN;
	CREATE ROLE etl_2 LOGIN;
	CREATE ROLE op LOGIN;
	CREATE ROLE crew;
	CREATE ROLE "Op 2" LOGIN IN ROLE crew;
	CREATE ROLE distant LOGIN NOINHERIT IN ROLE crew;
	CREATE ROLE outsider LOGIN;
	CREATE SCHEMA mart AUTHORIZATION etl;
	GRANT USAGE ON SCHEMA mart TO PUBLIC;
});

must('etl', q{
	CREATE TABLE mart.sale (id int PRIMARY KEY, n int, note text);
	CREATE TABLE mart.sale_staging (id int, n int, note text);
	CREATE TABLE mart.other_staging (id int, n int, note text);
	INSERT INTO mart.sale_staging VALUES (1, 1, 'a'), (2, 2, 'b');
	INSERT INTO mart.other_staging VALUES (3, 3, 'c');
	SELECT dq_gate.create_gate('mart.sale', 'mart.sale_staging', key => '{id}');
	SELECT dq_gate.expect_range('mart.sale', 'n', min => 0, action => 'quarantine');
});
my $publish = "SELECT verdict FROM dq_gate.publish('mart.sale_staging', 'mart.sale')";

# === the grant

is(as('op', $publish), '42501: permission denied for gate mart.sale', 'no operator yet: refused');
like($err, qr/^DETAIL:  It runs as role etl, and role op is not a member of it, nor an operator of the gate\.$/m, 'and told why');
like($err, qr/^HINT:  A member of role etl can let it run the gate with SELECT dq_gate\.grant_operator\('mart\.sale', 'op'\)\.$/m, 'and who can help');
is(as('Op 2', $publish), '42501: permission denied for gate mart.sale', 'a quoted name');
my ($way_out) = $err =~ /^HINT:.*with (SELECT .*)\.$/m;
must('etl', $way_out);
is(as('Op 2', $publish), 'published', 'the hint, executed, lets the role in');
is(as('etl', q{SELECT dq_gate.revoke_operator('mart.sale', '"Op 2"'), dq_gate.revoke_operator('mart.sale', '"Op 2"')}), 't|f',
	'and it is taken back, once');
is(as('Op 2', $publish), '42501: permission denied for gate mart.sale', 'then it is out again');

is(as('etl', "SELECT dq_gate.grant_operator('mart.sale', 'op'), dq_gate.grant_operator('mart.sale', 'op')"), 't|f', 'granted, once');
must('etl', "SELECT dq_gate.grant_operator('mart.sale', 'crew')");
is(as('op', $publish), 'published', 'an operator may publish');
is(as('Op 2', $publish), 'published', 'so may who has the privileges of one');
is(as('distant', $publish), '42501: permission denied for gate mart.sale', 'but not who would have to SET ROLE first');
is(as('distant', [ 'SET ROLE crew', $publish ]), 'published', 'until he does');
is($node->safe_psql('postgres', 'SELECT called_by, run_as FROM dq_gate.runs ORDER BY run_id DESC LIMIT 1 OFFSET 2'), 'op|etl',
	'the run acted as the role of the gate, and names the caller');
is(as('op', 'SELECT operator, granted_by FROM dq_gate.operators'), 'op|etl', 'an operator sees his own grant');
is(as('op', 'SELECT target, staging, run_as FROM dq_gate.gates'), 'mart.sale|mart.sale_staging|etl', 'and the gate');
is(as('etl', 'SELECT string_agg(operator::text, $$,$$ ORDER BY operator::text) FROM dq_gate.operators'), 'crew,op', 'the role of the gate sees all');
is(as('outsider', 'SELECT count(*) FROM dq_gate.operators'), '0', 'others see none');
is(as('op', "SELECT dq_gate.may_run('mart.sale'), dq_gate.may_run('mart.sale', 'mart.sale_staging'), dq_gate.may_run('mart.sale', 'mart.other_staging')"),
	't|t|f', 'may_run of an operator');
is(as('etl', "SELECT dq_gate.may_run('mart.sale'), dq_gate.may_run('mart.sale', 'mart.other_staging')"), 't|t', 'may_run of a member');
is(as('outsider', "SELECT dq_gate.may_run('mart.sale')"), 'f', 'may_run of others');

foreach my $call ("grant_operator(NULL, 'op')", "revoke_operator('mart.sale', NULL)", 'may_run(NULL)')
{
	like(as('etl', "SELECT dq_gate.$call"), qr/^22004: /, "$call");
}
is(as('etl', "SELECT dq_gate.grant_operator('mart.sale', '4711')"), '42704: role with OID 4711 does not exist', 'a role that is none');
is(as('etl', "SELECT dq_gate.grant_operator('mart.sale', 'nobody_of_that_name')"), '42704: role "nobody_of_that_name" does not exist', 'nor by name');
is(as('etl', "SELECT dq_gate.grant_operator('mart.other_staging', 'op')"), '42704: no gate is registered for mart.other_staging', 'no gate');

# === what an operator may not

my @not_his = ("grant_operator('mart.sale', 'outsider')", "revoke_operator('mart.sale', 'op')", "alter_gate('mart.sale', owner => 'me')",
	"alter_gate('mart.sale', staging => 'mart.other_staging')", "alter_gate('mart.sale', run_as => 'op')", "drop_gate('mart.sale')",
	"expect_range('mart.sale', 'n', max => 1)", "expect_sql('mart.sale', 'mine', 'n > 0')", "drop_check('mart.sale', 'n_range')",
	"import_gate(dq_gate.export_gate('mart.sale'))", q{import_gate('{"target": "mart.sale", "checks": []}')},
	"calibrate('mart.sale', true)", "calibrate('mart.sale')", "checks_of('mart.sale')", "export_gate('mart.sale')", "constraint_ddl('mart.sale')");
foreach my $call (@not_his)
{
	like(as('op', "SELECT dq_gate.$call"), qr/^42501: permission denied for (gate|table) mart\.sale/, "an operator may not $call");
}
my $before = $node->safe_psql('postgres', 'SELECT count(*), (SELECT last_value FROM dq_gate.run_id_seq) FROM dq_gate.runs');
my $pair = "'mart.other_staging', 'mart.sale'";
foreach my $sql ("SELECT dq_gate.publish($pair)", "CALL dq_gate.publish_or_fail($pair)", "SELECT dq_gate.audit($pair)", "SELECT dq_gate.preview($pair)",
	"SELECT dq_gate.publish('mart.sale_staging', 'mart.other_staging')")
{
	like(as('op', $sql), qr/^42501: permission denied for /, "no other table: $sql");
}
is(as('op', "SELECT dq_gate.publish($pair)"), '42501: permission denied for staging table mart.other_staging of gate mart.sale', 'another staging table');
like($err, qr/^DETAIL:  Role op is an operator of the gate and not a member of role etl, .*: mart\.sale_staging\.$/m, 'and which one is his');
like($err, qr/^HINT:  A member of role etl can name it with SELECT dq_gate\.alter_gate\('mart\.sale', staging => 'mart\.other_staging'\)\.$/m, 'and the way out');
$node->safe_psql('postgres', 'CREATE TABLE public.mine (id int, n int, note text); ALTER TABLE public.mine OWNER TO op; GRANT SELECT ON public.mine TO etl');
like(as('op', "SELECT dq_gate.publish('public.mine', 'mart.sale')"), qr/^42501: permission denied for staging table public\.mine/, 'neither one of his own');
like(as('op', [ 'CREATE TEMP TABLE sale_staging (id int, n int, note text)', "SELECT dq_gate.publish('sale_staging', 'mart.sale')" ]),
	qr/^42501: permission denied for staging table pg_temp_\d+\.sale_staging/, 'nor a temporary one of the same name');
is($node->safe_psql('postgres', 'SELECT count(*), (SELECT last_value FROM dq_gate.run_id_seq) FROM dq_gate.runs'), $before, 'what is refused leaves no trace');
like(as('op', 'SELECT * FROM mart.sale'), qr/^42501: /, 'the target stays closed');
like(as('op', 'SELECT * FROM mart.sale_staging'), qr/^42501: /, 'so does staging');
is(as('op', 'SELECT count(*) FROM dq_gate.runs'), '0', 'so does the log');
must('etl', 'CREATE TABLE mart.bare (id int PRIMARY KEY); CREATE TABLE mart.bare_staging (id int);'
	. q{SELECT dq_gate.create_gate('mart.bare'), dq_gate.grant_operator('mart.bare', 'op')});
like(as('op', "SELECT dq_gate.publish('mart.bare_staging', 'mart.bare')"), qr/^42501: permission denied for staging table mart\.bare_staging/,
	'a gate without a staging table has no operators, in effect');
like($err, qr/, which names none\.$/m, 'and says so');

# === nothing that an operator brings along runs as the role of the gate

$node->safe_psql('postgres', q{CREATE SCHEMA op_s AUTHORIZATION op; GRANT USAGE ON SCHEMA op_s TO PUBLIC});
must('op', q{
	CREATE FUNCTION op_s.helper(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'op_s as %', current_user; RETURN $1; END $$;
	CREATE FUNCTION op_s.helped() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'op_s as %', current_user; RETURN 1; END $$;
	CREATE TABLE op_s.known (id int);
	GRANT SELECT ON op_s.known TO PUBLIC;
});
must('etl', q{
	CREATE FUNCTION mart.helper(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
	CREATE TABLE mart.known AS SELECT 1 AS id;
	CREATE TABLE mart.trig (id int PRIMARY KEY, note text);
	CREATE TABLE mart.trig_staging (id int, note text);
	INSERT INTO mart.trig_staging VALUES (1, 'a');
	CREATE FUNCTION mart.fire() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		NEW.note := helper(NEW.note) || (SELECT count(*) FROM known);
		RETURN NEW;
	END $$;
	CREATE FUNCTION mart.is_known(int) RETURNS bool LANGUAGE plpgsql STABLE SET search_path = mart AS $$ BEGIN RETURN EXISTS (SELECT FROM known WHERE id = $1); END $$;
	CREATE TRIGGER fire BEFORE INSERT OR UPDATE ON mart.trig FOR EACH ROW EXECUTE FUNCTION mart.fire();
	SELECT dq_gate.create_gate('mart.trig', 'mart.trig_staging'), dq_gate.grant_operator('mart.trig', 'op');
	SELECT dq_gate.expect_sql('mart.trig', 'known', 'mart.is_known(id)');
});
my $trig = "SELECT verdict FROM dq_gate.publish('mart.trig_staging', 'mart.trig')";
is(as('op', [ 'SET search_path = op_s, mart', $trig ]), 'failed', 'a trigger finds nothing by the search_path of an operator');
unlike($err, qr/op_s as/, 'and calls none of his functions');
is($node->safe_psql('postgres', 'SELECT error FROM dq_gate.runs ORDER BY run_id DESC LIMIT 1'), 'function helper(text) does not exist', 'as the log says');
is(as('etl', [ 'SET search_path = mart', $trig ]), 'published', 'that of a member it takes');
must('etl', "ALTER FUNCTION mart.fire() SET search_path = mart, pg_temp; UPDATE mart.trig_staging SET note = 'b'");
is(as('op', [ 'SET search_path = op_s, mart', $trig ]), 'published', 'one that names its own is as good for an operator');
foreach my $temp ('CREATE TEMP TABLE known (id int)', 'CREATE TEMP VIEW known AS SELECT op_s.helped() AS id', 'CREATE DOMAIN pg_temp.int4 AS pg_catalog.int4')
{
	foreach my $call ('publish', 'audit', 'preview')
	{
		is(as('op', [ $temp, "SELECT dq_gate.$call('mart.trig_staging', 'mart.trig')" ]),
			'55000: role op cannot run gate mart.trig in a session that has temporary tables, views or types', "not with temporary objects: $temp, $call");
		unlike($err, qr/op_s as/, 'so that none is found');
	}
	is(as('op', [ $temp, 'DISCARD TEMP', $trig ]), 'published', 'but without them again');
	is(as('etl', [ $temp =~ s/op_s.helped../1/r, $trig ]), $temp =~ /TABLE/ ? 'rejected' : 'published', 'a member may, and has himself to blame');
}

# === what he may, in all modes, and the quarantine as well

must('etl', "INSERT INTO mart.sale_staging VALUES (3, -3, 'c')");
is(as('op', "SELECT verdict, quarantined FROM dq_gate.publish('mart.sale_staging', 'mart.sale', 'b1', '2026-01-01', '{\"row_count\": 3}')"), 'published|1',
	'a batch with a name, and a row for quarantine');
my $run = $node->safe_psql('postgres', 'SELECT max(run_id) FROM dq_gate.runs');
like(as('op', 'SELECT * FROM dq_quarantine.sale'), qr/^42501: /, 'which he cannot read');
is(as('op', "SELECT verdict FROM dq_gate.audit('mart.sale_staging', 'mart.sale')"), 'audited', 'audit');
is(as('op', "SELECT string_agg(row_count || ' ' || change, ', ' ORDER BY change) FROM dq_gate.preview('mart.sale_staging', 'mart.sale') WHERE row_count > 0"),
	'1 quarantined, 2 unchanged', 'preview counts');
like(as('op', "SELECT dq_gate.requeue($run, 'mart.other_staging')"), qr/^42501: permission denied for staging table/, 'requeue, not into another table');
must('etl', 'TRUNCATE mart.sale_staging');
is(as('op', "SELECT requeued, dry_run FROM dq_gate.requeue($run, dry_run => true)"), '1|t', 'requeue, as a question');
is(as('op', "SELECT requeued FROM dq_gate.requeue($run)"), '1', 'requeue');
is($node->safe_psql('postgres', 'SELECT id, requeued_by FROM mart.sale_staging JOIN dq_quarantine.sale USING (id)'), '3|op', 'and is named as who did it');
must('etl', "UPDATE mart.sale_staging SET n = 30; SELECT dq_gate.alter_gate('mart.sale', after_publish => 'delete', on_new_column => 'evolve');"
	. 'ALTER TABLE mart.sale_staging ADD extra text');
is(as('op', "SELECT verdict, inserted FROM dq_gate.publish('mart.sale_staging', 'mart.sale')"), 'published|1', 'what the gate was set up to do is done: evolve, delete');
is($node->safe_psql('postgres', q{SELECT count(*), (SELECT count(*) FROM pg_attribute WHERE attrelid = 'mart.sale'::regclass AND attname = 'extra') FROM mart.sale_staging}),
	'0|1', 'staging is emptied, the target has the column');
must('etl', "SELECT dq_gate.alter_gate('mart.sale', after_publish => 'keep', on_new_column => 'fail')");

# === no value of a row comes out of any door, be it by an error

must('etl', q{
	CREATE TABLE mart.safe (id text PRIMARY KEY, n int, code text UNIQUE, at date, amount int);
	CREATE TABLE mart.safe_staging (id text, n text, code text, at text, amount int DEFAULT 42425);
	INSERT INTO mart.safe VALUES ('SECRET-0', 0, 'SECRET-c0', '2026-01-01');
	SELECT dq_gate.create_gate('mart.safe', 'mart.safe_staging', profile => true);
	SELECT dq_gate.expect_volume('mart.safe', action => 'declare');
	SELECT dq_gate.expect_accepted_values('mart.safe', 'code', '{x,y}', name => 'known', action => 'quarantine');
	SELECT dq_gate.expect_pattern('mart.safe', 'id', '^[A-Z]', action => 'warn');
	SELECT dq_gate.expect_aggregate('mart.safe', 'largest', 'max(length(code)) + 424242', max => 1, action => 'warn');
	SELECT dq_gate.expect_sql('mart.safe', 'broken', 'code::int > 0', action => 'warn');
	SELECT dq_gate.grant_operator('mart.safe', 'op');
	INSERT INTO mart.safe_staging VALUES ('SECRET-1', 'SECRET-n1', 'SECRET-c1', 'SECRET-d'), ('SECRET-2', '2', 'x', NULL), ('secret-SECRET', '3', 'SECRET-c0', NULL);
	CREATE FUNCTION mart.tell() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		RAISE EXCEPTION 'I tell you: %', NEW.id USING DETAIL = NEW.code, HINT = NEW.n;
	END $$;
});
my $safe = "'mart.safe_staging', 'mart.safe'";
my @doors = ("SELECT * FROM dq_gate.publish($safe, totals => '{\"amount\": 1}')", "SELECT * FROM dq_gate.publish($safe)", "SELECT * FROM dq_gate.audit($safe)", "CALL dq_gate.publish_or_fail($safe)",
	"SELECT * FROM dq_gate.preview($safe, samples => 20)", 'SELECT * FROM dq_gate.requeue(%d)', 'SELECT * FROM dq_gate.requeue(%d, dry_run => true)',
	"SELECT * FROM dq_gate.audit_table('mart.safe')", "SELECT * FROM dq_gate.checks_of('mart.safe')", 'SELECT * FROM dq_gate.results_of(%d)',
	'SELECT * FROM dq_gate.rules_of(%d)', 'SELECT * FROM dq_gate.explain_run(%d)', "SELECT * FROM dq_gate.report('mart.safe')",
	"SELECT * FROM dq_gate.suggest_checks('mart.safe')", "SELECT * FROM dq_gate.calibrate('mart.safe')", "SELECT dq_gate.export_gate('mart.safe')",
	"SELECT * FROM dq_gate.constraint_ddl('mart.safe')", 'SELECT * FROM dq_gate.overdue()',
	map({ "SELECT * FROM dq_gate.$_" } split /\n/, $node->safe_psql('postgres',
			q{SELECT relname FROM pg_class WHERE relnamespace = 'dq_gate'::regnamespace AND relkind IN ('r', 'v') ORDER BY 1})),
	'SELECT * FROM dq_quarantine.safe', 'SELECT * FROM mart.safe_staging', 'SELECT * FROM mart.safe');
my %told;
# what is in the tables, and what some rows add up to
my $value = qr/SECRET|I tell you|42425|84850|127275/;

sub go_through
{
	my ($name, @sql) = @_;
	$run = $node->safe_psql('postgres', q{SELECT max(run_id) FROM dq_gate.runs WHERE gate = 'mart.safe'}) || 0;
	foreach my $door (@sql ? @sql : @doors)
	{
		my $sql = sprintf $door, $run;
		foreach my $user ('op', 'etl')
		{
			($status, $out, $err) = psql_c($node, $sql, user => $user);
			unlike("$out$err", $value, "$name: $sql") if $user eq 'op';
			$told{$door}++ if $user eq 'etl' && "$out$err" =~ $value;
			# a run of the other one, for the doors that look at one
			$run = $node->safe_psql('postgres', q{SELECT max(run_id) FROM dq_gate.runs WHERE gate = 'mart.safe'});
		}
	}
	return;
}

go_through('a batch that is rejected');
must('etl', q{TRUNCATE mart.safe_staging; INSERT INTO mart.safe_staging VALUES ('SECRET-1', '1', 'y', NULL), ('SECRET-2', '2', 'SECRET-c9', NULL);
	SELECT dq_gate.drop_check('mart.safe', 'known');
	CREATE TRIGGER tell BEFORE INSERT ON mart.safe FOR EACH ROW EXECUTE FUNCTION mart.tell()});
go_through('a publish that fails', grep { /publish/ } @doors);
is(as('op', "SELECT failures FROM dq_gate.publish($safe)") =~ /publish: SQLSTATE P0001/, 1, 'the operator is told what kind of error it was');
is($node->safe_psql('postgres', q{SELECT error FROM dq_gate.runs ORDER BY run_id DESC LIMIT 1}), 'I tell you: SECRET-1 (y)', 'the log has all of it');
like(as('op', "SELECT failures FROM dq_gate.audit($safe)"), qr/"broken: could not be evaluated \(warn\)"/, 'a check that is broken is told as that');
must('etl', q{DROP TRIGGER tell ON mart.safe; TRUNCATE mart.safe_staging;
	CREATE TRIGGER tell BEFORE INSERT ON mart.safe_staging FOR EACH ROW EXECUTE FUNCTION mart.tell()});
go_through('a requeue that fails', 'SELECT * FROM dq_gate.requeue(%d)');
$run = $node->safe_psql('postgres', q{SELECT max(run_id) FROM dq_gate.runs WHERE gate = 'mart.safe' AND quarantined > 0});
is(as('op', "SELECT * FROM dq_gate.requeue($run)"), 'P0001: gate mart.safe: an error with SQLSTATE P0001', 'the operator is told what kind of error it was');
like($err, qr/^DETAIL:  What it says may show values of rows, and role op may not read all of the tables of the gate\.$/m, 'and why no more');
must('etl', q{DROP TRIGGER tell ON mart.safe_staging; INSERT INTO mart.safe_staging VALUES ('SECRET-1', '1', 'y', NULL)});
go_through('rows that are staged again', 'SELECT * FROM dq_gate.requeue(%d)');
foreach my $door (grep { /publish|audit\(|preview|requeue\(%d\)|audit_table|results|explain|report|quarantine|profiles|failed_checks/ } @doors)
{
	next if $door =~ /dq_gate\.quarantines/;
	ok($told{$door}, "the role of the gate is shown values: $door");
}

# an operator who may read both tables is shown them, and so is one of the log who may read the target
must('etl', 'GRANT SELECT ON mart.safe, mart.safe_staging TO op');
like(as('op', "SELECT * FROM dq_gate.preview($safe)"), qr/SECRET/, 'an operator who may read is shown values by preview');
like(as('op', 'SELECT sample FROM dq_gate.results'), qr/SECRET/, 'and by the log');
like(as('op', "SELECT * FROM dq_gate.audit_table('mart.safe')"), qr/SECRET/, 'and by audit_table');
must('etl', 'REVOKE SELECT ON mart.safe_staging FROM op');
unlike(as('op', "SELECT * FROM dq_gate.preview($safe)"), qr/SECRET/, 'who may not read staging gets none by preview');

# === roles come and go

$node->safe_psql('postgres', 'ALTER ROLE op RENAME TO pilot');
is(as('pilot', $publish =~ s/sale/bare/gr), '42501: permission denied for staging table mart.bare_staging of gate mart.bare', 'a role that is renamed stays operator');
is(as('pilot', "SELECT dq_gate.may_run('mart.sale')"), 't', 'of all its gates');
is(as('etl', 'SELECT string_agg(DISTINCT operator::text, $$,$$) FROM dq_gate.operators'), 'crew,pilot', 'under its new name');
$node->safe_psql('postgres', 'REVOKE SELECT ON mart.safe FROM pilot; DROP TABLE public.mine; DROP SCHEMA op_s CASCADE; DROP ROLE pilot; CREATE ROLE pilot LOGIN; CREATE ROLE op LOGIN');
foreach my $name ('pilot', 'op')
{
	is(as($name, "SELECT dq_gate.may_run('mart.sale')"), 'f', "a later role named $name inherits nothing");
}
must('etl', "INSERT INTO mart.sale_staging VALUES (9, 9, 'i')");
is(as('Op 2', $publish), 'published', 'the gate is as good as before, for others');
like($node->safe_psql('postgres', 'SELECT string_agg(operator::text, $$,$$) FROM dq_gate.operators'), qr/\d{5}/, 'what is left is a number');

# a dump has none of that, and the grants of the others
my $dump = $node->basedir . '/dump.sql';
command_ok([ 'pg_dump', '-p', $node->port, '-h', $node->host, '-f', $dump, 'postgres' ], 'dumped');
unlike(slurp_file($dump) =~ /^COPY dq_gate\.operators (.*?)^\\\./ms ? $1 : 'nothing', qr/^mart\.\w+\t\d|nothing/m, 'the dump names no role by number');
$node->safe_psql('postgres', 'CREATE DATABASE again');
command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-p', $node->port, '-h', $node->host, '-d', 'again', '-f', $dump ], 'restored');
is($node->safe_psql('again', 'SELECT target, operator, granted_by FROM dq_gate.operators'), 'mart.sale|crew|etl', 'the grant is back');
is(as('Op 2', $publish, db => 'again'), 'published', 'and good');
$node->safe_psql('postgres', 'DROP DATABASE again');

is(as('etl', "SELECT dq_gate.grant_operator('mart.bare', '\"Op 2\"')"), 't', 'the next grant');
is($node->safe_psql('postgres', 'SELECT string_agg(target || $$ $$ || operator::text, $$,$$ ORDER BY 1) FROM dq_gate.operators'),
	'mart.sale crew,mart.bare "Op 2"', 'removes what is left of roles that were dropped');

# === the gate comes and goes

$node->safe_psql('postgres', 'GRANT etl_2 TO etl');
must('etl', q{GRANT ALL ON mart.sale, mart.sale_staging TO etl_2; SELECT dq_gate.alter_gate('mart.sale', run_as => 'etl_2')});
is(as('Op 2', $publish), 'published', 'with another role of the gate its operators stay');
is($node->safe_psql('postgres', 'SELECT called_by, run_as FROM dq_gate.runs ORDER BY run_id DESC LIMIT 1'), 'Op 2|etl_2', 'and run as that');
like(as('etl_2', "SELECT dq_gate.drop_gate('mart.sale')"), qr/^$/, 'a gate that is dropped');
must('etl', "SELECT dq_gate.create_gate('mart.sale', 'mart.sale_staging')");
is(as('Op 2', $publish), '42501: permission denied for gate mart.sale', 'takes its grants with it');
must('etl', 'DROP TABLE mart.bare');
is($node->safe_psql('postgres', 'SELECT count(*) FROM dq_gate.operators WHERE target::text !~ $$^mart.safe$$'), '0', 'so does a table that is dropped');
foreach my $sql ("INSERT INTO dq_gate.operators (target, operator) VALUES ('mart.sale', 'outsider')", 'DELETE FROM dq_gate.operators',
	"UPDATE dq_gate.operators SET operator = 'outsider'")
{
	is(as($_, $sql), '42501: permission denied for table operators', "$_: $sql") foreach 'outsider', 'etl';
}

log_is_clean($node);
$node->stop;
done_testing();
