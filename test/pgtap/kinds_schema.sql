-- expect_schema: which columns staging has
\ir include/helpers.sql
SELECT plan(86);

CREATE SCHEMA elsewhere;
CREATE TYPE elsewhere.mood AS ENUM ('sad', 'ok');
CREATE DOMAIN elsewhere.percentage AS numeric(5,2) CHECK (VALUE BETWEEN 0 AND 100);
CREATE TABLE t (id int PRIMARY KEY, name varchar(10), amount numeric(10,2), mood elsewhere.mood, pct elsewhere.percentage, g int GENERATED ALWAYS AS (id * 2) STORED);
CREATE TABLE s (id int, name varchar(10), amount numeric(10,2), mood elsewhere.mood, pct elsewhere.percentage);
INSERT INTO s VALUES (1, 'a', 1, 'ok', 50);
CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, check_name) FROM dq_gate.checks_of(target) WHERE origin = 'declared' AND check_type <> 'volume' $$;
CREATE FUNCTION judged(staging regclass DEFAULT 's') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM dq_gate.audit(staging, 't');
	RETURN (SELECT status || coalesce(': ' || message, '') FROM dq_gate.results_of(last_run()) WHERE check_type = 'schema');
END
$$;
SELECT dq_gate.create_gate('t'), dq_gate.expect_volume('t', action => 'declare') \g /dev/null

-- the columns of the target
SELECT is(dq_gate.expect_schema('t'), 'schema', 'it has the name of its kind');
SELECT is((SELECT ROW(check_type, columns, rule, action, nulls, origin)::text FROM dq_gate.checks_of('t') WHERE check_name = 'schema'),
	'(schema,{},"staged columns are exactly those of the target, with their types",block,,declared)', 'as checks_of shows it');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 1: 1 inserted', 'the columns of the target, but for what it generates');
SELECT is((SELECT ROW(status, passed, expected_value, actual_value, threshold, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'schema'),
	'(passed,t,"staged columns are exactly those of the target, with their types","0 columns at fault","0 columns",,)', 'the result of a pass');
CREATE TABLE other_s (name varchar(9), id bigint, mood text, pct numeric(5,2), extra int, g int);
INSERT INTO other_s VALUES ('a', 1, 'ok', 50, 1, 1);
SELECT is(outcome(dq_gate.publish('other_s', 't')), 'rejected 1: 1 quarantined', 'others');
SELECT is((SELECT ROW(status, passed, actual_value, threshold)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'schema'), '(failed,f,"7 columns at fault","0 columns")', 'are counted');
SELECT is(message('schema'), 'missing: amount; of another type: id (bigint, not integer), name (character varying(9), not character varying(10)), mood (text, not elsewhere.mood), pct (numeric(5,2), not elsewhere.percentage); not in the contract: extra, g', 'and named, with what is wrong with each');
SELECT is((SELECT failures[2] FROM dq_gate.runs WHERE run_id = last_run()), 'schema: ' || message('schema'), 'the run says so');
SELECT results_eq('SELECT DISTINCT failed_checks FROM dq_quarantine.t WHERE run_id = last_run()', $$ VALUES ('{}'::text[]) $$, 'no row in particular is to blame');

-- what staging may lack otherwise, or have in another type, is at fault here
CREATE TABLE fewer_s (id int);
INSERT INTO fewer_s VALUES (1);
SELECT is(outcome(dq_gate.publish('fewer_s', 't')), 'rejected 1: 1 quarantined', 'optional columns are expected as well');
SELECT is(not_passed(), 'schema failed', 'though the target would take the batch');
SELECT is(message('schema'), 'missing: name, amount, mood, pct', 'and are named');
SELECT drop_all('t') \g /dev/null
SELECT dq_gate.expect_schema('t', action => 'warn') \g /dev/null
SELECT is(outcome(dq_gate.publish('fewer_s', 't')), 'published 1: 1 unchanged', 'warn lets the batch through');
SELECT is(finding('schema'), 'failed', 'and says so');

-- the target as it is now, not as it was
ALTER TABLE t ADD later date;
SELECT is(judged(), 'failed: missing: later', 'a column that the target has now');
ALTER TABLE s ADD later date;
SELECT is(judged(), 'passed', 'is expected now');
ALTER TABLE t ALTER amount TYPE numeric(12,2);
SELECT is(judged(), 'failed: of another type: amount (numeric(10,2), not numeric(12,2))', 'so is another type');
ALTER TABLE t ALTER amount TYPE numeric(10,2);
ALTER TABLE t DROP later;
SELECT is(judged(), 'failed: not in the contract: later', 'and one that it has no more is not');
ALTER TABLE s DROP later;
SELECT is(judged(), 'passed', 'a dropped column is no column');
SELECT drop_all('t') \g /dev/null

-- at least
SELECT dq_gate.expect_schema('t', '{id,name}', match => 'at_least', action => 'warn') \g /dev/null
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'schema'), 'staged columns are at least (id, name)', 'at least some, in words');
SELECT is(judged() || '; ' || judged('other_s') || '; ' || judged('fewer_s'), 'passed; passed; failed: missing: name', 'more are no fault, nor types that nobody named');
SELECT drop_all('t'), dq_gate.expect_schema('t', match => 'at_least', action => 'warn') \g /dev/null
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'schema'), 'staged columns are at least those of the target, with their types', 'or at least those of the target');
ALTER TABLE s ADD more int;
SELECT is(judged() || '; ' || judged('fewer_s'), 'passed; failed: missing: name, amount, mood, pct', 'more are no fault, less are');
ALTER TABLE s DROP more;
SELECT drop_all('t') \g /dev/null

-- exactly, names alone
SELECT dq_gate.expect_schema('t', '{pct,mood,amount,name,id}', action => 'warn') \g /dev/null
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'schema'), 'staged columns are exactly (pct, mood, amount, name, id)', 'names alone, in words');
SELECT is(judged() || '; ' || judged('other_s'), 'passed; failed: missing: amount; not in the contract: extra, g', 'whatever their types and order');
SELECT drop_all('t') \g /dev/null

-- columns that the target does not have, or generates, may be part of a contract
SELECT dq_gate.expect_schema('t', '{id,extra,g}', match => 'at_least', action => 'warn') \g /dev/null
SELECT is(judged('other_s') || '; ' || judged(), 'passed; failed: missing: extra, g', 'columns that the target lacks or generates');
SELECT drop_all('t') \g /dev/null

-- types: with modifiers, by other names, of other schemas, arrays, domains
SELECT dq_gate.expect_schema('t', '{id,name,amount,mood,pct}', '{int4,varchar(10),"decimal(10,2)",elsewhere.mood,elsewhere.percentage}') \g /dev/null
SELECT is(judged(), 'passed', 'types by whatever name');
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'schema'), 'staged columns are exactly (id, name, amount, mood, pct), with their types', 'in words');
SELECT drop_all('t') \g /dev/null
CREATE FUNCTION typed(type text, wanted text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'DROP TABLE IF EXISTS typed_s';
	EXECUTE format('CREATE TABLE typed_s (id int, x %s)', type);
	PERFORM drop_all('t'), dq_gate.expect_schema('t', '{x}', ARRAY[wanted], 'at_least', action => 'warn');
	RETURN judged('typed_s');
END
$$;
SELECT is(typed(type, wanted), 'passed', format('%s is %s', type, wanted))
FROM (VALUES ('int[]', 'integer[]'), ('varchar', 'character varying'), ('timestamptz', 'timestamp with time zone'), ('timestamp(3)', 'timestamp(3)'), ('"char"', '"char"'), ('char(3)', 'bpchar(3)'), ('bit varying(5)', 'varbit(5)'), ('interval day to second(2)', 'interval day to second(2)'), ('elsewhere.mood[]', 'elsewhere.mood[]'), ('float(53)', 'double precision'), ('numeric', 'decimal')) v (type, wanted);
SELECT is(typed(type, wanted), format('failed: of another type: x (%s, not %s)', coalesce(type_words, type), coalesce(wanted_words, wanted)), format('%s is not %s', type, wanted))
FROM (VALUES ('integer[]', 'integer', NULL, NULL), ('character varying(10)', 'varchar', NULL, 'character varying'), ('character varying', 'varchar(10)', NULL, 'character varying(10)'), ('numeric', 'numeric(10,2)', NULL, NULL), ('numeric(10,2)', 'numeric(10,3)', NULL, NULL),
	('timestamp', 'timestamptz', 'timestamp without time zone', 'timestamp with time zone'), ('text', 'varchar', NULL, 'character varying'), ('timestamp(3)', 'timestamp', 'timestamp(3) without time zone', 'timestamp without time zone'), ('text', 'elsewhere.mood', NULL, NULL)) v (type, wanted, type_words, wanted_words);

-- types mean what they meant when they were declared
CREATE SCHEMA trap;
CREATE TYPE trap.mood AS ENUM ('angry');
SELECT drop_all('t') \g /dev/null
SET search_path = elsewhere, public;
SELECT dq_gate.expect_schema('public.t', '{mood}', '{mood}', 'at_least') \g /dev/null
SET search_path = trap, public;
SELECT is(public.judged(), 'passed', 'a type is that of the search_path of the declaration');
RESET search_path;
SELECT is(judged(), 'passed', 'whoever runs it');
SELECT drop_all('t') \g /dev/null

-- order
CREATE TABLE order_s (name varchar(10), id int, extra int, amount numeric(10,2));
INSERT INTO order_s VALUES ('a', 1, 1, 1);
SELECT dq_gate.expect_schema('t', '{id,name,amount}', match => 'at_least', check_order => true, action => 'warn') \g /dev/null
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'schema'), 'staged columns are at least (id, name, amount), in their order', 'in order, in words');
SELECT is(judged() || '; ' || judged('order_s'), 'passed; failed: out of order: name', 'columns in another order');
SELECT drop_all('t'), dq_gate.expect_schema('t', '{name,id,amount}', match => 'at_least', check_order => true, action => 'warn') \g /dev/null
SELECT is(judged('order_s'), 'passed', 'others may stand between them');
SELECT drop_all('t'), dq_gate.expect_schema('t', check_order => true, action => 'warn') \g /dev/null
SELECT is((SELECT rule FROM dq_gate.checks_of('t') WHERE check_name = 'schema'), 'staged columns are exactly those of the target, with their types, in their order', 'with the order of the target');
SELECT is(judged() || '; ' || judged('order_s'), 'passed; failed: missing: mood, pct; out of order: name; not in the contract: extra', 'each fault is said');
SELECT drop_all('t'), dq_gate.expect_schema('t', '{id,name,amount}', match => 'at_least', check_order => NULL, action => 'warn') \g /dev/null
SELECT is(judged('order_s'), 'passed', 'unless it is asked for, the order does not matter');
SELECT drop_all('t') \g /dev/null

-- an empty batch has columns
CREATE TABLE none (LIKE fewer_s);
SELECT dq_gate.expect_schema('t', '{id}') \g /dev/null
SELECT is(outcome(dq_gate.publish('none', 't')) || '; ' || not_passed(), 'rejected 0; not_empty failed', 'the columns of an empty batch are judged as well');
SELECT drop_all('t'), dq_gate.expect_schema('t', '{name}') \g /dev/null
SELECT is(judged('none'), 'failed: missing: name; not in the contract: id', 'if they are wrong, too');
SELECT drop_all('t') \g /dev/null

-- actions
SELECT dq_gate.expect_schema('t', action => 'skip') \g /dev/null
SELECT is(outcome(dq_gate.publish('fewer_s', 't')), 'skipped 1', 'a batch with other columns can be skipped');
SELECT drop_all('t'), dq_gate.expect_schema('t', action => 'declare') \g /dev/null
SELECT is((dq_gate.publish('fewer_s', 't')).verdict || ' ' || finding('schema'), 'published not_judged', 'or the contract be declared alone');
SELECT drop_all('t') \g /dev/null
SELECT raises(format('SELECT dq_gate.expect_schema(''t'', action => %L)', action), '22023', 'schema[^$]*' || action || '[^$]*block[^$]*warn[^$]*skip[^$]*declare', 'no row can be moved: ' || action)
FROM unnest(ARRAY['quarantine', 'drop']) action;
SELECT dq_gate.expect_schema('t', action => 'warn', samples => false) \g /dev/null
SELECT is(judged('fewer_s'), 'failed: missing: name, amount, mood, pct', 'names are no values: they stay without samples');
SELECT drop_all('t') \g /dev/null

-- names
CREATE TYPE elsewhere."My ""Type" AS ENUM ('x');
CREATE SCHEMA "Odd Schema";
CREATE TABLE "Odd Schema"."Tab le" ("Id" int PRIMARY KEY, "select" int, "a""b%s" elsewhere."My ""Type");
CREATE TABLE "Odd Schema"."Stg" ("Id" int, "a""b%s" text, "Sel%d" int, "id" int);
SELECT dq_gate.expect_schema('"Odd Schema"."Tab le"', action => 'warn'), dq_gate.expect_schema('"Odd Schema"."Tab le"', '{Id,"a\"b%s"}', ARRAY['int', 'elsewhere."My ""Type"'], 'at_least', name => 'typed', action => 'warn') \g /dev/null
SELECT dq_gate.audit('"Odd Schema"."Stg"', '"Odd Schema"."Tab le"') \g /dev/null
SELECT is(message('schema'), 'missing: "select"; of another type: "a""b%s" (text, not elsewhere."My ""Type"); not in the contract: "Sel%d", id', 'O09: names of any kind');
SELECT is(message('typed'), 'of another type: "a""b%s" (text, not elsewhere."My ""Type")', 'O09: in what was declared as well');
SELECT is((SELECT rule FROM dq_gate.checks_of('"Odd Schema"."Tab le"') WHERE check_name = 'typed'), 'staged columns are at least ("Id", "a""b%s"), with their types', 'O09: and in the rule');

-- refused when declared
SELECT raises($$ SELECT dq_gate.expect_schema('t', match => 'about') $$, '22023', 'match "about"[^$]*"exact" or "at_least"', 'another way to match');
SELECT raises($$ SELECT dq_gate.expect_schema('t', match => NULL) $$, '22004', 'match', 'no way to match');
SELECT raises($$ SELECT dq_gate.expect_schema('t', '{id,name}', '{int}') $$, '22023', '"types" must have one type for each[^$]*1 types? for 2 columns', 'fewer types than columns');
SELECT raises($$ SELECT dq_gate.expect_schema('t', '{id}', '{int,text}') $$, '22023', '"types" must have one type for each', 'more types than columns');
SELECT raises($$ SELECT dq_gate.expect_schema('t', types => '{int}') $$, '22023', '"types" without "columns"', 'types without columns');
SELECT raises($$ SELECT dq_gate.expect_schema('t', '{id}', '{no_such_type}') $$, '42704', 'no_such_type', 'a type that does not exist');
SELECT raises($$ SELECT dq_gate.expect_schema('t', '{id}', '{"int; DROP TABLE t"}') $$, '42601', 'syntax error|invalid type name', 'no type');
SELECT raises($$ SELECT dq_gate.expect_schema('t', '{id}', ARRAY[NULL]) $$, '22004', 'NULL', 'NULL is no type');
SELECT raises($$ SELECT dq_gate.expect_schema('t', '{id,id}') $$, '42701', 'id is named twice', 'a column twice');
SELECT raises($$ SELECT dq_gate.expect_schema('t', '{}') $$, '22004', 'columns', 'no columns');
SELECT raises(format('SELECT dq_gate.expect_schema(''t'', %s)', option), '22023', 'a check of type "schema" does not take "' || split_part(option, ' ', 1) || '"[^$]*batch as a whole',
	'what it does not take: ' || option)
FROM unnest(ARRAY['nulls => ''fail''', 'filter => ''id > 0''', 'max_rate => 0.1', 'max_rows => 1', 'warn_above => 1', 'block_above => 0.5']) option;

-- a type that is gone at run time, or renamed
CREATE TYPE elsewhere.gone AS ENUM ('x');
SELECT drop_all('t'), dq_gate.expect_schema('t', '{mood}', '{elsewhere.gone}', 'at_least', name => 'broken'), dq_gate.expect_schema('t', '{id}', match => 'at_least', name => 'beside') \g /dev/null
DROP TYPE elsewhere.gone;
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 1: 1 quarantined', 'a type that is gone');
SELECT matches((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'broken'), 'error, could not be evaluated: type "elsewhere.gone" does not exist', 'cannot be judged');
SELECT is(finding('beside'), 'passed', 'the others are judged all the same');
SELECT lives_ok($$ SELECT * FROM dq_gate.checks_of('t') $$, 'it can still be looked at');

SELECT finish();
