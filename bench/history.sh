#!/usr/bin/env bash
# history.sh: what a publish costs with a long history, beside one with a short one.
#
# Two gates alike, with checks that learn, one with FEW past runs and one with
# MANY, publish the same batch in turn, in the cluster of test/private.sh
# ("make bench").  Prints medians and the ratio.
#
# ROUNDS, FEW and MANY change the size.
set -euo pipefail

rounds=${HISTORY_ROUNDS:-25}
few=${FEW:-100}
many=${MANY:-100000}

run() { psql -qXAt -v ON_ERROR_STOP=1 "$@"; }
median() { sort -n | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }

run >/dev/null <<SQL
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dq_gate;
CREATE TABLE batch AS SELECT id, id % 100 AS v FROM generate_series(1, 1000) AS id;
CREATE TABLE few (id int PRIMARY KEY, v int);
CREATE TABLE many (id int PRIMARY KEY, v int);

-- one run each, to be multiplied
SELECT dq_gate.expect_metric(t, 'sum(v)', 'zscore', name => 'total'), dq_gate.expect_stable_distribution(t, 'v'), dq_gate.expect_volume(t, by => 'weekday')
FROM (VALUES ('few'::regclass), ('many')) AS targets (t);
SELECT dq_gate.publish('batch', t, as_of => '2000-01-01') FROM (VALUES ('few'::regclass), ('many')) AS targets (t);

CREATE FUNCTION lengthen(long regclass, days int) RETURNS void LANGUAGE plpgsql AS \$\$
DECLARE
	run	dq_gate.runs;
BEGIN
	SELECT * INTO run FROM dq_gate.runs WHERE target = long;
	CREATE TEMP TABLE copies ON COMMIT DROP AS
		SELECT nextval('dq_gate.run_id_seq') AS run_id, date '2000-01-01' + i AS as_of FROM generate_series(1, days) AS i;
	INSERT INTO dq_gate.runs
		SELECT (jsonb_populate_record(run, jsonb_build_object('run_id', c.run_id, 'as_of', c.as_of, 'batch_time', c.as_of::timestamp))).* FROM copies c;
	INSERT INTO dq_gate.results
		SELECT (jsonb_populate_record(r, jsonb_build_object('run_id', c.run_id))).* FROM copies c, dq_gate.results r WHERE r.run_id = run.run_id;
	INSERT INTO dq_gate.profiles
		SELECT (jsonb_populate_record(p, jsonb_build_object('run_id', c.run_id))).* FROM copies c, dq_gate.profiles p WHERE p.run_id = run.run_id;
	DROP TABLE copies;
END
\$\$;
SELECT lengthen('few', $few);
SELECT lengthen('many', $many);
VACUUM ANALYZE;
SQL

# all in one session, so that neither pays for a cold start
{
	for ((round = 0; round < rounds + 3; round++)); do
		for gate in few many; do
			cat <<END
BEGIN;
SELECT clock_timestamp() AS started \\gset
\\o /dev/null
SELECT dq_gate.publish('batch', '$gate', as_of => current_date + 500000);
\\o
SELECT '$gate $round ' || extract(epoch FROM clock_timestamp() - :'started') * 1000;
ROLLBACK;
END
		done
	done
} | run | awk '$2 >= 3' >"$SCRATCH/history"

printf 'a batch of 1000 rows with %s and with %s runs before it, medians of %s rounds\n' "$few" "$many" "$rounds"
base=$(awk '$1 == "few" { print $3 }' "$SCRATCH/history" | median)
for gate in few many; do
	awk -v gate="$gate" '$1 == gate { print $3 }' "$SCRATCH/history" | median | awk -v name="$gate" -v base="$base" \
		'{ printf "%-8s %8.2f ms  %.2f\n", name, $1, $1 / base }'
done
