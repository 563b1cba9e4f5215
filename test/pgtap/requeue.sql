-- quarantined rows go back into staging once, and the next run accounts for them
\ir include/helpers.sql
SELECT plan(123);

-- the answer of requeue in words: "2 of 3 from dq_quarantine.t to s, 1 before"
CREATE FUNCTION answer(a dq_gate.requeue_summary) RETURNS text LANGUAGE sql AS $$
	SELECT a.requeued || ' of ' || a.quarantined || ' from ' || a.quarantine || ' to ' || a.staging || coalesce(', ' || nullif(a.requeued_before, 0) || ' before', '')
		|| CASE WHEN a.dry_run THEN ', tried' ELSE '' END
$$;

CREATE TABLE t (id int PRIMARY KEY, v int);
CREATE TABLE s (id int, v int);
SELECT dq_gate.create_gate('t', staging => 's') \g /dev/null
SELECT dq_gate.expect_range('t', 'v', min => 0, action => 'quarantine') \g /dev/null
SELECT dq_gate.expect_volume('t', action => 'declare') \g /dev/null
INSERT INTO s SELECT i, CASE WHEN i > 7 THEN -i ELSE i END FROM generate_series(1, 10) i;
SELECT is(outcome(dq_gate.publish('s', 't', 'batch')), 'published 10: 7 inserted, 3 quarantined', 'a batch of 10, 3 of them quarantined');
SELECT last_run() AS run \gset

-- staging still has them
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '23505', 'staging table public.s still has rows that run \d+ has quarantined\n3 of 3 rows are there, by the key id, for example \(10\)\.\nPublish what is staged, or empty the table first: TRUNCATE public.s\.',
	'staging still has the rows');
SELECT raises(format('SELECT dq_gate.requeue(%s, dry_run => true)', :run), '23505', '3 of 3 rows', 'and a dry run says so as well');
SELECT is_empty('SELECT 1 FROM dq_quarantine.t WHERE requeued_at IS NOT NULL', 'nothing is marked');
SELECT is((SELECT count(*) FROM s), 10::bigint, 'nothing is staged');
DELETE FROM s WHERE id <> 9;
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '23505', '1 of 3 rows is there, by the key id, for example \(9\)\.', 'one of them is enough');
-- a key that was corrected is judged as it is now
UPDATE dq_quarantine.t SET id = 19 WHERE id = 9;
SELECT is(answer(dq_gate.requeue(:run, dry_run => true)), '3 of 3 from dq_quarantine.t to s, tried', 'a corrected key is another key');
UPDATE s SET id = 19;
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '23505', 'for example \(19\)\.', 'also where that is the one that is staged');
UPDATE dq_quarantine.t SET id = 9 WHERE id = 19;
TRUNCATE s;

-- corrected, requeued, published
UPDATE dq_quarantine.t SET v = -v WHERE id < 10;
SELECT is(answer(dq_gate.requeue(:run, dry_run => true)), '3 of 3 from dq_quarantine.t to s, tried', 'a dry run counts');
SELECT is_empty('TABLE s', 'stages nothing');
SELECT is_empty('SELECT 1 FROM dq_quarantine.t WHERE requeued_at IS NOT NULL', 'and marks nothing');
SELECT is((SELECT ROW(r.*)::text FROM dq_gate.requeue(:run, dry_run => true) r), format('(%s,t,s,dq_quarantine.t,3,3,0,t)', :run), 'it says what it would do');
BEGIN READ ONLY;
SELECT is(answer(dq_gate.requeue(:run, dry_run => true)), '3 of 3 from dq_quarantine.t to s, tried', 'also in a read-only transaction');
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT is(answer(dq_gate.requeue(:run, dry_run => true)), '3 of 3 from dq_quarantine.t to s, tried', 'and in one that keeps its snapshot');
COMMIT;
SELECT is(answer(dq_gate.requeue(:run)), '3 of 3 from dq_quarantine.t to s', 'three rows go back');
SELECT results_eq('SELECT id, v FROM s ORDER BY id', 'VALUES (8, 8), (9, 9), (10, -10)', 'as they are by now');
SELECT results_eq('SELECT id, requeued_by, requeued_at BETWEEN quarantined_at AND clock_timestamp() FROM dq_quarantine.t ORDER BY id',
	$$ VALUES (8, name 'dq_tester', true), (9, 'dq_tester', true), (10, 'dq_tester', true) $$, 'and are marked');
SELECT is(outcome(dq_gate.publish('s', 't', 'batch, corrected')), 'published 3: 2 inserted, 1 quarantined', 'the next run accounts for them');
SELECT results_eq('SELECT id, v FROM t ORDER BY id', 'SELECT i, i FROM generate_series(1, 9) i', 'the corrected ones are published');
SELECT is(finding('v_range'), 'failed 1 of 3', 'the other one fails again');
SELECT results_eq('SELECT run_id, batch_id, id, requeued_at IS NULL FROM dq_quarantine.t WHERE id = 10 ORDER BY run_id',
	format($$ VALUES (%s::bigint, 'batch', 10, false), (last_run(), 'batch, corrected', 10, true) $$, :run), 'and is in quarantine again, under the run that found so');
SELECT is((SELECT sum(inserted) FROM dq_gate.runs), (SELECT count(*) FROM t)::numeric, 'no row is counted twice');
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '55000',
	'^the rows of run \d+ were requeued already\n3 rows went back into staging, the last on \d{4}-\d\d-\d\d \d\d:\d\d.* by dq_tester\.\nRows that failed again are in quarantine under the run that found so\..* requeued_at in dq_quarantine\.t to NULL', 'not twice');
SELECT raises(format('SELECT dq_gate.requeue(%s, dry_run => true)', :run), '55000', 'requeued already', 'nor does a dry run think so');
TRUNCATE s;
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '55000', 'requeued already', 'whatever is in staging');
SELECT last_run() AS later \gset
UPDATE dq_quarantine.t SET v = -v WHERE run_id = :later;
SELECT is(answer(dq_gate.requeue(:later)), '1 of 1 from dq_quarantine.t to s', 'the row that failed again comes back from its later run');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 1: 1 inserted', 'and is published in the end');
TRUNCATE s;
UPDATE dq_quarantine.t SET requeued_at = NULL WHERE run_id = :run AND id = 8;
SELECT is(answer(dq_gate.requeue(:run)), '1 of 3 from dq_quarantine.t to s, 2 before', 'a mark can be taken back');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 1: 1 unchanged', 'publishing is idempotent');
SELECT raises(format('SELECT dq_gate.requeue(%s)', last_run()), '55000', 'run \d+ has quarantined no rows\nIts verdict is "published"', 'a run that quarantined nothing');
TRUNCATE s;

-- what cannot be requeued
SELECT raises('SELECT dq_gate.requeue(NULL)', '22004', '"run_id" must not be NULL', 'no run');
SELECT raises('SELECT dq_gate.requeue(123456)', '42704', 'run 123456 does not exist', 'an unknown run');
SELECT raises(format('SELECT dq_gate.requeue(-%s)', :run), '42704', 'run -\d+ does not exist', 'the negative number of a run');
INSERT INTO s VALUES (1, -1);
SELECT dq_gate.audit('s', 't') \g /dev/null
SELECT raises(format('SELECT dq_gate.requeue(%s)', last_run()), '55000', 'run \d+ has quarantined no rows\nIt was a dry run, which quarantines nothing', 'a dry run');
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 1: 1 quarantined', 'a batch that is rejected');
SELECT raises(format('SELECT dq_gate.requeue(%s)', last_run()), '23505', '1 of 1 row is there, by the key id', 'is in staging as a whole');
TRUNCATE s;
DELETE FROM dq_quarantine.t WHERE run_id = last_run();
SELECT raises(format('SELECT dq_gate.requeue(%s)', last_run()), '55000', 'quarantine table dq_quarantine.t has no rows of run \d+ any more\nIt quarantined 1 row', 'rows that were deleted');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '0A000', 'cannot requeue rows in a transaction with isolation level REPEATABLE READ', 'an old snapshot');
COMMIT;
BEGIN READ ONLY;
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '25006', 'read-only transaction', 'a read-only transaction');
COMMIT;

-- the whole batch of a rejected run, after staging was emptied
INSERT INTO s VALUES (21, 1), (21, 2), (22, -2), (NULL, 3);
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 4: 4 quarantined', 'duplicates and a row without a key');
SELECT last_run() AS run \gset
DELETE FROM s WHERE id IS NOT NULL;
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '23505', '1 of 4 rows is there, compared as a whole for want of a key', 'a row without a key is the same as one that is so as a whole');
UPDATE s SET v = 4;
SELECT is(answer(dq_gate.requeue(:run)), '4 of 4 from dq_quarantine.t to s', 'and not the same as another one without');
SELECT results_eq('SELECT id, v FROM s ORDER BY id, v', 'VALUES (21, 1), (21, 2), (22, -2), (NULL, 3), (NULL, 4)', 'all of the batch is back');
TRUNCATE s;

-- where the rows go: the table that is named, that of the gate, that of the run
CREATE TABLE other (v bigint, id bigint, note text DEFAULT 'back');
CREATE SCHEMA "S x";
CREATE TABLE "S x"."Mixed ""S""" (id int, v int);
INSERT INTO "S x"."Mixed ""S""" VALUES (31, -1), (32, 2);
SELECT is(outcome(dq_gate.publish('"S x"."Mixed ""S"""', 't')), 'published 2: 1 inserted, 1 quarantined', 'a run with another staging table');
SELECT last_run() AS run \gset
TRUNCATE "S x"."Mixed ""S""";
BEGIN;
SELECT is(answer(dq_gate.requeue(:run)), '1 of 1 from dq_quarantine.t to s', 'goes to that of the gate');
ROLLBACK;
SELECT is_empty('TABLE s', 'until it is rolled back');
BEGIN;
SELECT is(answer(dq_gate.requeue(:run, 'other')), '1 of 1 from dq_quarantine.t to other', 'or to the one that is named');
SELECT results_eq('SELECT id, v, note FROM other', $$ VALUES (31::bigint, -1::bigint, 'back') $$, 'by name, with its types and defaults');
ROLLBACK;
SELECT is((SELECT count(*) FROM dq_quarantine.t WHERE run_id = :run AND requeued_at IS NOT NULL), 0::bigint, 'what is rolled back is not marked either');
SELECT dq_gate.drop_gate('t') \g /dev/null
BEGIN;
SELECT is(answer(dq_gate.requeue(:run)), '1 of 1 from dq_quarantine.t to "S x"."Mixed ""S"""', 'without a gate to that of the run');
ROLLBACK;
ALTER TABLE "S x"."Mixed ""S""" RENAME TO gone;
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '42P01', 'staging table "S x"."Mixed ""S""" of run \d+ does not exist any more\n+Name another one: SELECT \* FROM dq_gate\.requeue\(\d+, staging => ', 'which is gone by now');
ALTER SCHEMA "S x" RENAME TO "S y";
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '42P01', 'does not exist any more', 'and so is its schema');
SELECT raises(format('SELECT dq_gate.requeue(%s, ''t'')', :run), '22023', 'staging and target are the same', 'the target is no staging table');
SELECT raises(format('SELECT dq_gate.requeue(%s, ''dq_quarantine.t'')', :run), '42809', 'cannot be a staging table', 'nor the quarantine');
ALTER TABLE dq_quarantine.t SET SCHEMA "S y";
SELECT raises(format('SELECT dq_gate.requeue(%s, ''"S y".t'')', :run), '22023', '"S y".t is the quarantine table of gate public.t', 'wherever it is');
CREATE VIEW seen AS TABLE s;
SELECT raises(format('SELECT dq_gate.requeue(%s, ''seen'')', :run), '42809', 'cannot be a staging table', 'nor a view');
SELECT raises(format('SELECT dq_gate.requeue(%s, ''dq_gate.runs'')', :run), '42809', 'cannot be a staging table', 'nor what is dq_gate''s');
CREATE TEMP TABLE kept_for_now (id int, v int);
SELECT is(answer(dq_gate.requeue(:run, 'kept_for_now')), '1 of 1 from "S y".t to kept_for_now', 'a temporary one will do');
SELECT results_eq('TABLE kept_for_now', 'VALUES (31, -1)', 'for the session');
DROP TABLE "S y".t;
SELECT raises(format('SELECT dq_gate.requeue(%s, ''s'')', :run), '55000', 'gate public.t has no quarantine table any more', 'a quarantine that was dropped');
DROP TABLE t;
SELECT raises(format('SELECT dq_gate.requeue(%s, ''s'')', :run), '55000', 'the target of run \d+ does not exist any more', 'and a target');

-- columns: ours, quoted, generated, identity, new and gone
CREATE TABLE "T ""q""" ("a""b" int, "select" text, run_id int, requeued_at date, requeued_by text, g int, i int, PRIMARY KEY ("a""b", "select"));
CREATE TABLE "S ""q""" ("a""b" int, "select" text, run_id int, requeued_at date, requeued_by text, base int, g int GENERATED ALWAYS AS (base * 2) STORED, i int GENERATED ALWAYS AS IDENTITY (START 100));
ALTER TABLE "T ""q""" ADD base int;
SELECT dq_gate.expect_range('"T ""q"""', 'run_id', min => 0, action => 'quarantine') \g /dev/null
INSERT INTO "S ""q""" ("a""b", "select", run_id, requeued_at, requeued_by, base) VALUES (1, 'x', -1, '2020-01-01', 'me', 5), (1, 'y', 1, NULL, NULL, 6);
SELECT is(outcome(dq_gate.publish('"S ""q"""', '"T ""q"""')), 'published 2: 1 inserted, 1 quarantined', 'columns with our names, and others that need quotes');
SELECT last_run() AS run \gset
SELECT results_eq('SELECT run_id, requeued_at, requeued_by, staged_run_id, staged_requeued_at, staged_requeued_by FROM dq_quarantine."T ""q"""',
	$$ VALUES (last_run(), NULL::timestamptz, NULL::name, -1, date '2020-01-01', 'me') $$, 'are beside ours');
SELECT raises(format('SELECT dq_gate.requeue(%s, ''"S ""q"""'')', :run), '23505', '1 of 1 row is there, by the key \("a""b", "select"\), for example \(1,x\)', 'a key of two columns');
DELETE FROM "S ""q""" WHERE "select" = 'x';
UPDATE dq_quarantine."T ""q""" SET staged_run_id = 1, base = 50;
SELECT is(answer(dq_gate.requeue(:run)), '1 of 1 from dq_quarantine."T ""q""" to "S ""q"""', 'half a key is none');
SELECT results_eq('SELECT * FROM "S ""q""" WHERE "select" = ''x''', $$ VALUES (1, 'x', 1, date '2020-01-01', 'me', 50, 100, 100) $$, 'every column has its own value, one that is generated is made anew, an identity is the same');
SELECT is(outcome(dq_gate.publish('"S ""q"""', '"T ""q"""')), 'published 2: 1 inserted, 1 unchanged', 'and they are published');

-- types that have changed, columns that have come and gone
CREATE DOMAIN even AS int CHECK (VALUE % 2 = 0);
CREATE TYPE colour AS ENUM ('red', 'green');
CREATE TABLE typed (id int PRIMARY KEY, v int);
CREATE TABLE typed_s (id int, v int, n numeric(6,2), c varchar(5), f char(4), e even, k colour, j json, a int[], b bit(3), d date, bytes bytea, old text);
SELECT dq_gate.expect_range('typed', 'v', min => 0, action => 'quarantine') \g /dev/null
SELECT dq_gate.expect_schema('typed', action => 'warn') \g /dev/null
CREATE FUNCTION retype() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE typed_s;
	INSERT INTO typed_s (id, v, n, c, f, e, k, j, a, b, d, bytes) VALUES (1, 1, 1, 'good', 'g', 2, 'red', '1', '{}', '000', '2020-01-01', ''),
		(2, -1, 1234.50, 'abcde', 'ab', 4, 'green', '{"a":  1.0}', '{1,NULL}', '101', '2020-02-29', '\x00ff');
	PERFORM dq_gate.publish('typed_s', 'typed');
	TRUNCATE typed_s;
	RETURN last_run();
END
$$;
ALTER TABLE typed ADD n numeric, ADD c text, ADD f text, ADD e int, ADD k text, ADD j json, ADD a int[], ADD b bit(3), ADD d date, ADD bytes bytea, ADD old text;
SELECT retype() AS run \gset
SELECT is(answer(dq_gate.requeue(:run)), '1 of 1 from dq_quarantine.typed to typed_s', 'a row of many types');
SELECT is((SELECT ROW(t.*)::text FROM typed_s t), ROW(2, -1, 1234.50, 'abcde', 'ab  ', 4, 'green', '{"a":  1.0}', '{1,NULL}', '101', '2020-02-29', '\x00ff', NULL)::text, 'comes back letter by letter');
CREATE FUNCTION misfit(change text, correction text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text; run bigint := retype();
BEGIN
	BEGIN
		EXECUTE 'ALTER TABLE typed_s ' || change;
		EXECUTE format('UPDATE dq_quarantine.typed SET %s WHERE run_id = %s', coalesce(correction, 'v = v'), run);
		PERFORM dq_gate.requeue(run);
		detail := 'requeued';
		RAISE EXCEPTION 'undo';
	EXCEPTION WHEN OTHERS THEN
		IF sqlerrm <> 'undo' THEN
			GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
			detail := sqlstate || ' ' || regexp_replace(sqlerrm, 'run \d+', 'run N') || ': ' || detail;
		END IF;
	END;
	RETURN detail;
END
$$;
SELECT is(misfit('ALTER n TYPE numeric(4,2)'), '22000 rows of run N do not fit staging table public.typed_s: n: 1 row does not fit numeric(4,2)', 'a number that is too large now');
SELECT is(misfit('ALTER c TYPE varchar(3)', 'n = 0.125, c = ''abcdef'', f = ''abcde'', e = 3, b = B''1010'''),
	E'22000 rows of run N do not fit staging table public.typed_s: n: 1 row does not fit numeric(6,2)\nc: 1 row does not fit character varying(3)\nf: 1 row does not fit character(4)\ne: 1 row does not fit even\nb: 1 row does not fit bit(3)',
	'corrections that do not fit are not cut or rounded');
SELECT is(misfit('ALTER c TYPE int USING NULL'), '22000 rows of run N do not fit staging table public.typed_s: c: 1 row does not fit integer', 'a word is no number');
SELECT is(misfit('ALTER c TYPE int USING NULL', 'c = ''12'''), 'requeued', 'but may have been corrected to one');
SELECT is(misfit('ALTER d TYPE int USING NULL'), '22000 rows of run N do not fit staging table public.typed_s: d: 1 row does not fit integer', 'types that have nothing in common');
SELECT is(misfit('ALTER d TYPE int USING NULL', 'd = NULL'), 'requeued', 'have NULL');
SELECT is(misfit('ALTER d TYPE timestamptz, ALTER v TYPE text, ALTER k TYPE text, ALTER j TYPE jsonb, ALTER n TYPE float8'), 'requeued', 'wider ones');
SELECT is(misfit('DROP d, DROP old'), '42703 staging table public.typed_s has no column for all values of the rows of run N: It lacks d.', 'a column that staging lost');
SELECT is(misfit('DROP d, DROP old', 'd = NULL'), 'requeued', 'without any value');
SELECT is(misfit('ADD fresh int NOT NULL DEFAULT 7'), 'requeued', 'a column that is new has its default');
SELECT is(misfit('ADD fresh int NOT NULL'), '23502 null value in column "fresh" of relation "typed_s" violates not-null constraint: Failing row contains (2, -1, 1234.50, abcde, ab  , 4, green, {"a":  1.0}, {1,NULL}, 101, 2020-02-29, \x00ff, null, null).',
	'or none');
SELECT is(misfit('DROP id'), '42703 key column id of gate public.typed is missing in staging table public.typed_s: ', 'staging without the key');
CREATE TABLE nothing ();
SELECT raises(format('SELECT dq_gate.requeue(%s, ''nothing'')', :run), '42703', 'key column id of gate public.typed is missing', 'or without anything');
SELECT is((SELECT count(*) FROM dq_quarantine.typed WHERE requeued_at IS NOT NULL), 1::bigint, 'nothing of that is marked');

-- triggers and rules of staging that keep rows from it
SELECT retype() AS run \gset
CREATE RULE never AS ON INSERT TO typed_s DO INSTEAD NOTHING;
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '27000', '1 row of run \d+ were to be staged, and 0 were\nA trigger or rule of table public.typed_s', 'a rule that swallows rows');
DROP RULE never ON typed_s;
CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER swallow BEFORE INSERT ON typed_s FOR EACH ROW EXECUTE FUNCTION swallow();
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '27000', 'were to be staged, and 0 were', 'or a trigger');
DROP TRIGGER swallow ON typed_s;
CREATE TRIGGER swallow BEFORE UPDATE ON dq_quarantine.typed FOR EACH ROW EXECUTE FUNCTION swallow();
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '27000', 'were to be marked as requeued, and 0 were\nA trigger or rule of table dq_quarantine.typed', 'or that takes the mark back');
DROP TRIGGER swallow ON dq_quarantine.typed;
SELECT is_empty('TABLE typed_s', 'nothing is staged');

-- the key is the same where the target says so
CREATE TABLE cased (code numeric PRIMARY KEY, v int CHECK (v > 0));
CREATE TABLE cased_s (code text COLLATE "C", v int);
SELECT dq_gate.expect_constraint('cased', 'cased_v_check', action => 'quarantine') \g /dev/null
INSERT INTO cased_s VALUES ('1.0', -1), ('2', 2);
SELECT is(outcome(dq_gate.publish('cased_s', 'cased')), 'published 2: 1 inserted, 1 quarantined', 'keys that are staged as text');
SELECT last_run() AS run \gset
UPDATE cased_s SET code = '1.00', v = 5 WHERE v = -1;
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '23505', '1 of 1 row is there, by the key code, for example \(1\.0\)', 'are compared as numbers');
UPDATE cased_s SET code = 'x' WHERE v = 5;
UPDATE dq_quarantine.cased SET code = 'x', v = 5;
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '23505', 'as a whole for want of a key', 'and as a whole where they are none');
UPDATE cased_s SET v = 6 WHERE v = 5;
SELECT is(answer(dq_gate.requeue(:run)), '1 of 1 from dq_quarantine.cased to cased_s', 'so another row is another one');
SELECT dq_gate.alter_gate('cased', samples => false) \g /dev/null
TRUNCATE cased_s;
INSERT INTO cased_s VALUES ('11', -1), ('2', 2);
SELECT is(outcome(dq_gate.publish('cased_s', 'cased')), 'published 2: 1 unchanged, 1 quarantined', 'a gate that shows no values');
SELECT raises(format('SELECT dq_gate.requeue(%s)', last_run()), '23505', '1 of 1 row is there, by the key code\.', 'shows none here');

-- a gate that has no key any more
CREATE TABLE keyless (id int CONSTRAINT keyless_key PRIMARY KEY, v int);
CREATE TABLE keyless_s (id int, v int);
SELECT dq_gate.expect_range('keyless', 'v', min => 0, action => 'quarantine') \g /dev/null
INSERT INTO keyless_s VALUES (1, -1), (2, NULL), (3, -3);
SELECT is(outcome(dq_gate.publish('keyless_s', 'keyless')), 'published 3: 1 inserted, 2 quarantined', 'a gate with a key');
ALTER TABLE keyless DROP CONSTRAINT keyless_key;
DELETE FROM keyless_s WHERE id = 3;
SELECT raises(format('SELECT dq_gate.requeue(%s)', last_run()), '23505', '1 of 2 rows is there, compared as a whole for want of a key', 'compares whole rows without one');
UPDATE dq_quarantine.keyless SET v = 1 WHERE id = 1;
SELECT is(answer(dq_gate.requeue(last_run())), '2 of 2 from dq_quarantine.keyless to keyless_s', 'a corrected one is another one then');

-- a staging table in parts; keys and values of other types
CREATE TABLE part (day date, code char(3), doc json, PRIMARY KEY (day, code));
CREATE TABLE part_s (day date, code char(3), doc json) PARTITION BY RANGE (day);
CREATE TABLE part_s1 PARTITION OF part_s FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE part_s2 PARTITION OF part_s DEFAULT;
SELECT dq_gate.expect_sql('part', 'whole', $$ doc->>'ok' = 'yes' $$, action => 'quarantine') \g /dev/null
INSERT INTO part_s VALUES ('2024-02-01', 'a', '{"ok": "yes"}'), ('2024-02-02', 'b', '{"ok":  "no"}'), ('2025-02-03', 'c', '{}');
SELECT is(outcome(dq_gate.publish('part_s', 'part')), 'published 3: 1 inserted, 2 quarantined', 'rows of two partitions');
SELECT last_run() AS run \gset
TRUNCATE part_s2;
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '23505', '1 of 2 rows is there, by the key \(day, code\), for example \(2024-02-02,"b  "\)', 'one of which is still staged');
TRUNCATE part_s;
UPDATE dq_quarantine.part SET doc = '{"ok":  "yes"}' WHERE code = 'b';
SELECT is(answer(dq_gate.requeue(:run)), '2 of 2 from dq_quarantine.part to part_s', 'rows go to their partitions');
SELECT results_eq('SELECT tableoid::regclass::text, code, doc::text FROM part_s ORDER BY code', $$ VALUES ('part_s1', 'b'::char(3), '{"ok":  "yes"}'), ('part_s2', 'c', '{}') $$, 'as they were or were corrected');
SELECT is(outcome(dq_gate.publish('part_s', 'part')), 'published 2: 1 inserted, 1 quarantined', 'and one of them is published');

-- 100 columns
SELECT format('CREATE TABLE wide (c1 int PRIMARY KEY, %s)', string_agg(format('c%s int CHECK (c%1$s > 0)', i), ',')) FROM generate_series(2, 100) i \gexec
CREATE TABLE wide_s (LIKE wide);
SELECT format('INSERT INTO wide_s SELECT k, %s FROM generate_series(1, 3) k', string_agg(format('CASE WHEN k = 2 THEN -%s ELSE %1$s END', i), ',')) FROM generate_series(2, 100) i \gexec
SELECT is(outcome(dq_gate.publish('wide_s', 'wide')), 'rejected 3: 3 quarantined', 'a wide table');
CREATE TABLE wide_was AS TABLE wide_s;
TRUNCATE wide_s;
SELECT is(answer(dq_gate.requeue(last_run())), '3 of 3 from dq_quarantine.wide to wide_s', 'goes back');
SELECT bag_eq('TABLE wide_s', 'TABLE wide_was', 'with every column');

-- rows that are to be dropped are never requeued, unless their batch was rejected
CREATE TABLE dr (id int PRIMARY KEY, v int);
CREATE TABLE dr_s (id int, v int);
SELECT dq_gate.expect_range('dr', 'v', min => 0, action => 'drop') \g /dev/null
SELECT dq_gate.expect_range('dr', 'v', name => 'small', max => 100, action => 'quarantine') \g /dev/null
INSERT INTO dr_s VALUES (1, -1), (2, 200), (3, 3);
SELECT is(outcome(dq_gate.publish('dr_s', 'dr')), 'published 3: 1 inserted, 1 quarantined, 1 dropped', 'one row dropped, one quarantined');
TRUNCATE dr_s;
SELECT is(answer(dq_gate.requeue(last_run())), '1 of 1 from dq_quarantine.dr to dr_s', 'the one that was dropped stays so');
UPDATE dr_s SET v = -2;
SELECT is(outcome(dq_gate.publish('dr_s', 'dr')), 'rejected 1: 1 quarantined', 'a row that was requeued can be dropped, or kept where nothing else is left');
INSERT INTO dr_s VALUES (4, 4);
SELECT is(outcome(dq_gate.publish('dr_s', 'dr')), 'published 2: 1 inserted, 1 dropped', 'then');
SELECT results_eq('SELECT id, v, requeued_at IS NULL FROM dq_quarantine.dr ORDER BY run_id', 'VALUES (2, 200, false), (2, -2, true)', 'what is in quarantine has its marks');

-- rights: what a run takes, and INSERT on staging
CREATE TABLE r (id int PRIMARY KEY, v int CHECK (v > 0));
CREATE TABLE r_s (id int, v int);
GRANT SELECT ON r_s TO dq_loader;
GRANT SELECT, INSERT, UPDATE ON r TO dq_loader;
SELECT dq_gate.create_gate('r', staging => 'r_s', run_as => 'dq_loader') \g /dev/null
INSERT INTO r_s VALUES (1, -1);
SELECT dq_gate.publish('r_s', 'r') \g /dev/null
SELECT last_run() AS run \gset
TRUNCATE r_s;
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '42501', 'permission denied for table public.r_s\nRole dq_loader, as which gate public.r runs, needs INSERT on it', 'the role of the gate needs INSERT on staging');
GRANT INSERT ON r_s TO dq_loader;
SET ROLE dq_outsider;
SELECT raises(format('SELECT dq_gate.requeue(%s)', :run), '42501', 'permission denied for gate public.r\nIt runs as role dq_loader, and role dq_outsider is not a member', 'a role that is not a member');
SELECT raises(format('SELECT dq_gate.requeue(%s, dry_run => true)', :run), '42501', 'permission denied for gate public.r', 'may not try either');
RESET ROLE;
CREATE TABLE acted (who text, op text);
GRANT INSERT ON acted TO PUBLIC;
CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.acted VALUES (current_user, TG_TABLE_SCHEMA || '.' || TG_TABLE_NAME); RETURN NEW; END $$;
CREATE CONSTRAINT TRIGGER act AFTER INSERT ON r_s DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION act();
SELECT is(answer(dq_gate.requeue(:run)), '1 of 1 from dq_quarantine.r to r_s', 'a member may');
SELECT results_eq('TABLE acted', $$ VALUES ('dq_loader', 'public.r_s') $$, 'and triggers act as the role of the gate, deferred or not');
SELECT results_eq('SELECT requeued_by FROM dq_quarantine.r', $$ VALUES (name 'dq_tester') $$, 'while the mark names the caller');
UPDATE dq_quarantine.r SET requeued_at = NULL;
TRUNCATE r_s, acted;
SET ROLE dq_loader;
SELECT is(answer(dq_gate.requeue(:run)), '1 of 1 from dq_quarantine.r to r_s', 'so may the role itself');
RESET ROLE;
SELECT results_eq('TABLE acted', $$ VALUES ('dq_loader', 'public.r_s') $$, 'with its triggers');
SELECT is(current_setting('search_path'), '"$user", public', 'settings are as before');

-- without a gate: who may run it, and read its quarantine
CREATE TABLE n (id int PRIMARY KEY, v int CHECK (v > 0));
CREATE TABLE n_s (id int, v int);
INSERT INTO n_s VALUES (1, -1);
SELECT dq_gate.publish('n_s', 'n') \g /dev/null
SELECT last_run() AS run \gset
TRUNCATE n_s;
CREATE TEMP TABLE mine (id int, v int);
GRANT ALL ON mine, n_s TO dq_outsider;
SET ROLE dq_outsider;
SELECT raises(format('SELECT dq_gate.requeue(%s, ''mine'')', :run), '42501', 'permission denied for table public.n', 'the target is asked for');
RESET ROLE;
GRANT SELECT, INSERT, UPDATE ON n TO dq_outsider;
SET ROLE dq_outsider;
SELECT raises(format('SELECT dq_gate.requeue(%s, ''mine'')', :run), '42501', 'permission denied for table dq_quarantine.n', 'and so is the quarantine');
RESET ROLE;
GRANT SELECT ON dq_quarantine.n TO dq_outsider;
SET ROLE dq_outsider;
SELECT is(answer(dq_gate.requeue(:run, 'n_s')), '1 of 1 from dq_quarantine.n to n_s', 'then it is the caller who does it');
RESET ROLE;
SELECT results_eq('SELECT requeued_by FROM dq_quarantine.n', $$ VALUES (name 'dq_outsider') $$, 'and is named');

-- row-level security hides nothing
ALTER TABLE r_s ENABLE ROW LEVEL SECURITY;
SELECT raises(format('SELECT dq_gate.requeue(%s)', (SELECT max(run_id) FROM dq_quarantine.r)), '42501', 'row-level security of table public.r_s', 'staging of which a part is seen');

SELECT finish();
