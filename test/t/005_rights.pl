# Whose rights count: a gate acts as its own role whoever calls it, lends
# nobody's rights, and is not fooled by what others put into the search_path
# (cases O31, O32).
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest qw(:DEFAULT as must $status $out $err);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('rights');
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');

$node->safe_psql('postgres', q{
	CREATE ROLE etl LOGIN;
	CREATE ROLE operator LOGIN IN ROLE etl;
	CREATE ROLE analyst LOGIN;
	CREATE ROLE outsider LOGIN;
	CREATE SCHEMA mart AUTHORIZATION etl;
	GRANT USAGE ON SCHEMA mart TO PUBLIC;
});

must('etl', q{
	CREATE TABLE mart.visit (id int PRIMARY KEY, place text, n int CHECK (n >= 0));
	CREATE TABLE mart.visit_staging (id int, place text, n int);
	CREATE TABLE mart.seen (what text, who text, session text);
	INSERT INTO mart.visit_staging VALUES (1, 'a', 1), (2, 'b', 2);
	GRANT SELECT ON mart.visit TO analyst;
	SELECT dq_gate.create_gate('mart.visit', 'mart.visit_staging', owner => 'mart team');
});
my $publish = "SELECT verdict FROM dq_gate.publish('mart.visit_staging', 'mart.visit')";
my $state = q{SELECT (SELECT count(*) FROM dq_gate.runs), (SELECT last_value FROM dq_gate.run_id_seq), (SELECT count(*) FROM mart.visit)};

# === who may run a gate

my $before = $node->safe_psql('postgres', $state);
foreach my $caller ('outsider', 'analyst')
{
	foreach my $sql ($publish, "SELECT dq_gate.audit('mart.visit_staging', 'mart.visit')",
		"CALL dq_gate.publish_or_fail('mart.visit_staging', 'mart.visit')")
	{
		is(as($caller, $sql), '42501: permission denied for gate mart.visit', "$caller: $sql is refused");
		like($err, qr/DETAIL:  It runs as role etl, and role $caller is not a member of it/, "$caller: is told why");
	}
}
is($node->safe_psql('postgres', $state), $before, 'refused callers leave no trace');
like(as('analyst', "SELECT dq_gate.create_gate('mart.visit_staging', key => '{id}')"), qr/^42501: must be owner/,
	'analyst: no gate for a table of others');
foreach my $sql ("SELECT dq_gate.alter_gate('mart.visit', owner => 'me')",
	"SELECT dq_gate.drop_gate('mart.visit')",
	"SELECT dq_gate.expect_range('mart.visit', 'n', max => 1)",
	"SELECT dq_gate.expect_sql('mart.visit', 'mine', 'n > 0')",
	"SELECT dq_gate.drop_check('mart.visit', 'mine')")
{
	is(as('analyst', $sql), '42501: permission denied for gate mart.visit', "analyst: $sql is refused");
}
is(as('operator', $publish), 'published', 'a member may run it');
is($node->safe_psql('postgres', 'SELECT called_by, run_as FROM dq_gate.runs'), 'operator|etl', 'and is named as the caller');

# === which rights a run needs, without a gate and with one

$node->safe_psql('postgres', q{
	CREATE SCHEMA yard;
	CREATE TABLE yard.tool (id int PRIMARY KEY, n int);
	CREATE TABLE yard.tool_staging (id int, n int);
	INSERT INTO yard.tool_staging VALUES (1, 1);
});
my $tools = "SELECT verdict FROM dq_gate.publish('yard.tool_staging', 'yard.tool')";
$before = $node->safe_psql('postgres', $state);
my @grants = (
	[ 'USAGE ON SCHEMA yard', qr/table yard\.tool_staging/, qr/needs SELECT/ ],
	[ 'SELECT ON yard.tool_staging', qr/table yard\.tool\b/, qr/needs SELECT, INSERT and UPDATE/ ],
	[ 'SELECT ON yard.tool', qr/table yard\.tool\b/, qr/needs SELECT, INSERT and UPDATE/ ],
	[ 'INSERT ON yard.tool', qr/table yard\.tool\b/, qr/needs SELECT, INSERT and UPDATE/ ]);
like(as('outsider', $tools), qr/^(42501|3F000): permission denied for schema yard/, 'without rights on the schema');
foreach my $grant (@grants)
{
	my ($right, $table, $need) = @$grant;
	$node->safe_psql('postgres', "GRANT $right TO outsider");
	like(as('outsider', $tools), qr/^42501: permission denied for $table/, "with $right: denied");
	like($err, $need, "with $right: says which rights are missing");
}
is($node->safe_psql('postgres', $state), $before, 'calls without rights leave no trace');
$node->safe_psql('postgres', 'GRANT UPDATE ON yard.tool TO outsider');
is(as('outsider', $tools), 'published', 'with all of them it works');
$node->safe_psql('postgres', "INSERT INTO yard.tool_staging VALUES (1, 2)");
is(as('outsider', $tools), 'rejected', 'and a batch that fails is rejected, not an error');
is($node->safe_psql('postgres', q{SELECT count(*) FROM dq_gate.runs WHERE gate = 'yard.tool' AND run_as = 'outsider'}),
	'2', 'a target without a gate is run as the caller');
$node->safe_psql('postgres', 'REVOKE INSERT ON yard.tool FROM outsider');

# a gate whose role lost its rights does not borrow the superuser's
$node->safe_psql('postgres', q{
	TRUNCATE yard.tool_staging; INSERT INTO yard.tool_staging VALUES (7, 7);
	SELECT dq_gate.create_gate('yard.tool', run_as => 'outsider')});
is(as($superuser, $tools), '42501: permission denied for table yard.tool', 'a superuser calls: the rights of the gate count');
like($err, qr/Role outsider, as which gate yard\.tool runs, needs/, 'and the error says whose');
is(as('outsider', "SELECT dq_gate.alter_gate('yard.tool', run_as => '$superuser')"),
	"42501: must be able to SET ROLE \"$superuser\"", 'nobody makes a gate run as a role that he cannot be');
is(as('etl', "SELECT dq_gate.create_gate('mart.visit_staging', key => '{id}', run_as => 'analyst')"),
	'42501: must be able to SET ROLE "analyst"', 'neither when it is made');

# === a gate that runs as somebody else than the owner of its target

must($superuser, q{SELECT dq_gate.alter_gate('mart.visit', run_as => current_user::regrole)});
foreach my $sql ("SELECT dq_gate.expect_sql('mart.visit', 'spy', 'mart.spy(id)')",
	"SELECT dq_gate.expect_range('mart.visit', 'n', max => 1)")
{
	must('etl', q{CREATE OR REPLACE FUNCTION mart.spy(int) RETURNS bool LANGUAGE sql AS 'SELECT true'}) if $sql =~ /spy/;
	like(as('etl', $sql), qr/^42501: /, "who cannot act as its role declares no check that it would evaluate: $sql");
}
must($superuser, q{SELECT dq_gate.alter_gate('mart.visit', run_as => 'etl')});
as('etl', "SELECT dq_gate.drop_check('mart.visit', '$_')") foreach ('spy', 'n_range');

# === what user code sees and can do while a superuser calls

must('etl', q{
	CREATE FUNCTION mart.is_etl(int) RETURNS bool LANGUAGE plpgsql STABLE AS $$
	BEGIN
		RETURN current_user = 'etl';
	END $$;
	SELECT dq_gate.expect_sql('mart.visit', 'as_etl', 'mart.is_etl(id)');

	CREATE FUNCTION mart.note() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO mart.seen VALUES (TG_OP || ' ' || TG_WHEN || ' ' || TG_LEVEL, current_user, session_user);
		RETURN COALESCE(NEW, OLD);
	END $$;
	CREATE TRIGGER note_row BEFORE INSERT OR UPDATE ON mart.visit FOR EACH ROW EXECUTE FUNCTION mart.note();
	CREATE TRIGGER note_after AFTER INSERT OR UPDATE ON mart.visit FOR EACH ROW EXECUTE FUNCTION mart.note();
	CREATE TRIGGER note_statement AFTER INSERT ON mart.visit EXECUTE FUNCTION mart.note();
	CREATE CONSTRAINT TRIGGER note_deferred AFTER INSERT ON mart.visit DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION mart.note();
	CREATE FUNCTION mart.stamp() RETURNS text LANGUAGE sql AS 'SELECT current_user::text';
	ALTER TABLE mart.visit ADD COLUMN stamped text DEFAULT mart.stamp();
});
must('etl', "INSERT INTO mart.visit_staging VALUES (3, 'c', 3)");
is(as($superuser, $publish), 'published', 'checks run as the role of the gate');
is($node->safe_psql('postgres', 'SELECT string_agg(DISTINCT who, $$,$$), count(*) FROM mart.seen'),
	'etl|4', 'triggers run as the role of the gate, deferred ones too');
is($node->safe_psql('postgres', 'SELECT stamped FROM mart.visit WHERE id = 3'), 'etl', 'so do defaults');
is(as($superuser, 'SELECT current_user = session_user'), 't', 'the caller is himself again');

# deeds that a check might try in the name of a superuser, or at all
my $secret = $node->basedir . '/touched';
my %deeds = (
	set_role => "SET ROLE \"$superuser\"",
	reset_role => 'RESET ROLE',
	set_authorization => "SET SESSION AUTHORIZATION \"$superuser\"",
	reset_authorization => 'RESET SESSION AUTHORIZATION',
	config_role => "SELECT set_config(''role'', ''$superuser'', false)",
	alter_role => 'ALTER ROLE etl SUPERUSER',
	create_role => 'CREATE ROLE planted',
	grant_role => "GRANT \"$superuser\" TO etl",
	authid => 'SELECT count(*) FROM pg_authid WHERE rolpassword IS NULL OR true',
	program => "COPY (SELECT 1) TO PROGRAM ''touch $secret''",
	file => "COPY (SELECT 1) TO ''$secret''",
	read_file => "SELECT pg_read_file(''postgresql.conf'')",
	insert => "INSERT INTO mart.seen VALUES (''deed'')",
	log => 'DELETE FROM dq_gate.results',
	read_write => 'SET transaction_read_only = off',
	temp_table => 'CREATE TEMP TABLE planted (id int)',
	cursor => 'DECLARE planted CURSOR WITH HOLD FOR SELECT 1',
	listen => 'LISTEN planted',
	lock_key => 'CREATE TABLE mart.planted ()',
	drop => 'DROP TABLE mart.visit',
	replica => 'SET session_replication_role = replica');
foreach my $deed (sort keys %deeds)
{
	must('etl', qq{
		CREATE OR REPLACE FUNCTION mart.deed(int) RETURNS bool LANGUAGE plpgsql AS \$\$
		BEGIN
			EXECUTE '$deeds{$deed}';
			RETURN true;
		END \$\$});
	as('etl', "SELECT dq_gate.drop_check('mart.visit', 'deed')");
	must('etl', "SELECT dq_gate.expect_sql('mart.visit', 'deed', 'mart.deed(id)')");
	my $rows = $node->safe_psql('postgres', 'SELECT count(*) FROM mart.seen');
	is(as($superuser, $publish), 'rejected', "check tries $deed: the batch is rejected");
	is( $node->safe_psql('postgres', q{SELECT status FROM dq_gate.results_of((SELECT max(run_id) FROM dq_gate.runs)) WHERE check_name = 'deed'}),
		'error', "check tries $deed: as a broken check");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM mart.seen'), $rows, "check tries $deed: nothing is written");
}
is($node->safe_psql('postgres', q{SELECT rolsuper FROM pg_roles WHERE rolname = 'etl'}), 'f', 'etl is no superuser');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_roles WHERE rolname = 'planted'}), '0', 'no role was made');
ok(!-e $secret, 'no program ran');

# a check that changes settings changes them for itself
must('etl', q{
	CREATE OR REPLACE FUNCTION mart.deed(int) RETURNS bool LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM set_config('search_path', 'mart', false);
		PERFORM set_config('row_security', 'on', false);
		PERFORM set_config('mart.flag', 'set', false);
		PERFORM set_config('work_mem', '64kB', false);
		RETURN true;
	END $$});
($out, $err) = session($node, qq{
	SET mart.flag = 'mine';
	CREATE TEMP TABLE before AS SELECT name, setting FROM pg_settings;
	$publish;
	SELECT count(*) FROM pg_settings s JOIN before b USING (name) WHERE s.setting IS DISTINCT FROM b.setting;
	SHOW mart.flag;}, user => $superuser);
is($out, "published\n0\nmine", 'settings that a check makes end with the audit');
must('etl', "SELECT dq_gate.drop_check('mart.visit', 'deed')");

# deeds of a trigger, which may write, but as its own role only
delete @deeds{qw(insert log read_write temp_table lock_key drop listen cursor)};
foreach my $deed (sort keys %deeds)
{
	must('etl', qq{
		CREATE OR REPLACE FUNCTION mart.deed() RETURNS trigger LANGUAGE plpgsql AS \$\$
		BEGIN
			EXECUTE '$deeds{$deed}';
			RETURN NEW;
		END \$\$;
		CREATE OR REPLACE TRIGGER deed BEFORE INSERT OR UPDATE ON mart.visit FOR EACH ROW EXECUTE FUNCTION mart.deed();
		UPDATE mart.visit_staging SET n = n + 1});
	is(as($superuser, $publish), 'failed', "trigger tries $deed: the publish fails");
	is(as($superuser, 'SELECT error_sqlstate FROM dq_gate.runs ORDER BY run_id DESC LIMIT 1'), '42501',
		"trigger tries $deed: for lack of rights");
}
ok(!-e $secret, 'no program ran');
must('etl', 'DROP TRIGGER deed ON mart.visit');

# what a trigger leaves for the end of the transaction, or for the session, must
# not come alive as the caller: refused, or done as the role of the gate
must('etl', q{
	CREATE FUNCTION mart.bomb() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO mart.seen VALUES ('bomb', current_user, session_user);
		RETURN NULL;
	END $$;
	CREATE TABLE mart.fuse (id int);
	CREATE CONSTRAINT TRIGGER bomb AFTER INSERT ON mart.fuse DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION mart.bomb();
	CREATE FUNCTION mart.tick() RETURNS int LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO mart.seen VALUES ('cursor', current_user, session_user);
		RETURN 1;
	END $$;
});
my %mines = (
	deferred => 'INSERT INTO mart.fuse VALUES (1)',
	cursor => 'DECLARE planted CURSOR WITH HOLD FOR SELECT mart.tick()',
	temp => 'CREATE TEMP VIEW visit_staging AS SELECT mart.tick() AS id');
foreach my $mine (sort keys %mines)
{
	must('etl', qq{
		CREATE OR REPLACE FUNCTION mart.lay() RETURNS trigger LANGUAGE plpgsql AS \$\$
		BEGIN
			IF NOT EXISTS (SELECT FROM pg_catalog.pg_cursors WHERE name = 'planted')
				AND pg_catalog.to_regclass('pg_temp.visit_staging') IS NULL THEN
				EXECUTE '$mines{$mine}';
			END IF;
			RETURN NEW;
		END \$\$;
		CREATE OR REPLACE TRIGGER lay BEFORE INSERT OR UPDATE ON mart.visit FOR EACH ROW EXECUTE FUNCTION mart.lay();
		TRUNCATE mart.seen;
		UPDATE mart.visit_staging SET n = n + 1});
	($out, $err) = session($node, "$publish; SELECT * FROM visit_staging;", user => $superuser);
	is($node->safe_psql('postgres', q{SELECT count(*) FROM mart.seen WHERE who <> 'etl'}), '0',
		"trigger lays a mine ($mine): it does not go off as the caller");
}
must('etl', 'DROP TRIGGER lay ON mart.visit');

# a requeue writes staging and quarantine, and what fires or is computed there does so as the role of the gate
must('etl', q{
	CREATE TABLE mart.call (id int PRIMARY KEY, n int CHECK (n > 0));
	CREATE FUNCTION mart.spied(int) RETURNS bool LANGUAGE plpgsql AS $$
	BEGIN
		IF NOT pg_catalog.current_setting('transaction_read_only')::bool THEN
			INSERT INTO mart.seen VALUES ('domain', current_user, session_user);
		END IF;
		RETURN true;
	END $$;
	CREATE DOMAIN mart.spy AS int CHECK (mart.spied(VALUE));
	CREATE TABLE mart.call_staging (id int, n mart.spy, stamped text DEFAULT mart.stamp());
	INSERT INTO mart.call_staging (id, n) VALUES (1, -1);
	SELECT dq_gate.create_gate('mart.call', 'mart.call_staging');
	SELECT dq_gate.expect_schema('mart.call', action => 'warn');
	SELECT dq_gate.publish('mart.call_staging', 'mart.call');
	ALTER TABLE dq_quarantine.call DROP stamped;
	CREATE TRIGGER note_staged BEFORE INSERT ON mart.call_staging FOR EACH ROW EXECUTE FUNCTION mart.note();
	CREATE CONSTRAINT TRIGGER note_staged_deferred AFTER INSERT ON mart.call_staging DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION mart.note();
	CREATE TRIGGER note_marked AFTER UPDATE ON dq_quarantine.call FOR EACH ROW EXECUTE FUNCTION mart.note();
	TRUNCATE mart.call_staging, mart.seen;
});
my $requeue = 'SELECT requeued FROM dq_gate.requeue((SELECT max(run_id) FROM dq_quarantine.call))';
is(as('outsider', $requeue), '42501: permission denied for table call', 'outsider does not see the quarantine');
is(as('outsider', 'SELECT requeued FROM dq_gate.requeue(' . $node->safe_psql('postgres', 'SELECT max(run_id) FROM dq_quarantine.call') . ')'),
	'42501: permission denied for gate mart.call', 'and cannot requeue');
is(as($superuser, $requeue), '1', 'a superuser requeues');
is($node->safe_psql('postgres', q{SELECT string_agg(DISTINCT who, ','), string_agg(DISTINCT what, ',' ORDER BY what) FROM mart.seen}),
	'etl|INSERT AFTER ROW,INSERT BEFORE ROW,UPDATE AFTER ROW,domain', 'triggers and domains see the role of the gate, deferred or not');
is($node->safe_psql('postgres', 'SELECT stamped FROM mart.call_staging'), 'etl', 'so do defaults');
is($node->safe_psql('postgres', 'SELECT requeued_by FROM dq_quarantine.call'), $superuser, 'the mark names the caller');
foreach my $deed (sort keys %deeds)
{
	must('etl', qq{
		CREATE OR REPLACE FUNCTION mart.deed() RETURNS trigger LANGUAGE plpgsql AS \$\$
		BEGIN
			EXECUTE '$deeds{$deed}';
			RETURN NEW;
		END \$\$;
		TRUNCATE mart.call_staging;
		DROP TRIGGER IF EXISTS deed ON dq_quarantine.call;
		UPDATE dq_quarantine.call SET requeued_at = NULL;
		CREATE OR REPLACE TRIGGER deed BEFORE INSERT ON mart.call_staging FOR EACH ROW EXECUTE FUNCTION mart.deed()});
	like(as($superuser, $requeue), qr/^42501/, "trigger of staging tries $deed: for lack of rights nothing is requeued");
	must('etl', q{
		DROP TRIGGER deed ON mart.call_staging;
		CREATE TRIGGER deed BEFORE UPDATE ON dq_quarantine.call FOR EACH ROW EXECUTE FUNCTION mart.deed()});
	like(as($superuser, $requeue), qr/^42501/, "trigger of quarantine tries $deed: nor here");
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM mart.call_staging'), '0', 'nothing is staged');
ok(!-e $secret, 'no program ran');
must('etl', 'DROP TABLE mart.call, mart.call_staging, dq_quarantine.call');

# the caller's own constraints are none of the gate's business
$node->safe_psql('postgres', q{
	CREATE SCHEMA closed;
	CREATE TABLE closed.parent (id int PRIMARY KEY);
	CREATE TABLE closed.child (parent int CONSTRAINT "Fk 1" REFERENCES closed.parent DEFERRABLE INITIALLY DEFERRED,
		other int CONSTRAINT fk2 REFERENCES closed.parent DEFERRABLE INITIALLY IMMEDIATE);
	CREATE FUNCTION closed.who() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO closed.seen VALUES (current_user);
		RETURN NULL;
	END $$;
	CREATE TABLE closed.seen (who text);
	CREATE CONSTRAINT TRIGGER who AFTER INSERT ON closed.child DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION closed.who();
});
must('etl', 'UPDATE mart.visit_staging SET n = n + 1');
foreach my $rows ([ 'before the publish', "INSERT INTO closed.parent VALUES (1); INSERT INTO closed.child VALUES (1); $publish;" ],
	[ 'after the publish', "$publish; INSERT INTO closed.child VALUES (2); INSERT INTO closed.parent VALUES (2);" ])
{
	my ($name, $sql) = @$rows;
	($out, $err) = session($node, "BEGIN; $sql COMMIT; SELECT count(*), string_agg(DISTINCT who, ',') FROM closed.seen; TRUNCATE closed.seen;",
		user => $superuser);
	is($out, "published\n1|$superuser", "a deferred constraint of a schema closed to the gate, $name") or diag($err);
}

# === the log is the extension's own

must('etl', "INSERT INTO mart.visit_staging VALUES (4, 'd', -4)");
is(as('etl', $publish), 'rejected', 'a rejected batch, to have all kinds of evidence');
foreach my $user ('etl', 'outsider')
{
	foreach my $table ('gates', 'checks', 'runs', 'results', 'quarantines')
	{
		foreach my $sql ("DELETE FROM dq_gate.$table", "TRUNCATE dq_gate.$table",
			"INSERT INTO dq_gate.$table DEFAULT VALUES", "DROP TABLE dq_gate.$table",
			"ALTER TABLE dq_gate.$table DISABLE ROW LEVEL SECURITY",
			"CREATE TRIGGER t AFTER INSERT ON dq_gate.$table EXECUTE FUNCTION mart.note()",
			"CREATE POLICY p ON dq_gate.$table USING (true)")
		{
			like(as($user, $sql), qr/^42501: /, "$user: $sql is denied");
		}
	}
	foreach my $sql ('UPDATE dq_gate.runs SET verdict = $$published$$',
		'UPDATE dq_gate.results SET passed = true',
		'UPDATE dq_gate.gates SET run_as = 10',
		"UPDATE dq_gate.checks SET action = 'warn'",
		"SELECT nextval('dq_gate.run_id_seq')", "SELECT setval('dq_gate.run_id_seq', 1)",
		'CREATE TABLE dq_gate.mine ()', 'CREATE TABLE dq_quarantine.mine ()',
		"CREATE FUNCTION dq_gate.publish() RETURNS int LANGUAGE sql AS 'SELECT 1'")
	{
		like(as($user, $sql), qr/^42501: /, "$user: $sql is denied");
	}
}

# === who reads what

my %rows = map { $_ => $node->safe_psql('postgres', "SELECT count(*) FROM dq_gate.$_ x") } qw(runs results);
my $mart_runs = $node->safe_psql('postgres', q{SELECT count(*) FROM dq_gate.runs WHERE gate = 'mart.visit'});
cmp_ok($mart_runs, '<', $rows{runs}, 'there are runs of other targets');
foreach my $user ('etl', 'operator', 'analyst')
{
	is(as($user, 'SELECT count(*) FROM dq_gate.runs'), $mart_runs, "$user: sees the runs of the target that he may read");
	is(as($user, 'SELECT count(DISTINCT run_id) FROM dq_gate.results'), $mart_runs, "$user: and their results");
	is(as($user, 'SELECT count(*) FROM dq_gate.gates'), '1', "$user: and the gate");
}
is(as('outsider', q{SELECT string_agg(DISTINCT gate, ',') FROM dq_gate.runs}), 'yard.tool', 'outsider: sees his own only');
my $run = $node->safe_psql('postgres', q{SELECT max(run_id) FROM dq_gate.runs WHERE gate = 'mart.visit'});
is(as('outsider', "SELECT count(*) FROM dq_gate.results_of($run)"), '0', 'outsider: no results by number either');
cmp_ok(as('analyst', "SELECT count(*) FROM dq_gate.results_of($run)"), '>', '0', 'analyst: results by number');
like(as('outsider', "SELECT count(*) FROM dq_gate.checks_of('mart.visit')"), qr/^(42501: |0$)/, 'outsider: no checks of a table that he may not read');

my $quarantine = $node->safe_psql('postgres', q{SELECT quarantine FROM dq_gate.quarantines WHERE target = 'mart.visit'::regclass});
foreach my $user ('outsider', 'analyst')
{
	is(as($user, "SELECT count(*) FROM $quarantine"), "42501: permission denied for table visit", "$user: quarantine is closed");
	like(as($user, 'SELECT count(*) FROM mart.visit_staging'), qr/^42501: /, "$user: staging is closed");
}
cmp_ok(as('etl', "SELECT count(*) FROM $quarantine"), '>', 0, 'etl: quarantine is his');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_class c, aclexplode(c.relacl) a
		WHERE relnamespace = 'dq_quarantine'::regnamespace AND a.grantee = 0}),
	'0', 'nothing in quarantine is granted to PUBLIC');

# === row-level security (O31)

$node->safe_psql('postgres', q{
	CREATE TABLE yard.r (id int PRIMARY KEY, tenant text, amt int CHECK (amt >= 0));
	CREATE TABLE yard.r_s (id int, tenant text, amt int);
	INSERT INTO yard.r_s VALUES (1, 'etl', 5), (2, 'x', -9), (3, 'x', NULL);
	ALTER TABLE yard.r_s ENABLE ROW LEVEL SECURITY;
	CREATE POLICY p ON yard.r_s USING (tenant = current_user);
	GRANT USAGE ON SCHEMA yard TO etl;
	GRANT SELECT ON yard.r_s TO etl;
	GRANT ALL ON yard.r TO etl;
});
my $hidden = "SELECT verdict, row_count FROM dq_gate.publish('yard.r_s', 'yard.r')";
my $runs = $node->safe_psql('postgres', 'SELECT count(*) FROM dq_gate.runs');
is(as('etl', $hidden), '42501: row-level security of table yard.r_s would hide rows from gate yard.r', 'staging with policies is refused');
is(as('etl', 'SELECT dq_gate.audit($$yard.r_s$$, $$yard.r$$)'),
	'42501: row-level security of table yard.r_s would hide rows from gate yard.r', 'for an audit too');
$node->safe_psql('postgres', 'ALTER TABLE yard.r_s DISABLE ROW LEVEL SECURITY; ALTER TABLE yard.r ENABLE ROW LEVEL SECURITY');
is(as('etl', $hidden), '42501: row-level security of table yard.r would hide rows from gate yard.r', 'a target with policies is refused');
$node->safe_psql('postgres', 'ALTER TABLE yard.r OWNER TO etl; ALTER TABLE yard.r_s ENABLE ROW LEVEL SECURITY; ALTER TABLE yard.r_s OWNER TO etl; ALTER TABLE yard.r_s FORCE ROW LEVEL SECURITY');
like(as('etl', $hidden), qr/^42501: row-level security of table yard\.r_s/, 'forced on its owner: refused');
is($node->safe_psql('postgres', 'SELECT count(*) FROM dq_gate.runs'), $runs, 'refused runs leave no trace in the history');
$node->safe_psql('postgres', 'ALTER TABLE yard.r_s NO FORCE ROW LEVEL SECURITY');
is(as('etl', $hidden), 'rejected|3', 'the owner sees all rows, and so does the audit');
is(as($superuser, $hidden), 'rejected|3', 'a superuser too');

# a foreign key whose parents are hidden is left to the server, which sees them
$node->safe_psql('postgres', q{
	CREATE TABLE yard.parent (id int PRIMARY KEY);
	INSERT INTO yard.parent VALUES (1), (2);
	ALTER TABLE yard.parent ENABLE ROW LEVEL SECURITY;
	CREATE POLICY p ON yard.parent USING (id = 1);
	CREATE TABLE yard.child (id int PRIMARY KEY, parent int REFERENCES yard.parent);
	CREATE TABLE yard.child_s (id int, parent int);
	INSERT INTO yard.child_s VALUES (1, 1), (2, 2);
	GRANT SELECT ON yard.parent, yard.child_s TO etl;
	GRANT ALL ON yard.child TO etl;
});
my $children = "SELECT verdict, inserted FROM dq_gate.publish('yard.child_s', 'yard.child')";
my $judged = q{SELECT status, passed IS NULL, message ~ 'row-level security' FROM dq_gate.results_of((SELECT max(run_id) FROM dq_gate.runs)) WHERE check_type = 'referential'};
is(as('etl', $children), 'published|2', 'hidden parents are parents');
is($node->safe_psql('postgres', $judged), 'not_judged|t|t', 'the audit says that it could not judge them');
$node->safe_psql('postgres', 'INSERT INTO yard.child_s VALUES (3, 3)');
is(as('etl', $children), 'failed|0', 'a missing parent is found when the batch is published');

# === objects that others put into the search_path (O32)

$node->safe_psql('postgres', q{
	CREATE SCHEMA evil;
	CREATE TABLE evil.log (what text, who text DEFAULT current_user);
	GRANT USAGE ON SCHEMA evil TO PUBLIC;
	GRANT INSERT ON evil.log TO PUBLIC;
});
foreach my $function (
	'quote_ident(text) RETURNS text', 'lower(text) RETURNS text', 'upper(text) RETURNS text',
	'now() RETURNS timestamptz', 'clock_timestamp() RETURNS timestamptz',
	'format(text, VARIADIC text[]) RETURNS text', 'array_to_string(anyarray, text) RETURNS text',
	'left(text, int) RETURNS text', 'nextval(regclass) RETURNS int8',
	'array_remove(anycompatiblearray, anycompatible) RETURNS anycompatiblearray',
	'has_table_privilege(oid, text) RETURNS bool', 'has_table_privilege(regclass, text) RETURNS bool',
	'pg_backend_pid() RETURNS int4', 'text(int) RETURNS text')
{
	my ($name) = $function =~ /^(\w+)/;
	$node->safe_psql('postgres', qq{
		CREATE FUNCTION evil.$function LANGUAGE plpgsql AS \$\$
		BEGIN
			INSERT INTO evil.log VALUES ('$name');
			RETURN NULL;
		END \$\$});
}
$node->safe_psql('postgres', q{
	CREATE FUNCTION evil.yes(int, int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN INSERT INTO evil.log VALUES ('int ='); RETURN true; END $$;
	CREATE FUNCTION evil.yes(text, text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN INSERT INTO evil.log VALUES ('text ='); RETURN true; END $$;
	CREATE FUNCTION evil.yes(bigint, bigint) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN INSERT INTO evil.log VALUES ('bigint ='); RETURN true; END $$;
	CREATE FUNCTION evil.yes(bigint, int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN INSERT INTO evil.log VALUES ('bigint int ='); RETURN true; END $$;
	CREATE FUNCTION evil.yes(oid, oid) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN INSERT INTO evil.log VALUES ('oid ='); RETURN true; END $$;
	CREATE FUNCTION evil.yes(regclass, regclass) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN INSERT INTO evil.log VALUES ('regclass ='); RETURN true; END $$;
	CREATE FUNCTION evil.add(text, text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN INSERT INTO evil.log VALUES ('text ||'); RETURN ''; END $$;
	CREATE OPERATOR evil.= (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.yes);
	CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.yes);
	CREATE OPERATOR evil.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = evil.yes);
	CREATE OPERATOR evil.= (LEFTARG = bigint, RIGHTARG = int, FUNCTION = evil.yes);
	CREATE OPERATOR evil.= (LEFTARG = oid, RIGHTARG = oid, FUNCTION = evil.yes);
	CREATE OPERATOR evil.= (LEFTARG = regclass, RIGHTARG = regclass, FUNCTION = evil.yes);
	CREATE OPERATOR evil.>= (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.yes);
	CREATE OPERATOR evil.> (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.yes);
	CREATE OPERATOR evil.> (LEFTARG = bigint, RIGHTARG = int, FUNCTION = evil.yes);
	CREATE OPERATOR evil.<> (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.yes);
	CREATE OPERATOR evil.|| (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.add);
	CREATE TABLE evil.runs (LIKE dq_gate.runs);
	CREATE TABLE evil.gates (LIKE dq_gate.gates);
	CREATE TABLE evil.pg_class (LIKE pg_catalog.pg_class);
	CREATE DOMAIN evil.text AS pg_catalog.text CHECK (false);
	CREATE DOMAIN evil.int4 AS pg_catalog.int4 CHECK (false);
	CREATE DOMAIN evil.regclass AS pg_catalog.regclass CHECK (false);
});
my $path = 'evil, pg_catalog, public';
is(as($superuser, [ "SET search_path = $path", 'SELECT 1 = 2' ]), 't', 'the plant works on plain SQL');
$node->safe_psql('postgres', 'TRUNCATE evil.log');

sub go_through_all_doors
{
	my ($name, $db, $first) = @_;
	my ($out, $err) = session($node, $first . q{
		CREATE SCHEMA shop;
		CREATE TABLE shop.item (id pg_catalog.int4 PRIMARY KEY, n pg_catalog.int4 CHECK (n OPERATOR(pg_catalog.>=) 0), t pg_catalog.text UNIQUE);
		CREATE TABLE shop.item_s (id pg_catalog.int4, n pg_catalog.int4, t pg_catalog.text);
		SELECT dq_gate.create_gate('shop.item', 'shop.item_s', layer => 'silver');
		SELECT dq_gate.alter_gate('shop.item', owner => 'x');
		SELECT dq_gate.expect_range('shop.item', 'n', max => 100, action => 'quarantine');
		SELECT dq_gate.expect_sql('shop.item', 'named', 't IS NOT NULL');
		SELECT dq_gate.expect_sql('shop.item', 'spare', 't IS NOT NULL');
		SELECT dq_gate.drop_check('shop.item', 'spare');
		INSERT INTO shop.item_s VALUES (1, 1, 'a'), (2, 200, 'b');
		SELECT verdict, inserted, updated, quarantined FROM dq_gate.publish('shop.item_s', 'shop.item');
		UPDATE shop.item_s SET n = id OPERATOR(pg_catalog.*) 10;
		SELECT verdict, inserted, updated, quarantined FROM dq_gate.publish('shop.item_s', 'shop.item');
		UPDATE shop.item_s SET n = -1 WHERE id OPERATOR(pg_catalog.=) 2;
		SELECT verdict, passed FROM dq_gate.audit('shop.item_s', 'shop.item');
		SELECT verdict, quarantined FROM dq_gate.publish('shop.item_s', 'shop.item');
		CALL dq_gate.publish_or_fail('shop.item_s', 'shop.item');
		UPDATE shop.item_s SET id = 1, n = 1;
		SELECT verdict, quarantined FROM dq_gate.publish('shop.item_s', 'shop.item');
		SELECT pg_catalog.count(*) OPERATOR(pg_catalog.>) 3::pg_catalog.int8 FROM dq_gate.checks_of('shop.item');
		SELECT pg_catalog.count(*) OPERATOR(pg_catalog.>) 3::pg_catalog.int8 FROM dq_gate.results_of((SELECT pg_catalog.max(run_id) FROM dq_gate.runs));
		SELECT pg_catalog.string_agg(id::pg_catalog.text, ',' ORDER BY id), pg_catalog.sum(n) FROM shop.item;
		TRUNCATE shop.item_s;
		SELECT requeued, requeued_before FROM dq_gate.requeue((SELECT pg_catalog.max(run_id) FROM dq_gate.runs));
		SELECT dq_gate.drop_gate('shop.item');
		DROP TABLE dq_quarantine.item;
		DROP SCHEMA shop CASCADE;
	}, db => $db, user => $superuser);
	is($out, "shop.item\nshop.item\nn_range\nnamed\nspare\n\n"
		. "published|1|0|1\npublished|1|1|0\naudited|f\nrejected|2\nrejected|2\nt\nt\n1,2|30\n2|0\n",
		"$name: every door gives the right answer");
	like($err, qr/23DQ1/, "$name: also publish_or_fail");
	is((() = $err =~ /^ERROR/mg), 1, "$name: and nothing else fails") or diag($err);
	is($node->safe_psql($db, 'SELECT count(*), string_agg(DISTINCT what, $$,$$) FROM evil.log'), '0|', "$name: nothing evil ran");
	return;
}

go_through_all_doors('path set by the caller', 'postgres', "SET search_path = $path;");
$node->safe_psql('postgres', "ALTER ROLE \"$superuser\" SET search_path = $path");
go_through_all_doors('path set for the role', 'postgres', '');
$node->safe_psql('postgres', "ALTER ROLE \"$superuser\" RESET search_path");
$node->safe_psql('postgres', "ALTER DATABASE postgres SET search_path = $path");
go_through_all_doors('path set for the database', 'postgres', '');
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET search_path');

# temporary objects come before the catalogs, unless one takes care
go_through_all_doors('temporary objects', 'postgres', q{
	CREATE TEMP TABLE pg_class (LIKE pg_catalog.pg_class);
	CREATE TEMP TABLE pg_constraint (LIKE pg_catalog.pg_constraint);
	CREATE TEMP TABLE gates (LIKE dq_gate.gates);
	CREATE TEMP TABLE checks (LIKE dq_gate.checks);
	CREATE TEMP TABLE runs (LIKE dq_gate.runs);
	CREATE TEMP TABLE item (id int PRIMARY KEY);
	CREATE TEMP TABLE item_s (id int);
	CREATE DOMAIN pg_temp.text AS pg_catalog.text CHECK (false);
	CREATE DOMAIN pg_temp.int4 AS pg_catalog.int4 CHECK (false);
	SET search_path = pg_temp, public;});

# === the extension itself

is(as('etl', 'CREATE EXTENSION dq_gate SCHEMA mart'), '42710: extension "dq_gate" already exists', 'there is one extension in a database');
foreach my $schema ('dq_gate', 'dq_quarantine')
{
	$node->safe_psql('postgres', 'CREATE DATABASE planted');
	$node->safe_psql('planted', "CREATE SCHEMA $schema; CREATE TABLE $schema.runs (run_id int); GRANT ALL ON SCHEMA $schema TO outsider");
	$node->safe_psql('planted', "ALTER SCHEMA $schema OWNER TO outsider");
	like(as($superuser, 'CREATE EXTENSION dq_gate', db => 'planted'), qr/^42P06: schema "?$schema"? already exists/, "a planted schema $schema is not adopted");
	is($node->safe_psql('planted', q{SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'dq\_%'}), '1', 'and nothing is left of the attempt');
	$node->safe_psql('postgres', 'DROP DATABASE planted');
}
$node->safe_psql('postgres', 'CREATE DATABASE fresh TEMPLATE postgres');
$node->safe_psql('fresh', 'DROP EXTENSION dq_gate CASCADE');
like(as('etl', 'CREATE EXTENSION dq_gate', db => 'fresh'), qr/^42501: permission denied to create extension/, 'a mere role does not install it');
$node->safe_psql('fresh', 'DROP SCHEMA IF EXISTS dq_quarantine CASCADE');
must($superuser, "ALTER DATABASE fresh SET search_path = $path");
is(as($superuser, 'CREATE EXTENSION dq_gate', db => 'fresh'), '', 'it installs beside evil objects');
go_through_all_doors('installed under an evil path', 'fresh', '');

log_is_clean($node);
$node->stop;
done_testing();
