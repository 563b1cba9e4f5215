-- every mode beside a model in plain SQL: what becomes of the target, and how the rows are counted
\ir include/helpers.sql
SELECT plan(319);

--
-- The same batch in every mode, into a plain table, a partitioned one whose rows move and whose partitions have other
-- columns in other places, and one with children.
--
CREATE TABLE plain (k int, part text, v numeric, note text);
CREATE TABLE split (k int, part text, v numeric, note text) PARTITION BY LIST (part);
CREATE TABLE split_a PARTITION OF split FOR VALUES IN ('a');
CREATE TABLE split_b (gone int, note text, v numeric, lost text, part text, k int);
ALTER TABLE split_b DROP gone, DROP lost;
ALTER TABLE split ATTACH PARTITION split_b FOR VALUES IN ('b');
CREATE TABLE split_c (note text, part text, k int, v numeric);
ALTER TABLE split ATTACH PARTITION split_c DEFAULT;
CREATE TABLE old (k int, part text, v numeric, note text);
CREATE TABLE old_1 (more int DEFAULT 7) INHERITS (old);
CREATE TABLE staged (note text, v numeric, part text, k int);

CREATE TABLE before (k int, part text, v numeric, note text);
CREATE TABLE good (LIKE before);	-- the staged rows that no check keeps out
CREATE TABLE want (LIKE before);

CREATE FUNCTION fill(target regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('DELETE FROM %s', target);
	-- 1 and 2 are staged as they are, 3 changes, 4 moves, 5 and 6 are in quarantine or dropped, 7 to 9 are not staged
	EXECUTE format($q$ INSERT INTO %s (k, part, v, note) VALUES (1, 'a', 1, 'x'), (2, 'b', 2.0, NULL), (3, 'a', 3, 'old'), (4, 'a', 4, 'y'),
		(5, 'b', 5, 'y'), (6, 'b', 6, 'y'), (7, 'a', 7, 'z'), (8, 'c', 8, 'z'), (9, NULL, 9, 'z') $q$, target);
	IF target = 'old'::regclass THEN
		WITH moved AS (DELETE FROM old WHERE k % 2 = 1 RETURNING *) INSERT INTO old_1 SELECT * FROM moved;
	END IF;
	TRUNCATE before, good, want, staged;
	EXECUTE format('INSERT INTO before SELECT k, part, v, note FROM %s', target);
	INSERT INTO staged (k, part, v, note) VALUES (1, 'a', 1, 'x'), (2, 'b', 2.0, NULL), (3, 'a', 3, 'new'), (4, 'b', 4, 'y'),
		(5, 'b', -5, 'y'), (6, 'b', 666, 'y'), (10, 'a', 10, 'n'), (11, 'b', 11, NULL), (12, 'a', 2.00, 'n'), (13, 'a', -1, 'n');
	INSERT INTO good SELECT k, part, v, note FROM staged WHERE v >= 0 AND v <> 666;
END
$$;

-- what the target should have afterwards
CREATE FUNCTION model(mode text, scope text, slices text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO want TABLE before;
	IF mode = 'sync' THEN
		EXECUTE format('DELETE FROM want w WHERE (%s) AND k NOT IN (SELECT k FROM staged WHERE k IS NOT NULL)', coalesce(scope, 'true'));
	ELSIF mode = 'replace' AND scope IS NOT NULL THEN
		EXECUTE format('DELETE FROM want w WHERE %s', scope);
	ELSIF mode = 'replace' THEN
		EXECUTE format('DELETE FROM want w WHERE (%1$s) IN (SELECT %1$s FROM good)', array_to_string(slices, ', '));
	END IF;
	IF mode IN ('merge', 'sync') THEN
		DELETE FROM want WHERE k IN (SELECT k FROM good);
	END IF;
	INSERT INTO want SELECT * FROM good WHERE mode <> 'insert_only' OR k NOT IN (SELECT k FROM before WHERE k IS NOT NULL);
END
$$;

-- rows of two tables that are not the same in number and look
CREATE FUNCTION difference(one text, other text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE format('SELECT string_agg(side || row, '' '' ORDER BY side COLLATE "C", row COLLATE "C") FROM (
		(SELECT ''<'' AS side, o::text AS row FROM (%1$s) o EXCEPT ALL SELECT ''<'', o::text FROM (%2$s) o)
		UNION ALL (SELECT ''>'', o::text FROM (%2$s) o EXCEPT ALL SELECT ''>'', o::text FROM (%1$s) o)) d', one, other) INTO answer;
	RETURN answer;
END
$$;

-- one batch through a gate of this sort: the counts, what differs from the model, what is in quarantine
CREATE FUNCTION through(target regclass, mode text, scope text DEFAULT NULL, slices text[] DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	run dq_gate.run_summary;
BEGIN
	PERFORM dq_gate.create_gate(target, key => CASE WHEN mode <> 'replace' THEN '{k}'::text[] END, mode => mode, scope => scope, replace_by => slices);
	PERFORM dq_gate.expect_range(target, 'v', min => 0, action => 'quarantine', name => 'positive');
	PERFORM dq_gate.expect_rejected_values(target, 'v', ARRAY['666'], action => 'drop', name => 'no_beast');
	PERFORM dq_gate.expect_volume(target, action => 'declare');
	PERFORM fill(target);
	PERFORM model(mode, scope, slices);
	run := dq_gate.publish('staged', target);
	PERFORM dq_gate.drop_gate(target);
	RETURN concat_ws('; ', outcome(run), difference(format('SELECT k, part, v, note FROM %s', target), 'TABLE want'),
		CASE WHEN run.row_count <> run.inserted + run.updated + run.unchanged + run.stale + run.quarantined + run.dropped THEN 'rows are lost' END,
		CASE WHEN run.deleted <> (SELECT count(*) FROM before) + run.inserted - (SELECT count(*) FROM want) THEN 'deleted is wrong' END,
		(SELECT CASE WHEN (run.row_count, run.inserted, run.updated, run.unchanged, run.deleted, run.stale, run.quarantined, run.dropped)
			IS DISTINCT FROM (r.row_count, r.inserted, r.updated, r.unchanged, r.deleted, r.stale, r.quarantined, r.dropped) THEN 'the log differs' END
			FROM dq_gate.runs r WHERE r.run_id = run.run_id));
END
$$;

SELECT is(through(t, 'merge'), 'published 10: 3 inserted, 2 updated, 2 unchanged, 2 quarantined, 1 dropped', 'merge into ' || t) FROM unnest('{plain,split,old}'::regclass[]) t;
SELECT is(through(t, 'insert_only'), 'published 10: 3 inserted, 4 unchanged, 2 quarantined, 1 dropped', 'insert_only into ' || t) FROM unnest('{plain,split,old}'::regclass[]) t;
SELECT is(through(t, 'append'), 'published 10: 7 inserted, 2 quarantined, 1 dropped', 'append to ' || t) FROM unnest('{plain,split,old}'::regclass[]) t;
SELECT is(through(t, 'sync'), 'published 10: 3 inserted, 2 updated, 2 unchanged, 3 deleted, 2 quarantined, 1 dropped', 'sync of ' || t) FROM unnest('{plain,split,old}'::regclass[]) t;
SELECT is(through(t, 'sync', 'part IN (''a'', ''b'')'), 'published 10: 3 inserted, 2 updated, 2 unchanged, 1 deleted, 2 quarantined, 1 dropped', 'sync of a part of ' || t)
	FROM unnest('{plain,split,old}'::regclass[]) t;
SELECT is(through(t, 'replace', slices => '{part}'), 'published 10: 7 inserted, 7 deleted, 2 quarantined, 1 dropped', 'replace slices of ' || t) FROM unnest('{plain,split,old}'::regclass[]) t;
SELECT is(through(t, 'replace', slices => '{v,part}'), 'published 10: 7 inserted, 3 deleted, 2 quarantined, 1 dropped', 'replace slices of ' || t || ' by two columns') FROM unnest('{plain,split,old}'::regclass[]) t;
SELECT is(through(t, 'replace', scope => 'part < ''c'''), 'published 10: 7 inserted, 7 deleted, 2 quarantined, 1 dropped', 'replace a part of ' || t) FROM unnest('{plain,split,old}'::regclass[]) t;
SELECT results_eq('SELECT tableoid::regclass::text, count(*) FROM split GROUP BY 1 ORDER BY 1', $$ VALUES ('split_a', 4::bigint), ('split_b', 3), ('split_c', 2) $$, 'each row is in its partition');

--
-- Keys: of several columns, of odd names, of values that are equal and do not look it
--
CREATE SCHEMA "S x";
CREATE TABLE "S x"."T""t" ("Key a" int, "select" text, "v""v" int, "Day" date, PRIMARY KEY ("Key a", "select"));
CREATE TABLE "S x"."Staging s" ("select" text, "v""v" int, "Day" date, "Key a" int);
CREATE FUNCTION odd(mode text, scope text DEFAULT NULL, slices text[] DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	TRUNCATE "S x"."T""t", "S x"."Staging s";
	INSERT INTO "S x"."T""t" VALUES (1, 'x', 1, '2026-01-01'), (1, 'y', 2, '2026-01-01'), (2, 'x', 3, '2026-01-02'), (3, 'x', 4, '2026-01-03');
	INSERT INTO "S x"."Staging s" ("Key a", "select", "v""v", "Day") VALUES (1, 'x', 1, '2026-01-01'), (2, 'x', 30, '2026-01-02'), (2, 'z', 5, '2026-01-02');
	PERFORM dq_gate.create_gate('"S x"."T""t"', mode => mode, scope => scope, replace_by => slices);
	answer := outcome(dq_gate.publish('"S x"."Staging s"', '"S x"."T""t"'));
	PERFORM dq_gate.drop_gate('"S x"."T""t"');
	RETURN answer || ', ' || (SELECT string_agg("Key a" || "select" || "v""v", ' ' ORDER BY "Key a", "select") FROM "S x"."T""t");
END
$$;
SELECT is(odd('merge'), 'published 3: 1 inserted, 1 updated, 1 unchanged, 1x1 1y2 2x30 2z5 3x4', 'odd names, merge');
SELECT is(odd('insert_only'), 'published 3: 1 inserted, 2 unchanged, 1x1 1y2 2x3 2z5 3x4', 'insert_only');
SELECT is(odd('sync'), 'published 3: 1 inserted, 1 updated, 1 unchanged, 2 deleted, 1x1 2x30 2z5', 'sync');
SELECT is(odd('sync', '"Day" <= ''2026-01-02'' AND "v""v" > 0'), 'published 3: 1 inserted, 1 updated, 1 unchanged, 1 deleted, 1x1 2x30 2z5 3x4', 'sync of a part');
SELECT is(odd('replace', slices => '{Day}'), 'published 3: 3 inserted, 3 deleted, 1x1 2x30 2z5 3x4', 'replace by a column');
SELECT is(odd('replace', slices => '{select,"Key a"}'), 'published 3: 3 inserted, 2 deleted, 1x1 1y2 2x30 2z5 3x4', 'replace by two, the key');
SELECT is(odd('replace', '"Day" < ''2026-01-03'''), 'published 3: 3 inserted, 3 deleted, 1x1 2x30 2z5 3x4', 'replace a part');
SELECT ok(odd('append') ~ '^(failed|rejected) 3: 3 quarantined, 1x1 1y2 2x3 3x4$', 'append of a key that the target enforces');

CREATE TABLE numbers (n numeric PRIMARY KEY, v int);
CREATE TABLE numbers_s (n numeric, v int);
INSERT INTO numbers VALUES (1.0, 1), (2.0, 2), (3.0, 3);
INSERT INTO numbers_s VALUES (1.00, 1), (2.00, 20), (4, 4);
SELECT dq_gate.create_gate('numbers', mode => 'sync') \g /dev/null
SELECT is(outcome(dq_gate.publish('numbers_s', 'numbers')), 'published 3: 1 inserted, 1 updated, 1 unchanged, 1 deleted', 'a numeric key of another scale is the same key');
SELECT results_eq('SELECT n::text, v FROM numbers ORDER BY n', $$ VALUES ('1.0', 1), ('2.0', 20), ('4', 4) $$, 'and stays as it was');
SELECT dq_gate.alter_gate('numbers', mode => 'replace', replace_by => '{n}') \g /dev/null
SELECT is(outcome(dq_gate.publish('numbers_s', 'numbers')), 'published 3: 3 inserted, 3 deleted', 'nor is it another slice');
SELECT results_eq('SELECT n::text, v FROM numbers ORDER BY n', $$ VALUES ('1.00', 1), ('2.00', 20), ('4', 4) $$, 'which is what was staged');
SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext') AS citext \gset
\if :citext
CREATE SCHEMA elsewhere;
CREATE EXTENSION citext SCHEMA elsewhere;
CREATE TABLE people (name elsewhere.citext PRIMARY KEY, team elsewhere.citext, v int);
CREATE TABLE people_s (name text, team text, v int);
INSERT INTO people VALUES ('Bob', 'Red', 1), ('Eve', 'Blue', 2), ('Ann', 'RED', 3);
INSERT INTO people_s VALUES ('BOB', 'Red', 1), ('eve', 'blue', 2);
SET search_path = public, elsewhere;
SELECT dq_gate.create_gate('people', mode => 'sync', scope => 'team = ''RED'' OR team = ''BLUE''') \g /dev/null
RESET search_path;
SELECT is(outcome(dq_gate.publish('people_s', 'people')), 'published 2: 1 updated, 1 unchanged, 1 deleted', 'a citext key, and a scope of citext');
SELECT results_eq('SELECT name::text, team::text FROM people ORDER BY lower(name::text)', $$ VALUES ('Bob', 'Red'), ('Eve', 'blue') $$, 'by its own equality');
INSERT INTO people VALUES ('Ann', 'RED', 3), ('Joe', 'Green', 4);
SELECT dq_gate.alter_gate('people', mode => 'replace', scope => '', replace_by => '{team}') \g /dev/null
UPDATE people_s SET team = 'rED' WHERE name = 'BOB';
SELECT is(outcome(dq_gate.publish('people_s', 'people')), 'published 2: 2 inserted, 3 deleted', 'and slices of citext');
SELECT results_eq('SELECT name::text, team::text FROM people ORDER BY lower(name::text)', $$ VALUES ('BOB', 'rED'), ('eve', 'blue'), ('Joe', 'Green') $$, 'likewise');
\else
SELECT skip('no citext', 4);
\endif

--
-- No key: duplicates, NULLs and values that know no equality
--
CREATE TABLE heap (day date, j json, p point, t text, v numeric);
CREATE TABLE heap_s (LIKE heap);
INSERT INTO heap_s VALUES ('2026-01-01', '{"a": 1}', '(0,0)', 'x', 1), ('2026-01-01', '{"a": 1}', '(0,0)', 'x', 1), ('2026-01-01', '{"a":1}', '(0,0)', 'x', 1),
	('2026-01-01', NULL, NULL, NULL, 1.0), ('2026-01-01', NULL, NULL, NULL, 1.0), ('2026-01-01', NULL, NULL, '', 1.0),
	('2026-01-01', NULL, NULL, NULL, NULL), ('2026-01-02', '{"a": 1}', '(1,0)', 'a"b\c', -1), ('2026-01-02', '{"a": 1}', '(1,0)', 'a"b\c', -1),
	('2026-01-02', '{"a": 1}', '(1,0)', 'a"b\c', -1.0), ('2026-01-02', '[]', NULL, ',', 666), ('2026-01-02', '[]', NULL, ',', 666), ('2026-01-02', '[]', NULL, ',', 6);
SELECT dq_gate.create_gate('heap', mode => 'append') \g /dev/null
SELECT dq_gate.expect_range('heap', 'v', min => 0, action => 'quarantine', nulls => 'fail') \g /dev/null
SELECT dq_gate.expect_rejected_values('heap', 'v', ARRAY['666'], action => 'drop') \g /dev/null
SELECT is(outcome(dq_gate.publish('heap_s', 'heap')), 'published 13: 7 inserted, 4 quarantined, 2 dropped', 'append without a key');
SELECT is(difference('TABLE heap', 'SELECT * FROM heap_s WHERE v >= 0 AND v <> 666'), NULL, 'adds each row as often as it is staged');
SELECT is(difference('SELECT day, j, p, t, v FROM dq_quarantine.heap', 'SELECT * FROM heap_s WHERE (v >= 0) IS NOT TRUE'), NULL, 'and keeps the others likewise');
SELECT is(outcome(dq_gate.publish('heap_s', 'heap')), 'published 13: 7 inserted, 4 quarantined, 2 dropped', 'once more');
SELECT is((SELECT count(*) FROM heap), 14::bigint, 'adds them once more');
INSERT INTO heap VALUES ('2026-01-03', NULL, NULL, 'kept', 1), (NULL, NULL, NULL, 'kept', 1);
SELECT dq_gate.alter_gate('heap', mode => 'replace', replace_by => '{day}') \g /dev/null
SELECT is(outcome(dq_gate.publish('heap_s', 'heap')), 'published 13: 7 inserted, 14 deleted, 4 quarantined, 2 dropped', 'replace without a key');
SELECT is(difference('TABLE heap', $$ SELECT * FROM heap_s WHERE v >= 0 AND v <> 666 UNION ALL VALUES ('2026-01-03'::date, NULL::json, NULL::point, 'kept', 1::numeric), (NULL, NULL, NULL, 'kept', 1) $$),
	NULL, 'leaves other slices alone, and what is in none');
SELECT is(outcome(dq_gate.publish('heap_s', 'heap')), 'published 13: 7 inserted, 7 deleted, 4 quarantined, 2 dropped', 'and can be done again');
DELETE FROM heap_s WHERE v >= 0 AND day = '2026-01-02';
SELECT is(outcome(dq_gate.publish('heap_s', 'heap')), 'published 10: 6 inserted, 6 deleted, 4 quarantined', 'a slice of which all rows are in quarantine');
SELECT is((SELECT count(*) FROM heap WHERE day = '2026-01-02'), 1::bigint, 'is not emptied');
INSERT INTO heap_s VALUES (NULL, NULL, NULL, NULL, 1);
SELECT is(outcome(dq_gate.publish('heap_s', 'heap')), 'rejected 11: 11 quarantined', 'a row that names no slice');
SELECT is(not_passed(), 'day_not_null failed, v_range failed', 'keeps the batch out');
SELECT dq_gate.expect_not_null('heap', 'day', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('heap_s', 'heap')), 'published 11: 6 inserted, 6 deleted, 5 quarantined', 'or goes to quarantine');
SELECT raises($$ SELECT dq_gate.alter_gate('heap', mode => 'merge', replace_by => '{}') $$, '55000', 'no key', 'rows that are matched need a key');

--
-- sync: what the batch lacks
--
CREATE TABLE stock (id int, region text, v int);
CREATE TABLE stock_s (id int, region text, v int);
CREATE FUNCTION stock() RETURNS text LANGUAGE sql AS $$ SELECT string_agg(concat_ws(':', coalesce(id::text, 'null'), region, v), ' ' ORDER BY id, v) FROM stock $$;
SELECT dq_gate.create_gate('stock', key => '{id}', mode => 'sync', scope => 'region = ''EU''') \g /dev/null
SELECT dq_gate.expect_range('stock', 'v', min => 0, action => 'quarantine') \g /dev/null
SELECT dq_gate.expect_not_null('stock', 'id', action => 'quarantine') \g /dev/null
SELECT dq_gate.expect_volume('stock', action => 'declare') \g /dev/null
INSERT INTO stock VALUES (1, 'EU', 1), (2, 'EU', 2), (3, 'EU', 3), (4, 'US', 4), (5, NULL, 5), (NULL, 'EU', 6), (NULL, 'US', 7), (8, 'US', 8);
INSERT INTO stock_s VALUES (1, 'EU', 1), (2, 'EU', -2), (NULL, 'EU', 9), (NULL, 'EU', 9), (8, 'EU', 80);
SELECT is(outcome(dq_gate.publish('stock_s', 'stock')), 'published 5: 1 updated, 1 unchanged, 2 deleted, 3 quarantined', 'a sync with rows in quarantine and without a key');
SELECT is(stock(), '1:EU:1 2:EU:2 4:US:4 5:5 8:EU:80 null:US:7', 'spares what is staged, and what is out of scope; what has no key is not staged');
INSERT INTO stock_s VALUES (10, 'US', 1), (11, NULL, 1);
SELECT is(outcome(dq_gate.publish('stock_s', 'stock')), 'rejected 7: 7 quarantined', 'a row out of scope');
SELECT is(finding('scope'), 'failed 2 of 7, 1 null', 'and one of which it is not known');
SELECT is((SELECT action || ': ' || rule || ': ' || origin FROM dq_gate.checks_of('stock') WHERE check_name = 'scope'), 'block: region = ''EU'': scope of the gate', 'fail the check of that name');
SELECT dq_gate.alter_gate('stock', scope => '') \g /dev/null
SELECT is(outcome(dq_gate.publish('stock_s', 'stock')), 'published 7: 2 inserted, 2 unchanged, 3 deleted, 3 quarantined', 'a sync of everything');
SELECT is(stock(), '1:EU:1 2:EU:2 8:EU:80 10:US:1 11:1', 'deletes all that is not staged');

-- a scope that asks for the date of the batch
CREATE TABLE days (day date, v int);
CREATE TABLE days_s (day date, v int);
INSERT INTO days VALUES ('2025-12-31', 0);
INSERT INTO days_s VALUES ('2026-01-01', 1), ('2026-01-01', 2);
SELECT dq_gate.create_gate('days', mode => 'replace', scope => 'day = dq_gate.as_of()') \g /dev/null
SELECT is(outcome(dq_gate.publish('days_s', 'days', as_of => '2026-01-01')), 'published 2: 2 inserted', 'a day that is named by as_of');
SELECT is(outcome(dq_gate.publish('days_s', 'days', as_of => '2026-01-01')), 'published 2: 2 inserted, 2 deleted', 'is replaced');
SELECT is((SELECT count(*) FROM days), 3::bigint, 'and no other');
SELECT is(outcome(dq_gate.publish('days_s', 'days', as_of => '2026-01-02')), 'rejected 2: 2 quarantined', 'rows of another day are out of scope');
SELECT is(outcome(dq_gate.publish('days_s', 'days')), 'rejected 2: 2 quarantined', 'as is all without a date');

--
-- An empty batch deletes nothing
--
CREATE TABLE none (k int, part text, v numeric, note text);
CREATE FUNCTION empty(mode text, scope text DEFAULT NULL, slices text[] DEFAULT NULL, enforce bool DEFAULT true) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	PERFORM fill('plain');
	PERFORM dq_gate.create_gate('plain', key => CASE WHEN mode <> 'replace' THEN '{k}'::text[] END, mode => mode, scope => scope, replace_by => slices, enforce => enforce);
	PERFORM dq_gate.expect_volume('plain', action => 'declare');
	answer := outcome(dq_gate.publish('none', 'plain'));
	PERFORM dq_gate.drop_gate('plain');
	RETURN concat_ws('; ', answer, not_passed(), difference('TABLE plain', 'TABLE before'));
END
$$;
SELECT is(empty(mode), 'rejected 0; not_empty failed', 'an empty batch, ' || mode) FROM unnest('{merge,insert_only,append,sync}'::text[]) mode;
SELECT is(empty('sync', 'part = ''a'''), 'rejected 0; not_empty failed', 'sync of a part');
SELECT is(empty('replace', 'part = ''a'''), 'rejected 0; not_empty failed', 'replace a part');
SELECT is(empty('replace', slices => '{part}'), 'rejected 0; not_empty failed', 'replace slices');
SELECT is(empty('sync', enforce => false), 'published 0; not_empty failed', 'where checks are not enforced, sync');
SELECT is(empty('replace', 'part = ''a''', enforce => false), 'published 0; not_empty failed', 'and replace a part');

--
-- Foreign keys
--
CREATE TABLE parents (id int PRIMARY KEY, day int);
CREATE TABLE parents_s (id int, day int);
CREATE TABLE kids (id int PRIMARY KEY, parent int CONSTRAINT "Kid of" REFERENCES parents ON DELETE CASCADE);
INSERT INTO parents VALUES (1, 1), (2, 1), (3, 2);
INSERT INTO kids VALUES (10, 1), (30, 3);
INSERT INTO parents_s VALUES (1, 1), (4, 1);
SELECT raises($$ SELECT dq_gate.create_gate('parents', mode => 'replace', replace_by => '{day}') $$, '0A000', 'cannot be in mode "replace"\n.*"Kid of".*\n.*sync', 'replace, where a foreign key cascades');
ALTER TABLE kids DROP CONSTRAINT "Kid of", ADD CONSTRAINT "Kid of" FOREIGN KEY (parent) REFERENCES parents ON DELETE SET NULL;
SELECT raises($$ SELECT dq_gate.create_gate('parents', mode => 'replace', replace_by => '{day}') $$, '0A000', '"Kid of"', 'or sets NULL');
ALTER TABLE kids DROP CONSTRAINT "Kid of", ADD CONSTRAINT "Kid of" FOREIGN KEY (parent) REFERENCES parents ON DELETE SET DEFAULT;
SELECT raises($$ SELECT dq_gate.create_gate('parents', mode => 'replace', scope => 'day = 1') $$, '0A000', '"Kid of"', 'or a default');
ALTER TABLE kids DROP CONSTRAINT "Kid of";
SELECT dq_gate.create_gate('parents', mode => 'replace', replace_by => '{day}') \g /dev/null
ALTER TABLE kids ADD CONSTRAINT "Kid of" FOREIGN KEY (parent) REFERENCES parents ON DELETE CASCADE;
SELECT raises($$ SELECT dq_gate.publish('parents_s', 'parents') $$, '0A000', '"Kid of"', 'also when it comes later');
SELECT raises($$ SELECT dq_gate.audit('parents_s', 'parents') $$, '0A000', '"Kid of"', 'and in a dry run');
SELECT is((SELECT count(*) FROM kids), 2::bigint, 'nothing is gone');
ALTER TABLE kids DROP CONSTRAINT "Kid of", ADD CONSTRAINT "Kid of" FOREIGN KEY (parent) REFERENCES parents;
SELECT is(outcome(dq_gate.publish('parents_s', 'parents')), 'failed 2: 2 quarantined', 'a row that another one refers to cannot be deleted');
SELECT results_eq('TABLE parents ORDER BY id', 'VALUES (1, 1), (2, 1), (3, 2)', 'and none is');
ALTER TABLE kids ALTER CONSTRAINT "Kid of" DEFERRABLE INITIALLY DEFERRED;
SELECT is(outcome(dq_gate.publish('parents_s', 'parents')), 'published 2: 2 inserted, 2 deleted', 'unless the foreign key waits whether it comes back');
SELECT results_eq('TABLE parents ORDER BY id', 'VALUES (1, 1), (3, 2), (4, 1)', 'as it does here');
UPDATE parents_s SET id = 5 WHERE id = 1;
SELECT is(outcome(dq_gate.publish('parents_s', 'parents')), 'failed 2: 2 quarantined', 'and here it does not');
SELECT is((SELECT error_sqlstate || (deleted + inserted) FROM dq_gate.runs WHERE run_id = last_run()), '235030', 'which is known with the publish, and counts as nothing');
SELECT results_eq('TABLE parents ORDER BY id', 'VALUES (1, 1), (3, 2), (4, 1)', 'and leaves the target alone');
ALTER TABLE kids DROP CONSTRAINT "Kid of", ADD CONSTRAINT "Kid of" FOREIGN KEY (parent) REFERENCES parents ON DELETE CASCADE;
SELECT dq_gate.alter_gate('parents', mode => 'sync', replace_by => '{}') \g /dev/null
SELECT is(outcome(dq_gate.publish('parents_s', 'parents')), 'published 2: 1 inserted, 1 unchanged, 2 deleted', 'a sync deletes what is not staged, and what hangs on it');
SELECT is((SELECT count(*) FROM kids), 0::bigint, 'which the foreign key wants');
-- rows of a slice that refer to each other
CREATE TABLE tree (id int PRIMARY KEY, parent int REFERENCES tree, day int);
CREATE TABLE tree_s (id int, parent int, day int);
INSERT INTO tree VALUES (1, NULL, 1), (2, 1, 1), (3, NULL, 2);
INSERT INTO tree_s VALUES (4, 1, 1), (1, NULL, 1), (5, 4, 1);
SELECT dq_gate.create_gate('tree', mode => 'replace', replace_by => '{day}') \g /dev/null
SELECT is(outcome(dq_gate.publish('tree_s', 'tree')), 'published 3: 3 inserted, 2 deleted', 'a slice whose rows refer to each other');
SELECT results_eq('TABLE tree ORDER BY id', 'VALUES (1, NULL, 1), (3, NULL, 2), (4, 1, 1), (5, 4, 1)', 'is replaced as one');

-- a constraint that can wait: rows swap their values
CREATE TABLE seats (id int PRIMARY KEY, seat int UNIQUE DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE seats_s (id int, seat int);
CREATE FUNCTION swap(mode text, slices text[] DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	TRUNCATE seats, seats_s;
	INSERT INTO seats VALUES (1, 10), (2, 20), (3, 30);
	INSERT INTO seats_s VALUES (1, 20), (2, 10);
	PERFORM dq_gate.create_gate('seats', mode => mode, replace_by => slices);
	answer := outcome(dq_gate.publish('seats_s', 'seats'));
	PERFORM dq_gate.drop_gate('seats');
	RETURN answer || ', ' || (SELECT string_agg(id || ':' || seat, ' ' ORDER BY id) FROM seats);
END
$$;
SELECT is(swap('merge'), 'published 2: 2 updated, 1:20 2:10 3:30', 'values that rows swap under a deferred constraint, merge');
SELECT is(swap('sync'), 'published 2: 2 updated, 1 deleted, 1:20 2:10', 'sync');
SELECT is(swap('replace', '{id}'), 'published 2: 2 inserted, 2 deleted, 1:20 2:10 3:30', 'replace');
SELECT ok(swap('append') ~ '^(failed|rejected) 2: 2 quarantined, 1:10 2:20 3:30$', 'append, which the primary key refuses');

--
-- Triggers that keep rows as they are, or change them
--
CREATE TABLE watched (k int, part text, v numeric, note text);
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'DELETE' THEN
		RETURN CASE WHEN OLD.k IN (7, 1) THEN NULL ELSE OLD END;
	END IF;
	NEW.note := NEW.note || '!';
	RETURN CASE WHEN NEW.k IN (3, 10) THEN NULL ELSE NEW END;
END
$$;
CREATE TRIGGER keep BEFORE INSERT OR UPDATE OR DELETE ON watched FOR EACH ROW EXECUTE FUNCTION keep();
CREATE FUNCTION kept(target regclass, mode text, slices text[] DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	run dq_gate.run_summary;
BEGIN
	EXECUTE format('ALTER TABLE %s DISABLE TRIGGER USER', target);
	PERFORM fill(target);
	EXECUTE format('ALTER TABLE %s ENABLE TRIGGER USER', target);
	DELETE FROM staged WHERE v IN (-5, 666, -1);
	PERFORM dq_gate.create_gate(target, key => CASE WHEN mode <> 'replace' THEN '{k}'::text[] END, mode => mode, replace_by => slices);
	PERFORM dq_gate.expect_volume(target, action => 'declare');
	run := dq_gate.publish('staged', target);
	PERFORM dq_gate.drop_gate(target);
	RETURN concat_ws('; ', outcome(run), array_to_string(run.failures, '; '), difference(format('SELECT k, part, v, note FROM %s', target), 'TABLE before'));
END
$$;
CREATE TABLE watched_parts (k int, part text, v numeric, note text) PARTITION BY LIST (part);
CREATE TABLE watched_a PARTITION OF watched_parts FOR VALUES IN ('a');
CREATE TABLE watched_b (note text, v numeric, k int, part text);
ALTER TABLE watched_parts ATTACH PARTITION watched_b DEFAULT;
CREATE TRIGGER keep BEFORE INSERT OR UPDATE OR DELETE ON watched_parts FOR EACH ROW EXECUTE FUNCTION keep();
SELECT is(kept('watched', 'merge'), 'published 7: 2 inserted, 1 updated, 2 unchanged, 2 dropped; publish: 2 rows were dropped by a trigger of the target (warn);'
	' <(11,b,11,) <(12,a,2.00,n!) <(4,b,4,y!) >(4,a,4,y)', 'merge with a trigger that keeps and changes rows');
SELECT is(kept('watched', 'insert_only'), 'published 7: 2 inserted, 4 unchanged, 1 dropped; publish: 1 row was dropped by a trigger of the target (warn);'
	' <(11,b,11,) <(12,a,2.00,n!)', 'insert_only');
SELECT is(kept('watched', 'append'), 'published 7: 5 inserted, 2 dropped; publish: 2 rows were dropped by a trigger of the target (warn);'
	' <(1,a,1,x!) <(11,b,11,) <(12,a,2.00,n!) <(2,b,2.0,) <(4,b,4,y!)', 'append');
SELECT is(kept('watched', 'sync'), 'published 7: 2 inserted, 1 updated, 2 unchanged, 4 deleted, 2 dropped; publish: 2 rows were dropped by a trigger of the target (warn);'
	' publish: 1 row was kept from being deleted by a trigger of the target (warn); <(11,b,11,) <(12,a,2.00,n!) <(4,b,4,y!) >(4,a,4,y) >(5,b,5,y) >(6,b,6,y) >(8,c,8,z) >(9,,9,z)', 'sync');
SELECT is(kept('watched', 'replace', '{k}'), 'published 7: 5 inserted, 3 deleted, 2 dropped; publish: 2 rows were dropped by a trigger of the target (warn);'
	' publish: 1 row was kept from being deleted by a trigger of the target (warn); <(1,a,1,x!) <(11,b,11,) <(12,a,2.00,n!) <(4,b,4,y!) >(3,a,3,old) >(4,a,4,y)', 'replace');
SELECT is(kept('watched_parts', 'append'), kept('watched', 'append'), 'the same of a partitioned target, append');
SELECT is(kept('watched_parts', 'insert_only'), kept('watched', 'insert_only'), 'insert_only');
SELECT is(kept('watched_parts', 'replace', '{k}'), kept('watched', 'replace', '{k}'), 'replace');

-- rows that a trigger keeps from moving, or loses on the way
CREATE TABLE moving (id int, part text, v int) PARTITION BY LIST (part);
CREATE TABLE moving_a PARTITION OF moving FOR VALUES IN ('a');
CREATE TABLE moving_b PARTITION OF moving FOR VALUES IN ('b');
CREATE TABLE moving_s (id int, part text, v int);
INSERT INTO moving_s VALUES (1, 'b', 1), (2, 'a', 3), (3, 'b', 1), (4, 'a', 4), (5, 'b', 6);
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE FUNCTION move(trigger text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	TRUNCATE moving;
	INSERT INTO moving VALUES (1, 'a', 1), (2, 'a', 2), (4, 'a', 4), (5, 'b', 5);
	EXECUTE 'CREATE TRIGGER nothing ' || trigger || ' FOR EACH ROW EXECUTE FUNCTION nothing()';
	PERFORM dq_gate.create_gate('moving', key => '{id}');
	answer := outcome(dq_gate.publish('moving_s', 'moving'));
	PERFORM dq_gate.drop_gate('moving');
	EXECUTE 'DROP TRIGGER nothing ON ' || substring(trigger FROM 'ON (\w+)');
	RETURN answer || ', ' || (SELECT string_agg(id || part || v, ' ' ORDER BY id) FROM moving);
END
$$;
SELECT is(move('AFTER INSERT ON moving_b'), 'published 5: 1 inserted, 3 updated, 1 unchanged, 1b1 2a3 3b1 4a4 5b6', 'a trigger that keeps nothing from moving');
SELECT is(move('BEFORE UPDATE ON moving_a'), 'published 5: 1 inserted, 1 updated, 1 unchanged, 2 dropped, 1a1 2a2 3b1 4a4 5b6', 'one that keeps rows from being updated');
SELECT is(move('BEFORE DELETE ON moving_a'), 'published 5: 1 inserted, 2 updated, 1 unchanged, 1 dropped, 1a1 2a3 3b1 4a4 5b6', 'from leaving their partition');
SELECT is(move('BEFORE INSERT ON moving_b'), 'published 5: 2 updated, 1 unchanged, 2 dropped, 2a3 4a4 5b6', 'from entering one, so that the server loses a row');

--
-- A publish that fails, and a dry run
--
CREATE TABLE wall (k int, part text, v numeric, note text);
CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no more of this'; END $$;
CREATE TRIGGER no AFTER INSERT ON wall FOR EACH ROW WHEN (NEW.k = 12) EXECUTE FUNCTION no();
CREATE FUNCTION against(mode text, dry bool, scope text DEFAULT NULL, slices text[] DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	run dq_gate.run_summary;
BEGIN
	PERFORM fill('wall');
	PERFORM dq_gate.create_gate('wall', key => CASE WHEN mode <> 'replace' THEN '{k}'::text[] END, mode => mode, scope => scope, replace_by => slices, after_publish => 'delete');
	PERFORM dq_gate.expect_range('wall', 'v', min => 0, action => 'quarantine', name => 'positive');
	PERFORM dq_gate.expect_rejected_values('wall', 'v', ARRAY['666'], action => 'drop', name => 'no_beast');
	IF dry THEN
		run := dq_gate.audit('staged', 'wall');
	ELSE
		run := dq_gate.publish('staged', 'wall');
	END IF;
	PERFORM dq_gate.drop_gate('wall');
	RETURN concat_ws('; ', outcome(run), run.published::text, (SELECT count(*) FROM staged) || ' staged', difference('TABLE wall', 'TABLE before'));
END
$$;
SELECT is(against(mode, false), 'failed 10: 10 quarantined; false; 10 staged', 'a publish that fails leaves all as it was, ' || mode) FROM unnest('{merge,insert_only,append,sync}'::text[]) mode;
SELECT is(against('sync', false, 'part IN (''a'', ''b'')'), 'failed 10: 10 quarantined; false; 10 staged', 'sync of a part');
SELECT is(against('replace', false, 'part IN (''a'', ''b'')'), 'failed 10: 10 quarantined; false; 10 staged', 'replace a part');
SELECT is(against('replace', false, slices => '{part}'), 'failed 10: 10 quarantined; false; 10 staged', 'replace slices');
SELECT is((SELECT count(*) || ' ' || count(DISTINCT run_id) FROM dq_quarantine.wall), '70 7', 'and keeps each batch once');
SELECT is(against(mode, true), 'audited 10; false; 10 staged', 'a dry run changes nothing, ' || mode) FROM unnest('{merge,insert_only,append,sync}'::text[]) mode;
SELECT is(against('sync', true, 'part IN (''a'', ''b'')'), 'audited 10; false; 10 staged', 'sync of a part');
SELECT is(against('replace', true, 'part IN (''a'', ''b'')'), 'audited 10; false; 10 staged', 'replace a part');
SELECT is(against('replace', true, slices => '{part}'), 'audited 10; false; 10 staged', 'replace slices');
SELECT is((SELECT count(*) FROM dq_quarantine.wall), 70::bigint, 'and keeps nothing');

--
-- Settings that contradict each other, the mode or the target
--
CREATE TABLE g (id int PRIMARY KEY, a int, b int, j jsonb, p point, js json, at timestamptz, twice int GENERATED ALWAYS AS (a * 2) STORED, no int GENERATED ALWAYS AS IDENTITY, "Odd ""x" text);
CREATE TABLE g_s (id int, a int, b int, j jsonb, p point, js json, at timestamptz, twice int, no int, "Odd ""x" text);
INSERT INTO g_s VALUES (1, 1, 1, NULL, NULL, NULL, now(), NULL, 1, 'x');

-- each is refused when the gate is made and when it is altered, which leaves the gate as it was
CREATE FUNCTION refused(settings text, state text, pattern text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	one text = raises(format('SELECT dq_gate.create_gate(''g'', %s)', settings), state, pattern, settings || ' is refused');
	other text;
	kept text;
BEGIN
	PERFORM dq_gate.create_gate('g', owner => 'me');
	kept := (SELECT g::text FROM dq_gate.gates g WHERE target = 'g'::regclass);
	other := raises(format('SELECT dq_gate.alter_gate(''g'', %s)', settings), state, pattern, 'in alter_gate, too');
	IF kept IS DISTINCT FROM (SELECT g::text FROM dq_gate.gates g WHERE target = 'g'::regclass) THEN
		other := other || E'\n' || fail('and leaves the gate alone');
	END IF;
	PERFORM dq_gate.drop_gate('g');
	RETURN one || E'\n' || other;
END
$$;
SELECT refused($$ mode => 'upsert' $$, '22023', 'mode "upsert" is not known\n.*merge, append, insert_only, sync and replace');
SELECT refused($$ mode => 'Merge' $$, '22023', 'mode "Merge" is not known');
SELECT refused($$ on_rounding => 'round' $$, '22023', 'on_rounding "round" is not known\n.*fail and allow');
SELECT refused($$ on_new_column => 'drop' $$, '22023', 'fail, ignore, rescue and evolve');
SELECT refused($$ on_missing_column => 'x' $$, '22023', 'default and fail');
SELECT refused($$ on_type_change => 'x' $$, '22023', 'fail and widen');
SELECT refused($$ after_publish => 'drop' $$, '22023', 'keep, truncate and delete');
SELECT refused($$ max_delete_rate => 1.01, mode => 'sync' $$, '22023', '"max_delete_rate" must be between 0 and 1');
SELECT refused($$ max_delete_rate => -0.01, mode => 'sync' $$, '22023', 'between 0 and 1');
SELECT refused($$ max_delete_rate => 'NaN', mode => 'sync' $$, '22023', 'between 0 and 1');
SELECT refused($$ scope => 'a > 0' $$ || mode, '22023', '"scope" has no meaning for gate public.g in mode .*\n.*"sync" and "replace"')
	FROM unnest(ARRAY['', $$, mode => 'append' $$, $$, mode => 'insert_only' $$]) mode;
SELECT refused($$ max_delete_rate => 0.5 $$ || mode, '22023', '"max_delete_rate" has no meaning for gate public.g in mode .*\n.*"sync"')
	FROM unnest(ARRAY['', $$, mode => 'append' $$, $$, mode => 'insert_only' $$, $$, mode => 'replace', replace_by => '{a}' $$]) mode;
SELECT refused($$ replace_by => '{a}' $$ || mode, '22023', '"replace_by" has no meaning for gate public.g in mode .*\n.*"replace"')
	FROM unnest(ARRAY['', $$, mode => 'append' $$, $$, mode => 'insert_only' $$, $$, mode => 'sync' $$]) mode;
SELECT refused(setting || mode, '22023', 'has no meaning for gate public.g in mode .*\n.*"merge" and "sync"')
	FROM unnest(ARRAY[$$ update_columns => '{a}' $$, $$ exclude_columns => '{a}' $$, $$ compare_columns => '{a}' $$, $$ only_if_newer => 'at' $$]) setting,
		unnest(ARRAY[$$, mode => 'append' $$, $$, mode => 'insert_only' $$, $$, mode => 'replace', replace_by => '{a}' $$]) mode;
SELECT refused($$ update_columns => '{a}', exclude_columns => '{b}' $$, '22023', '"update_columns" and "exclude_columns" of gate public.g exclude each other');
SELECT refused($$ mode => 'replace', replace_by => '{a}', scope => 'a > 0' $$, '22023', '"replace_by" and "scope" of gate public.g exclude each other');
SELECT refused($$ mode => 'replace' $$, '22023', 'does not say what is replaced\n.*replace_by');
SELECT refused($$ rescue_column => 'j' $$, '22023', 'goes with on_new_column');
SELECT refused($$ on_new_column => 'rescue' $$, '22023', 'goes with on_new_column.*\n.*jsonb');
SELECT refused($$ rescue_column => 'a', on_new_column => 'rescue' $$, '42804', 'column a in "rescue_column" of gate public.g must be of type jsonb\n.*integer');
SELECT refused($$ rescue_column => 'js', on_new_column => 'rescue' $$, '42804', 'jsonb\n.*json');
SELECT refused($$ rescue_column => 'nope', on_new_column => 'rescue' $$, '42703', 'column nope in "rescue_column" of gate public.g does not exist');
SELECT refused(setting || $$ => '{a,nope}' $$ || mode, '42703', 'column nope in "' || setting || '" of gate public.g does not exist') FROM (VALUES
	('update_columns', ''), ('exclude_columns', ''), ('compare_columns', ''), ('replace_by', $$, mode => 'replace' $$)) s (setting, mode);
SELECT refused(setting || $$ => '{a,b,a}' $$ || mode, '42701', 'column a is named twice in "' || setting || '" of gate public.g') FROM (VALUES
	('update_columns', ''), ('exclude_columns', ''), ('compare_columns', ''), ('replace_by', $$, mode => 'replace' $$)) s (setting, mode);
SELECT refused(setting || $$ => ARRAY['a', NULL] $$, '22004', 'NULL') FROM unnest('{update_columns,exclude_columns,compare_columns,replace_by}'::text[]) setting;
SELECT refused(setting, '22023', 'column "?id"? in "\w+" of gate public.g is never updated\n.*key') FROM unnest(ARRAY[$$ update_columns => '{id}' $$, $$ compare_columns => '{id}' $$, $$ only_if_newer => 'id' $$]) setting;
SELECT refused(setting, '22023', 'column twice in "\w+" of gate public.g is never updated\n.*computes') FROM unnest(ARRAY[$$ update_columns => '{twice}' $$, $$ compare_columns => '{twice}' $$, $$ only_if_newer => 'twice' $$]) setting;
SELECT refused(setting, '22023', 'column "?no"? in "\w+" of gate public.g is never updated\n.*identity') FROM unnest(ARRAY[$$ update_columns => '{no}' $$, $$ compare_columns => '{no}' $$, $$ only_if_newer => 'no' $$]) setting;
SELECT refused($$ only_if_newer => 'nope' $$, '42703', 'column nope in "only_if_newer" of gate public.g does not exist');
SELECT refused($$ only_if_newer => 'p' $$, '42883', 'column p in "only_if_newer" of gate public.g has type point, which has no order');
SELECT refused($$ only_if_newer => 'at', exclude_columns => '{at}' $$, '22023', 'column "?at"? in "only_if_newer" of gate public.g is not updated');
SELECT refused($$ only_if_newer => 'at', update_columns => '{a}' $$, '22023', 'column "?at"? in "only_if_newer" of gate public.g is not updated');
SELECT refused($$ keep_latest_by => 'js' $$, '42883', 'column js in "keep_latest_by" of gate public.g has type json, which has no order');
SELECT refused($$ mode => 'replace', replace_by => '{twice}' $$, '0A000', 'column twice in "replace_by" of gate public.g is a generated column');
SELECT refused($$ mode => 'replace', replace_by => '{js}' $$, '42883', 'column js in "replace_by" of gate public.g has type json, which has no equality');
SELECT refused(format('mode => ''sync'', scope => %L', scope), state, pattern) FROM (VALUES
	('a', '42804', 'scope must be type boolean'), ('nope > 1', '42703', 'nope'), ('a >', '42601', ''), ('a > random()', '0A000', 'volatile'), ('a IN (SELECT 1)', '0A000', 'subquery'),
	('tableoid > 1', '0A000', 'system column'), ('sum(a) > 1', '42803', ''), ('twice > 1', '0A000', 'column twice in "scope" of gate public.g is a generated column'))
	s (scope, state, pattern);

-- what staging has to have is known when the gate is run
CREATE FUNCTION unstaged(settings text, missing text, pattern text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE format('SELECT dq_gate.create_gate(''g'', %s)', settings);
	EXECUTE format('ALTER TABLE g_s RENAME %I TO other', missing);
	answer := raises('SELECT dq_gate.publish(''g_s'', ''g'')', '42703', pattern, settings || ', which is not staged')
		|| E'\n' || raises('SELECT dq_gate.audit(''g_s'', ''g'')', '42703', pattern, 'nor for a dry run');
	EXECUTE format('ALTER TABLE g_s RENAME other TO %I', missing);
	PERFORM dq_gate.drop_gate('g');
	RETURN answer;
END
$$;
SELECT unstaged($$ compare_columns => '{a}' $$, 'a', 'column a in "compare_columns" of gate public.g is missing in staging table public.g_s\n.*alter_gate');
SELECT unstaged($$ only_if_newer => 'at' $$, 'at', 'column "?at"? in "only_if_newer" of gate public.g is missing');
SELECT unstaged($$ keep_latest_by => 'Odd "x' $$, 'Odd "x', 'column "Odd ""x" in "keep_latest_by" of gate public.g is missing');
SELECT unstaged($$ mode => 'replace', replace_by => '{a}' $$, 'a', 'column a in "replace_by" of gate public.g is missing');
SELECT unstaged($$ mode => 'sync', scope => '"Odd ""x" > '''' AND a > 0' $$, 'Odd "x', 'column "Odd ""x" in "scope" of gate public.g is missing');
CREATE TABLE computed (a int DEFAULT 1, twice int GENERATED ALWAYS AS (a * 2) STORED);
CREATE TABLE computed_s (twice int);
INSERT INTO computed_s VALUES (1);
SELECT dq_gate.create_gate('computed', mode => 'append') \g /dev/null
SELECT raises($$ SELECT dq_gate.publish('computed_s', 'computed') $$, '42703', 'no column that gate public.computed could publish', 'a batch of nothing that the target takes');
-- of what is latest by a column that has no order as it is staged
CREATE TABLE json_s (id int, a int, seen json);
SELECT dq_gate.create_gate('g', keep_latest_by => 'seen') \g /dev/null
SELECT raises($$ SELECT dq_gate.publish('json_s', 'g') $$, '42883', 'column seen in "keep_latest_by" of gate public.g has type json, which has no order', 'a staged column without an order');
SELECT dq_gate.drop_gate('g') \g /dev/null

-- the target may have been altered since
SELECT dq_gate.create_gate('g', update_columns => '{b}') \g /dev/null
ALTER TABLE g RENAME b TO c;
SELECT raises($$ SELECT dq_gate.publish('g_s', 'g') $$, '42703', 'column b in "update_columns" of gate public.g does not exist', 'a column that is gone is missed when the gate is run');
ALTER TABLE g RENAME c TO b;
SELECT dq_gate.alter_gate('g', update_columns => '{}', mode => 'sync', scope => 'b > 0') \g /dev/null
ALTER TABLE g RENAME b TO c;
SELECT raises($$ SELECT dq_gate.publish('g_s', 'g') $$, '42703', 'b', 'one of its scope, too');
ALTER TABLE g RENAME c TO b;

-- settings that a mode needs have to go with it
SELECT dq_gate.alter_gate('g', mode => 'sync', scope => 'a > 0', max_delete_rate => 0.5, only_if_newer => 'at', update_columns => '{b,at}', compare_columns => '{at}') \g /dev/null
SELECT raises($$ SELECT dq_gate.alter_gate('g', mode => 'append') $$, '22023', 'has no meaning', 'a setting that the new mode has no use for');
SELECT lives_ok($$ SELECT dq_gate.alter_gate('g', mode => 'append', scope => '', max_delete_rate => 1, only_if_newer => '', update_columns => '{}', compare_columns => '{}') $$, 'is taken back with it');
SELECT dq_gate.drop_gate('g') \g /dev/null
SELECT dq_gate.create_gate('g', owner => 'me') \g /dev/null
CREATE TABLE defaults AS SELECT * FROM dq_gate.gates WHERE target = 'g'::regclass;
SELECT dq_gate.alter_gate('g', mode => 'sync', scope => 'a > 0', max_delete_rate => 0.25, exclude_columns => '{b}', compare_columns => '{a,"Odd \"x"}', only_if_newer => 'at', keep_latest_by => 'at',
	on_rounding => 'allow', on_new_column => 'rescue', rescue_column => 'j', on_missing_column => 'fail', on_type_change => 'widen', after_publish => 'delete', key => '{id}', layer => 'gold',
	check_timeout => '1 minute', profile => true, expected_every => '1 day', samples => false, enforce => false, description => 'all of it', quarantine_retention => '30 days', log_retention => '1 year') \g /dev/null
SELECT is((SELECT concat_ws(' ', mode, scope, max_delete_rate, exclude_columns, compare_columns, only_if_newer, keep_latest_by, on_rounding, on_new_column, rescue_column, on_missing_column, on_type_change, after_publish)
	FROM dq_gate.gates WHERE target = 'g'::regclass), 'sync a > 0 0.25 {b} {a,"Odd \"x"} at at allow rescue j fail widen delete', 'all settings at once');

-- as a document
CREATE TABLE document AS SELECT dq_gate.export_gate('g') AS doc;
CREATE TABLE settings AS SELECT * FROM dq_gate.gates WHERE target = 'g'::regclass;
SELECT is((SELECT string_agg(change, ',') FROM document, dq_gate.import_gate(doc)), 'unchanged', 'a document of all settings, imported into the gate that it is of');
SELECT dq_gate.drop_gate('g') \g /dev/null
SELECT is((SELECT string_agg(change, ',') FROM document, dq_gate.import_gate(doc)), 'added', 'and where there is none');
SELECT is(difference('SELECT to_jsonb(g) - ''created_at'' FROM dq_gate.gates g WHERE target = ''g''::regclass', 'SELECT to_jsonb(s) - ''created_at'' FROM settings s'), NULL, 'makes the same gate');
SELECT is((SELECT doc::text FROM document), dq_gate.export_gate('g')::text, 'with the same document');
SELECT dq_gate.alter_gate('g', mode => '', scope => '', max_delete_rate => 1, exclude_columns => '{}', compare_columns => '{}', only_if_newer => '', keep_latest_by => '',
	on_rounding => '', on_new_column => '', rescue_column => '', on_missing_column => '', on_type_change => '', after_publish => '', key => '{}', layer => '', owner => 'me',
	check_timeout => '0', profile => false, expected_every => '0', samples => true, enforce => true, description => '', quarantine_retention => '0', log_retention => '0') \g /dev/null
SELECT is(difference('SELECT to_jsonb(g) - ''created_at'' FROM dq_gate.gates g WHERE target = ''g''::regclass', 'SELECT to_jsonb(d) - ''created_at'' FROM defaults d'), NULL, 'an empty value takes each back');
SELECT is((SELECT string_agg(change, ',') FROM document, dq_gate.import_gate(doc)), 'changed', 'the document brings them again');
SELECT is((SELECT doc::text FROM document), dq_gate.export_gate('g')::text, 'all of them');
SELECT dq_gate.alter_gate('g', mode => 'replace', replace_by => '{a,b}', scope => '', max_delete_rate => 1, exclude_columns => '{}', compare_columns => '{}', only_if_newer => '') \g /dev/null
TRUNCATE document;
INSERT INTO document SELECT dq_gate.export_gate('g');
SELECT dq_gate.drop_gate('g') \g /dev/null
SELECT is((SELECT string_agg(change, ',') FROM document, dq_gate.import_gate(doc)), 'added', 'slices in a document');
SELECT is((SELECT mode || replace_by::text FROM dq_gate.gates WHERE target = 'g'::regclass), 'replace{a,b}', 'are made as well');

-- a target with rules, which would turn what is published into something else
CREATE TABLE ruled (id int, v int);
CREATE TABLE ruled_s (id int, v int);
INSERT INTO ruled_s VALUES (1, 1);
SELECT dq_gate.create_gate('ruled', mode => 'append') \g /dev/null
CREATE RULE nothing AS ON INSERT TO ruled DO INSTEAD NOTHING;
SELECT raises($$ SELECT dq_gate.publish('ruled_s', 'ruled') $$, '0A000', 'public.ruled cannot be published into\n.*rules', 'a target with a rule');
SELECT dq_gate.drop_gate('ruled') \g /dev/null
SELECT raises(format('SELECT dq_gate.create_gate(''ruled'', mode => %L, key => ''{id}'')', mode), '0A000', 'rules', 'gets no gate, ' || mode) FROM unnest('{merge,append,insert_only,sync}'::text[]) mode;
DROP RULE nothing ON ruled;
SELECT dq_gate.create_gate('ruled', mode => 'append') \g /dev/null
SELECT is(outcome(dq_gate.publish('ruled_s', 'ruled')), 'published 1: 1 inserted', 'unless it is dropped');

-- what a setting names is gone: a run refuses, and a look does not
CREATE TABLE gone (id int PRIMARY KEY, slice int, at int);
CREATE TABLE gone_s (LIKE gone);
SELECT dq_gate.create_gate('gone', mode => 'replace', replace_by => '{slice}') \g /dev/null
ALTER TABLE gone DROP slice;
SELECT is((SELECT count(*) FROM dq_gate.checks_of('gone', 'gone_s') WHERE check_name = 'key_unique'), 1::bigint, 'a column of replace_by is gone: checks_of');
SELECT raises($$ SELECT dq_gate.publish('gone_s', 'gone') $$, '42703', 'column slice in "replace_by" of gate public.gone does not exist', 'publish');
SELECT lives_ok($$ SELECT count(*) FROM dq_gate.audit_table('gone') $$, 'audit_table');
SELECT dq_gate.alter_gate('gone', mode => 'sync', replace_by => '{}', scope => 'at > 0', only_if_newer => 'at') \g /dev/null
ALTER TABLE gone DROP at;
SELECT is((SELECT count(*) FROM dq_gate.checks_of('gone', 'gone_s') WHERE check_name = 'scope'), 1::bigint, 'a column of the scope is gone: checks_of');
SELECT raises($$ SELECT dq_gate.audit('gone_s', 'gone') $$, '42703', 'column', 'audit');
SELECT lives_ok($$ SELECT dq_gate.alter_gate('gone', scope => '', only_if_newer => '') $$, 'the way out');

-- a gate that does not enforce its checks takes no row outside of the scope either: the next run would not find it
CREATE TABLE trial (id int PRIMARY KEY, slice int);
CREATE TABLE trial_s (LIKE trial);
INSERT INTO trial_s VALUES (1, 1), (2, 2);
SELECT dq_gate.create_gate('trial', mode => 'replace', scope => 'slice = 1', enforce => false) \g /dev/null
SELECT is(outcome(dq_gate.publish('trial_s', 'trial')), 'rejected 2: 2 quarantined', 'a row outside of the scope, checks not enforced');
DELETE FROM trial_s WHERE slice = 2;
SELECT is(outcome(dq_gate.publish('trial_s', 'trial')) || ', ' || outcome(dq_gate.publish('trial_s', 'trial')), 'published 1: 1 inserted, published 1: 1 inserted, 1 deleted', 'and none');

SELECT finish();
