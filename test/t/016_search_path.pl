# Objects that others put into the search_path, or into the temporary schema,
# are found by nothing that dq_gate does (case O32): there is one for each
# function, operator, type, table and view of pg_catalog and dq_gate, and every
# door gives the same answers as without them.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use Doors;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('search_path');
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
my $path = 'evil, pg_catalog, public';

# Each of them says so when it is called: a warning gets out of a read-only
# transaction, and out of one that is rolled back.
my $plant = q{
CREATE FUNCTION SCHEMA.note(what text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'evil: %', what; RETURN true; END $$;
SET client_min_messages = error;
SET check_function_bodies = off;
DO $do$
DECLARE
	o	record;
	done	int := 0;
BEGIN
	FOR o IN
		-- window functions and aggregates as mere functions: found, they are an error
		SELECT p.proname AS name, pg_get_function_arguments(p.oid) AS args,
			CASE WHEN p.prorettype = 'internal'::regtype THEN 'text' ELSE pg_get_function_result(p.oid) END AS result
		FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind IN ('f', 'a', 'w') AND NOT (p.prokind = 'a' AND p.pronargs = 0)
		AND NOT p.proargtypes::oid[] && ARRAY['internal'::regtype, 'cstring'::regtype, '"any"'::regtype]::oid[]
		UNION ALL
		-- those that take anything are called with these
		SELECT n, a, 'text' FROM unnest('{format,concat,concat_ws,jsonb_build_object,jsonb_build_array,json_build_object,num_nulls,num_nonnulls,count,pg_typeof,pg_column_size}'::text[]) n,
			unnest('{text,int4,int8,"text, text","text, int4","text, int8","text, oid","text, name","text, name, name","text, regclass","text, text, text","text, text, text, text","text, text[]","text, text, text, text, text",timestamptz,oid,bool,jsonb,float8,numeric,anyelement}'::text[]) a
	LOOP
		BEGIN
			EXECUTE format('CREATE FUNCTION SCHEMA.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', o.name, o.args, o.result,
				format('BEGIN RAISE WARNING %L; %s; END', 'evil: ' || o.name || '()',
					CASE WHEN o.result ~ '^(SETOF|TABLE|void)' OR o.args ~ 'OUT ' THEN 'RETURN' ELSE 'RETURN NULL' END));
			done := done + 1;
		EXCEPTION WHEN OTHERS THEN NULL;
		END;
	END LOOP;
	FOR o IN
		SELECT r.oid, r.oprname AS name, CASE WHEN r.oprleft <> 0 THEN r.oprleft::regtype END AS l, r.oprright::regtype AS r, r.oprresult::regtype AS result
		FROM pg_operator r WHERE r.oprnamespace = 'pg_catalog'::regnamespace
		UNION ALL
		SELECT 1 + row_number() OVER (), n, a::regtype, b::regtype, 'bool'
		FROM unnest('{=,<>,<,>,<=,>=}'::text[]) n, (VALUES ('point', 'point'), ('json', 'json'), ('int4', 'text'), ('name', 'name'), ('regclass', 'regclass'), ('regrole', 'regrole'), ('regclass', 'oid'), ('text', 'name')) t (a, b)
	LOOP
		BEGIN
			EXECUTE format('CREATE FUNCTION SCHEMA.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', 'op' || o.oid, concat_ws(', ', o.l, o.r), o.result,
				format('BEGIN RAISE WARNING %L; RETURN NULL; END', format('evil: %s %s %s', o.l, o.name, o.r)));
			EXECUTE format('CREATE OPERATOR SCHEMA.%s (%s, FUNCTION = SCHEMA.%I)', o.name, concat_ws(', ', 'LEFTARG = ' || o.l, 'RIGHTARG = ' || o.r), 'op' || o.oid);
			done := done + 1;
		EXCEPTION WHEN OTHERS THEN NULL;
		END;
	END LOOP;
	EXECUTE 'CREATE FUNCTION SCHEMA.step(int8) RETURNS int8 LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING ''evil: count(*)''; RETURN 1; END $$';
	EXECUTE 'CREATE AGGREGATE SCHEMA.count(*) (SFUNC = SCHEMA.step, STYPE = int8)';
	FOR o IN
		SELECT relnamespace::regnamespace AS nsp, relname AS name,
			(SELECT string_agg(CASE WHEN atttypid IN ('anyarray'::regtype, 'pg_statistic[]'::regtype) THEN format('NULL::text AS %I', attname) ELSE quote_ident(attname) END, ', ' ORDER BY attnum)
			 FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS columns
		FROM pg_class c
		WHERE relnamespace IN ('pg_catalog'::regnamespace, 'dq_gate'::regnamespace) AND relkind IN ('r', 'v')
		UNION ALL
		SELECT NULL, unnest('{item,item_s,parent}'::text[]), NULL
	LOOP
		EXECUTE format(CASE WHEN o.nsp IS NULL THEN 'CREATE VIEW SCHEMA.%1$I AS SELECT 1 AS id WHERE (SELECT SCHEMA.note(%2$L))'
			ELSE 'CREATE VIEW SCHEMA.%1$I AS SELECT %4$s FROM %3$s.%1$I WHERE (SELECT SCHEMA.note(%2$L))' END,
			o.name, 'relation ' || o.name, o.nsp, o.columns);
		done := done + 1;
	END LOOP;
	-- last, since the names of types are looked for
	FOR o IN SELECT typname AS name FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype IN ('b', 'e') AND typcategory <> 'A' AND typelem = 0
	LOOP
		BEGIN
			EXECUTE format('CREATE DOMAIN SCHEMA.%1$I AS pg_catalog.%1$I CHECK (SCHEMA.note(%2$L))', o.name, 'type ' || o.name);
			done := done + 1;
		EXCEPTION WHEN OTHERS THEN NULL;
		END;
	END LOOP;
	IF done < 3500 THEN
		RAISE EXCEPTION 'only % objects are planted', done;
	END IF;
END
$do$;
RESET client_min_messages;
RESET check_function_bodies;
};

$node->safe_psql('postgres', 'CREATE ROLE door_keeper');
all_doors_are_in($node);

sub plant
{
	my ($db, $schema) = @_;
	$node->safe_psql($db, "CREATE SCHEMA $schema; GRANT USAGE ON SCHEMA $schema TO PUBLIC;" . $plant =~ s/SCHEMA/$schema/gr);
	return;
}

# What there is to see, without what no two runs have in common
sub walk
{
	my ($db, $first) = @_;
	my ($out, $err) = session($node, ($first // '') . doors_script(), db => $db, user => $superuser);

	$err =~ s/^(LOCATION|CONTEXT|LINE|\s+\^).*\n//mg;
	$err =~ s/psql:<stdin>:\d+: //g;
	foreach ($out, $err)
	{
		s/\d\d:\d\d:\d\d(\.\d+)?/TIME/g;
		s/database "\w+"/database/g;
		s/the database '\w+'/the database/g;
	}
	return ($out, $err);
}

# === without anything evil

$node->safe_psql('postgres', 'CREATE DATABASE clean');
$node->safe_psql('clean', 'CREATE EXTENSION dq_gate');
my ($right, $right_err) = walk('clean');
my @errors = $right_err =~ /^ERROR:  (.*)/mg;
is(scalar @errors, 5, 'what fails is what has to: a requeue of staged rows, publish_or_fail, and what needs pg_cron') or diag($right_err);
like($right, qr/^9\|published/m, 'the script gets to its end');
unlike($right_err, qr/evil/, 'nothing evil is there yet');

# === with it

# The lines that only one of two texts has
sub differing
{
	my ($got, $expected) = @_;
	my %count;

	$count{$_}++ foreach split /\n/, $got;
	$count{$_}-- foreach split /\n/, $expected;
	return join "\n", map { $count{$_} > 0 ? "got $_" : "missing $_" } grep { $count{$_} } sort keys %count;
}

sub is_right
{
	my ($name, $db, $first) = @_;
	my ($out, $err) = walk($db, $first);
	my %called;

	$called{$_}++ foreach $err =~ /evil: (.*)/g;
	is(join("\n", sort keys %called), '', "$name: nothing evil was called");
	$err =~ s/^.*evil: .*\n(HINT|DETAIL).*\n//mg;
	is(differing($out, $right), '', "$name: every door gives the right answer");
	is(differing($err, $right_err), '', "$name: and says the same");
	return;
}

$node->safe_psql('postgres', 'CREATE DATABASE planted');
$node->safe_psql('planted', 'CREATE EXTENSION dq_gate');
plant('planted', 'evil');
foreach my $sql ('SELECT 1 = 1', "SELECT lower('A')", 'SELECT count(*) FROM (SELECT 1) x', 'SELECT count(1)', 'SELECT FROM runs', 'SELECT FROM pg_class',
	"SELECT 'a'::text", "SELECT format('%s', 1)", "SELECT quote_ident('a'), now(), array_to_string('{a}'::pg_catalog.text[], ',')", "SELECT 'a' || 'b'",
	"SELECT jsonb_build_object('a', 1)", 'SELECT max(1)', 'SELECT row_number() OVER ()', "SELECT 'a' LIKE 'b'", 'SELECT 1 IN (1)')
{
	my ($out, $err) = session($node, "SET search_path = $path; $sql;", db => 'planted', user => $superuser);
	like($err, qr/evil: |is not a window function/, "what is planted is found by plain SQL: $sql");
}

is_right('path set by the caller', 'planted', "SET search_path = $path;\n");
$node->safe_psql('postgres', 'DROP DATABASE planted');
foreach my $who ("ROLE \"$superuser\"", 'DATABASE planted')
{
	$node->safe_psql('postgres', 'CREATE DATABASE planted');
	$node->safe_psql('planted', 'CREATE EXTENSION dq_gate');
	plant('planted', 'evil');
	$node->safe_psql('postgres', "ALTER $who SET search_path = $path");
	is_right("path set by ALTER $who", 'planted');
	my ($out, $err) = session($node, 'DROP EXTENSION dq_gate CASCADE', db => 'planted', user => $superuser);
	unlike($err, qr/evil: |^ERROR/m, "path set by ALTER $who: nor when the extension is dropped");
	$node->safe_psql('postgres', $_) foreach "ALTER $who RESET search_path", 'DROP DATABASE planted';
}

# the extension is made in a database that has them all: of the views of dq_gate only the names
$node->safe_psql('postgres', 'CREATE DATABASE planted');
$node->safe_psql('planted', 'CREATE EXTENSION dq_gate');
plant('planted', 'evil');
$node->safe_psql('planted', q{
	DO $$ BEGIN EXECUTE (SELECT string_agg(format('DROP VIEW evil.%1$I; CREATE VIEW evil.%1$I AS SELECT 1 AS run_id, 1 AS target WHERE (SELECT evil.note(%1$L))', relname), ';')
		FROM pg_class WHERE relnamespace = 'dq_gate'::regnamespace AND relkind IN ('r', 'v')); END $$;
	DROP EXTENSION dq_gate CASCADE;
	DROP SCHEMA IF EXISTS dq_quarantine CASCADE});
$node->safe_psql('postgres', "ALTER DATABASE planted SET search_path = $path");
my ($status, $out, $err) = psql_c($node, 'CREATE EXTENSION dq_gate', db => 'planted', user => $superuser);
is("$out$err", '', 'CREATE EXTENSION calls nothing evil');
is_right('installed under such a path', 'planted');
$node->safe_psql('postgres', 'DROP DATABASE planted');

# === temporary objects come before the catalogs, unless one takes care

foreach my $case ([ 'temporary objects', '' ], [ 'temporary objects first in the path', "SET search_path = pg_temp, pg_catalog, public;\n" ])
{
	$node->safe_psql('postgres', 'CREATE DATABASE planted');
	$node->safe_psql('planted', 'CREATE EXTENSION dq_gate');
	is_right($case->[0], 'planted', ($plant =~ s/SCHEMA/pg_temp/gr) . $case->[1]);
	$node->safe_psql('postgres', 'DROP DATABASE planted');
}

log_is_clean($node);
$node->stop;
done_testing();
