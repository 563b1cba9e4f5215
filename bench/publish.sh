#!/usr/bin/env bash
# publish.sh: what a gate costs over the bare MERGE that it guards.
#
# Runs three contestants in turn, several rounds, each rolled back, in the
# cluster of test/private.sh ("make bench"), and prints medians and ratios:
#
#   merge     a bare MERGE, no check
#   queries   one query a check, then the MERGE, in one transaction
#   gate      dq_gate.publish with the same checks
#
# ROUNDS, TARGET_ROWS and BATCH_ROWS change the size.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

rounds=${ROUNDS:-5}
target_rows=${TARGET_ROWS:-1000000}
batch_rows=${BATCH_ROWS:-200000}

run() { psql -qXAt -v ON_ERROR_STOP=1 "$@"; }

# the time that a script takes in a transaction that is rolled back, in milliseconds
timed() { # script...
	{
		echo 'BEGIN;'
		echo 'SELECT clock_timestamp() AS started \gset'
		cat "$@"
		echo "\\o"
		echo "SELECT extract(epoch FROM clock_timestamp() - :'started') * 1000;"
		echo 'ROLLBACK;'
	} | sed '2a \\\\o /dev/null' | run
	run -c 'VACUUM orders' -c CHECKPOINT
}

median() { sort -n | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }

run -v target_rows="$target_rows" -v batch_rows="$batch_rows" -f load.sql >/dev/null
run -f gate.sql >/dev/null
echo "SELECT dq_gate.publish('orders_staging', 'orders');" >"$SCRATCH/publish.sql"

for ((round = 1; round <= rounds; round++)); do
	timed merge.sql >>"$SCRATCH/merge"
	timed queries.sql merge.sql >>"$SCRATCH/queries"
	timed "$SCRATCH/publish.sql" >>"$SCRATCH/gate"
done

base=$(median <"$SCRATCH/merge")
printf 'batch of %s rows into %s, medians of %s rounds\n' "$batch_rows" "$target_rows" "$rounds"
for contestant in merge queries gate; do
	median <"$SCRATCH/$contestant" | awk -v name=$contestant -v base="$base" \
		'{ printf "%-8s %8.0f ms  %.2f\n", name, $1, $1 / base }'
done
