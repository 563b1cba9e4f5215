# Checks follow what is renamed or moved, or say what they miss; what is dropped
# is missed by its own gate alone, whether its going was noticed or not.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use GateTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_gate_node('lifecycle');
my ($status, $out, $err);

sub sql { return $node->safe_psql('postgres', "SET client_min_messages = error; $_[0]"); }

# What a publish makes of the batch, and what failed, as a role
sub publish
{
	my ($staging, $target, $user) = @_;
	my ($out, $err) = session($node, qq{SELECT concat_ws(' ', verdict || ':', nullif(array_to_string(failures, '; '), '')) FROM dq_gate.publish('$staging', '$target');},
		user => $user // 'keeper');
	my ($error) = $err =~ /^ERROR:  (.*)$/m;
	return $error // $out;
}

sql(q{
	CREATE ROLE keeper LOGIN;
	CREATE ROLE doer LOGIN;
	GRANT doer TO keeper;
	GRANT CREATE ON SCHEMA public TO keeper;
	CREATE SCHEMA other AUTHORIZATION keeper;
	SET SESSION AUTHORIZATION keeper;
	CREATE TYPE mood AS ENUM ('a', 'b');
	CREATE FUNCTION fine(text) RETURNS bool LANGUAGE sql IMMUTABLE AS $$SELECT $1 <> 'x'$$;
	CREATE TABLE parent (id int PRIMARY KEY);
	INSERT INTO parent VALUES (1), (2);
	CREATE TABLE t (id int PRIMARY KEY, p int, v int, m mood, w text);
	CREATE TABLE s (id int, p int, v int, m mood, w text);
	INSERT INTO s VALUES (1, 1, 1, 'a', 'q'), (2, 2, -1, 'b', 'q');
	SELECT dq_gate.create_gate('t', 's');
	SELECT dq_gate.expect_range('t', 'v', min => 0, name => 'rng', action => 'quarantine');
	SELECT dq_gate.expect_accepted_values('t', 'm', '{a,b}', name => 'mood', action => 'warn');
	SELECT dq_gate.expect_referential('t', '{p}', 'parent', '{id}', name => 'ref', action => 'warn');
	SELECT dq_gate.expect_row_count_match('t', 'parent', 0, 100, name => 'match', action => 'warn');
	SELECT dq_gate.expect_sql('t', 'fn', 'fine(w)', action => 'warn');
	SELECT dq_gate.expect_query('t', 'qry', 'SELECT id FROM parent WHERE id < 0', action => 'warn');
	CREATE TABLE by (id int PRIMARY KEY);
	CREATE TABLE by_s (id int);
	INSERT INTO by_s VALUES (1);
	SELECT dq_gate.create_gate('by', 'by_s');
	SELECT dq_gate.expect_referential('by', '{id}', 'parent', '{id}', name => 'ref')});
my $right = 'published: rng: 1 of 2 rows: v below 0 (quarantine)';
my $unevaluated = 'could not be evaluated';
is(publish('s', 't'), $right, 'as it was');

# --- renamed, moved, and back: what is done, what is undone, and what is missed in between

foreach my $case (
	[ 'the target', 'ALTER TABLE t RENAME TO tt', 'ALTER TABLE tt RENAME TO t', target => 'tt' ],
	[ 'the target, into another schema', 'ALTER TABLE t SET SCHEMA other', 'ALTER TABLE other.t SET SCHEMA public', target => 'other.t' ],
	[ 'staging', 'ALTER TABLE s RENAME TO ss', 'ALTER TABLE ss RENAME TO s', staging => 'ss' ],
	[ 'the schema of both', 'ALTER TABLE s SET SCHEMA other; ALTER TABLE t SET SCHEMA other; RESET SESSION AUTHORIZATION; ALTER SCHEMA other RENAME TO "An other"',
		'ALTER SCHEMA "An other" RENAME TO other; ALTER TABLE other.s SET SCHEMA public; ALTER TABLE other.t SET SCHEMA public', target => '"An other".t', staging => '"An other".s' ],
	[ 'the table referred to', 'ALTER TABLE parent RENAME TO elders', 'ALTER TABLE elders RENAME TO parent', missed => qq{qry: $unevaluated: relation "public.parent" does not exist (warn)} ],
	[ 'its schema', 'ALTER TABLE parent SET SCHEMA other', 'ALTER TABLE other.parent SET SCHEMA public', missed => qq{qry: $unevaluated: relation "public.parent" does not exist (warn)} ],
	[ 'its column', 'ALTER TABLE parent RENAME id TO no', 'ALTER TABLE parent RENAME no TO id',
		missed => qq{qry: $unevaluated: column "id" does not exist (warn); ref: $unevaluated: column id of public.parent does not exist any more (warn)} ],
	[ 'a type', 'ALTER TYPE mood RENAME TO temper; ALTER TYPE temper SET SCHEMA other', 'ALTER TYPE other.temper SET SCHEMA public; ALTER TYPE temper RENAME TO mood' ],
	[ 'a value of it', q{ALTER TYPE mood RENAME VALUE 'b' TO 'bb'}, q{ALTER TYPE mood RENAME VALUE 'bb' TO 'b'}, missed => qq{mood: 1 of 2 rows: m not in ('a', 'b') (warn)} ],
	[ 'a function', 'ALTER FUNCTION fine(text) RENAME TO finer', 'ALTER FUNCTION finer(text) RENAME TO fine', missed => qq{fn: $unevaluated: function public.fine(text) does not exist (warn)} ],
	[ 'a column of staging', 'ALTER TABLE s RENAME w TO ww', 'ALTER TABLE s RENAME ww TO w', instead => qr/^rejected: .*schema_contract: staged columns that the target lacks: ww/ ],
	[ 'a column', 'ALTER TABLE s RENAME v TO vv; ALTER TABLE t RENAME v TO vv', 'ALTER TABLE s RENAME vv TO v; ALTER TABLE t RENAME vv TO v',
		instead => qr/^rejected: rng: $unevaluated: column v does not exist in the target \(quarantine\)$/ ],
	[ 'the key', 'ALTER TABLE s RENAME id TO ident; ALTER TABLE t RENAME id TO ident', 'ALTER TABLE s RENAME ident TO id; ALTER TABLE t RENAME ident TO id' ],
	[ 'quarantine', 'RESET SESSION AUTHORIZATION; ALTER TABLE dq_quarantine.t RENAME TO kept', 'ALTER TABLE dq_quarantine.kept RENAME TO t' ],
	[ 'quarantine, out of its schema', 'RESET SESSION AUTHORIZATION; ALTER TABLE dq_quarantine.t SET SCHEMA other', 'ALTER TABLE other.t SET SCHEMA dq_quarantine' ],
	[ 'the role of the gate', 'RESET SESSION AUTHORIZATION; ALTER ROLE keeper RENAME TO "K eeper"', 'ALTER ROLE "K eeper" RENAME TO keeper', user => 'K eeper' ],
	[ 'the schema of quarantine', 'RESET SESSION AUTHORIZATION; ALTER SCHEMA dq_quarantine RENAME TO kept', 'ALTER SCHEMA kept RENAME TO dq_quarantine' ])
{
	my ($name, $do, $undo, %expect) = @$case;

	sql("SET SESSION AUTHORIZATION keeper; $do");
	my $said = publish($expect{staging} // 's', $expect{target} // 't', $expect{user});
	if ($expect{instead})
	{
		like($said, $expect{instead}, "$name renamed: said");
	}
	else
	{
		my $expected = join('; ', sort { $a cmp $b } grep { $_ } 'rng: 1 of 2 rows: v below 0 (quarantine)', split /; /, $expect{missed} // '');
		is($said, "published: $expected", "$name renamed: " . ($expect{missed} ? 'said' : 'followed'));
	}
	is(publish('by_s', 'by', $expect{user}), 'published:', "$name renamed: other gates go on") if $name !~ /its column/;
	sql($undo);
	is(publish('s', 't'), $right, "$name: and back");
}
is(sql(q{SELECT count(*) FROM pg_class WHERE relname IN ('t', 'kept', 'public_t_rejected') AND relkind = 'r' AND relnamespace <> 'public'::regnamespace}), '1', 'there is one quarantine all the time');
is(sql(q{SELECT count(DISTINCT run_id) FROM dq_quarantine.t}), sql(q{SELECT count(*) FROM dq_gate.runs WHERE quarantined > 0}), 'with the rows of all runs');
sql('ALTER SCHEMA dq_quarantine RENAME TO kept');
sql(q{SET SESSION AUTHORIZATION keeper; INSERT INTO by_s VALUES (1)});
like(publish('by_s', 'by'), qr/^rejected/, 'where its schema has another name, a new one');
is(sql('SELECT count(*) FROM dq_quarantine.by'), '2', 'keeps what is new');
is(publish('s', 't'), $right, 'and what is known goes where it was');
sql(q{DROP TABLE dq_quarantine.by; DROP SCHEMA dq_quarantine; ALTER SCHEMA kept RENAME TO dq_quarantine; TRUNCATE by_s; INSERT INTO by_s VALUES (1)});

# a column that is called like one of quarantine's own, and later one like its name there
sql(q{SET SESSION AUTHORIZATION keeper;
	CREATE TABLE n (id int PRIMARY KEY, run_id int, staged_run_id int, staged_x int);
	CREATE TABLE n_s (id int, run_id int);
	INSERT INTO n_s VALUES (1, 11), (1, 11)});
like(publish('n_s', 'n'), qr/^rejected/, 'names of quarantine: a staged run_id');
sql(q{ALTER TABLE n_s ADD staged_run_id int, ADD staged_x int; UPDATE n_s SET staged_run_id = 22, staged_x = 33});
like(publish('n_s', 'n'), qr/^rejected/, 'names of quarantine: and a staged_run_id later');
is(sql(q{SELECT DISTINCT staged_run_id, staged_staged_run_id, staged_x FROM dq_quarantine.n ORDER BY 2 NULLS FIRST}), "11||\n11|22|33", 'a column in quarantine keeps its meaning');
sql(q{SET SESSION AUTHORIZATION keeper; TRUNCATE n_s});
is(sql(q{SET SESSION AUTHORIZATION keeper; SELECT requeued FROM dq_gate.requeue((SELECT max(run_id) FROM dq_gate.runs))}), '2', 'and goes back');
is(sql(q{SELECT DISTINCT * FROM n_s}), '1|11|22|33', 'where it came from');

# partitions
sql(q{SET SESSION AUTHORIZATION keeper;
	CREATE TABLE parts (id int PRIMARY KEY, v int) PARTITION BY RANGE (id);
	CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
	CREATE TABLE part_2 PARTITION OF parts FOR VALUES FROM (10) TO (20);
	CREATE TABLE parts_s (id int, v int);
	INSERT INTO parts_s VALUES (1, 1), (11, 1);
	SELECT dq_gate.create_gate('parts', 'parts_s');
	SELECT dq_gate.create_gate('part_2', 'parts_s');
	SELECT dq_gate.expect_range('parts', 'v', min => 0)});
is(publish('parts_s', 'parts'), 'published:', 'partitions: as it was');
sql('ALTER TABLE parts DETACH PARTITION part_2');
like(publish('parts_s', 'parts'), qr/^failed:/, 'a partition detached: a row that has no place is not lost');
sql('ALTER TABLE parts ATTACH PARTITION part_2 FOR VALUES FROM (10) TO (20)');
is(publish('parts_s', 'parts'), 'published:', 'and attached');
sql('DROP TABLE part_2; CREATE TABLE part_2 PARTITION OF parts FOR VALUES FROM (10) TO (30)');
is(publish('parts_s', 'parts'), 'published:', 'dropped and made anew');
is(sql(q{SELECT count(*) FROM dq_gate.gates WHERE target::text ~ 'part'}), '1', 'a gate of its own is gone with it');

# a database by another name, and one made of it
$node->safe_psql('template1', 'CREATE DATABASE other TEMPLATE postgres');
$node->safe_psql('postgres', 'ALTER DATABASE other RENAME TO "An other"');
my $told = q{SELECT concat_ws(' ', verdict, row_count, inserted, updated, unchanged, quarantined, failures) FROM dq_gate.publish('s', 't')};
my ($copy) = session($node, "$told;", db => 'An other', user => 'keeper');
is($copy, (session($node, "$told;", user => 'keeper'))[0], 'a database made of this one judges as this one does');

# --- dropped

# in a transaction that does not come to pass
my $all = q{SELECT (SELECT string_agg(g::text, '|' ORDER BY g::text) FROM dq_gate.gates g), (SELECT string_agg(c::text, '|' ORDER BY c::text) FROM dq_gate.checks c),
	(SELECT string_agg(q::text, '|' ORDER BY q::text) FROM dq_gate.quarantines q), (SELECT string_agg(run_id || ' ' || target::text, '|' ORDER BY run_id) FROM dq_gate.runs)};
my $before = sql($all);
sql('BEGIN; DROP TABLE t, s, parent, dq_quarantine.t CASCADE; ROLLBACK');
is(sql($all), $before, 'dropped and rolled back: nothing is forgotten');
sql('TRUNCATE t, s, parent, by');
is(sql($all), $before, 'truncated: nothing is forgotten');
like(publish('s', 't'), qr/^rejected: .*not_empty/, 'an empty batch is said');
sql(q{INSERT INTO s VALUES (1, 1, 1, 'a', 'q'), (2, 2, -1, 'b', 'q'); INSERT INTO parent VALUES (1), (2)});

sql('DROP TABLE parent');
is(publish('s', 't'), qq{published: match: $unevaluated: the table that it is compared with is gone (warn); qry: $unevaluated: relation "public.parent" does not exist (warn); }
	. qq{ref: $unevaluated: the table that it refers to is gone (warn); rng: 1 of 2 rows: v below 0 (quarantine)}, 'a table referred to is dropped: its checks say so');
like(publish('by_s', 'by'), qr/^rejected: ref: $unevaluated: the table that it refers to is gone$/, 'and those that block do');
sql('SET SESSION AUTHORIZATION keeper; CREATE TABLE parent (id int PRIMARY KEY); INSERT INTO parent VALUES (1), (2)');
like(publish('by_s', 'by'), qr/^rejected: ref: /, 'another table of its name is not it');
sql(q{SET SESSION AUTHORIZATION keeper; SELECT dq_gate.import_gate(dq_gate.export_gate(g)) FROM unnest('{t,by}'::regclass[]) g;
	SELECT dq_gate.expect_referential('by', '{id}', 'parent', '{id}', name => 'ref2')});
sql(q{SET SESSION AUTHORIZATION keeper; SELECT dq_gate.drop_check('by', 'ref')});
is(publish('by_s', 'by'), 'published:', 'until the check is declared on it');

sql('DROP TABLE dq_quarantine.t');
like(publish('s', 't'), qr/^published/, 'quarantine is dropped: the next one is made');
is(sql('SELECT count(*) FROM dq_quarantine.t'), '1', 'with what comes from now on');

sql('DROP TABLE s');
is(sql(q{SELECT staging IS NULL FROM dq_gate.gates WHERE target = 't'::regclass}), 't', 'staging is dropped: the gate has none');
like(sql(q{SELECT dq_gate.report('t')}), qr/staging +public\.s, which does not exist any more/, 'and the report says so');
is(publish('by_s', 'by'), 'published:', 'other gates go on');
sql('SET SESSION AUTHORIZATION keeper; CREATE TABLE s (LIKE t)');
sql(q{SET SESSION AUTHORIZATION keeper; INSERT INTO s VALUES (1, 1, 1, 'a', 'q'), (2, 2, -1, 'b', 'q'); SELECT dq_gate.alter_gate('t', staging => 's')});
like(publish('s', 't'), qr/^published/, 'until it has another one');

sql('BEGIN; DROP TABLE t; SET SESSION AUTHORIZATION keeper; CREATE TABLE t (id int PRIMARY KEY, p int, v int, m mood, w text); COMMIT');
is(sql(q{SELECT count(*) FROM dq_gate.gates WHERE target = 't'::regclass}), '0', 'the target is dropped: another table of its name has no gate');
is(sql(q{SELECT count(*) FROM dq_gate.runs WHERE target = 't'::regclass}), '0', 'and no history');
cmp_ok(sql(q{SELECT count(*) FROM dq_gate.runs WHERE gate = 'public.t'}), '>', 20, 'which is kept under its name');

# by a schema, by an owner
sql(q{CREATE SCHEMA many AUTHORIZATION doer; SET SESSION AUTHORIZATION doer;
	CREATE TABLE many.a (id int PRIMARY KEY); CREATE TABLE many.a_s (id int); CREATE TABLE many.b (id int PRIMARY KEY); CREATE TABLE many.b_s (id int);
	INSERT INTO many.a_s VALUES (1), (1);
	SELECT dq_gate.create_gate('many.a', 'many.a_s'); SELECT dq_gate.expect_range('many.a', 'id', min => 0); SELECT dq_gate.publish('many.a_s', 'many.a');
	SELECT dq_gate.create_gate('many.b', 'many.b_s')});
$before = sql(q{SELECT count(*) FROM dq_gate.gates});
sql('DROP TABLE many.b_s, many.b; CREATE SCHEMA more AUTHORIZATION doer; SET SESSION AUTHORIZATION doer; CREATE TABLE more.b (id int PRIMARY KEY); SELECT dq_gate.create_gate($$more.b$$)');
sql('DROP SCHEMA more CASCADE');
is(sql(q{SELECT count(*) FROM dq_gate.gates}), $before - 1, 'DROP SCHEMA CASCADE: gates of its tables are gone');
sql('DROP OWNED BY doer');
is(sql(q{SELECT count(*) FROM dq_gate.gates}), $before - 2, 'DROP OWNED: likewise');
is(publish('by_s', 'by'), 'published:', 'other gates go on');

# a role
sql(q{CREATE TABLE mine (id int PRIMARY KEY); CREATE TABLE mine_s (id int); INSERT INTO mine_s VALUES (1); GRANT ALL ON mine, mine_s TO doer;
	SELECT dq_gate.create_gate('mine', 'mine_s', run_as => 'doer')});
is(publish('mine_s', 'mine'), 'published:', 'the role of a gate');
sql('DROP OWNED BY doer; DROP ROLE doer');
my $superuser = sql('SELECT CURRENT_USER');
is(publish('mine_s', 'mine', $superuser), '42704: the role that gate public.mine runs as does not exist any more', 'is dropped: nobody runs the gate');
is(publish('by_s', 'by'), 'published:', 'other gates go on');
sql('CREATE TABLE wind (); DROP TABLE wind');
is(sql(q{SELECT run_as FROM dq_gate.gates WHERE target = 'mine'::regclass}), '-', 'its number is forgotten with the next table: elsewhere it is another role');
is(publish('mine_s', 'mine', $superuser), '42704: the role that gate public.mine runs as does not exist any more', 'and still nobody');
sql(q{SELECT dq_gate.alter_gate('mine', run_as => CURRENT_USER::regrole)});
is(publish('mine_s', 'mine', $superuser), 'published:', 'the way out');

# --- dropped while nobody looks

sql(q{CREATE TABLE lost (id int PRIMARY KEY); CREATE TABLE lost_s (id int); CREATE TABLE lost_parent (id int PRIMARY KEY); CREATE TABLE seen (id int PRIMARY KEY); CREATE TABLE seen_s (id int);
	INSERT INTO lost_s VALUES (1), (1); INSERT INTO seen_s VALUES (1);
	SELECT dq_gate.create_gate('lost', 'lost_s'); SELECT dq_gate.expect_range('lost', 'id', min => 0); SELECT dq_gate.publish('lost_s', 'lost');
	SELECT dq_gate.create_gate('seen', 'lost_s');
	SELECT dq_gate.expect_referential('seen', '{id}', 'lost_parent', '{id}', name => 'ref', action => 'warn')});
my $lost_run = sql('SELECT max(run_id) FROM dq_gate.runs');
sql('ALTER EVENT TRIGGER dq_gate_forget_dropped_tables DISABLE; DROP TABLE lost, lost_s, lost_parent');
like(sql('SELECT target FROM dq_gate.gates'), qr/^\d+$/m, 'not noticed: a gate of nothing');
is(publish('seen_s', 'seen', $superuser), "published: ref: $unevaluated: the table that it refers to is gone (warn)", 'not noticed: others go on');
foreach my $reader (q{dq_gate.checks_of('seen')}, q{dq_gate.audit_table('seen')}, 'dq_gate.overdue()', q{dq_gate.report('seen')}, q{dq_gate.export_gate('seen')}, "dq_gate.explain_run($lost_run)",
	"dq_gate.results_of($lost_run)", "dq_gate.rules_of($lost_run)", map { "dq_gate.$_" } split /\n/, sql(q{SELECT relname FROM pg_class WHERE relnamespace = 'dq_gate'::regnamespace AND relkind IN ('v', 'r')}))
{
	foreach my $user ($superuser, 'keeper')
	{
		next if $user eq 'keeper' && $reader =~ /seen|explain_run/;
		($status, $out, $err) = psql_c($node, "SELECT count(*) FROM $reader", user => $user);
		is($err, '', "not noticed: $reader for $user");
	}
}
$node->command_checks_all([ 'pg_dump', '-f', PostgreSQL::Test::Utils::tempdir() . '/dump', '-Fc', '-d', $node->connstr('postgres') ], 0, [qr/^$/], [qr/^$/], 'not noticed: pg_dump');
sql('ALTER EVENT TRIGGER dq_gate_forget_dropped_tables ENABLE ALWAYS; CREATE TABLE wind (); DROP TABLE wind');
is(sql(q{SELECT string_agg(target::text, ' ' ORDER BY target::text COLLATE "C") FROM dq_gate.gates}), 'by mine parts seen', 'it is made good with the next table that is dropped');
is(sql(q{SELECT count(*) FROM dq_gate.runs WHERE target::text ~ '^\d'}) . sql(q{SELECT count(*) FROM dq_gate.quarantines WHERE target::text ~ '^\d'}) . sql(q{SELECT count(ref_table) FROM dq_gate.checks WHERE target = 'seen'::regclass}), '000', 'all of it');
sql('SET session_replication_role = replica; DROP TABLE seen');
is(sql(q{SELECT string_agg(target::text, ' ' ORDER BY target::text COLLATE "C") FROM dq_gate.gates}), 'by mine parts', 'what a replica applies is noticed');
($status, $out, $err) = psql_c($node, [ 'CREATE TEMP TABLE brief (id int PRIMARY KEY)', 'CREATE TEMP TABLE brief_s AS SELECT 1 AS id', q{SELECT dq_gate.create_gate('brief', 'brief_s')}, q{SELECT published FROM dq_gate.publish('brief_s', 'brief')} ]);
is("$out$err", "brief\nt", 'a temporary table');
$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_class WHERE relname = 'brief'});
sql('CREATE TABLE wind (); DROP TABLE wind');
is(sql(q{SELECT count(*) FROM dq_gate.gates WHERE target::text !~ '^(by|mine|parts)$'}), '0', 'is forgotten after its session');

# --- what is kept can be dumped and upgraded

is(sql(q{SELECT string_agg(c.oid::regclass::text, ' ') FROM pg_class c JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
		JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'dq_gate' WHERE c.relkind IN ('r', 'S') AND c.oid <> ALL (e.extconfig)}), '', 'every table of dq_gate is dumped');
is(sql(q{SELECT string_agg(format('%s.%I', attrelid::regclass, attname), ' ') FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
		WHERE relnamespace IN ('dq_gate'::regnamespace, 'dq_quarantine'::regnamespace) AND attnum > 0 AND relkind IN ('r', 'c', 'v')
		AND (atttypid::regtype::text ~ '^(reg|oid|xid|cid|tid)' OR (SELECT typelem FROM pg_type t WHERE t.oid = atttypid)::regtype::text ~ '^(reg|oid)')
		AND atttypid NOT IN ('regclass'::regtype, 'regrole'::regtype, 'regrole[]'::regtype)}), '', 'no column that pg_upgrade refuses, none that means another object in a copy');
is(sql(q{SELECT string_agg(conname, ' ') FROM pg_constraint WHERE connamespace = 'dq_gate'::regnamespace AND contype = 'f'}), '', 'no foreign key, which pg_restore -j would trip over');
sql('CREATE TABLE hash AS SELECT run_id FROM dq_gate.runs WHERE quarantined > 0 ORDER BY 1 LIMIT 1; DELETE FROM dq_gate.runs USING hash WHERE runs.run_id = hash.run_id');
is(sql('SELECT (SELECT count(*) FROM dq_gate.results JOIN hash USING (run_id)), (SELECT count(*) FROM dq_gate.results WHERE run_id NOT IN (SELECT run_id FROM dq_gate.runs))'), '0|0', 'what belongs to a run goes with it all the same');
is(sql('SELECT count(*) FROM dq_gate.checks WHERE target NOT IN (SELECT target FROM dq_gate.gates)'), '0', 'and what belongs to a gate');

log_is_clean($node);
$node->stop;
done_testing();
