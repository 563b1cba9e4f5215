-- operators that stand in the way on the search_path of the caller are not used, whatever the mode and its settings
\ir include/helpers.sql
SELECT plan(9);

CREATE SCHEMA evil;
CREATE FUNCTION evil.caught(a int, b int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'evil'; END $$;
CREATE OPERATOR evil.= (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.caught);
CREATE OPERATOR evil.< (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.caught);
CREATE OPERATOR evil.<> (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.caught);
CREATE TABLE t (id int PRIMARY KEY, slice int NOT NULL, code int UNIQUE, version int);
CREATE TABLE s (id int, slice int, code int, version int);
SELECT dq_gate.create_gate('t'), dq_gate.expect_volume('t', action => 'declare'), dq_gate.expect_range('t', 'version', min => 0, action => 'quarantine') \g /dev/null

CREATE FUNCTION try(settings text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	TRUNCATE t, s;
	INSERT INTO t VALUES (1, 1, 1, 1), (2, 1, 2, 2), (3, 2, 3, 3);
	INSERT INTO s VALUES (1, 1, 1, 5), (4, 1, 4, 5), (5, 1, 5, -1);
	EXECUTE format('SELECT dq_gate.alter_gate(''t'', %s)', settings);
	SET LOCAL search_path = evil, pg_catalog, public;
	answer := outcome(dq_gate.publish('s', 't', format('batch %s', settings)));
	RESET search_path;
	RAISE EXCEPTION USING errcode = 'P0001', message = answer;
EXCEPTION
	WHEN SQLSTATE 'P0001' THEN RETURN SQLERRM;
END
$$;

SELECT raises($$ SET search_path = evil, pg_catalog, public; SELECT 1 OPERATOR(evil.=) 1 $$, 'P0001', 'evil', 'they do stand in the way');
RESET search_path;
SELECT is(try($$ mode => 'merge' $$), 'published 3: 1 inserted, 1 updated, 1 quarantined', 'merge');
SELECT is(try($$ mode => 'append', key => '{}' $$), 'rejected 3: 3 quarantined', 'append');
SELECT is(try($$ mode => 'insert_only' $$), 'published 3: 1 inserted, 1 unchanged, 1 quarantined', 'insert_only');
SELECT is(try($$ mode => 'sync' $$), 'published 3: 1 inserted, 1 updated, 2 deleted, 1 quarantined', 'sync');
SELECT is(try($$ mode => 'sync', max_delete_rate => 0.9, only_if_newer => 'version', scope => 'slice = 1' $$), 'published 3: 1 inserted, 1 updated, 1 deleted, 1 quarantined', 'sync, with settings that compare');
SELECT is(try($$ mode => 'replace', replace_by => '{slice}' $$), 'published 3: 2 inserted, 2 deleted, 1 quarantined', 'replace');
SELECT is(try($$ mode => 'replace', scope => 'slice = 1', keep_latest_by => 'version' $$), 'published 3: 2 inserted, 2 deleted, 1 quarantined', 'replace, by a scope');
SELECT is((SELECT count(*) FROM dq_gate.runs WHERE error IS NOT NULL), 0::bigint, 'and nothing failed');

SELECT * FROM finish();
