#!/usr/bin/env bash
# pgtap.sh TEST.sql: runs one pgTAP test as dq_tester, in a fresh database that this role owns.
set -euo pipefail

test=$1
name=$(basename "$test" .sql)
database=pgtap_$name
log=$SCRATCH/pgtap/$name.log
mkdir -p "$SCRATCH/pgtap"

# a test that crashed the server must not fail those that come after it
for ((tenths = 0; tenths < 300; tenths++)); do
	! pg_isready -q || break
	sleep 0.1
done

psql -Xq -c "CREATE DATABASE \"$database\" TEMPLATE dq_pgtap OWNER dq_tester"
status=0
# warnings of rejected batches would drown the test's own output
psql -XAtq -U dq_tester -d "$database" -P pager=off -v ON_ERROR_STOP=1 -f "$test" 2>"$log" || status=$?
psql -Xq -c "DROP DATABASE \"$database\" (FORCE)" || true
exit "$status"
