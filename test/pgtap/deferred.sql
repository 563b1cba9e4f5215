-- deferrable constraints and the publish
\ir include/helpers.sql
SELECT plan(34);

-- a deferred foreign key: checked with the publish, not at the caller's commit
CREATE TABLE parents (id int PRIMARY KEY);
INSERT INTO parents VALUES (1), (2);
CREATE TABLE kids (id int PRIMARY KEY, parent int CONSTRAINT kids_parent REFERENCES parents DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE kids_s (id int, parent int);
INSERT INTO kids_s VALUES (1, 1), (2, NULL);
BEGIN;
SELECT is(outcome(dq_gate.publish('kids_s', 'kids')), 'published 2: 2 inserted', 'a target with a deferred foreign key');
SELECT lives_ok('SET CONSTRAINTS ALL IMMEDIATE', 'leaves nothing to be checked later');
COMMIT;
SELECT is((SELECT count(*) FROM kids), 2::bigint, 'and can be committed');
INSERT INTO kids_s VALUES (3, 9);
SELECT is(outcome(dq_gate.publish('kids_s', 'kids')), 'rejected 3: 3 quarantined', 'an orphan is found by the audit');

-- where the audit cannot see it, the publish does
GRANT SELECT ON kids_s TO dq_loader;
GRANT SELECT, INSERT, UPDATE ON kids TO dq_loader;
SELECT dq_gate.create_gate('kids', run_as => 'dq_loader') \g /dev/null
BEGIN;
SELECT is(outcome(dq_gate.publish('kids_s', 'kids')), 'failed 3: 3 quarantined', 'one that the audit may not see fails the publish');
SELECT lives_ok('SET CONSTRAINTS ALL IMMEDIATE', 'which is taken back');
COMMIT;
SELECT is((SELECT error_sqlstate FROM dq_gate.runs WHERE run_id = last_run()), '23503', 'with the error of the foreign key');
SELECT matches((SELECT error FROM dq_gate.runs WHERE run_id = last_run()), 'kids_parent', 'by its name');
SELECT is((SELECT count(*) FROM kids), 2::bigint, 'the target is as it was');

-- the constraint is deferred again afterwards
BEGIN;
DELETE FROM kids_s WHERE id = 3;
SELECT dq_gate.publish('kids_s', 'kids') \g /dev/null
SELECT lives_ok('INSERT INTO kids VALUES (50, 50)', 'the constraint is deferred for the caller as it was before');
SELECT throws_ok('SET CONSTRAINTS ALL IMMEDIATE', '23503', NULL, 'and not forgotten');
DELETE FROM kids WHERE id = 50;
COMMIT;
-- a deferrable unique constraint: values that change hands within a batch
CREATE TABLE seats (id int PRIMARY KEY, seat text CONSTRAINT one_seat UNIQUE DEFERRABLE INITIALLY IMMEDIATE);
CREATE TABLE seats_s (id int, seat text);
INSERT INTO seats VALUES (1, 'A'), (2, 'B'), (3, 'C');
INSERT INTO seats_s VALUES (1, 'B'), (2, 'A');
SELECT is(outcome(dq_gate.publish('seats_s', 'seats')), 'published 2: 2 updated', 'values of a deferrable unique constraint are exchanged');
SELECT results_eq('TABLE seats ORDER BY id', $$ VALUES (1, 'B'), (2, 'A'), (3, 'C') $$, 'in one go');
UPDATE seats_s SET seat = 'C' WHERE id = 1;
SELECT is(outcome(dq_gate.publish('seats_s', 'seats')), 'rejected 2: 2 quarantined', 'a value that a row outside of the batch has');
SELECT is(finding('one_seat'), 'failed 1 of 2', 'is found before the publish');
SELECT results_eq('TABLE seats ORDER BY id', $$ VALUES (1, 'B'), (2, 'A'), (3, 'C') $$, 'which leaves nothing behind');
ALTER TABLE seats ALTER id DROP DEFAULT, DROP CONSTRAINT one_seat, ADD CONSTRAINT one_seat UNIQUE (seat) DEFERRABLE INITIALLY DEFERRED;
BEGIN;
SELECT is(outcome(dq_gate.publish('seats_s', 'seats')), 'rejected 2: 2 quarantined', 'and so where it is initially deferred');
COMMIT;
SELECT is((SELECT verdict FROM dq_gate.runs WHERE run_id = last_run()), 'rejected', 'rather than by the commit, which would lose the log');
ALTER TABLE seats DROP CONSTRAINT one_seat, ADD CONSTRAINT one_seat UNIQUE (seat);
UPDATE seats_s SET seat = CASE id WHEN 1 THEN 'A' ELSE 'B' END;
SELECT is((dq_gate.publish('seats_s', 'seats')).verdict, 'rejected', 'where the constraint is not deferrable the exchange is refused');
SELECT is((SELECT count(*) FROM dq_quarantine.seats WHERE run_id = last_run()), 2::bigint, 'with the batch kept');

-- a deferrable key
CREATE TABLE loose (id int, v int, CONSTRAINT loose_key PRIMARY KEY (id) DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE loose_s (id int, v int);
INSERT INTO loose_s VALUES (1, 1), (2, 2);
SELECT is(outcome(dq_gate.publish('loose_s', 'loose')), 'published 2: 2 inserted', 'a deferrable primary key is a key');
UPDATE loose_s SET id = 1;
SELECT is(outcome(dq_gate.publish('loose_s', 'loose')), 'rejected 2: 2 quarantined', 'of which duplicates are found');

-- deferred constraint triggers of the user
CREATE TABLE sums (id int PRIMARY KEY, v int);
CREATE TABLE sums_s (id int, v int);
CREATE FUNCTION balanced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF (SELECT sum(v) FROM public.sums) <> 0 THEN
		RAISE EXCEPTION 'sums do not balance' USING ERRCODE = 'check_violation';
	END IF;
	RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER balanced AFTER INSERT OR UPDATE ON sums DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION balanced();
INSERT INTO sums_s VALUES (1, 5), (2, -5);
SELECT is(outcome(dq_gate.publish('sums_s', 'sums')), 'published 2: 2 inserted', 'a deferred constraint trigger sees the batch as a whole');
UPDATE sums_s SET v = 7 WHERE id = 1;
BEGIN;
SELECT is(outcome(dq_gate.publish('sums_s', 'sums')), 'failed 2: 2 quarantined', 'and fails the publish');
COMMIT;
SELECT is((SELECT error FROM dq_gate.runs WHERE run_id = last_run()), 'sums do not balance', 'with its own words');

-- a table that refers to itself
CREATE TABLE tree (id int PRIMARY KEY, parent int CONSTRAINT tree_parent REFERENCES tree);
CREATE TABLE tree_s (parent int, id int);
INSERT INTO tree VALUES (100, NULL);
INSERT INTO tree_s (id, parent) VALUES (3, 2), (2, 1), (1, NULL), (4, 100), (5, 5);
SELECT is(outcome(dq_gate.publish('tree_s', 'tree')), 'published 5: 5 inserted', 'a parent may come with the batch, be there already, or be the row itself');
SELECT is((SELECT count(*) FROM tree), 6::bigint, 'in whatever order');
INSERT INTO tree_s (id, parent) VALUES (6, 7);
SELECT is(outcome(dq_gate.publish('tree_s', 'tree')), 'rejected 6: 6 quarantined', 'but not be missing');
SELECT is(finding('tree_parent'), 'failed 1 of 6, 1 null', 'which one row is at fault for');
-- a parent that does not get in does not count
DELETE FROM tree_s;
INSERT INTO tree_s (id, parent) VALUES (20, 21), (21, NULL), (22, NULL);
SELECT dq_gate.expect_sql('tree', 'not_21', 'id <> 21', action => 'quarantine') \g /dev/null
SELECT dq_gate.publish('tree_s', 'tree') \g /dev/null
SELECT is((SELECT verdict IN ('failed', 'rejected') FROM dq_gate.runs WHERE run_id = last_run()), true, 'a child whose parent is quarantined does not get in without it');
SELECT is_empty('SELECT 1 FROM tree WHERE id BETWEEN 20 AND 22', 'nor anything else of a batch that failed');

-- two tables that refer to each other, in one transaction
CREATE TABLE a (id int PRIMARY KEY, b int);
CREATE TABLE b (id int PRIMARY KEY, a int REFERENCES a DEFERRABLE INITIALLY DEFERRED);
ALTER TABLE a ADD CONSTRAINT a_b FOREIGN KEY (b) REFERENCES b DEFERRABLE INITIALLY DEFERRED;
CREATE TABLE a_s (id int, b int);
CREATE TABLE b_s (id int, a int);
INSERT INTO a_s VALUES (1, NULL);
INSERT INTO b_s VALUES (1, 1);
BEGIN;
SELECT is((dq_gate.publish('a_s', 'a')).verdict || ' ' || (dq_gate.publish('b_s', 'b')).verdict, 'published published', 'a parent published before in the same transaction is seen');
COMMIT;

-- what the caller has left to be checked later is not checked before its time
BEGIN;
INSERT INTO b VALUES (7, 7);
INSERT INTO a_s VALUES (7, 7);
SELECT is(outcome(dq_gate.publish('a_s', 'a')), 'published 2: 1 inserted, 1 unchanged', 'a row of the caller may wait for its parent in the batch');
SELECT lives_ok('SET CONSTRAINTS ALL IMMEDIATE', 'which has come');
COMMIT;

SELECT finish();
