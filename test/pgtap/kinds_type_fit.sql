-- expect_type_fit and expect_constraint: another action for what the target itself enforces
\ir include/helpers.sql
SELECT plan(90);

CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, name) FROM dq_gate.checks c WHERE c.target = $1 AND c.check_type <> 'volume' $$;
-- the effective checks of these kinds, as "name action origin"
CREATE FUNCTION about(target regclass, staging regclass, types text[]) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(check_name || ' ' || action || ' ' || CASE origin WHEN 'declared' THEN 'declared' ELSE 'derived' END, ', ' ORDER BY check_name)
	FROM dq_gate.checks_of(target, staging) WHERE check_type = ANY (types)
$$;
-- rows that a run of which the counts are known has not accounted for
CREATE FUNCTION unaccounted() RETURNS bigint LANGUAGE sql AS
	'SELECT row_count - inserted - updated - unchanged - quarantined - dropped FROM dq_gate.runs WHERE run_id = last_run()';

-- type_fit
CREATE TABLE t (id int PRIMARY KEY, n smallint, v varchar(3), amount numeric(5,2), d date, g int GENERATED ALWAYS AS (id * 2) STORED);
CREATE TABLE s (id text, n text, v text, amount text, d text);
INSERT INTO s VALUES ('1', '1', 'abc', '1.50', '2024-01-01'), ('2', 'x', 'abc', '2', '2024-01-01'), ('3', '40000', 'abcd', '3', NULL), ('4', NULL, NULL, NULL, '2024-02-30');
SELECT dq_gate.create_gate('t'), dq_gate.expect_volume('t', action => 'declare') \g /dev/null
SELECT is(about('t', 's', '{type_fit}'), 'amount_type_fit block derived, d_type_fit block derived, id_type_fit block derived, n_type_fit block derived, v_type_fit block derived', 'what follows from the types');
SELECT is(outcome(dq_gate.publish('s', 't')) || ': ' || not_passed(), 'rejected 4: 4 quarantined: d_type_fit failed, n_type_fit failed, v_type_fit failed', 'blocks');
SELECT is(dq_gate.expect_type_fit('t', 'n', action => 'quarantine', owner => 'loader'), 'n_type_fit', 'a declared check has the name of the derived one');
SELECT is((SELECT ROW(check_type, columns, rule, action, nulls, owner, origin)::text FROM dq_gate.checks_of('t', 's') WHERE check_name = 'n_type_fit'), '(type_fit,{n},"n fits smallint",quarantine,pass,loader,declared)', 'as checks_of shows it');
SELECT is(about('t', 's', '{type_fit}'), 'amount_type_fit block derived, d_type_fit block derived, id_type_fit block derived, n_type_fit quarantine declared, v_type_fit block derived', 'and takes its place');
SELECT is(outcome(dq_gate.publish('s', 't')) || ': ' || not_passed(), 'rejected 4: 4 quarantined: d_type_fit failed, n_type_fit failed, v_type_fit failed', 'those of other columns block all the same');
SELECT dq_gate.expect_type_fit('t', 'v', action => 'quarantine'), dq_gate.expect_type_fit('t', 'd', action => 'drop') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 4: 1 inserted, 2 quarantined, 1 dropped', 'rows that do not fit are moved, or dropped');
SELECT results_eq('TABLE t', $$ VALUES (1, 1::smallint, 'abc'::varchar, 1.50, '2024-01-01'::date, 2) $$, 'the others are published');
SELECT results_eq('SELECT id, n, v, failed_checks FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY 1', $$ VALUES ('2', 'x', 'abc', '{n_type_fit}'::text[]), ('3', '40000', 'abcd', '{n_type_fit,v_type_fit}') $$, 'as they were staged, with their reasons');
SELECT is((SELECT ROW(status, expected_value, actual_value, threshold, examined_rows, failing_rows, null_rows, sample, message)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'n_type_fit'),
	$$(failed,"n fits smallint","2 rows","0 rows",4,2,1,"[{""n"": ""x"", ""id"": ""2""}, {""n"": ""40000"", ""id"": ""3""}]","2 of 4 rows: n does not fit: text to smallint, for example {""n"": ""x"", ""id"": ""2""}")$$, 'the result');
SELECT is(unaccounted(), 0::bigint, 'every row is accounted for');
DELETE FROM s WHERE id <> '1';
SELECT is(outcome(dq_gate.publish('s', 't')) || ' ' || finding('n_type_fit'), 'published 1: 1 unchanged passed 0 of 1', 'what fits passes');
SELECT dq_gate.drop_check('t', 'n_type_fit') \g /dev/null
SELECT is(about('t', 's', '{type_fit}'), 'amount_type_fit block derived, d_type_fit drop declared, id_type_fit block derived, n_type_fit block derived, v_type_fit quarantine declared', 'when it is dropped the derived one is back');
SELECT drop_all('t') \g /dev/null

-- the key: rows whose key does not fit are moved, the rest is published
INSERT INTO s VALUES ('x', '1', 'a', '1', NULL), ('9999999999', '1', 'a', '1', NULL), ('5', '5', 'b', NULL, NULL), ('1.5', '1', 'a', '1', NULL);
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 5: 5 quarantined', 'a key that does not fit blocks');
SELECT dq_gate.expect_type_fit('t', 'id', action => 'quarantine'), dq_gate.expect_not_null('t', 'id', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 5: 1 inserted, 1 unchanged, 3 quarantined', 'unless its rows are to be moved');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY id COLLATE "C"', $$ VALUES ('1.5', '{id_type_fit}'::text[]), ('9999999999', '{id_type_fit}'), ('x', '{id_type_fit}') $$, 'as they were staged');
SELECT is(unaccounted(), 0::bigint, 'every row is accounted for');
SELECT results_eq('SELECT id FROM t ORDER BY 1', 'VALUES (1), (5)', 'the others are published');
SELECT drop_all('t'), dq_gate.expect_type_fit('t', 'id', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 5: 2 unchanged, 3 quarantined', 'for that no other check is needed: a text is there, though it is no number');
INSERT INTO s VALUES (NULL, '1', 'a', NULL, NULL);
SELECT is(outcome(dq_gate.publish('s', 't')) || ': ' || not_passed(), 'rejected 6: 6 quarantined: id_not_null failed, id_type_fit failed', 'a key that is not there is another matter');
SELECT drop_all('t'), dq_gate.expect_type_fit('t', 'id', action => 'drop'), dq_gate.expect_not_null('t', 'id', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 6: 2 unchanged, 1 quarantined, 3 dropped', 'rows can be dropped as well');
SELECT is(unaccounted(), 0::bigint, 'every row is accounted for');
-- two spellings of one key, one of which is in a row that is moved
INSERT INTO s VALUES ('05', 'x', 'b', NULL, NULL);
SELECT drop_all('t'), dq_gate.expect_type_fit('t', 'id', action => 'quarantine'), dq_gate.expect_not_null('t', 'id', action => 'quarantine'), dq_gate.expect_type_fit('t', 'n', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('s', 't')) || ': ' || (not_passed() ~ 'key_unique'), 'rejected 7: 7 quarantined: true', 'two spellings of a key are one key');
DELETE FROM s WHERE id = '05' OR id IS NULL;
SELECT drop_all('t') \g /dev/null

-- nothing fits: nothing is published
SELECT dq_gate.expect_type_fit('t', 'id', action => 'quarantine') \g /dev/null
DELETE FROM s WHERE id IN ('1', '5');
SELECT is(outcome(dq_gate.publish('s', 't')) || ': ' || not_passed(), 'rejected 3: 3 quarantined: id_type_fit failed, not_empty failed', 'a batch of which nothing fits is rejected');
SELECT drop_all('t') \g /dev/null

-- a key of several columns, of which one does not fit
CREATE TABLE comp (a int, b date, v int, PRIMARY KEY (a, b));
CREATE TABLE comp_s (a text, b text, v text);
INSERT INTO comp_s VALUES ('1', '2024-01-01', '1'), ('x', '2024-01-01', '2'), ('1', '2024-13-01', '3'), ('2', '2024-01-01', '4'), ('y', 'z', '5');
SELECT dq_gate.expect_type_fit('comp', 'a', 'quarantine'), dq_gate.expect_type_fit('comp', 'b', 'drop') \g /dev/null
SELECT is(outcome(dq_gate.publish('comp_s', 'comp')), 'published 5: 2 inserted, 2 quarantined, 1 dropped', 'a key of several columns, of which one does not fit');
SELECT is(unaccounted(), 0::bigint, 'every row is accounted for');
SELECT results_eq('SELECT a, b, failed_checks FROM dq_quarantine.comp ORDER BY a', $$ VALUES ('x', '2024-01-01', '{a_type_fit}'::text[]), ('y', 'z', '{a_type_fit,b_type_fit}') $$, 'what is to be kept and to be dropped is kept');

-- what says less does not take the place: the derived check stays, and blocks
TRUNCATE s;
INSERT INTO s VALUES ('1', '1', 'abc', '1.50', '2024-01-01'), ('2', 'x', 'abc', '2', '2024-01-01');
CREATE FUNCTION beside(declaration text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found text; run dq_gate.run_summary;
BEGIN
	EXECUTE 'SELECT ' || declaration;
	found := about('t', 's', '{type_fit}');
	run := dq_gate.publish('s', 't');
	PERFORM drop_all('t');
	RETURN run.verdict || ': ' || found;
END
$$;
SELECT is(beside(format('dq_gate.expect_type_fit(''t'', ''n'', name => ''x'', %s)', options)),
	format('rejected: amount_type_fit block derived, d_type_fit block derived, id_type_fit block derived, n_type_fit block derived, v_type_fit block derived, x %s declared', action), 'the derived check stays beside one with ' || options)
FROM (VALUES ('action => ''warn''', 'warn'), ('action => ''declare''', 'declare'), ('action => ''quarantine'', filter => ''id > 0''', 'quarantine'), ('action => ''quarantine'', max_rows => 5', 'quarantine'), ('action => ''drop'', max_rate => 0.9', 'drop'), ('max_rows => 1', 'block'), ('block_above => 1', 'block')) o (options, action);
SELECT is(beside($$ dq_gate.expect_type_fit('t', 'n', name => 'x') $$), 'rejected: amount_type_fit block derived, d_type_fit block derived, id_type_fit block derived, v_type_fit block derived, x block declared', 'one that blocks takes the place under its own name');
SELECT is(beside($$ dq_gate.expect_type_fit('t', 'n', name => 'x', action => 'quarantine', nulls => 'fail') $$), 'published: amount_type_fit block derived, d_type_fit block derived, id_type_fit block derived, v_type_fit block derived, x quarantine declared', 'so does one that wants a value as well');

-- NULL, filter, samples
INSERT INTO s VALUES ('3', NULL, 'a', NULL, NULL), ('4', 'secret', 'a', NULL, NULL);
SELECT dq_gate.expect_type_fit('t', 'n', nulls => 'fail', action => 'warn', name => 'nulls'), dq_gate.expect_type_fit('t', 'n', filter => 'id < 4', action => 'warn', name => 'few'), dq_gate.expect_type_fit('t', 'n', filter => 'n > 0', action => 'warn', name => 'own'),
	dq_gate.expect_type_fit('t', 'n', samples => false, action => 'quarantine', name => 'quiet') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict || ': ' || finding('nulls') || '; ' || finding('few') || '; ' || finding('own'), 'published: failed 3 of 4, 1 null; failed 1 of 3, 1 null; passed 0 of 1', 'NULL fails where it is to; a filter sees values of the target');
SELECT is((SELECT ROW(sample, message, actual_value)::text FROM dq_gate.results_of(last_run()) WHERE check_name = 'quiet'), '(,"2 of 4 rows: n does not fit: text to smallint","2 rows")', 'without samples no value is shown');
SELECT drop_all('t') \g /dev/null

-- an empty batch; staged with the very type, with one that never fits; not staged
CREATE TABLE none (LIKE s);
SELECT dq_gate.expect_type_fit('t', 'n', action => 'quarantine') \g /dev/null
SELECT dq_gate.audit('none', 't') \g /dev/null
SELECT is((SELECT status || ' ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'n_type_fit'), 'not_judged no rows', 'an empty batch');
CREATE TABLE same_s (id int, n smallint);
INSERT INTO same_s VALUES (7, 7);
SELECT is((dq_gate.publish('same_s', 't')).verdict || ' ' || finding('n_type_fit'), 'published passed 0 of 1', 'staged with the very type everything fits');
CREATE TABLE never_s (id int, n date);
INSERT INTO never_s VALUES (8, '2024-01-01');
SELECT is(outcome(dq_gate.publish('never_s', 't')) || ' ' || (not_passed() ~ 'schema_contract failed'), 'rejected 1: 1 quarantined true', 'a type that never fits is a matter of the schema contract');
SELECT isnt((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'n_type_fit'), 'passed', 'and no pass here');
CREATE TABLE lacks_s (id int);
INSERT INTO lacks_s VALUES (9);
SELECT is(outcome(dq_gate.publish('lacks_s', 't')), 'rejected 1: 1 quarantined', 'a column that is not staged');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'n_type_fit'), 'error, could not be evaluated: column n is missing in the staging table', 'cannot be judged');
SELECT drop_all('t') \g /dev/null

-- an enum, a domain; names
CREATE SCHEMA "Odd Schema";
CREATE TYPE "Odd Schema"."Mo od" AS ENUM ('ok');
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE "Odd Schema"."Tab le" ("Id" int PRIMARY KEY, "select" "Odd Schema"."Mo od", "a""b%s" positive);
CREATE TABLE "Odd Schema"."Stg" ("Id" int, "select" text, "a""b%s" int);
INSERT INTO "Odd Schema"."Stg" VALUES (1, 'ok', 1), (2, 'OK', 1), (3, 'ok', -1);
SELECT is(dq_gate.expect_type_fit('"Odd Schema"."Tab le"', 'select', 'quarantine') || ' ' || dq_gate.expect_type_fit('"Odd Schema"."Tab le"', 'a"b%s', 'quarantine'), 'select_type_fit a"b%s_type_fit', 'O09: names of any kind');
SELECT is(outcome(dq_gate.publish('"Odd Schema"."Stg"', '"Odd Schema"."Tab le"')), 'published 3: 1 inserted, 2 quarantined', 'O09: an enum and a domain');
SELECT is(message('select_type_fit') || '; ' || message('a"b%s_type_fit'), '1 of 3 rows: "select" does not fit: text to "Odd Schema"."Mo od", for example {"Id": 2, "select": "OK"}; 1 of 3 rows: "a""b%s" does not fit: integer to public.positive, for example {"Id": 3, "a\"b%s": -1}', 'O09: are quoted');

-- refused when declared
SELECT raises($$ SELECT dq_gate.expect_type_fit('t', 'nothing') $$, '42703', 'column nothing of gate public.t', 'a column that is not there');
SELECT raises($$ SELECT dq_gate.expect_type_fit('t', NULL) $$, '22004', 'column_name', 'no column');
SELECT raises($$ SELECT dq_gate.expect_type_fit('t', 'g') $$, '0A000', 'g of gate public.t is generated', 'a column that the target generates');
SELECT raises($$ SELECT dq_gate.expect_type_fit('t', 'n', 'skip') $$, '22023', 'type_fit[^$]*skip[^$]*block[^$]*quarantine[^$]*drop[^$]*warn', 'an action that it cannot take');

-- constraints
CREATE TABLE p (id int PRIMARY KEY);
INSERT INTO p VALUES (1);
CREATE TABLE k (id int PRIMARY KEY, v int CONSTRAINT positive CHECK (v > 0), u int CONSTRAINT only_one UNIQUE, p int CONSTRAINT known REFERENCES p, w int, CONSTRAINT "Odd ""one" CHECK (w < 10 OR v > 5), CONSTRAINT never CHECK (id > -100));
CREATE TABLE k_s (id int, v int, u int, p int, w int);
INSERT INTO k_s VALUES (1, 1, 1, 1, 1), (2, -1, 2, 1, 1), (3, 3, 3, 9, 1), (4, 4, 7, 1, 1), (5, 5, 7, 1, 1), (6, 1, 6, 1, 99), (7, NULL, NULL, NULL, NULL);
SELECT dq_gate.create_gate('k', owner => 'platform'), dq_gate.expect_volume('k', action => 'declare') \g /dev/null
SELECT is(about('k', 'k_s', '{check_constraint,unique,referential}'), 'Odd "one block derived, key_unique block derived, known block derived, never block derived, only_one block derived, positive block derived', 'what follows from the constraints');
SELECT is(outcome(dq_gate.publish('k_s', 'k')) || ': ' || not_passed(), 'rejected 7: 7 quarantined: Odd "one failed, known failed, only_one failed, positive failed', 'blocks');
SELECT is(dq_gate.expect_constraint('k', 'positive', 'quarantine', owner => 'finance', description => 'd', tags => '{x}', severity => 'major'), 'positive', 'a check of a constraint has its name');
SELECT is((SELECT ROW(check_type, columns, rule, action, nulls, owner, origin, description, tags, severity)::text FROM dq_gate.checks_of('k', 'k_s') WHERE check_name = 'positive'), '(check_constraint,{v},"(v > 0)",quarantine,pass,finance,"CHECK constraint positive",d,{x},major)', 'as checks_of shows it: the rule of the constraint, the rest as declared');
SELECT is((SELECT count(*) FROM dq_gate.checks_of('k', 'k_s') WHERE rule = '(v > 0)'), 1::bigint, 'it is there once');
SELECT is(outcome(dq_gate.publish('k_s', 'k')) || ': ' || not_passed(), 'rejected 7: 7 quarantined: Odd "one failed, known failed, only_one failed, positive failed', 'the others block all the same');
SELECT dq_gate.expect_constraint('k', c, 'quarantine') FROM unnest(ARRAY['only_one', 'known']) c \g /dev/null
SELECT is(dq_gate.expect_constraint('k', 'Odd "one', 'drop', name => 'w_or_v'), 'w_or_v', 'or another name');
SELECT is(outcome(dq_gate.publish('k_s', 'k')), 'published 7: 2 inserted, 4 quarantined, 1 dropped', 'rows that violate a constraint are moved, or dropped');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.k WHERE run_id = last_run() ORDER BY 1', $$ VALUES (2, '{positive}'::text[]), (3, '{known}'), (4, '{only_one}'), (5, '{only_one}') $$, 'with their reasons');
SELECT results_eq('SELECT id FROM k ORDER BY 1', 'VALUES (1), (7)', 'the others are published: NULL violates nothing');
SELECT is(unaccounted(), 0::bigint, 'every row is accounted for');
SELECT results_eq($$ SELECT check_name, check_type, action, owner, origin, status, failing_rows, null_rows FROM dq_gate.results_of(last_run()) WHERE check_name IN ('positive', 'w_or_v', 'only_one', 'known', 'never') ORDER BY 1 $$,
	$$ VALUES ('known', 'referential', 'quarantine', 'platform', 'FOREIGN KEY constraint known', 'failed', 1::bigint, 1::bigint), ('never', 'check_constraint', 'block', 'platform', 'CHECK constraint never', 'passed', 0, 0), ('only_one', 'unique', 'quarantine', 'platform', 'UNIQUE constraint only_one', 'failed', 2, 1),
		('positive', 'check_constraint', 'quarantine', 'finance', 'CHECK constraint positive', 'failed', 1, 1), ('w_or_v', 'check_constraint', 'drop', 'platform', 'CHECK constraint "Odd ""one"', 'failed', 1, 1) $$, 'the results are those of the constraints');
SELECT dq_gate.drop_check('k', 'positive') \g /dev/null
SELECT is((SELECT action FROM dq_gate.checks_of('k', 'k_s') WHERE check_name = 'positive'), 'block', 'when it is dropped the derived one is back');
SELECT drop_all('k') \g /dev/null

-- a warning does not weaken what the target enforces
DELETE FROM k_s WHERE id IN (3, 4, 5, 6);
CREATE FUNCTION constrained(options text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found text;
BEGIN
	EXECUTE format('SELECT dq_gate.expect_constraint(''k'', ''positive'', name => ''x'', %s)', options);
	PERFORM dq_gate.publish('k_s', 'k');
	SELECT r.verdict || ': ' || string_agg(check_name || ' ' || action || ' ' || status, ', ' ORDER BY check_name) INTO found FROM dq_gate.results_of(last_run()), dq_gate.runs r WHERE r.run_id = last_run() AND columns = '{v}' GROUP BY r.verdict;
	PERFORM drop_all('k');
	RETURN found;
END
$$;
SELECT is(constrained('action => ''quarantine'''), 'published: x quarantine failed', 'a check of the constraint that moves rows');
SELECT is(constrained(options), 'rejected: positive block failed, x ' || wanted, 'the derived check stays beside one with ' || options)
FROM (VALUES ('action => ''warn''', 'warn failed'), ('action => ''declare''', 'declare not_judged'), ('action => ''quarantine'', filter => ''id = 1''', 'quarantine passed'), ('action => ''quarantine'', max_rows => 5', 'quarantine passed'), ('max_rows => 5', 'block passed')) o (options, wanted);
SELECT is(constrained('action => ''block'''), 'rejected: x block failed', 'one that blocks takes the place');

-- filter, samples, limits are taken as everywhere
SELECT dq_gate.expect_constraint('k', 'positive', 'warn', name => 'some', filter => 'id > 2'), dq_gate.expect_constraint('k', 'positive', 'quarantine', name => 'quiet', samples => false) \g /dev/null
SELECT dq_gate.publish('k_s', 'k') \g /dev/null
SELECT is(finding('some') || '; ' || message('quiet'), 'passed 0 of 1, 1 null; 1 of 3 rows: not satisfied: (v > 0)', 'filter and samples');
SELECT drop_all('k') \g /dev/null

-- the primary key, which has a check of its own
DELETE FROM k_s WHERE id = 2;
INSERT INTO k_s VALUES (8, 1, 8, 1, 1), (8, 2, 9, 1, 1);
SELECT dq_gate.expect_constraint('k', 'k_pkey', 'quarantine') \g /dev/null
SELECT is(about('k', 'k_s', '{unique}'), 'k_pkey quarantine derived, only_one block derived', 'a check of the primary key takes the place of that of the key');
SELECT is(outcome(dq_gate.publish('k_s', 'k')), 'published 4: 2 unchanged, 2 quarantined', 'and moves what is there twice');
SELECT is(unaccounted(), 0::bigint, 'every row is accounted for');
SELECT drop_all('k') \g /dev/null
DELETE FROM k_s WHERE id = 8;
INSERT INTO k_s VALUES (2, -1, 2, 1, 1);

-- beside other checks that move rows
SELECT dq_gate.expect_constraint('k', 'positive', 'quarantine'), dq_gate.expect_unique('k', '{id}', action => 'quarantine') \g /dev/null
INSERT INTO k_s VALUES (1, 1, 8, 1, 1);
SELECT is(outcome(dq_gate.publish('k_s', 'k')), 'published 4: 1 unchanged, 3 quarantined', 'beside other checks that move rows');
SELECT is(unaccounted(), 0::bigint, 'every row is accounted for');
SELECT drop_all('k') \g /dev/null

-- refused when declared
SELECT raises($$ SELECT dq_gate.expect_constraint('k', 'nothing') $$, '42704', 'gate public.k has no constraint nothing[^$]*checks_of', 'a constraint that is not there');
CREATE TABLE ex (id int PRIMARY KEY, r int4range, CONSTRAINT apart EXCLUDE USING gist (r WITH &&));
SELECT raises($$ SELECT dq_gate.expect_constraint('ex', 'apart', 'quarantine') $$, '42809', 'constraint apart of gate public.ex has no check', 'a constraint that is not checked in a batch');
SELECT raises($$ SELECT dq_gate.expect_constraint('k', NULL) $$, '22004', 'constraint_name', 'no constraint');
SELECT raises($$ SELECT dq_gate.expect_constraint('k', 'positive', nulls => 'fail') $$, '22023', '"constraint" does not take "nulls"[^$]*what NULL means', 'the constraint says what NULL means');
SELECT raises($$ SELECT dq_gate.expect_constraint('k', 'positive', 'skip') $$, '22023', 'constraint[^$]*skip[^$]*block[^$]*quarantine[^$]*drop[^$]*warn', 'an action that it cannot take');

-- a constraint that is gone, or renamed, at run time
DELETE FROM k_s WHERE id IN (2) OR u = 8;
SELECT dq_gate.expect_constraint('k', 'positive', 'quarantine'), dq_gate.expect_constraint('k', 'known', 'quarantine') \g /dev/null
SELECT is((dq_gate.publish('k_s', 'k')).verdict, 'published', 'constraints that are there');
ALTER TABLE k DROP CONSTRAINT positive;
SELECT is((dq_gate.publish('k_s', 'k')).verdict, 'rejected', 'one that is gone');
SELECT is((SELECT status || ', ' || message FROM dq_gate.results_of(last_run()) WHERE check_name = 'positive'), 'error, could not be evaluated: the target has no constraint positive that is checked in a batch', 'is no pass, and is said');
SELECT is(finding('known'), 'passed 0 of 2, 1 null', 'the others are judged all the same');
SELECT lives_ok($$ SELECT * FROM dq_gate.checks_of('k') $$, 'it can still be looked at');
ALTER TABLE k ADD CONSTRAINT positive CHECK (v > -100);
SELECT is((dq_gate.publish('k_s', 'k')).verdict || ' ' || (SELECT rule FROM dq_gate.checks_of('k') WHERE check_name = 'positive'), 'published (v > ''-100''::integer)', 'a constraint of that name is the constraint');
ALTER TABLE k DROP CONSTRAINT known;
SELECT dq_gate.audit('k_s', 'k') \g /dev/null
SELECT is((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'known'), 'error', 'whatever kind of constraint it was');
ALTER TABLE k_s DROP v;
SELECT dq_gate.audit('k_s', 'k') \g /dev/null
SELECT isnt((SELECT status FROM dq_gate.results_of(last_run()) WHERE check_name = 'positive'), 'passed', 'a constraint over a column that is not staged has not passed');

SELECT finish();
