# The documented roles, each with what it may not: who may not read all of a
# table learns nothing that was found in it, quarantined rows are the gate's
# role's alone, and no run lends the rights of whoever calls or owns dq_gate.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest qw(:DEFAULT as must $status $out $err);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('roles');
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');

$node->safe_psql('postgres', q{
	CREATE ROLE etl LOGIN;
	CREATE ROLE etl_2 LOGIN;
	CREATE ROLE loader LOGIN;
	CREATE ROLE op LOGIN;
	CREATE ROLE reader LOGIN;
	CREATE ROLE by_policy LOGIN;
	CREATE ROLE by_column LOGIN;
	CREATE ROLE no_usage LOGIN;
	CREATE ROLE stager LOGIN;
	CREATE ROLE outsider LOGIN;
	GRANT etl_2 TO etl;
	CREATE SCHEMA mart AUTHORIZATION etl;
	GRANT USAGE ON SCHEMA mart TO etl_2, loader, op, reader, by_policy, by_column, stager, outsider;
	CREATE SCHEMA IF NOT EXISTS dq_quarantine;
	GRANT USAGE ON SCHEMA dq_quarantine TO PUBLIC;
	-- what an installation may have set up for other tables
	ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC;
	ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO outsider WITH GRANT OPTION;
	ALTER DEFAULT PRIVILEGES IN SCHEMA dq_quarantine GRANT SELECT ON TABLES TO reader;
	ALTER DEFAULT PRIVILEGES FOR ROLE etl GRANT SELECT ON TABLES TO PUBLIC;
	ALTER DEFAULT PRIVILEGES FOR ROLE etl IN SCHEMA dq_quarantine GRANT SELECT ON TABLES TO reader;
});

# === what may be read

must('etl', q{
	CREATE TABLE mart.t (id text PRIMARY KEY, tenant text, n int);
	CREATE TABLE mart.s (id text, tenant text, n text);
	REVOKE ALL ON mart.t, mart.s FROM PUBLIC;
	GRANT SELECT ON mart.t TO reader, by_policy, no_usage;
	GRANT SELECT (id, tenant) ON mart.t TO by_column;
	GRANT SELECT ON mart.s TO stager;
	GRANT SELECT, INSERT, TRUNCATE ON mart.s TO loader;
	ALTER TABLE mart.t ENABLE ROW LEVEL SECURITY;
	CREATE POLICY own ON mart.t TO by_policy USING (tenant = current_user);
	SELECT dq_gate.create_gate('mart.t', 'mart.s', key => '{id}', profile => true);
	SELECT dq_gate.expect_range('mart.t', 'n', max => 100, action => 'quarantine');
	SELECT dq_gate.expect_sql('mart.t', 'broken', 'tenant::int > 0', action => 'warn');
	SELECT dq_gate.expect_volume('mart.t', action => 'declare');
	SELECT dq_gate.grant_operator('mart.t', 'op');
});
$node->safe_psql('postgres', 'ALTER ROLE reader BYPASSRLS; ALTER ROLE etl_2 BYPASSRLS');
must('loader', q{INSERT INTO mart.s VALUES ('SECRET-1', 'by_policy', '1'), ('SECRET-2', 'SECRET-x', '2'), ('SECRET-3', 'SECRET-x', '30000')});
my $publish = "SELECT verdict, quarantined FROM dq_gate.publish('mart.s', 'mart.t')";
is(as('op', $publish), 'published|1', 'a batch with something of everything');
must('etl', q{CREATE FUNCTION mart.tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'SECRET-e %', NEW.tenant; END $$;
	CREATE TRIGGER tell BEFORE INSERT OR UPDATE ON mart.t FOR EACH ROW EXECUTE FUNCTION mart.tell(); UPDATE mart.s SET n = '3'});
is(as('op', $publish), 'failed|3', 'and one that fails with a value in the error');
must('etl', 'DROP TRIGGER tell ON mart.t');

my @relations = split /\n/, $node->safe_psql('postgres', q{SELECT relname FROM pg_class WHERE relnamespace = 'dq_gate'::regnamespace AND relkind IN ('r', 'v') ORDER BY 1});
my @doors = (map({ "SELECT * FROM dq_gate.$_" } @relations), map({ ("SELECT * FROM dq_gate.results_of($_)", "SELECT * FROM dq_gate.rules_of($_)", "SELECT * FROM dq_gate.explain_run($_)",
		"SELECT * FROM dq_gate.requeue($_, dry_run => true)") } 1, 2), "SELECT * FROM dq_gate.report('mart.t')", "SELECT * FROM dq_gate.audit_table('mart.t')", "SELECT * FROM dq_gate.checks_of('mart.t')",
	"SELECT * FROM dq_gate.checks_of('mart.t', 'mart.s')", "SELECT * FROM dq_gate.constraint_ddl('mart.t')", "SELECT dq_gate.export_gate('mart.t')", "SELECT * FROM dq_gate.calibrate('mart.t')",
	"SELECT * FROM dq_gate.suggest_checks('mart.t')", "SELECT * FROM dq_gate.preview('mart.s', 'mart.t')", 'SELECT * FROM dq_gate.overdue($$2100-01-01$$)', "SELECT dq_gate.audit('mart.s', 'mart.t')",
	'SELECT * FROM dq_quarantine.t');
foreach my $user ('by_policy', 'by_column', 'no_usage', 'stager', 'op', 'loader', 'outsider')
{
	# rows that he may read himself are no secret to him
	my $secret = $user eq 'by_column' ? qr/SECRET-e|30000/ : $user eq 'by_policy' ? qr/SECRET-[23xe]|30000/ : qr/SECRET|30000/;

	foreach my $door (@doors)
	{
		as($user, $door);
		unlike("$out$err", $secret, "$user: $door");
	}
	foreach my $table ('runs', 'results', 'profiles', 'rule_sets')
	{
		is(as($user, "SELECT count(*) FROM dq_gate.$table"), '0', "$user: no $table");
	}
	my $reads = $user eq 'by_policy' ? 1 : 0;
	is(as($user, 'SELECT count(*) FROM dq_gate.gates'), $user eq 'op' ? 1 : $reads, "$user: " . ($reads ? 'the gate, which he may read of' : $user eq 'op' ? 'the gate, which he runs' : 'no gate'));
	is(as($user, 'SELECT count(*) FROM dq_gate.checks'), 3 * $reads, "$user: checks");
	is(as($user, 'SELECT count(*) FROM dq_gate.quarantines'), $reads, "$user: the name of the quarantine");
	like(as($user, "SELECT dq_gate.report('mart.t')"), qr/^(42501: permission denied for (table|schema)|3F000)/, "$user: no report");
	is(as($user, 'SELECT sum(row_count) FROM dq_gate.activity'), '', "$user: no rows counted in activity");
}
foreach my $door (grep { /results|failed_checks|profiles|explain_run|report|runs/ } @doors)
{
	next if $door =~ /_of\(2\)/;
	as('reader', $door);
	like("$out$err", qr/SECRET|30000/, "reader: is shown values by $door");
}
is(as('reader', 'SELECT count(*) FROM dq_gate.runs'), '3', 'reader: the runs, and the audit of the operator');
is(as('reader', "SELECT dq_gate.may_read('mart.t'), dq_gate.may_see_rows('mart.t'), dq_gate.may_run('mart.t')"), 't|t|f', 'reader: may read, and not run');
is(as('by_policy', "SELECT dq_gate.may_read('mart.t'), dq_gate.may_see_rows('mart.t')"), 't|f', 'by_policy: may read, and not see all rows');
is(as('by_column', "SELECT dq_gate.may_read('mart.t'), dq_gate.may_see_rows('mart.t')"), 'f|f', 'by_column: may not read');
is(as('no_usage', 'SELECT count(*) FROM dq_gate.gates WHERE dq_gate.may_read(target)'), '0', 'no_usage: may not read');
is(as($superuser, 'SELECT dq_gate.may_read(4711::regclass), dq_gate.may_see_rows(NULL)'), 'f|', 'a table that is none, and NULL');
foreach my $user ('reader', 'loader', 'stager', 'by_policy')
{
	foreach my $sql ($publish, "SELECT dq_gate.audit('mart.s', 'mart.t')", "CALL dq_gate.publish_or_fail('mart.s', 'mart.t')", "SELECT dq_gate.preview('mart.s', 'mart.t')", 'SELECT dq_gate.requeue(1)',
		"SELECT dq_gate.alter_gate('mart.t', owner => 'x')", "SELECT dq_gate.drop_gate('mart.t')", "SELECT dq_gate.expect_range('mart.t', 'n', max => 1)", "SELECT dq_gate.grant_operator('mart.t', '$user')")
	{
		is(as($user, $sql), '42501: permission denied for gate mart.t', "$user: may not $sql");
	}
}
like(as('reader', 'SELECT * FROM dq_quarantine.t'), qr/^42501: /, 'reader: neither the quarantine');
is(as('loader', "SELECT count(*) FROM mart.s"), '3', 'loader: staging is his');
like(as('loader', "SELECT count(*) FROM mart.t"), qr/^42501: /, 'loader: the target is not');

# who sees the gate and not its runs must not take it for late
must('etl', q{SELECT dq_gate.alter_gate('mart.t', expected_every => '1 day')});
is(as($_, q{SELECT count(*) FROM dq_gate.overdue('2100-01-01')}), $_ =~ /reader|etl/ ? '1' : '0', "$_: what is overdue") foreach 'etl', 'reader', 'op', 'by_policy', 'outsider';

# === quarantine belongs to the gate's role alone

my $acl = q{SELECT relowner::regrole || ': ' || COALESCE((SELECT string_agg(DISTINCT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END, ',') FROM aclexplode(relacl) WHERE grantee <> relowner), 'nobody else')
	FROM pg_class WHERE oid = 'dq_quarantine.%s'::regclass};
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_default_acl'), '4', 'default privileges say otherwise');
is($node->safe_psql('postgres', sprintf $acl, 't'), 'etl: nobody else', 'a new quarantine table is closed');
must('etl', q{GRANT ALL ON mart.t, mart.s TO etl_2; SELECT dq_gate.alter_gate('mart.t', run_as => 'etl_2')});
is($node->safe_psql('postgres', sprintf $acl, 't'), 'etl_2: nobody else', 'it goes to another role of the gate');
$node->safe_psql('postgres', 'REVOKE etl_2 FROM etl');
like(as('etl', 'SELECT * FROM dq_quarantine.t'), qr/^42501: /, 'the old one has lost it');
is(as('etl_2', 'SELECT count(*) FROM dq_quarantine.t'), '4', 'the new one has it');
must('etl_2', 'GRANT SELECT ON dq_quarantine.t TO reader');
must('loader', q{INSERT INTO mart.s VALUES ('SECRET-9', 'x', '90000')});
must('op', $publish);
is($node->safe_psql('postgres', sprintf $acl, 't'), 'etl_2: reader', 'what its owner grants stays');
$node->safe_psql('postgres', q{GRANT etl_2 TO etl; ALTER TABLE dq_quarantine.t OWNER TO etl; GRANT SELECT, INSERT ON dq_quarantine.t TO etl_2});
must('etl', q{SELECT dq_gate.alter_gate('mart.t', run_as => 'etl')});
is($node->safe_psql('postgres', sprintf $acl, 't'), 'etl: reader', 'a role that was granted it as that of the gate loses it with the gate');
$node->safe_psql('postgres', 'REVOKE etl_2 FROM etl');

# without a gate it is the owner's of the target, and the role of a run may write it
must('etl', 'CREATE TABLE mart.u (id int PRIMARY KEY); CREATE TABLE mart.us (id int); REVOKE ALL ON mart.u, mart.us FROM PUBLIC; GRANT ALL ON mart.u, mart.us TO op; INSERT INTO mart.us VALUES (1), (1)');
is(as('op', "SELECT verdict FROM dq_gate.publish('mart.us', 'mart.u')"), 'rejected', 'a run without a gate');
is($node->safe_psql('postgres', sprintf $acl, 'u'), 'etl: op', 'its role has written to the quarantine of the owner');
must('etl', "SELECT dq_gate.create_gate('mart.u')");
is($node->safe_psql('postgres', sprintf $acl, 'u'), 'etl: nobody else', 'which a gate closes');

# === nobody's rights are lent

$node->safe_psql('postgres', q{
	ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM PUBLIC;
	ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM outsider;
	CREATE ROLE weak LOGIN;
	CREATE SCHEMA closed;
	GRANT USAGE ON SCHEMA closed TO weak;
	CREATE SEQUENCE closed.number;
	CREATE FUNCTION closed.made() RETURNS int LANGUAGE sql AS 'SELECT 1';
	CREATE FUNCTION closed.good(int) RETURNS bool LANGUAGE sql AS 'SELECT true';
	CREATE FUNCTION closed.fire() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM closed.made(); RETURN NEW; END $$;
	CREATE DOMAIN closed.whole AS int CHECK (closed.good(VALUE));
	CREATE TABLE closed.parent (id int PRIMARY KEY);
	REVOKE ALL ON FUNCTION closed.made(), closed.good(int) FROM PUBLIC;
	CREATE TABLE closed.t (id int PRIMARY KEY, n int);
	CREATE TABLE closed.s (id int, n int);
	INSERT INTO closed.s VALUES (1, 1);
	GRANT ALL ON closed.t, closed.s TO weak;
	SELECT dq_gate.create_gate('closed.t', 'closed.s', run_as => 'weak');
	SELECT dq_gate.expect_volume('closed.t', action => 'declare');
	SELECT dq_gate.grant_operator('closed.t', 'op');
	GRANT USAGE ON SCHEMA closed TO op;
});
my $closed = "'closed.s', 'closed.t'";
my @calls = ("SELECT dq_gate.publish($closed)", "CALL dq_gate.publish_or_fail($closed)", "SELECT dq_gate.audit($closed)", "SELECT dq_gate.preview($closed)");

# a right that is known to be missing is named before anything is done
foreach my $case ([ 'INSERT ON closed.t', 'needs SELECT, INSERT and UPDATE on it', 2 ], [ 'UPDATE ON closed.t', 'needs SELECT, INSERT and UPDATE on it', 2 ],
	[ 'SELECT ON closed.s', 'needs SELECT on it', 4 ], [ 'USAGE ON SCHEMA closed', 'needs USAGE on its schema', 4 ])
{
	my ($right, $needs, $calls) = @$case;
	my $runs = $node->safe_psql('postgres', 'SELECT count(*) FROM dq_gate.runs');
	$node->safe_psql('postgres', "REVOKE $right FROM weak");
	foreach my $call (@calls[ 0 .. $calls - 1 ])
	{
		foreach my $user ($superuser, 'op')
		{
			like(as($user, $call), qr/^42501: permission denied for table closed\.[ts]$/, "without $right, $user: $call");
			like($err, qr/^DETAIL:  Role weak, as which gate closed\.t runs, $needs\.$/m, '... and whose right it is');
		}
	}
	is($node->safe_psql('postgres', 'SELECT count(*) FROM dq_gate.runs'), $runs, "without $right: no trace");
	$node->safe_psql('postgres', "GRANT $right TO weak");
}

# one that is found missing on the way makes a failure of the run
my $last = 'SELECT verdict, error_sqlstate, error FROM dq_gate.runs ORDER BY run_id DESC LIMIT 1';
foreach my $case ([ 'a sequence', "ALTER TABLE closed.t ADD x int DEFAULT nextval('closed.number')", 'sequence number', 'ALTER TABLE closed.t DROP x' ],
	[ 'a function of a default', 'ALTER TABLE closed.t ADD x int; ALTER TABLE closed.t ALTER x SET DEFAULT closed.made()', 'function made', 'ALTER TABLE closed.t DROP x' ],
	[ 'a function in a trigger', 'CREATE TRIGGER fire BEFORE INSERT ON closed.t FOR EACH ROW EXECUTE FUNCTION closed.fire()', 'function made', 'DROP TRIGGER fire ON closed.t' ],
	[ 'a function of a constraint', 'ALTER TABLE closed.t ADD CONSTRAINT c CHECK (closed.good(n)) NOT VALID', 'function good', 'ALTER TABLE closed.t DROP CONSTRAINT c' ])
{
	my ($what, $sql, $object, $undo) = @$case;
	$node->safe_psql('postgres', $sql);
	foreach my $user ($superuser, 'op')
	{
		like(as($user, "SELECT verdict FROM dq_gate.publish($closed)"), qr/^(failed|rejected)$/, "without a right on $what, $user: nothing is published");
		my $found = $node->safe_psql('postgres', $last);
		$found = $node->safe_psql('postgres', "SELECT 'failed', '42501', string_agg(message, ' ') FROM dq_gate.results_of((SELECT max(run_id) FROM dq_gate.runs)) WHERE status = 'error'") if $found =~ /^rejected/;
		like($found, qr/^failed\|42501\|.*permission denied for $object/, '... and the log says for want of what');
	}
	$node->safe_psql('postgres', $undo);
}
foreach my $case ([ 'a function in a rule', q{SELECT dq_gate.expect_sql('closed.t', 'c', 'closed.good(n)')}, 'function good' ],
	[ 'a table in a query', q{SELECT dq_gate.expect_query('closed.t', 'c', 'SELECT 1 FROM closed.parent WHERE false')}, 'table parent' ],
	[ 'a table that is referred to', q{SELECT dq_gate.expect_referential('closed.t', '{n}', 'closed.parent', '{id}', name => 'c')}, 'role weak may not read closed.parent' ],
	# before 16, whatever error a domain raises is a value that does not fit
	[ 'the function of a domain', q{ALTER TABLE closed.t ADD x closed.whole; ALTER TABLE closed.s ADD x text DEFAULT '1'}, 'function good|x does not fit' ])
{
	my ($what, $sql, $object) = @$case;
	$node->safe_psql('postgres', $sql);
	foreach my $user ($superuser, 'op')
	{
		foreach my $call ('publish', 'audit')
		{
			like(as($user, "SELECT passed FROM dq_gate.$call($closed)"), qr/^f$/, "without a right on $what, $user: $call does not pass");
			like($node->safe_psql('postgres', q{SELECT string_agg(message, ' ') FROM dq_gate.results_of((SELECT max(run_id) FROM dq_gate.runs)) WHERE status IN ('error', 'failed')}),
				qr/permission denied for $object|could not be evaluated: $object/, '... and the check says for want of what');
		}
	}
	$node->safe_psql('postgres', "SELECT dq_gate.drop_check('closed.t', 'c')") if $sql =~ /'c'/;
}
$node->safe_psql('postgres', 'ALTER TABLE closed.t DROP x; ALTER TABLE closed.s DROP x; INSERT INTO closed.s VALUES (1, 1)');
is(as('op', "SELECT verdict FROM dq_gate.publish($closed)"), 'rejected', 'rows for a requeue');
my $run = $node->safe_psql('postgres', 'SELECT max(run_id) FROM dq_gate.runs');
$node->safe_psql('postgres', 'TRUNCATE closed.s; REVOKE INSERT ON closed.s FROM weak');
is(as($_, "SELECT dq_gate.requeue($run)"), '42501: permission denied for table closed.s', "without INSERT on staging, $_: no requeue") foreach $superuser, 'op';
$node->safe_psql('postgres', q{GRANT INSERT ON closed.s TO weak; ALTER TABLE closed.s ADD y int DEFAULT nextval('closed.number')});
like(as($_, "SELECT requeued FROM dq_gate.requeue($run)"), qr/^42501: permission denied for sequence number/, "nor without a right on a sequence, $_") foreach $superuser, 'op';
is($node->safe_psql('postgres', 'SELECT count(*) FROM closed.s'), '0', 'nothing is staged');

log_is_clean($node);
$node->stop;
done_testing();
