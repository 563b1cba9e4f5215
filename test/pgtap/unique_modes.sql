-- unique indexes beside each mode: which rows of the target may clash
\ir include/helpers.sql
SELECT plan(24);

CREATE TABLE t (id int PRIMARY KEY, day date NOT NULL, code text UNIQUE, version int, n int);
CREATE TABLE s (id int, day date, code text, version int, n int);
SELECT dq_gate.create_gate('t'), dq_gate.expect_volume('t', action => 'declare'), dq_gate.expect_range('t', 'n', min => 0, action => 'quarantine') \g /dev/null

-- publish a batch under some settings, and take all of it back
CREATE FUNCTION try(settings text, VARIADIC rows text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	r text;
BEGIN
	TRUNCATE t, s;
	INSERT INTO t VALUES (1, '2026-01-01', 'a', 5), (2, '2026-01-01', 'b', 5), (3, '2026-01-02', 'c', 5);
	FOREACH r IN ARRAY rows LOOP
		EXECUTE format('INSERT INTO s VALUES (%s)', r);
	END LOOP;
	EXECUTE format('SELECT dq_gate.alter_gate(''t'', %s)', settings);
	answer := outcome(dq_gate.publish('s', 't'));
	answer := answer || coalesce('; ' || not_passed(), '');
	RAISE EXCEPTION USING errcode = 'P0001', message = answer;
EXCEPTION
	WHEN SQLSTATE 'P0001' THEN RETURN SQLERRM;
END
$$;

SELECT is(try($$ mode => 'append' $$, $$4, '2026-01-01', 'd'$$), 'published 1: 1 inserted', 'append: what is new');
SELECT is(try($$ mode => 'append' $$, $$1, '2026-01-01', 'd'$$), 'rejected 1: 1 quarantined; key_unique failed', 'append: a key that is there');
SELECT is(try($$ mode => 'append' $$, $$1, '2026-01-01', 'a'$$), 'rejected 1: 1 quarantined; key_unique failed, t_code_key failed', 'append: the same row');
SELECT is(try($$ mode => 'append' $$, $$4, '2026-01-01', 'c'$$, $$5, '2026-01-01', 'e'$$), 'rejected 2: 2 quarantined; t_code_key failed', 'append: another value that is there');
SELECT is(try($$ mode => 'append' $$, $$4, '2026-01-01', NULL$$, $$5, '2026-01-01', NULL$$), 'published 2: 2 inserted', 'append: NULLs differ');
SELECT is(try($$ mode => 'append' $$, $$4, '2026-01-01', 'c', 1, -1$$, $$5, '2026-01-01', 'e'$$), 'published 2: 1 inserted, 1 quarantined; n_range failed', 'append: a row that is moved out clashes with nothing');

SELECT is(try($$ mode => 'insert_only' $$, $$1, '2026-01-01', 'b'$$, $$4, '2026-01-01', 'e'$$), 'published 2: 1 inserted, 1 unchanged', 'insert_only: a row that is left out does not clash');
SELECT is(try($$ mode => 'insert_only' $$, $$1, '2026-01-01', 'e'$$, $$4, '2026-01-01', 'a'$$), 'rejected 2: 2 quarantined; t_code_key failed', 'insert_only: nor does it give its value away');
SELECT is(try($$ mode => 'insert_only' $$, $$1, '2026-01-01', 'e'$$, $$4, '2026-01-01', 'e'$$), 'published 2: 1 inserted, 1 unchanged', 'insert_only: nor share its own with another one');

SELECT is(try($$ mode => 'sync' $$, $$1, '2026-01-01', 'a'$$, $$4, '2026-01-01', 'c'$$), 'published 2: 1 inserted, 1 updated, 2 deleted', 'sync: what is deleted is gone');
SELECT is(try($$ mode => 'sync' $$, $$1, '2026-01-01', 'a'$$, $$4, '2026-01-01', 'c'$$, $$3, '2026-01-01', 'x', 1, -1$$), 'rejected 3: 3 quarantined; n_range failed, t_code_key failed', 'sync: a row that is spared is not');
SELECT is(try($$ mode => 'sync', scope => 'day < ''2026-01-02''' $$, $$1, '2026-01-01', 'a'$$, $$4, '2026-01-01', 'c'$$), 'rejected 2: 2 quarantined; t_code_key failed', 'sync: nor is one outside of the scope');
SELECT is(try($$ mode => 'sync' $$, $$1, '2026-01-01', 'b'$$, $$2, '2026-01-01', 'a'$$), 'rejected 2: 2 quarantined; t_code_key failed', 'sync: values change places only under a deferrable constraint');

SELECT is(try($$ mode => 'replace', replace_by => '{day}' $$, $$1, '2026-01-01', 'b'$$, $$7, '2026-01-01', 'a'$$), 'published 2: 2 inserted, 2 deleted', 'replace: the slice is gone, keys and all');
SELECT is(try($$ mode => 'replace', replace_by => '{day}' $$, $$7, '2026-01-01', 'c'$$), 'rejected 1: 1 quarantined; t_code_key failed', 'replace: another slice is not');
SELECT is(try($$ mode => 'replace', replace_by => '{day}' $$, $$3, '2026-01-01', 'd'$$), 'rejected 1: 1 quarantined; key_unique failed', 'replace: its keys are there');
SELECT is(try($$ mode => 'replace', replace_by => '{day}' $$, $$7, '2026-01-01', 'c'$$, $$8, '2026-01-02', 'x', 1, -1$$), 'rejected 2: 2 quarantined; n_range failed, t_code_key failed', 'replace: a slice that only a quarantined row names stays');
SELECT is(try($$ mode => 'replace', scope => 'day = ''2026-01-02''' $$, $$7, '2026-01-02', 'c'$$), 'published 1: 1 inserted, 1 deleted', 'replace: by a scope');
SELECT is(try($$ mode => 'replace', scope => 'day = ''2026-01-02''' $$, $$7, '2026-01-02', 'a'$$), 'rejected 1: 1 quarantined; t_code_key failed', 'replace: outside of it');

SELECT is(try($$ only_if_newer => 'version' $$, $$2, '2026-01-01', 'a', 4$$), 'published 1: 1 stale', 'a stale row does not clash');
SELECT is(try($$ only_if_newer => 'version' $$, $$2, '2026-01-01', 'a', 5$$), 'rejected 1: 1 quarantined; t_code_key failed', 'one that is written does');
SELECT is(try($$ only_if_newer => 'version' $$, $$1, '2026-01-01', 'x', 4$$, $$4, '2026-01-01', 'a', 9$$), 'rejected 2: 2 quarantined; t_code_key failed', 'a stale row does not give its value away');
SELECT is(try($$ keep_latest_by => 'version' $$, $$4, '2026-01-01', 'a', 1$$, $$4, '2026-01-01', 'd', 2$$), 'published 2: 1 inserted, 1 stale', 'nor does a row that is not the latest clash');
SELECT is(try($$ exclude_columns => '{code}' $$, $$2, '2026-01-01', 'a', 4$$), 'published 1: 1 updated', 'nor a value that is not taken');

SELECT * FROM finish();
