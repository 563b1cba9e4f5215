#!/usr/bin/env bash
# private.sh [--with-test-tools] COMMAND [ARGUMENT...]
#
# Runs a command with a PostgreSQL of its own: a copy of the installation with
# this tree's dq_gate built and installed into it, and a new cluster that only
# listens on a socket in a temporary directory.  No other installation or
# cluster is touched, and all of it is gone at the end.
#
# The command runs in a copy of this tree, never as root, with the client's
# environment (PATH, PGHOST, ...) set, and with
#   PG_CONFIG   pg_config of the original installation
#   SCRATCH     a directory to write into
#   SERVER_LOG  the log of the server
# KEEP_LOGS=directory keeps the logs and test results there.
set -euo pipefail
umask 022

tools=()
if [ "${1:-}" = --with-test-tools ]; then
	tools=("$1")
	shift
fi
[ $# -gt 0 ] || { echo 'usage: private.sh [--with-test-tools] COMMAND [ARGUMENT...]' >&2; exit 2; }

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PG_CONFIG=$("$top/test/packages.sh" "${tools[@]}")
export PG_CONFIG

# what a caller has set for another server, or for the make that runs this, is not for here
for name in $(compgen -e | grep '^PG[A-Z]' || true) MAKEFLAGS MFLAGS MAKELEVEL; do
	unset "$name"
done

work=$(mktemp -d "${TMPDIR:-/tmp}/dq_gate.XXXXXX")
server=
export SCRATCH=$work/scratch SERVER_LOG=$work/scratch/server.log HOME=$work LC_ALL=C.UTF-8

cleanup() {
	if [ -n "$server" ]; then
		kill -QUIT "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
	fi
	if [ -n "${KEEP_LOGS:-}" ]; then
		mkdir -p "$KEEP_LOGS"
		cp -r "$SCRATCH/." "$KEEP_LOGS/" || true
	fi
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# logged runs a command whose output matters only if it fails
logged() {
	"$@" >>"$work/build.log" 2>&1 || {
		cat "$work/build.log" >&2
		printf 'error: failed: %s\n' "$*" >&2
		exit 1
	}
}

# PostgreSQL refuses to run as root
unprivileged=(setpriv)
if [ "$(id -u)" -eq 0 ]; then
	owner=nobody
	! id postgres >/dev/null 2>&1 || owner=postgres
	unprivileged=(setpriv --reuid="$owner" --regid="$(id -g "$owner")" --init-groups)
	chown "$owner:" "$work"
fi

"${unprivileged[@]}" mkdir "$work/src" "$work/tmp" "$SCRATCH"
tar -C "$top" --exclude=./.git --exclude='*.o' --exclude='*.bc' --exclude='*.so' -cf - . |
	"${unprivileged[@]}" tar -C "$work/src" -xf -

# PostgreSQL finds its files relative to its programs: those have to be copies, the rest can be links
for directory in pkglibdir sharedir; do
	original=$("$PG_CONFIG" "--$directory")
	"${unprivileged[@]}" mkdir -p "$work/root$original"
	"${unprivileged[@]}" cp -as "$original/." "$work/root$original/"
	find "$work/root$original" -name 'dq_gate*' -prune -exec rm -rf {} +
done
bindir=$("$PG_CONFIG" --bindir)
"${unprivileged[@]}" mkdir -p "$work/root$bindir"
"${unprivileged[@]}" cp -L "$bindir"/* "$work/root$bindir/"

cd "$work/src"
logged "${unprivileged[@]}" make -s -j"$(nproc)" with_llvm=no PG_CONFIG="$PG_CONFIG"
logged "${unprivileged[@]}" make -s install with_llvm=no PG_CONFIG="$PG_CONFIG" DESTDIR="$work/root"
grep 'warning:' "$work/build.log" >&2 || true

export PATH=$work/root$bindir:$PATH
export PGHOST=$work PGPORT=65432 PGUSER=postgres PGDATABASE=postgres
logged "${unprivileged[@]}" initdb -D "$work/data" -U postgres -A trust --no-locale -E UTF8 --no-sync --no-instructions
cat >>"$work/data/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$work'
fsync = off
full_page_writes = off
max_prepared_transactions = 10
timezone = 'UTC'
log_timezone = 'UTC'
log_line_prefix = '%m [%p] %q%u@%d '
log_checkpoints = off
END

# should this script be killed outright, the server goes down too
"${unprivileged[@]}" --pdeathsig INT postgres -D "$work/data" </dev/null >"$SERVER_LOG" 2>&1 &
server=$!
for ((tenths = 0; ; tenths++)); do
	pg_isready -q && break
	if ((tenths == 600)) || ! kill -0 "$server" 2>/dev/null; then
		cat "$SERVER_LOG" >&2
		echo 'error: the private server does not start' >&2
		exit 1
	fi
	sleep 0.1
done

status=0
export TMPDIR=$work/tmp
"${unprivileged[@]}" "$@" || status=$?
exit "$status"
