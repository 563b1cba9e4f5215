-- every staged row is accounted for: row_count = inserted + updated + unchanged + quarantined + dropped
\ir include/helpers.sql
SELECT plan(32);

CREATE TABLE t (id int PRIMARY KEY, v text, n numeric);
CREATE TABLE s (id int, v text, n numeric);
INSERT INTO t SELECT g, 'v' || g, g FROM generate_series(1, 10) g;
INSERT INTO s SELECT g, CASE WHEN g <= 4 THEN 'v' ELSE 'w' END || g, g FROM generate_series(1, 15) g;
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 15: 5 inserted, 6 updated, 4 unchanged', 'inserted, updated and unchanged add up');
SELECT set_eq('TABLE t', 'TABLE s', 'and the target has what was staged');
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 15: 15 unchanged', 'the same batch again changes nothing');

-- rows that do not change are not written again
CREATE TEMP TABLE before AS SELECT id, xmin::text AS writer, ctid::text AS place FROM t;
UPDATE s SET v = 'new' WHERE id = 7;
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 15: 1 updated, 14 unchanged', 'one row changes');
SELECT results_eq('SELECT t.id FROM t JOIN before b USING (id) WHERE (t.xmin::text, t.ctid::text) IS DISTINCT FROM (b.writer, b.place)',
	'VALUES (7)', 'and only that one is written');
CREATE FUNCTION touched() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.touches VALUES (NEW.id); RETURN NEW; END $$;
CREATE TABLE touches (id int);
CREATE TRIGGER touched BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION touched();
UPDATE s SET v = 'newer' WHERE id = 8;
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 15: 1 updated, 14 unchanged', 'with a trigger');
SELECT results_eq('TABLE touches', 'VALUES (8)', 'which does not see the rows that do not change');
DROP TRIGGER touched ON t;

-- rows of the target that the batch lacks stay
TRUNCATE s;
INSERT INTO s VALUES (1, 'only', 1);
SELECT is(outcome(dq_gate.publish('s', 't')), 'published 1: 1 updated', 'a batch of one row');
SELECT is((SELECT count(*) FROM t), 15::bigint, 'leaves the rows that it does not name');

-- equal is not the same: what changes its look is a change
CREATE TABLE looks (id int PRIMARY KEY, n numeric, f float8, i interval, c char(5), b bpchar, a numeric[], r numrange);
CREATE TABLE looks_s (LIKE looks);
INSERT INTO looks VALUES (1, 1.0, 0.0, '24 hours', 'a', 'a', '{1.0}', '[1.0,2]'), (2, 1, 1, '1 day', 'b', 'b', '{1}', '[1,2]');
CREATE FUNCTION change(assignment text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	TRUNCATE looks_s;
	INSERT INTO looks_s TABLE looks;
	EXECUTE 'UPDATE looks_s SET ' || assignment || ' WHERE id = 1';
	answer := outcome(dq_gate.publish('looks_s', 'looks'));
	RETURN answer || CASE WHEN (SELECT string_agg(looks::text, ' ' ORDER BY id) FROM looks)
		= (SELECT string_agg(looks_s::text, ' ' ORDER BY id) FROM looks_s) THEN '' ELSE ', not what was staged' END;
END
$$;
SELECT is(change('n = 1.00'), 'published 2: 1 updated, 1 unchanged', 'numeric 1.0 to 1.00');
SELECT is(change('f = ''-0'''), 'published 2: 1 updated, 1 unchanged', 'float8 0 to -0');
SELECT is(change('i = ''1 day'''), 'published 2: 1 updated, 1 unchanged', 'interval 24 hours to 1 day');
SELECT is(change('b = ''a  '''), 'published 2: 1 updated, 1 unchanged', 'blanks at the end of a bpchar');
SELECT is(change('c = ''a  '''), 'published 2: 2 unchanged', 'which mean nothing in a char(5)');
SELECT is(change('a = ''{1.00}'''), 'published 2: 1 updated, 1 unchanged', 'numeric within an array');
SELECT is(change('r = ''[1.00,2]'''), 'published 2: 1 updated, 1 unchanged', 'numeric within a range');
SELECT is(change('n = n'), 'published 2: 2 unchanged', 'and what looks the same is the same');
SELECT is(change('n = ''NaN'''), 'published 2: 1 updated, 1 unchanged', 'a number to NaN');
SELECT is(change('n = ''NaN'''), 'published 2: 2 unchanged', 'NaN to NaN');
SELECT is(change('n = NULL'), 'published 2: 1 updated, 1 unchanged', 'a value to NULL');
SELECT is(change('n = NULL'), 'published 2: 2 unchanged', 'NULL to NULL');
SELECT is(change('n = 5'), 'published 2: 1 updated, 1 unchanged', 'NULL to a value');

-- a table that is all key
CREATE TABLE keys (a int, b text, PRIMARY KEY (a, b));
CREATE TABLE keys_s (b text, a int);
INSERT INTO keys VALUES (1, 'x');
INSERT INTO keys_s VALUES ('x', 1), ('y', 1), ('x', 2);
SELECT is(outcome(dq_gate.publish('keys_s', 'keys')), 'published 3: 2 inserted, 1 unchanged', 'a table of nothing but its key');

-- a trigger of the target that keeps a row out
CREATE TABLE picky (id int PRIMARY KEY, v int);
CREATE TABLE picky_s (id int, v int);
INSERT INTO picky VALUES (1, 1);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.v < 0 THEN RETURN NULL; END IF; RETURN NEW; END $$;
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON picky FOR EACH ROW EXECUTE FUNCTION refuse();
INSERT INTO picky_s VALUES (2, 2), (3, -3);
SELECT dq_gate.publish('picky_s', 'picky') \g /dev/null
SELECT is((SELECT inserted FROM dq_gate.runs WHERE run_id = last_run()), (SELECT count(*) FROM picky WHERE id <> 1),
	'a row that a trigger keeps out is not counted as inserted');
SELECT is((SELECT published AND inserted + updated + unchanged = 2 AND quarantined = 0 FROM dq_gate.runs WHERE run_id = last_run()), false,
	'nor lost without a word');
TRUNCATE picky_s;
INSERT INTO picky_s VALUES (1, -1);
SELECT dq_gate.publish('picky_s', 'picky') \g /dev/null
SELECT is((SELECT updated > 0 OR published AND unchanged > 0 FROM dq_gate.runs WHERE run_id = last_run()), false,
	'nor is one whose update it keeps out taken for updated or unchanged');

-- a chain: publishing into one table publishes into the next
CREATE TABLE first (id int PRIMARY KEY, v int);
CREATE TABLE first_s (id int, v int);
CREATE TABLE second (id int PRIMARY KEY, v int);
INSERT INTO first VALUES (1, 1), (2, 2);
INSERT INTO first_s VALUES (1, 1), (2, 20), (3, 3);
CREATE FUNCTION chain() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM dq_gate.publish('public.first', 'public.second'); RETURN NULL; END $$;
CREATE TRIGGER chain AFTER INSERT OR UPDATE ON first FOR EACH STATEMENT EXECUTE FUNCTION chain();
SELECT is(outcome(dq_gate.publish('first_s', 'first')), 'published 3: 1 inserted, 1 updated, 1 unchanged', 'a publish that sets off another one');
SELECT is((SELECT string_agg(DISTINCT coalesce(outcome((run_id, batch_id, verdict, passed, published, row_count, inserted, updated, unchanged, deleted, stale, quarantined, dropped, checks_failed, failures, duration)::dq_gate.run_summary), 'unknown'), '; ')
	FROM dq_gate.runs WHERE gate = 'public.second' AND inserted > 0), 'published 3: 3 inserted', 'has its own counts, as has the other');
SELECT set_eq('TABLE second', 'TABLE first', 'and both have what they should');

-- the log says the same as the answer
SELECT is_empty($$ SELECT 1 FROM dq_gate.runs WHERE row_count <> inserted + updated + unchanged + quarantined + dropped $$,
	'the recorded counts of all these runs add up');
TRUNCATE s;
INSERT INTO s VALUES (1, 'audited', 1), (99, 'audited', 1);
SELECT is((SELECT ROW(a.verdict, a.row_count, a.published, a.quarantined)::text FROM dq_gate.audit('s', 't') a), '(audited,2,f,0)',
	'an audit counts the rows');
SELECT is((SELECT count(*) FROM t WHERE v = 'audited'), 0::bigint, 'and publishes none');

SELECT finish();
