#!/usr/bin/env bash
# suites.sh: runs the test suites on the cluster of private.sh and adds up what really ran.
#
#   SUITES="regress tap"   only these suites (regress, isolation, tap, pgtap)
#   TESTS="name name"      only these tests, named without directory and suffix
#   JOBS=1                 that many TAP tests at a time, instead of 4: each has a server of its own and mostly waits; half as many pgTAP tests
#
# The last line is "N passed, N failed"; the exit status is 0 only if nothing failed.
set -euo pipefail
shopt -s nullglob

: "${PG_CONFIG:?run this with test/private.sh}" "${SCRATCH:?}" "${SERVER_LOG:?}"
passed=0
failed=0
report=()
matched=' '

# select_tests sets files to the tests of a suite that are to run; returns false if there are none
select_tests() { # directory suffix
	local file name
	files=()
	for file in "$1"/*"$2"; do
		name=$(basename "$file" "$2")
		[[ -z ${TESTS:-} || " $TESTS " == *" $name "* ]] || continue
		files+=("$file")
		matched+="$name "
	done
	[ ${#files[@]} -gt 0 ]
}

tally() { # suite passed failed [remark]
	passed=$((passed + $2))
	failed=$((failed + $3))
	report+=("$(printf '%-10s %d of %d passed%s' "$1" "$2" "$(($2 + $3))" "${4:-}")")
}

# both pg_regress and pg_isolation_regress: a test counts as passed only where the output says so
run_regress() { # suite make-variable suffix
	local log=$SCRATCH/$1.log file name names=() ok=0 bad=0 status=0 out=.
	[ "$1" = regress ] || out=output_iso
	for file in "${files[@]}"; do
		name=$(basename "$file" "$3")
		names+=("$name")
		# a missing file would stop the whole suite, an empty one shows what there is to expect
		[ -e "test/expected/$name.out" ] || : >"test/expected/$name.out"
	done
	{ make -s installcheck with_llvm=no PG_CONFIG="$PG_CONFIG" REGRESS= ISOLATION= "$2=${names[*]}" 2>&1 || status=$?
		echo "exit status ${status}"; } | tee "$log" | grep --line-buffered -E '\.\.\. |^(not )?ok ' || true
	for name in "${names[@]}"; do
		# "test NAME ... ok" up to 15, "ok 1 - NAME 12 ms" from 16 on
		if grep -Eq "^(test| ) *$name +\.\.\. ok( |$)|^ok [0-9]+ +[-+] $name " "$log"; then
			ok=$((ok + 1))
		else
			bad=$((bad + 1))
		fi
	done
	[ "$bad" -gt 0 ] || grep -qx 'exit status 0' "$log" || bad=1
	tally "$1" "$ok" "$bad"
	[ ! -d $out/results ] || cp -r $out/results "$SCRATCH/$1-results"
	[ "$bad" -eq 0 ] || cat $out/regression.diffs 2>/dev/null || cat "$log"
}

run_tap() { # suite [option-of-tap.pl...]
	local suite=$1 counts=$SCRATCH/$1.counts ok=0 bad=0 skipped=0 status=0
	shift
	perl test/tap.pl --counts "$counts" "$@" "${files[@]}" || status=$?
	read -r ok bad skipped <"$counts" || true
	[ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
	((ok + bad + skipped > 0)) || bad=1
	if [ "$skipped" -gt 0 ]; then skipped=", $skipped skipped"; else skipped=; fi
	tally "$suite" "$ok" "$bad" "$skipped"
}

suite_regress() {
	! select_tests test/sql .sql || run_regress regress REGRESS .sql
}

suite_isolation() {
	! select_tests test/specs .spec || run_regress isolation ISOLATION .spec
}

suite_tap() {
	local pgxs tap=$SCRATCH/tap
	select_tests test/t .pl || return 0
	pgxs=$(dirname "$("$PG_CONFIG" --pgxs)")/..
	# 15 makes its directories below TESTDIR, later versions take the other two
	mkdir -p "$tap/tmp_check/log"
	TESTDIR=$tap TESTDATADIR=$tap/tmp_check TESTLOGDIR=$tap/tmp_check/log \
		PG_REGRESS=$pgxs/test/regress/pg_regress PERL5LIB=$pgxs/test/perl \
		PG_TEST_TIMEOUT_DEFAULT=${PG_TEST_TIMEOUT_DEFAULT:-60} run_tap tap --jobs "${JOBS:-4}"
}

suite_pgtap() {
	select_tests test/pgtap .sql || return 0
	psql -Xq -v ON_ERROR_STOP=1 -f test/pgtap-setup.sql
	run_tap pgtap --comments --jobs $(((${JOBS:-4} + 1) / 2)) --exec test/pgtap.sh
}

psql -XAtc "SELECT 'PostgreSQL ' || current_setting('server_version')"
for suite in ${SUITES:-regress isolation tap pgtap}; do
	if ! declare -F "suite_$suite" >/dev/null; then
		echo "error: there is no suite named $suite" >&2
		exit 2
	fi
	"suite_$suite"
done

for name in ${TESTS:-}; do
	[[ $matched == *" $name "* ]] || tally "$name" 0 1 ' (there is no such test)'
done
if grep -E 'was terminated by signal|PANIC:|TRAP:' "$SERVER_LOG"; then
	tally server 0 1 ' (it crashed, see above)'
fi

echo
printf '%s\n' "${report[@]}"
((passed + failed > 0)) || { echo 'error: no test ran' >&2; failed=1; }
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
