-- a session that publishes again and again does not grow
\ir include/helpers.sql
SELECT plan(4);

CREATE TABLE t (id int PRIMARY KEY, v text NOT NULL, w int REFERENCES t);
CREATE TABLE s (id int, v text, w text);
INSERT INTO s SELECT g, 'v' || g, CASE WHEN g % 7 = 0 THEN 'x' ELSE '1' END FROM generate_series(1, 200) g;
SELECT dq_gate.expect_range('t', 'id', max => 190, action => 'quarantine') \g /dev/null
SELECT dq_gate.expect_sql('t', 'divides', '1 / (id - 100) > -5', action => 'warn') \g /dev/null

CREATE FUNCTION publish_often(times int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..times LOOP
		UPDATE s SET v = i || 'v' || id, w = CASE WHEN i % 2 = 1 AND id % 7 = 0 THEN 'x' ELSE '1' END;
		PERFORM dq_gate.publish('s', 't');
		PERFORM dq_gate.audit('s', 't');
		PERFORM * FROM dq_gate.checks_of('t', 's');
	END LOOP;
	RETURN (SELECT sum(total_bytes) FROM pg_backend_memory_contexts);
END
$$;

SELECT has_function_privilege('pg_get_backend_memory_contexts()', 'EXECUTE') AND has_table_privilege('pg_backend_memory_contexts', 'SELECT') AS may_look \gset
\if :may_look
	SELECT publish_often(20) AS before \gset
	SELECT publish_often(50) AS after \gset
	SELECT cmp_ok(:after::bigint - :before::bigint, '<', 300000::bigint, 'fifty publishes, each in a subtransaction of one long transaction, leave nothing behind');
	SELECT publish_often(1) AS before \gset
	SELECT publish_often(1) AS after \gset
	SELECT cmp_ok(:after::bigint - :before::bigint, '<', 100000::bigint, 'nor does one more');
	SELECT is((SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE '%dq_gate%'), 0::bigint, 'no context of a run stays');
	SELECT set_eq('SELECT verdict FROM dq_gate.runs', ARRAY['published', 'rejected', 'audited'], 'whatever their verdict');
\else
	SELECT skip('this role may not look at memory contexts', 4);
\endif
SELECT finish();
