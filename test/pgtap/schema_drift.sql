-- staging has other columns than the target: what the gate does about it, by policy, and that it says so
\ir include/helpers.sql
SELECT plan(129);

CREATE FUNCTION changes() RETURNS text LANGUAGE sql AS $$ SELECT array_to_string(schema_changes, '; ') FROM dq_gate.runs WHERE run_id = last_run() $$;
-- columns of a table with their types, "a integer, b text"
CREATE FUNCTION shape(relation regclass) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(quote_ident(attname) || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped
$$;
-- a gate that takes batches of any size
CREATE FUNCTION gate(target regclass, settings text DEFAULT '') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT dq_gate.create_gate(%L%s)', target, settings);
	PERFORM dq_gate.expect_volume(target, action => 'declare');
END
$$;

-- fail, which is the default
CREATE TABLE t (id int PRIMARY KEY, v int);
CREATE TABLE s (id int, v int, note text, "No""te" int);
INSERT INTO s VALUES (1, 10, 'one', 1), (2, 20, NULL, 2);
SELECT gate('t') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')) || ': ' || message('schema_contract'), 'rejected 2: 2 quarantined: staged columns that the target lacks: note, "No""te"', 'a column that the target lacks fails the batch');
SELECT is(changes(), '', 'about which nothing is done');
SELECT is((dq_gate.publish('s', 't')).verdict, 'rejected', 'as it does without a gate');

-- ignore
SELECT dq_gate.alter_gate('t', on_new_column => 'ignore') \g /dev/null
SELECT is(outcome(dq_gate.audit('s', 't')) || ': ' || changes(), 'audited 2: would ignore column note; would ignore column "No""te"', 'ignore: a dry run says what would be done');
SELECT is(outcome(dq_gate.publish('s', 't')) || ': ' || changes(), 'published 2: 2 inserted: ignored column note; ignored column "No""te"', 'ignore: the run what was');
SELECT is((SELECT status || ' | ' || expected_value || ' | ' || actual_value || ' | ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'schema_contract'), 'passed | staged columns exist in the target or are ignored, with types that it takes; required columns are staged | 0 columns at fault | staged columns that the target lacks, ignored: note, "No""te"', 'ignore: so does the contract');
SELECT is(shape('t'), 'id integer, v integer', 'ignore: the target stays as it is');
SELECT dq_gate.expect_range('t', 'v', max => 15, action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 2: 1 unchanged, 1 quarantined', 'ignore: rows are moved as ever');
SELECT results_eq('SELECT id, note, "No""te" FROM dq_quarantine.t WHERE run_id = last_run()', 'VALUES (2, NULL::text, 2)', 'ignore: quarantine ignores nothing');
SELECT dq_gate.drop_check('t', 'v_range'), dq_gate.expect_range('t', 'v', max => 15) \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')) || ': ' || changes(), 'rejected 2: 2 quarantined: ', 'ignore: nothing was done about a batch that was rejected');
SELECT is((dq_gate.audit('s', 't')).passed::text || changes(), 'false', 'ignore: nor would be');
SELECT dq_gate.drop_check('t', 'v_range') \g /dev/null

-- O08
CREATE TABLE cu (id int PRIMARY KEY, name text, region text);
CREATE TABLE cu_staging (id int, name text, note text);
INSERT INTO cu VALUES (1, 'a', 'EU');
INSERT INTO cu_staging VALUES (1, 'b', 'n1'), (2, 'c', 'n2');
SELECT dq_gate.create_gate('cu', on_new_column => 'ignore') \g /dev/null
SELECT is(outcome(dq_gate.publish('cu_staging', 'cu')) || ': ' || message('schema_contract'), 'published 2: 1 inserted, 1 updated: staged columns that the target lacks, ignored: note; not staged, so left as they are and defaulted in new rows: region', 'O08: one column too many and one missing, both named');
SELECT results_eq('TABLE cu ORDER BY id', $$ VALUES (1, 'b', 'EU'), (2, 'c', NULL) $$, 'O08: what is missing is not overwritten');

-- rescue
ALTER TABLE t ADD extra jsonb;
SELECT raises($$ SELECT dq_gate.alter_gate('t', on_new_column => 'rescue') $$, '22023', 'rescue_column', 'rescue: into a column that is named');
SELECT raises($$ SELECT dq_gate.alter_gate('t', on_new_column => 'rescue', rescue_column => 'v') $$, '42804', 'jsonb', 'rescue: and is jsonb');
SELECT dq_gate.alter_gate('t', on_new_column => 'rescue', rescue_column => 'extra') \g /dev/null
SELECT is(outcome(dq_gate.audit('s', 't')) || ': ' || changes(), 'audited 2: would rescue column note into extra; would rescue column "No""te" into extra', 'rescue: a dry run says what would be done');
SELECT is(outcome(dq_gate.publish('s', 't')) || ': ' || changes(), 'published 2: 2 updated: rescued column note into extra; rescued column "No""te" into extra', 'rescue: the run what was');
SELECT is(message('schema_contract'), 'staged columns that the target lacks, kept in extra: note, "No""te"', 'rescue: so does the contract');
SELECT results_eq('TABLE t ORDER BY id', $$ VALUES (1, 10, '{"note": "one", "No\"te": 1}'::jsonb), (2, 20, '{"No\"te": 2}') $$, 'rescue: values by name, without those that are NULL');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 2: 2 unchanged', 'rescue: the same values are no change');
UPDATE s SET note = NULL, "No""te" = NULL WHERE id = 1;
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 2: 1 updated, 1 unchanged', 'rescue: other values are');
SELECT is((SELECT extra FROM t WHERE id = 1), NULL, 'rescue: a row without any has NULL');
UPDATE s SET note = 'one';
SELECT dq_gate.publish('s', 't') \g /dev/null
CREATE TABLE known_s (id int, v int);
INSERT INTO known_s VALUES (1, 11), (3, 30);
ALTER TABLE t ALTER extra SET DEFAULT '{"new": true}';
SELECT is(outcome(dq_gate.publish('known_s', 't')) || ': ' || changes(), 'published 2: 1 inserted, 1 updated: ', 'rescue: of a batch without such columns');
SELECT results_eq('TABLE t ORDER BY id', $$ VALUES (1, 11, '{"note": "one"}'::jsonb), (2, 20, '{"note": "one", "No\"te": 2}'), (3, 30, '{"new": true}') $$, 'rescue: nothing is kept: known rows have what they had, new ones the default');
ALTER TABLE t ALTER extra DROP DEFAULT;
-- a rescued column is one like any other
SELECT dq_gate.expect_sql('t', 'noted', $$ extra ->> 'note' <> 'one' $$, action => 'quarantine') \g /dev/null
UPDATE s SET note = 'two' WHERE id = 2;
SELECT is(outcome(dq_gate.publish('s', 't')) || ' ' || finding('noted'), 'published 2: 1 updated, 1 quarantined failed 1 of 2', 'rescue: rules see what is kept');
SELECT is((SELECT sample FROM dq_gate.results_of(last_run()) WHERE check_name = 'noted'), '[{"id": 1, "extra": "{\"note\": \"one\"}"}]', 'rescue: so do samples');
SELECT results_eq('SELECT id, note, "No""te" FROM dq_quarantine.t WHERE run_id = last_run()', $$ VALUES (1, 'one', NULL::int) $$, 'rescue: quarantine keeps the row as it is staged');
SELECT dq_gate.drop_check('t', 'noted') \g /dev/null
SELECT dq_gate.expect_not_null('t', 'extra') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict || ' ' || finding('extra_not_null'), 'published passed 0 of 2', 'rescue: it has a value');
SELECT is((dq_gate.publish('known_s', 't')).verdict || ': ' || message('extra_not_null'), 'rejected: could not be evaluated: column extra is missing in the staging table', 'rescue: or is not staged at all');
SELECT dq_gate.drop_check('t', 'extra_not_null') \g /dev/null
-- the rescue column itself is staged
CREATE TABLE both_s (id int, v int, extra jsonb, note text);
INSERT INTO both_s VALUES (1, 1, '{"a": 1, "note": "old"}', 'n'), (2, 2, NULL, 'n'), (3, 3, '{"a": 1}', NULL), (4, 4, NULL, NULL), (5, 5, '[1]', 'n');
SELECT dq_gate.publish('both_s', 't') \g /dev/null
SELECT is((SELECT string_agg(coalesce(extra::text, 'NULL'), ' ' ORDER BY id) FROM t), '{"a": 1, "note": "n"} {"note": "n"} {"a": 1} NULL [1, {"note": "n"}]', 'rescue: a value that is staged for the column itself is kept besides');
ALTER TABLE both_s ALTER extra TYPE text USING extra::text;
SELECT is((dq_gate.publish('both_s', 't')).verdict || ': ' || message('schema_contract'), 'rejected: staged columns that cannot be kept in extra: note (extra itself is staged as text, not as jsonb)', 'rescue: but not one of another type');
ALTER TABLE both_s DROP note;
SELECT is((dq_gate.publish('both_s', 't')).verdict, 'published', 'rescue: which is good where nothing is to be kept');
-- NOT NULL, a domain
CREATE DOMAIN document AS jsonb CHECK (NOT VALUE ? 'secret');
CREATE TABLE d (id int PRIMARY KEY, extra document NOT NULL DEFAULT '{}');
CREATE TABLE d_s (id int, secret text, note text);
INSERT INTO d_s VALUES (1, NULL, 'n'), (2, NULL, NULL), (3, 'x', NULL);
SELECT gate('d', ', on_new_column => ''rescue'', rescue_column => ''extra'''), dq_gate.expect_type_fit('d', 'extra', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('d_s', 'd')), 'published 3: 2 inserted, 1 quarantined', 'rescue: a domain judges what is kept');
SELECT results_eq('SELECT id, extra::jsonb FROM d ORDER BY id', $$ VALUES (1, '{"note": "n"}'::jsonb), (2, '{}') $$, 'rescue: a column that is NOT NULL has an empty object');
-- types, and many columns
CREATE TABLE many (id int PRIMARY KEY, rest jsonb);
CREATE TYPE mood AS ENUM ('sad', 'ok');
DO $$ BEGIN EXECUTE 'CREATE TABLE many_s (id int, n numeric, m mood, a int[], j json, at timestamptz, b bytea, ' || (SELECT string_agg(format('%I int', 'Column ' || i), ', ') FROM generate_series(1, 250) i) || ')'; END $$;
INSERT INTO many_s (id, n, m, a, j, at, b, "Column 250") VALUES (1, 1.50, 'ok', '{1,NULL}', '{"x": null}', '2026-03-01 12:00+02', '\xff', 7), (2, 'NaN', NULL, NULL, 'null', 'infinity', NULL, NULL), (3, NULL, NULL, NULL, NULL, '0044-03-15 00:00+00 BC', NULL, NULL);
SELECT gate('many', ', on_new_column => ''rescue'', rescue_column => ''rest''') \g /dev/null
SELECT is((dq_gate.publish('many_s', 'many')).verdict, 'published', 'rescue: 256 columns');
SELECT results_eq('TABLE many ORDER BY id', $$ VALUES (1, '{"n": 1.50, "m": "ok", "a": [1, null], "j": {"x": null}, "at": "2026-03-01T10:00:00+00:00", "b": "\\xff", "Column 250": 7}'::jsonb),
	(2, '{"n": "NaN", "j": null, "at": "infinity"}'), (3, '{"at": "0044-03-15T00:00:00+00:00 BC"}') $$, 'rescue: of every type, as to_jsonb writes it');
SET TimeZone = 'Asia/Kathmandu';
DELETE FROM many_s WHERE id = 3;
SELECT is(outcome(dq_gate.publish('many_s', 'many')), 'published 2: 2 unchanged', 'rescue: the same in every time zone');
RESET TimeZone;

-- evolve
CREATE SCHEMA "S x";
CREATE TYPE "S x"."Mo od" AS ENUM ('ok');
CREATE DOMAIN "S x".positive AS int CHECK (VALUE > 0);
CREATE TYPE pair AS (x int, y text);
CREATE TABLE "S x"."T" ("Id" int PRIMARY KEY, v int);
CREATE TABLE "S x"."S" ("Id" int, v int, "V" varchar(5) COLLATE "C", "a""b" numeric(7,2), "select" "S x"."Mo od", p "S x".positive, arr text[], c pair, twice int GENERATED ALWAYS AS ("Id" * 2) STORED, i int GENERATED ALWAYS AS IDENTITY, j json);
INSERT INTO "S x"."T" VALUES (9, 9);
INSERT INTO "S x"."S" ("Id", v, "V", "a""b", "select", p, arr, c, j) VALUES (1, 1, 'abc', 1.50, 'ok', 1, '{x}', '(1,y)', '{"k":  1}'), (9, 9, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
SELECT gate('"S x"."T"', ', on_new_column => ''evolve''') \g /dev/null
SELECT is(outcome(dq_gate.audit('"S x"."S"', '"S x"."T"')) || ': ' || changes(), 'audited 2: would add column "V" character varying(5); would add column "a""b" numeric(7,2); would add column "select" "S x"."Mo od"; would add column p "S x".positive; would add column arr text[]; would add column c public.pair; would add column twice integer; would add column i integer; would add column j json', 'evolve: a dry run says what would be done');
SELECT is(shape('"S x"."T"'), '"Id" integer, v integer', 'evolve: and does none of it');
SELECT is(message('schema_contract'), 'staged columns that the target lacks, to be added: "V", "a""b", "select", p, arr, c, twice, i, j', 'evolve: the contract says it');
SELECT is((SELECT count(*) FROM dq_gate.checks_of('"S x"."T"', '"S x"."S"') WHERE check_type IN ('type_fit', 'not_null')), 1::bigint, 'evolve: a column to come has no rules');
SELECT is(outcome(dq_gate.publish('"S x"."S"', '"S x"."T"')), 'published 2: 1 inserted, 1 updated', 'evolve: the batch is published');
SELECT is(changes(), 'added column "V" character varying(5); added column "a""b" numeric(7,2); added column "select" "S x"."Mo od"; added column p "S x".positive; added column arr text[]; added column c public.pair; added column twice integer; added column i integer; added column j json', 'evolve: the run says what was done');
SELECT is(shape('"S x"."T"'), shape('"S x"."S"'), 'evolve: the target has the columns, with their types');
SELECT is((SELECT attcollation::regcollation::text FROM pg_attribute WHERE attrelid = '"S x"."T"'::regclass AND attname = 'V'), '"C"', 'evolve: and collations');
SELECT is_empty($$ SELECT attname FROM pg_attribute WHERE attrelid = '"S x"."T"'::regclass AND attnum > 2 AND (attnotnull OR attidentity <> '' OR attgenerated <> '') $$, 'evolve: they are plain columns');
SELECT results_eq('SELECT "V" COLLATE "default", "a""b", "select"::text, p::int, arr, c::text, twice, i, j::text FROM "S x"."T" ORDER BY "Id"', $$ VALUES ('abc'::varchar(5), 1.50, 'ok', 1, '{x}'::text[], '(1,y)', 2, 1, '{"k":  1}'), (NULL, NULL, NULL, NULL, NULL, NULL, 18, 2, NULL) $$, 'evolve: with the values of the batch');
SELECT is(outcome(dq_gate.publish('"S x"."S"', '"S x"."T"')) || ': ' || changes(), 'published 2: 2 unchanged: ', 'evolve: once is enough');
SELECT dq_gate.expect_not_null('"S x"."T"', 'V', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('"S x"."S"', '"S x"."T"')), 'published 2: 1 unchanged, 1 quarantined', 'evolve: from then on it is a column like any other');

-- nothing stays of a batch that does not get through
CREATE TABLE e (id int PRIMARY KEY, v int UNIQUE);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON e FOR EACH ROW WHEN (NEW.id = 2) EXECUTE FUNCTION refuse();
CREATE TABLE e_s (id int, v int, more text);
INSERT INTO e VALUES (1, 1);
INSERT INTO e_s VALUES (2, 2, 'x');
SELECT gate('e', ', on_new_column => ''evolve''') \g /dev/null
SELECT is(outcome(dq_gate.publish('e_s', 'e')) || ': ' || shape('e') || ': ' || changes(), 'failed 1: 1 quarantined: id integer, v integer: ', 'evolve: a publish that fails takes the column back');
SELECT dq_gate.expect_range('e', 'id', max => 1, name => 'low') \g /dev/null
SELECT is(outcome(dq_gate.publish('e_s', 'e')) || ': ' || shape('e') || ': ' || changes(), 'rejected 1: 1 quarantined: id integer, v integer: ', 'evolve: a batch that is rejected adds none');
SELECT dq_gate.drop_check('e', 'low'), dq_gate.expect_range('e', 'id', max => 1, action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('e_s', 'e')) || ': ' || shape('e') || ': ' || changes(), 'rejected 1: 1 quarantined: id integer, v integer: ', 'evolve: nor does one of which nothing is left');
SELECT dq_gate.drop_check('e', 'id_range') \g /dev/null
DROP TRIGGER refuse ON e;
SELECT is(outcome(dq_gate.publish('e_s', 'e')) || ': ' || shape('e'), 'published 1: 1 inserted: id integer, v integer, more text', 'evolve: until one gets through');

-- modes
CREATE TABLE m (id int PRIMARY KEY, day int NOT NULL, v int);
CREATE TABLE m_s (id int, day int, v int, more text);
CREATE FUNCTION with_mode(settings text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	DROP TABLE IF EXISTS m;
	CREATE TABLE m (id int PRIMARY KEY, day int NOT NULL, v int);
	INSERT INTO m VALUES (1, 1, 1), (2, 1, 2), (3, 2, 3);
	TRUNCATE m_s;
	INSERT INTO m_s VALUES (1, 1, 1, 'x'), (4, 1, 4, NULL);
	PERFORM gate('m', settings || ', on_new_column => ''evolve''');
	answer := outcome(dq_gate.publish('m_s', 'm'));
	EXECUTE 'SELECT $1 || '': '' || string_agg(id || coalesce(more, ''''), '' '' ORDER BY id) FROM m' INTO answer USING answer;
	RETURN answer;
END
$$;
SELECT is(with_mode(', mode => ''sync'''), 'published 2: 1 inserted, 1 updated, 2 deleted: 1x 4', 'evolve: mode sync');
SELECT is(with_mode(', mode => ''sync'', scope => ''day = 1'', max_delete_rate => 0.5'), 'published 2: 1 inserted, 1 updated, 1 deleted: 1x 3 4', 'evolve: mode sync within a scope and a limit');
SELECT is(with_mode(', mode => ''replace'', replace_by => ''{day}'''), 'published 2: 2 inserted, 2 deleted: 1x 3 4', 'evolve: mode replace');
SELECT is(with_mode(', mode => ''insert_only'''), 'published 2: 1 inserted, 1 unchanged: 1 2 3 4', 'evolve: mode insert_only');
SELECT is(with_mode(', compare_columns => ''{v}'''), 'published 2: 1 inserted, 1 unchanged: 1 2 3 4', 'evolve: a column that is not compared changes no row');
SELECT is(with_mode(', update_columns => ''{v}'''), 'published 2: 1 inserted, 1 unchanged: 1 2 3 4', 'evolve: one that is not updated is not');
SELECT is(with_mode(', only_if_newer => ''v'''), 'published 2: 1 inserted, 1 updated: 1x 2 3 4', 'evolve: beside rows that may be newer');
SELECT is(with_mode(', keep_latest_by => ''v'''), 'published 2: 1 inserted, 1 updated: 1x 2 3 4', 'evolve: of the latest rows');
SELECT is(with_mode(', profile => true'), 'published 2: 1 inserted, 1 updated: 1x 2 3 4', 'evolve: with profiles');
SELECT is((SELECT row_count || ' ' || null_count FROM dq_gate.profiles WHERE run_id = last_run() AND column_name = 'more'), '2 1', 'evolve: which have it at once');

-- without a key, with rows that are moved
CREATE TABLE a (v int);
CREATE TABLE a_s (v int, w int, "W" int);
INSERT INTO a_s VALUES (1, 2, 3), (1, 2, 3), (-1, 2, 3);
SELECT gate('a', ', mode => ''append'', on_new_column => ''evolve'''), dq_gate.expect_range('a', 'v', min => 0, action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('a_s', 'a')), 'published 3: 2 inserted, 1 quarantined', 'evolve: rows are moved and columns added at once');
SELECT results_eq('TABLE a', 'VALUES (1, 2, 3), (1, 2, 3)', 'evolve: a column whose name differs in case is another one');

-- several batches in a transaction, each with more columns; and a target that is in use there
CREATE TABLE tx (id int PRIMARY KEY);
CREATE TABLE tx_s (id int, n int);
INSERT INTO tx_s VALUES (1, 1);
SELECT gate('tx', ', on_new_column => ''evolve''') \g /dev/null
BEGIN;
DECLARE looking CURSOR FOR TABLE tx;
FETCH looking \g /dev/null
SELECT is((dq_gate.publish('tx_s', 'tx')).verdict || ' ' || shape('tx'), 'failed id integer', 'evolve: a target that an open cursor of the transaction reads is not altered');
COMMIT;
SELECT is((SELECT error_sqlstate FROM dq_gate.runs WHERE run_id = last_run()), '55006', 'evolve: the run says why');
BEGIN;
SELECT is((dq_gate.publish('tx_s', 'tx')).verdict || ' ' || shape('tx'), 'published id integer, n integer', 'evolve: one batch of a transaction');
ALTER TABLE tx_s ADD m int;
SAVEPOINT here;
SELECT dq_gate.publish('tx_s', 'tx') \g /dev/null
ROLLBACK TO here;
SELECT is(shape('tx'), 'id integer, n integer', 'evolve: a second one that is taken back');
SELECT is((dq_gate.publish('tx_s', 'tx')).verdict || ' ' || shape('tx'), 'published id integer, n integer, m integer', 'evolve: and comes again');
COMMIT;

-- partitions and children
CREATE TABLE part (id int, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE TABLE part_2 (day date NOT NULL, gone int, id int NOT NULL);
ALTER TABLE part_2 DROP gone;
ALTER TABLE part ATTACH PARTITION part_2 FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
CREATE TABLE part_s (id int, day date, more text);
INSERT INTO part_s VALUES (1, '2026-01-05', 'a'), (2, '2026-02-05', 'b');
SELECT gate('part', ', on_new_column => ''evolve''') \g /dev/null
SELECT is(outcome(dq_gate.publish('part_s', 'part')) || ': ' || shape('part_2') || ': ' || (SELECT string_agg(more, ' ' ORDER BY id) FROM part_s), 'published 2: 2 inserted: day date, id integer, more text: a b', 'evolve: a partitioned table with its partitions');
SELECT raises($$ SELECT dq_gate.create_gate('part_1', on_new_column => 'evolve') $$, '0A000', 'on_new_column.*gate public.part_1 cannot be "evolve"[^$]*a partition', 'evolve: not a partition by itself');
CREATE TABLE typed OF pair (PRIMARY KEY (x));
SELECT raises($$ SELECT dq_gate.create_gate('typed', on_new_column => 'evolve') $$, '0A000', 'a table of a type', 'evolve: nor a table of a type');
CREATE TABLE parent (id int PRIMARY KEY, v int);
CREATE TABLE child () INHERITS (parent);
INSERT INTO child VALUES (1, 1);
CREATE TABLE parent_s (id int, v int, more text);
INSERT INTO parent_s VALUES (1, 1, 'x'), (2, 2, 'y');
SELECT gate('parent', ', on_new_column => ''evolve''') \g /dev/null
SELECT is(outcome(dq_gate.publish('parent_s', 'parent')) || ': ' || (SELECT string_agg(more, ' ' ORDER BY id) FROM parent_s), 'published 2: 1 inserted, 1 updated: x y', 'evolve: a table with children');

-- what cannot be added
CREATE DOMAIN needed AS int NOT NULL;
CREATE DOMAIN still_needed AS needed;
CREATE TABLE n (id int PRIMARY KEY);
CREATE TABLE n_s (id int, x still_needed, y int);
INSERT INTO n_s VALUES (1, 1, 1);
SELECT gate('n', ', on_new_column => ''evolve''') \g /dev/null
SELECT is((dq_gate.publish('n_s', 'n')).verdict || ': ' || message('schema_contract') || ': ' || shape('n'), 'rejected: staged columns that cannot be added to the target: x (public.still_needed does not allow NULL, which rows that are there already would have); staged columns that the target lacks, to be added: y: id integer', 'evolve: a domain that does not allow NULL') ;
SELECT dq_gate.expect_schema('n', action => 'warn') \g /dev/null
ALTER TABLE n_s DROP x;
SELECT is((dq_gate.publish('n_s', 'n')).verdict || ': ' || message('schema'), 'published: not in the contract: y', 'evolve: a contract that was declared is about the target as it was');

-- on_missing_column
CREATE TABLE miss (id int PRIMARY KEY, a int, b int DEFAULT 5, c int NOT NULL DEFAULT 6, i int GENERATED ALWAYS AS IDENTITY, n int GENERATED BY DEFAULT AS IDENTITY, g int GENERATED ALWAYS AS (id * 2) STORED, extra jsonb, req int NOT NULL);
CREATE TABLE miss_s (id int, req int);
INSERT INTO miss_s VALUES (1, 1);
SELECT gate('miss', ', on_new_column => ''rescue'', rescue_column => ''extra''') \g /dev/null
SELECT is(outcome(dq_gate.publish('miss_s', 'miss')) || ': ' || message('schema_contract'), 'published 1: 1 inserted: not staged, so left as they are and defaulted in new rows: a, b, c, i, n, extra', 'missing columns are defaulted');
SELECT dq_gate.alter_gate('miss', on_missing_column => 'fail') \g /dev/null
SELECT is(outcome(dq_gate.publish('miss_s', 'miss')) || ': ' || message('schema_contract'), 'rejected 1: 1 quarantined: columns that are not staged: a, b, c; not staged, so left as they are and defaulted in new rows: i, n, extra', 'or fail, but for those that the target and the gate fill themselves');
SELECT is((SELECT rule FROM dq_gate.checks_of('miss', 'miss_s') WHERE check_name = 'schema_contract'), 'staged columns exist in the target or are kept in extra, with types that it takes; all columns are staged', 'which is the rule then');
ALTER TABLE miss_s DROP req, ADD a int, ADD b int, ADD c int DEFAULT 1;
SELECT is((dq_gate.publish('miss_s', 'miss')).verdict || ': ' || (message('schema_contract') ~ '^required columns that are not staged: req; not staged'), 'rejected: true', 'a required one fails in any case');
ALTER TABLE miss_s ADD req int DEFAULT 1;
SELECT is((dq_gate.publish('miss_s', 'miss')).verdict, 'published', 'all of them are staged');

-- widen
CREATE FUNCTION widened(target_type text, staged_type text, staged_value text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	DROP TABLE IF EXISTS w, w_s;
	EXECUTE format('CREATE TABLE w (id int PRIMARY KEY, v %s)', target_type);
	EXECUTE format('CREATE TABLE w_s (id int, v %s)', staged_type);
	EXECUTE format('INSERT INTO w_s VALUES (1, %L)', staged_value);
	PERFORM gate('w', ', on_type_change => ''widen''');
	answer := (dq_gate.publish('w_s', 'w')).verdict || ': ' || replace(shape('w'), 'id integer, v ', '');
	EXECUTE 'SELECT $1 || coalesce('' '' || (SELECT v::text FROM w), '''')' INTO answer USING answer;
	RETURN answer;
END
$$;
SELECT is(widened(f, t, v), 'published: ' || format_type(to_regtype(t), NULL) || coalesce(substring(t FROM '\(.*\)'), '') || ' ' || v, format('widen: %s to %s', f, t))
FROM (VALUES ('smallint', 'integer', '40000'), ('smallint', 'bigint', '3000000000'), ('integer', 'bigint', '3000000000'), ('integer', 'numeric', '1.5'), ('bigint', 'numeric', '12345678901234567890.5'), ('real', 'double precision', '1e+300'),
	('varchar(3)', 'text', 'abcd'), ('numeric(5,2)', 'numeric', '1.234'), ('bit varying(2)', 'bit varying', '101')) AS c (f, t, v);
SELECT is(widened(f, t, v), wanted, format('widen: %s to %s', f, t))
FROM (VALUES ('varchar(3)', 'varchar(5)', 'abcde', 'published: character varying(5) abcde'), ('varchar(3)', 'varchar', 'abcde', 'published: character varying abcde'), ('char(3)', 'char(5)', 'abcd', 'published: character(5) abcd'),
	('numeric(5,2)', 'numeric(8,3)', '12345.678', 'published: numeric(8,3) 12345.678'), ('integer', 'numeric(12,2)', '1.50', 'published: numeric(12,2) 1.50'), ('timestamp(0)', 'timestamp(3)', '2020-01-01 00:00:00.5', 'published: timestamp(3) without time zone 2020-01-01 00:00:00.5')) AS c (f, t, v, wanted);
SELECT is(widened(f, t, v), format('%s: %s', verdict, format_type(to_regtype(f), NULL) || coalesce(substring(f FROM '\(.*\)'), '') || CASE verdict WHEN 'published' THEN ' ' || v ELSE '' END), format('no wider: %s to %s', f, t))
FROM (VALUES ('integer', 'text', '1', 'published'), ('integer', 'double precision', '1', 'published'), ('bigint', 'double precision', '1.5', 'rejected'), ('integer', 'numeric(11,2)', '1', 'published'), ('integer', 'smallint', '1', 'published'), ('text', 'varchar(3)', 'a', 'published'), ('date', 'timestamp', '2020-01-01 10:00', 'rejected'),
	('numeric(5,2)', 'numeric(6,4)', '1.2345', 'rejected'), ('numeric(5,2)', 'double precision', '1.234', 'rejected')) AS c (f, t, v, verdict);
SELECT is(widened('char(3)', 'text', 'abcd'), 'rejected: character(3)', 'no wider: char(3) to text, which has blanks');

CREATE TABLE wide ("K" int PRIMARY KEY, "the name" varchar(3) COLLATE "C", amount numeric(5,2) DEFAULT 1.5 CHECK (amount < 5000), kept "S x".positive);
CREATE TABLE wide_s ("K" bigint, "the name" text, amount numeric(10,3), kept int, more int);
INSERT INTO wide VALUES (1, 'abc', 1.25, 1), (2, 'x', 2, 2);
INSERT INTO wide_s VALUES (1, 'abc', 1.250, 1, 1), (3000000000, 'abcdef', 4000.125, 3, NULL);
SELECT gate('wide', ', on_type_change => ''widen'', on_new_column => ''evolve'', mode => ''sync'', max_delete_rate => 0.5, only_if_newer => ''amount'''), dq_gate.expect_unique('wide', '{"the name"}', in_target => true, action => 'warn') \g /dev/null
SELECT is((SELECT string_agg(check_name, ', ' ORDER BY check_name) FROM dq_gate.checks_of('wide', 'wide_s') WHERE check_type = 'type_fit'), 'kept_type_fit', 'widen: what is widened to is no misfit, a domain stays');
SELECT is(outcome(dq_gate.audit('wide_s', 'wide')) || ': ' || changes(), 'audited 2: would add column more integer; would widen column "K" from integer to bigint; would widen column "the name" from character varying(3) to text; would widen column amount from numeric(5,2) to numeric(10,3)', 'widen: a dry run says what would be done');
SELECT is(message('schema_contract'), 'staged columns that the target lacks, to be added: more; staged with a wider type, which the target takes: "K" (integer to bigint), "the name" (character varying(3) to text), amount (numeric(5,2) to numeric(10,3))', 'widen: so does the contract');
SELECT is(outcome(dq_gate.publish('wide_s', 'wide')) || ': ' || changes(), 'published 2: 1 inserted, 1 updated, 1 deleted: added column more integer; widened column "K" from integer to bigint; widened column "the name" from character varying(3) to text; widened column amount from numeric(5,2) to numeric(10,3)', 'widen: the run what was, a key included');
SELECT is(shape('wide'), '"K" bigint, "the name" text, amount numeric(10,3), kept "S x".positive, more integer', 'widen: the target has the types');
SELECT is((SELECT attcollation::regcollation::text FROM pg_attribute WHERE attrelid = 'wide'::regclass AND attname = 'the name'), '"C"', 'widen: but its own collation');
SELECT results_eq('SELECT "K", "the name" COLLATE "default", amount, kept::int, more FROM wide ORDER BY 1', $$ VALUES (1::bigint, 'abc'::text, 1.250, 1, 1), (3000000000, 'abcdef', 4000.125, 3, NULL) $$, 'widen: and the values');
SELECT is(outcome(dq_gate.publish('wide_s', 'wide')) || ': ' || changes(), 'published 2: 2 unchanged: ', 'widen: once is enough');

-- what cannot be widened has to fit
CREATE TABLE held (id int PRIMARY KEY, viewed int, computed int, triggered int, free int, n int GENERATED BY DEFAULT AS IDENTITY, g int GENERATED ALWAYS AS (computed + 1) STORED);
CREATE VIEW looks AS SELECT viewed FROM held;
CREATE TRIGGER fires BEFORE UPDATE OF triggered ON held FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TABLE refers (held int REFERENCES held);
CREATE TABLE held_s (id bigint, viewed bigint, computed bigint, triggered bigint, free bigint, n numeric);
INSERT INTO held_s VALUES (1, 1, 1, 1, 3000000000, 1);
SELECT gate('held', ', on_type_change => ''widen''') \g /dev/null
SELECT is((dq_gate.publish('held_s', 'held')).verdict || ': ' || changes(), 'published: widened column free from integer to bigint', 'widen: what nothing depends on');
SELECT is(message('schema_contract'), 'staged with a wider type, which the target takes: free (integer to bigint); staged with a wider type, which the target cannot take: id (integer: constraint refers_held_fkey on table public.refers depends on it), viewed (integer: rule _RETURN on view public.looks depends on it), computed (integer: default value for column g of table public.held depends on it), triggered (integer: trigger fires on table public.held depends on it), n (integer: an identity column has to be of a type of integers); identity values taken from staging, the sequence is not advanced: n', 'widen: the others are named, and why');
UPDATE held_s SET viewed = 3000000000;
SELECT is((dq_gate.publish('held_s', 'held')).verdict || ': ' || not_passed(), 'rejected: viewed_type_fit failed', 'widen: and their values have to fit');
CREATE TABLE by_key (id int, region int, v int, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
CREATE TABLE by_key_1 PARTITION OF by_key FOR VALUES IN (1);
CREATE TABLE by_key_s (id bigint, region bigint, v bigint);
INSERT INTO by_key_s VALUES (1, 1, 3000000000);
SELECT gate('by_key', ', on_type_change => ''widen''') \g /dev/null
SELECT is((dq_gate.publish('by_key_s', 'by_key')).verdict || ': ' || shape('by_key_1') || ': ' || message('schema_contract'), 'published: id bigint, region integer, v bigint: staged with a wider type, which the target takes: id (integer to bigint), v (integer to bigint); staged with a wider type, which the target cannot take: region (integer: it belongs to the partition key)', 'widen: a partitioned table, but for the partition key');
CREATE TABLE child_s (id bigint, v int);
INSERT INTO child_s VALUES (5, 5);
ALTER TABLE child ADD PRIMARY KEY (id);
SELECT gate('child', ', on_type_change => ''widen''') \g /dev/null
SELECT is((dq_gate.publish('child_s', 'child')).verdict || ': ' || (message('schema_contract') ~ 'cannot take: id \(integer: the column is inherited\)'), 'published: true', 'widen: not what is inherited');
-- found by PostgreSQL itself
CREATE TABLE refuses (id int PRIMARY KEY, v smallint, CHECK (v IS NOT DISTINCT FROM NULL OR pg_typeof(v) = 'smallint'::regtype));
CREATE TABLE refuses_s (id int, v int);
INSERT INTO refuses VALUES (2, 2);
INSERT INTO refuses_s VALUES (1, NULL);
SELECT gate('refuses', ', on_type_change => ''widen''') \g /dev/null
SELECT is((dq_gate.publish('refuses_s', 'refuses')).verdict || ': ' || shape('refuses') || ': ' || changes(), 'failed: id integer, v smallint: ', 'widen: what PostgreSQL refuses fails, and is taken back');

-- rights: of the gate's role, known before anything is done
CREATE TABLE foreign_t (id int PRIMARY KEY, v int);
CREATE TABLE foreign_s (id int, v bigint);
INSERT INTO foreign_s VALUES (1, 1);
GRANT ALL ON foreign_t, foreign_s TO dq_loader;
SELECT gate('foreign_t', ', run_as => ''dq_loader'', on_new_column => ''evolve'', on_type_change => ''widen''') \g /dev/null
SELECT raises($$ SELECT dq_gate.publish('foreign_s', 'foreign_t') $$, '42501', 'must be owner of table public.foreign_t to widen column v[^$]*public.foreign_t runs as role dq_loader, and says on_type_change[^$]*alter_gate', 'a role that does not own the target widens nothing');
ALTER TABLE foreign_s ALTER v TYPE int, ADD more "S x"."Mo od";
SELECT raises($$ SELECT dq_gate.publish('foreign_s', 'foreign_t') $$, '42501', 'must be owner of table public.foreign_t to add column more[^$]*dq_loader[^$]*evolve[^$]*alter_gate', 'and adds nothing');
SELECT is(outcome(dq_gate.audit('foreign_s', 'foreign_t')), 'audited 1', 'a dry run needs no such right');
SELECT is((SELECT count(*) FROM dq_gate.runs WHERE target = 'foreign_t'::regclass AND NOT verdict = 'audited'), 0::bigint, 'nothing was run');
ALTER TABLE foreign_s DROP more;
SELECT is((dq_gate.publish('foreign_s', 'foreign_t')).verdict, 'published', 'nor does a publish that alters nothing');
CREATE SCHEMA loaders AUTHORIZATION dq_loader;
SET ROLE dq_loader;
CREATE TABLE loaders.t (id int PRIMARY KEY, v int);
CREATE TABLE loaders.s (id int, v bigint, more text);
INSERT INTO loaders.s VALUES (1, 3000000000, 'x');
SELECT dq_gate.create_gate('loaders.t', on_new_column => 'evolve', on_type_change => 'widen') \g /dev/null
RESET ROLE;
SELECT is(outcome(dq_gate.publish('loaders.s', 'loaders.t')) || ': ' || changes(), 'published 1: 1 inserted: added column more text; widened column v from integer to bigint', 'the role of the gate counts, whoever calls');
SELECT is((SELECT relowner::regrole::text FROM pg_class WHERE oid = 'loaders.t'::regclass), 'dq_loader', 'whose table it stays');
CREATE TYPE hidden AS ENUM ('x');
REVOKE USAGE ON TYPE hidden FROM PUBLIC;
SELECT is(has_type_privilege('dq_loader', 'hidden', 'USAGE'), false, 'a type that the role may not use');
ALTER TABLE loaders.s OWNER TO dq_tester;
GRANT SELECT ON loaders.s TO dq_loader;
ALTER TABLE loaders.s ADD h hidden[];
SELECT raises($$ SELECT dq_gate.publish('loaders.s', 'loaders.t') $$, '42501', 'permission denied for type public.hidden[^$]*Column h[^$]*dq_loader[^$]*USAGE', 'it cannot have a column of');
SELECT finish();
