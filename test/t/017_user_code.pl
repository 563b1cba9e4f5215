# Code of a mere role stands wherever it can: in domains, casts, operators,
# defaults, generated columns, indexes, constraints, policies, triggers, views,
# aggregates and rules.  A superuser walks through all doors of its gate, and
# none of that ever runs as him.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('user_code');
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
my ($out, $err);

$node->safe_psql('postgres', q{
	CREATE ROLE etl LOGIN;
	CREATE SCHEMA m AUTHORIZATION etl;
});

# a warning gets out of a read-only transaction, and of one that is rolled back
($out, $err) = session($node, q{
	SET client_min_messages = error;
	CREATE FUNCTION m.who(what text) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$
	BEGIN
		RAISE WARNING '% as %', what, current_user;
		RETURN true;
	END $$;
	CREATE FUNCTION m.one(what text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM m.who(what); RETURN 1; END $$;
	CREATE FUNCTION m.rule(int) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN m.who('rule'); END $$;

	CREATE TYPE m.mood AS ENUM ('sad', 'ok', 'glad');
	CREATE DOMAIN m.whole AS int CHECK (m.who('domain over int'));
	CREATE DOMAIN m.words AS text CHECK (m.who('domain over text'));
	CREATE TYPE m.pair AS (a m.whole, b int);
	CREATE FUNCTION m.cast_enum(m.mood) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM m.who('cast of enum to text'); RETURN 'x'; END $$;
	CREATE CAST (m.mood AS text) WITH FUNCTION m.cast_enum(m.mood) AS ASSIGNMENT;
	CREATE FUNCTION m.cast_text(text) RETURNS m.mood LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM m.who('cast of text to enum'); RETURN (enum_range(NULL::m.mood))[2]; END $$;
	CREATE CAST (text AS m.mood) WITH FUNCTION m.cast_text(text) AS ASSIGNMENT;
	CREATE FUNCTION m.cast_pair(m.pair) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM m.who('cast of composite to text'); RETURN 'x'; END $$;
	CREATE CAST (m.pair AS text) WITH FUNCTION m.cast_pair(m.pair) AS ASSIGNMENT;
	CREATE FUNCTION m.cast_json(m.mood) RETURNS json LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM m.who('cast of enum to json'); RETURN '1'; END $$;
	CREATE CAST (m.mood AS json) WITH FUNCTION m.cast_json(m.mood);
	CREATE FUNCTION m.step(int, int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM m.who('aggregate'); RETURN 1; END $$;
	CREATE AGGREGATE m.agg(int) (SFUNC = m.step, STYPE = int, INITCOND = '0');
	CREATE FUNCTION m.fire() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM m.who('trigger ' || TG_OP || ' of ' || TG_TABLE_NAME);
		RETURN COALESCE(NEW, OLD);
	END $$;

	CREATE TABLE m.parent (id int PRIMARY KEY);
	CREATE TABLE m.t (id int PRIMARY KEY, mood m.mood, d m.whole, w m.words, p m.pair, n int CHECK (m.rule(n)), x text, ds m.whole[], rest jsonb,
		made int DEFAULT m.one('default of target'), g int GENERATED ALWAYS AS (n + m.one('generated')) STORED, parent int REFERENCES m.parent);
	CREATE UNIQUE INDEX ON m.t ((n + m.one('index'))) WHERE m.rule(n);
	CREATE TABLE m.s (id int, mood m.mood, d m.whole, w m.words, p m.pair, n int, x m.words, ds m.whole[], parent int, extra m.words DEFAULT m.one('default of staging')::text);
	CREATE VIEW m.v AS SELECT id FROM m.t WHERE m.rule(id);
	INSERT INTO m.t (id, mood, d, w, n) SELECT i, 'ok', 1, 'a', i FROM generate_series(1, 300) i;
	INSERT INTO m.s (id, mood, d, w, p, n, x, ds) VALUES (1, 'ok', 1, 'a', '(1,2)', 1, 'x', '{1}'), (2, 'ok', 1, 'b', '(1,2)', 2, 'y', NULL), (301, 'sad', 1, 'b', '(1,2)', -301, 'z', NULL);
	ALTER TABLE m.t ENABLE ROW LEVEL SECURITY;
	CREATE POLICY p ON m.t USING (m.rule(id));
	CREATE TRIGGER fire BEFORE INSERT OR UPDATE OR DELETE ON m.t FOR EACH ROW EXECUTE FUNCTION m.fire();
	CREATE TRIGGER fire BEFORE INSERT OR UPDATE OR DELETE ON m.s FOR EACH ROW EXECUTE FUNCTION m.fire();
	CREATE TRIGGER fire_s BEFORE TRUNCATE ON m.s EXECUTE FUNCTION m.fire();
	CREATE CONSTRAINT TRIGGER fire_later AFTER INSERT ON m.t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION m.fire();
}, user => 'etl');
unlike($err, qr/^ERROR/m, 'the code is in place') or diag($err);

my %seen;
my @wrong;

# What a superuser does; verdicts and counts come out
sub superuser_does
{
	my ($what, $sql) = @_;
	($out, $err) = session($node, $sql, user => $superuser);
	foreach my $line (split /\n/, $err)
	{
		next unless $line =~ /^WARNING:  (?:\d+: )?(.*) as (\w+)$/;
		$2 eq 'etl' ? $seen{$1}++ : push(@wrong, "$1 as $2: $what");
	}
	unlike($err, qr/^ERROR/m, "$what: without an error") or diag($err =~ s/^(WARNING.* as |LOCATION|CONTEXT|QUERY|PL.pgSQL|SQL).*\n//mgr);
	return;
}

superuser_does('registers a gate', q{
	SELECT dq_gate.create_gate('m.t', 'm.s', run_as => 'etl', key => '{id}', profile => true, keep_latest_by => 'd', on_new_column => 'rescue', rescue_column => 'rest');});
superuser_does('declares checks', q{
	SELECT dq_gate.expect_range('m.t', 'd', min => 0), dq_gate.expect_range('m.t', 'w', min => 'a'), dq_gate.expect_range('m.t', 'mood', min => 'sad'),
		dq_gate.expect_range('m.t', 'p', min => '(1,1)'), dq_gate.expect_range('m.t', 'ds', min => '{1}');
	SELECT dq_gate.expect_accepted_values('m.t', 'd', '{1,2}'), dq_gate.expect_accepted_values('m.t', 'mood', '{ok,sad}'), dq_gate.expect_accepted_values('m.t', 'w', '{a,b}'),
		dq_gate.expect_rejected_values('m.t', 'p', '{"(7,1)"}'), dq_gate.expect_accepted_values('m.t', 'w', query => $$SELECT 'a'::m.words UNION SELECT 'b'$$, name => 'asked');
	SELECT dq_gate.expect_sql('m.t', 'constant', $$m.who('constant of a rule')$$), dq_gate.expect_sql('m.t', 'domains', $$d = 1::m.whole AND w <> 'q'::m.words$$),
		dq_gate.expect_sql('m.t', 'casts', $$mood::text = 'x' AND p::text = 'x' AND 'ok'::text::m.mood IS NOT NULL$$);
	SELECT dq_gate.expect_aggregate('m.t', 'agg', 'm.agg(n)', min => 0), dq_gate.expect_query('m.t', 'asks', 'SELECT id FROM m.v WHERE m.rule(id) AND id < 0'),
		dq_gate.expect_metric('m.t', 'm.agg(n)', 'zscore', max => 3, name => 'usual', action => 'warn'),
		dq_gate.expect_row_count_match('m.t', 'm.v', 0.001, 100, ref_filter => 'm.rule(id)', filter => 'm.rule(n)'),
		dq_gate.expect_control_totals('m.t', '{n}', 'SELECT count(*) AS row_count, sum(n) AS n FROM m.s WHERE m.rule(n)', action => 'warn'),
		dq_gate.expect_reconciled('m.t', 'm.v', '{id}', '{id}', action => 'warn'), dq_gate.expect_unique('m.t', '{mood}', action => 'warn'), dq_gate.expect_unique('m.t', '{p}', action => 'warn'),
		dq_gate.expect_distinct('m.t', '{mood,w}', 1, 20, action => 'warn'), dq_gate.expect_stable_distribution('m.t', 'mood', action => 'warn'),
		dq_gate.expect_stable_distribution('m.t', 'w', action => 'warn'), dq_gate.expect_schema('m.t', '{id,d}', '{integer,m.whole}', 'at_least', action => 'warn'),
		dq_gate.expect_range('m.t', 'n', min => -100, action => 'quarantine', filter => 'm.rule(n)'), dq_gate.expect_volume('m.t', action => 'declare');});
superuser_does('looks ahead', q{SELECT count(*) FROM dq_gate.preview('m.s', 'm.t'); SELECT verdict, passed FROM dq_gate.audit('m.s', 'm.t');});
like($out, qr/^audited\|t$/m, 'the batch is as it should be') or diag($err);
superuser_does('publishes', q{SELECT verdict, updated, quarantined FROM dq_gate.publish('m.s', 'm.t', 'b1'); SELECT verdict FROM dq_gate.publish('m.s', 'm.t', 'b1');});
is($out, "published|2|1\nskipped", 'published, once');
superuser_does('looks around', q{
	SELECT count(*) > 0 FROM dq_gate.audit_table('m.t'); SELECT count(*) > 0 FROM dq_gate.checks_of('m.t'); SELECT count(*) > 0 FROM dq_gate.constraint_ddl('m.t');
	SELECT count(*) FROM dq_gate.calibrate('m.t'); SELECT count(*) > 0 FROM dq_gate.report('m.t'); SELECT count(*) > 0 FROM dq_gate.explain_run(2);
	SELECT count(*) FROM dq_gate.failed_checks; SELECT count(*) > 0 FROM dq_gate.profiles; SELECT dq_gate.may_run('m.t', 'm.s'), dq_gate.may_see_rows('m.t');});
superuser_does('exports and imports', q{SELECT count(*) FROM dq_gate.import_gate(dq_gate.export_gate('m.t')) WHERE change <> 'unchanged';
	SELECT dq_gate.calibrate('m.t', true);});
superuser_does('requeues', q{SET ROLE etl; TRUNCATE m.s; RESET ROLE; SELECT requeued FROM dq_gate.requeue(2);});
superuser_does('has staging emptied', q{SELECT dq_gate.alter_gate('m.t', after_publish => 'delete', on_new_column => 'evolve', rescue_column => '');
	SET ROLE etl; UPDATE m.s SET n = 400, w = 'a', extra = 'e'; RESET ROLE; SELECT verdict, inserted FROM dq_gate.publish('m.s', 'm.t', 'b2');
	SELECT dq_gate.alter_gate('m.t', after_publish => 'truncate', on_new_column => 'fail'); SET ROLE etl; INSERT INTO m.s (id, mood, d, w, n) VALUES (9, 'ok', 1, 'a', 9); RESET ROLE;
	SELECT verdict FROM dq_gate.publish('m.s', 'm.t', 'b3');});
like($out, qr/published\|1.*published/s, 'and the target altered');
superuser_does('syncs and replaces', q{
	SELECT dq_gate.alter_gate('m.t', mode => 'sync', scope => 'm.rule(id) AND id < 3 AND d > 0', after_publish => 'keep');
	SET ROLE etl; INSERT INTO m.s (id, mood, d, w, n) VALUES (1, 'sad', 1, 'a', 1); RESET ROLE; SELECT count(*) FROM dq_gate.preview('m.s', 'm.t');
	SELECT verdict, deleted FROM dq_gate.publish('m.s', 'm.t', 'b4');
	SELECT dq_gate.alter_gate('m.t', mode => 'replace', scope => '', replace_by => '{d}', key => '{id}'); SELECT verdict, deleted FROM dq_gate.publish('m.s', 'm.t', 'b5');});
like($out, qr/published\|1.*published\|30\d/s, 'with rows deleted') or diag($out);
superuser_does('asks for suggestions', q{SET ROLE etl; DROP INDEX m.t_expr_idx; INSERT INTO m.t (id, mood, d, w, n) SELECT i, 'ok', 1, 'a', i FROM generate_series(1001, 1300) i; RESET ROLE;
	SELECT dq_gate.drop_gate('m.t'); SELECT string_agg(columns::text, ',') FROM dq_gate.suggest_checks('m.t'); SELECT count(*) > 0 FROM dq_gate.suggest_checks('m.t', 100);});
like($out, qr/mood.*mood/, 'two of which are about the enum');

is(join("\n", @wrong), '', 'none of it ran as the superuser');
# and all of it did run
foreach my $code ('aggregate', 'cast of composite to text', 'cast of enum to json', 'cast of enum to text', 'cast of text to enum', 'constant of a rule', 'default of staging', 'default of target',
	'domain over int', 'domain over text', 'generated', 'index', 'rule', 'trigger DELETE of s', 'trigger DELETE of t', 'trigger INSERT of s', 'trigger INSERT of t', 'trigger TRUNCATE of s', 'trigger UPDATE of t')
{
	ok($seen{$code}, "$code: was called, as etl");
}

log_is_clean($node);
$node->stop;
done_testing();
