-- a declared check that says all that a derived one says takes its place
\ir include/helpers.sql
SELECT plan(62);

CREATE FUNCTION drop_all(target regclass) RETURNS void LANGUAGE sql AS
	$$ SELECT dq_gate.drop_check(target, check_name) FROM dq_gate.checks_of(target) WHERE origin = 'declared' $$;
-- the checks about these columns, as "name action origin"
CREATE FUNCTION about(target regclass, c text[]) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(check_name || ' ' || action || ' ' || CASE origin WHEN 'declared' THEN 'declared' ELSE 'derived' END, ', ' ORDER BY check_name)
	FROM dq_gate.checks_of(target) WHERE columns = c AND check_type IN ('not_null', 'unique')
$$;

CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL, u text UNIQUE);
CREATE TABLE s (id int, v int, u text);
INSERT INTO s VALUES (1, 1, 'a'), (2, NULL, 'b'), (3, 3, 'c'), (3, 4, 'd'), (NULL, 5, 'e'), (NULL, 6, 'f'), (7, 7, 'g'), (8, 8, 'g'), (9, 9, NULL), (10, 10, NULL);
SELECT dq_gate.create_gate('t') \g /dev/null
SELECT is(about('t', '{v}') || '; ' || about('t', '{id}') || '; ' || about('t', '{u}'),
	'v_not_null block derived; id_not_null block derived, key_unique block derived; t_u_key block derived', 'what follows from the target');
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 10: 10 quarantined', 'keeps the batch out');

-- NOT NULL
SELECT is(dq_gate.expect_not_null('t', 'v', action => 'quarantine'), 'v_not_null', 'a declared check has the name of the derived one');
SELECT is(about('t', '{v}'), 'v_not_null quarantine declared', 'since it takes its place');
DELETE FROM s WHERE id IS NULL OR id IN (3, 8);
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 5: 4 inserted, 1 quarantined', 'a row without a required value is moved');
SELECT results_eq('SELECT id, failed_checks FROM dq_quarantine.t WHERE run_id = last_run()', $$ VALUES (2, '{v_not_null}'::text[]) $$, 'alone');
SELECT drop_all('t') \g /dev/null
SELECT is(about('t', '{v}'), 'v_not_null block derived', 'when it is dropped the derived one is back');

-- the key: rows without one, and duplicates
TRUNCATE t, s;
INSERT INTO s VALUES (1, 1, 'a'), (2, NULL, 'b'), (3, 3, 'c'), (3, 4, 'd'), (NULL, 5, 'e'), (NULL, 6, 'f'), (7, 7, 'g'), (8, 8, 'g'), (9, 9, NULL), (10, 10, NULL);
SELECT dq_gate.expect_not_null('t', 'v', action => 'quarantine'), dq_gate.expect_not_null('t', 'id', action => 'quarantine', name => 'has_key') \g /dev/null
SELECT is(about('t', '{id}'), 'has_key quarantine declared, key_unique block derived', 'a key that has to be there, by another name');
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 10: 10 quarantined', 'does not excuse duplicates');
SELECT dq_gate.expect_unique('t', ARRAY['id'], action => 'quarantine') \g /dev/null
SELECT is(about('t', '{id}'), 'has_key quarantine declared, id_unique quarantine declared', 'with a declared uniqueness nothing derived is left');
SELECT dq_gate.expect_unique('t', ARRAY['u'], action => 'quarantine', name => 'one_u') \g /dev/null
SELECT is(about('t', '{u}'), 'one_u quarantine declared', 'nor for another unique column');
INSERT INTO t VALUES (1, 0, 'a'), (3, 0, 'old'), (9, 9, NULL);
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 10: 1 inserted, 1 updated, 1 unchanged, 7 quarantined', 'rows without a key, and with a duplicated one, are moved');
SELECT results_eq('SELECT * FROM t ORDER BY id', $$ VALUES (1, 1, 'a'), (3, 0, 'old'), (9, 9, NULL), (10, 10, NULL) $$, 'the rest is published, the row of a duplicated key is as it was');
SELECT results_eq('SELECT id, v, failed_checks FROM dq_quarantine.t WHERE run_id = last_run() ORDER BY v NULLS FIRST',
	$$ VALUES (2, NULL, '{v_not_null}'::text[]), (3, 3, '{id_unique}'), (3, 4, '{id_unique}'), (NULL, 5, '{has_key}'), (NULL, 6, '{has_key}'), (7, 7, '{one_u}'), (8, 8, '{one_u}') $$, 'each with its reason');
SELECT is((SELECT row_count - inserted - updated - unchanged - quarantined - dropped FROM dq_gate.runs WHERE run_id = last_run()), 0::bigint, 'every row is accounted for');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 10: 3 unchanged, 7 quarantined', 'the same again');

-- nothing but rows without a key
CREATE TABLE nokey_s (LIKE s);
INSERT INTO nokey_s VALUES (NULL, 1, 'x'), (NULL, 1, 'y');
SELECT is(outcome(dq_gate.publish('nokey_s', 't')), 'rejected 2: 2 quarantined', 'a batch of rows without a key has nothing to publish');
SELECT is(not_passed(), 'has_key failed, not_empty failed', 'and says so');

-- dropped
SELECT drop_all('t') \g /dev/null
SELECT dq_gate.expect_not_null('t', 'v', action => 'drop'), dq_gate.expect_not_null('t', 'id', action => 'drop'), dq_gate.expect_unique('t', ARRAY['id'], action => 'quarantine'), dq_gate.expect_unique('t', ARRAY['u'], action => 'drop') \g /dev/null
SELECT is(about('t', '{v}') || '; ' || about('t', '{id}') || '; ' || about('t', '{u}'), 'v_not_null drop declared; id_not_null drop declared, id_unique quarantine declared; u_unique drop declared', 'a check that drops rows takes the place as well');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 10: 3 unchanged, 2 quarantined, 5 dropped', 'rows are dropped, and quarantined, and the rest is published');
SELECT is((SELECT count(*) FROM dq_quarantine.t WHERE run_id = last_run()), 2::bigint, 'dropped rows are not kept');
SELECT drop_all('t') \g /dev/null

-- block, said by a check with an owner
SELECT dq_gate.expect_not_null('t', 'v', owner => 'finance', name => 'amount_is_there') \g /dev/null
SELECT is(about('t', '{v}'), 'amount_is_there block declared', 'one that blocks takes the place as well');
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 10: 10 quarantined', 'and keeps the batch out');
SELECT is((SELECT owner FROM dq_gate.results_of(last_run()) WHERE check_name = 'amount_is_there'), 'finance', 'under its owner');
SELECT is(finding('v_not_null'), NULL, 'the derived one is not judged beside it');
SELECT drop_all('t') \g /dev/null

-- what says less does not take the place
SELECT is(about('t', '{v}'), 'v_not_null block derived', 'nothing is declared');
CREATE FUNCTION beside(declaration text, c text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found text; run dq_gate.run_summary;
BEGIN
	EXECUTE 'SELECT ' || declaration;
	found := about('t', c);
	run := dq_gate.publish('s', 't');
	IF run.verdict <> 'rejected' THEN
		found := run.verdict;
	END IF;
	PERFORM drop_all('t');
	RETURN found;
END
$$;
SELECT is(beside(format('dq_gate.expect_not_null(''t'', ''v'', name => ''x'', %s)', options), '{v}'), format('v_not_null block derived, x %s declared', action), 'NOT NULL stays beside a check with ' || options)
FROM (VALUES ('action => ''warn''', 'warn'), ('action => ''quarantine'', filter => ''id > 0''', 'quarantine'), ('action => ''quarantine'', filter => ''true''', 'quarantine'), ('action => ''quarantine'', max_rows => 5', 'quarantine'), ('action => ''drop'', max_rate => 0.5', 'drop'),
	('max_rows => 1', 'block'), ('block_above => 0', 'block')) o (options, action);
SELECT is(beside(format('dq_gate.expect_unique(''t'', ''{id}'', name => ''x'', %s)', options), '{id}'), format('id_not_null block derived, key_unique block derived, x %s declared', action), 'the key stays unique beside a check with ' || options)
FROM (VALUES ('action => ''warn''', 'warn'), ('action => ''quarantine'', filter => ''v > 0''', 'quarantine'), ('action => ''quarantine'', max_rows => 5', 'quarantine'), ('max_rate => 0.5', 'block'), ('action => ''warn'', warn_above => 3', 'warn')) o (options, action);
SELECT dq_gate.expect_not_null('t', 'v', action => 'warn', name => 'a'), dq_gate.expect_not_null('t', 'v', action => 'quarantine', name => 'b') \g /dev/null
SELECT is(about('t', '{v}'), 'a warn declared, b quarantine declared', 'of two declared checks one is enough');
SELECT drop_all('t') \g /dev/null
-- a check of another kind, or about other columns
SELECT dq_gate.expect_sql('t', 'x', 'v IS NOT NULL', action => 'quarantine'), dq_gate.expect_unique('t', '{id,u}', action => 'quarantine'), dq_gate.expect_range('t', 'v', 0, nulls => 'fail', action => 'quarantine') \g /dev/null
SELECT is(about('t', '{v}') || '; ' || about('t', '{id}') || '; ' || about('t', '{u}'), 'v_not_null block derived; id_not_null block derived, key_unique block derived; t_u_key block derived', 'nor does a check of another kind, or about more columns');
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 10: 10 quarantined', 'the batch is kept out');
SELECT drop_all('t') \g /dev/null

-- a key of several columns, in whatever order, staged as text
CREATE TABLE k (a int, "B b" text, v int, PRIMARY KEY (a, "B b"));
CREATE TABLE k_s (a text, "B b" text, v text);
INSERT INTO k_s VALUES ('1', 'x', '1'), ('01', 'x', '2'), ('1', 'y', '3'), (NULL, 'x', '4'), (NULL, 'x', '5'), ('2', NULL, '6'), (NULL, NULL, '7'), ('3', 'z', '8');
SELECT dq_gate.create_gate('k') \g /dev/null
SELECT dq_gate.expect_unique('k', '{B b,a}', action => 'quarantine', name => 'one'), dq_gate.expect_not_null('k', 'a', action => 'quarantine', name => 'a'), dq_gate.expect_not_null('k', 'B b', action => 'quarantine', name => 'b') \g /dev/null
SELECT is((SELECT string_agg(check_name, ', ' ORDER BY check_name) FROM dq_gate.checks_of('k', 'k_s') WHERE check_type IN ('unique', 'not_null')), 'a, b, one', 'a key of two columns, in the other order');
SELECT is(outcome(dq_gate.publish('k_s', 'k')), 'published 8: 2 inserted, 6 quarantined', 'is one that rows lack in part, or share');
SELECT results_eq('SELECT a, v FROM k ORDER BY v', 'VALUES (1, 3), (3, 8)', 'the rest is published');
SELECT results_eq('SELECT v, failed_checks FROM dq_quarantine.k ORDER BY 1', $$ VALUES ('1', '{one}'::text[]), ('2', '{one}'), ('4', '{a}'), ('5', '{a}'), ('6', '{b}'), ('7', '{a,b}') $$, 'each row has its reasons');
SELECT drop_all('k') \g /dev/null
SELECT dq_gate.expect_unique('k', '{a,B b}', action => 'quarantine', nulls => 'fail', name => 'one'), dq_gate.expect_not_null('k', 'a', action => 'quarantine', name => 'a'), dq_gate.expect_not_null('k', 'B b', action => 'quarantine', name => 'b') \g /dev/null
SELECT is(outcome(dq_gate.publish('k_s', 'k')), 'published 8: 2 unchanged, 6 quarantined', 'the same where NULL is a value');
SELECT is((SELECT failed_checks FROM dq_quarantine.k WHERE v = '4' AND run_id = last_run()), '{a,one}', 'with one reason more');

-- one row of a key is bad, the other good: both share it
CREATE TABLE half (id int PRIMARY KEY, v int);
CREATE TABLE half_s (LIKE half);
ALTER TABLE half_s ALTER id DROP NOT NULL;
INSERT INTO half_s VALUES (1, -1), (1, 1), (2, -1), (NULL, -1), (3, 1);
SELECT dq_gate.expect_unique('half', '{id}', action => 'quarantine'), dq_gate.expect_not_null('half', 'id', action => 'drop'), dq_gate.expect_range('half', 'v', 0, action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('half_s', 'half')), 'published 5: 1 inserted, 4 quarantined', 'rows with a duplicated key are moved together, a row that is to be dropped and kept is kept');
SELECT results_eq('SELECT * FROM half', 'VALUES (3, 1)', 'and only what is left is published');

-- NULLs that are not distinct
CREATE TABLE nd (id int PRIMARY KEY, u int, UNIQUE NULLS NOT DISTINCT (u));
CREATE TABLE nd_s (LIKE nd);
INSERT INTO nd_s VALUES (1, NULL), (2, NULL), (3, 3);
SELECT dq_gate.create_gate('nd') \g /dev/null
SELECT dq_gate.expect_unique('nd', '{u}', action => 'quarantine', name => 'x') \g /dev/null
SELECT is(about('nd', '{u}'), 'nd_u_key block derived, x quarantine declared', 'uniqueness that lets NULLs pass says less than one that does not');
SELECT is(outcome(dq_gate.publish('nd_s', 'nd')), 'rejected 3: 3 quarantined', 'which keeps the batch out');
SELECT dq_gate.drop_check('nd', 'x'), dq_gate.expect_unique('nd', '{u}', action => 'quarantine', nulls => 'fail', name => 'x') \g /dev/null
SELECT is(about('nd', '{u}'), 'x quarantine declared', 'one that does not takes its place');
SELECT is(outcome(dq_gate.publish('nd_s', 'nd')), 'published 3: 1 inserted, 2 quarantined', 'and moves the rows');

-- a gate with a key of its own
CREATE TABLE own (code text, v int);
CREATE TABLE own_s (LIKE own);
INSERT INTO own VALUES ('a', 0);
INSERT INTO own_s VALUES ('a', 1), ('b', 2), ('b', 3), (NULL, 4);
SELECT dq_gate.create_gate('own', key => '{code}') \g /dev/null
SELECT dq_gate.expect_unique('own', '{code}', action => 'quarantine'), dq_gate.expect_not_null('own', 'code', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('own_s', 'own')), 'published 4: 1 updated, 3 quarantined', 'a key that the gate names');
SELECT results_eq('TABLE own', $$ VALUES ('a', 1) $$, 'is treated alike');

-- a domain that is NOT NULL
CREATE DOMAIN required AS int NOT NULL CHECK (VALUE > 0);
CREATE TABLE dom (id int PRIMARY KEY, r required);
CREATE TABLE dom_s (id int, r int);
INSERT INTO dom_s VALUES (1, 1), (2, NULL);
SELECT dq_gate.create_gate('dom') \g /dev/null
SELECT dq_gate.expect_not_null('dom', 'r', action => 'quarantine') \g /dev/null
SELECT is(outcome(dq_gate.publish('dom_s', 'dom')), 'published 2: 1 inserted, 1 quarantined', 'a domain that is NOT NULL');
UPDATE dom_s SET r = 0 WHERE id = 1;
SELECT is(outcome(dq_gate.publish('dom_s', 'dom')), 'rejected 2: 2 quarantined', 'what else it says is derived all the same');

-- too many bad rows block: none passes
SELECT dq_gate.expect_not_null('t', 'v', action => 'quarantine', block_above => 1, name => 'x'), dq_gate.expect_unique('t', '{id}', action => 'quarantine', block_above => 2, name => 'y'), dq_gate.expect_not_null('t', 'id', action => 'quarantine', block_above => 0.25, name => 'z') \g /dev/null
SELECT is(about('t', '{v}') || '; ' || about('t', '{id}'), 'x quarantine declared; y quarantine declared, z quarantine declared', 'a check that moves rows or, where they are too many, blocks');
DELETE FROM s WHERE u IN ('g');
SELECT is((dq_gate.publish('s', 't')).quarantined, 5::bigint, 'takes the place as well');
INSERT INTO s VALUES (11, NULL, NULL);
SELECT is(outcome(dq_gate.publish('s', 't')), 'rejected 9: 9 quarantined', 'up to that number');
SELECT drop_all('t') \g /dev/null

-- a check that takes the place and cannot be evaluated keeps the batch out
ALTER TABLE s RENAME v TO w;
SELECT dq_gate.expect_not_null('t', 'v', action => 'quarantine') \g /dev/null
SELECT is((dq_gate.publish('s', 't')).verdict, 'rejected', 'a check that takes the place of a derived one and is broken');
SELECT is(finding('v_not_null'), 'error', 'is an error');

SELECT finish();
