-- an unprivileged role finds the extension, and may read its log but not write it
BEGIN;
SELECT plan(3);

SELECT is(current_user, 'dq_tester', 'the tests run as an unprivileged role');
SELECT is_empty('SELECT * FROM dq_gate.runs', 'the log can be read');
SELECT throws_ok('DELETE FROM dq_gate.runs', '42501', NULL, 'the log cannot be written');

SELECT finish();
ROLLBACK;
