#!/usr/bin/env bash
# packages.sh [--with-test-tools]
#
# Chooses the PostgreSQL to work with and prints the path of its pg_config.
# On Debian it first installs what is missing, when root; else it names it.
#
# PG_CONFIG in the environment chooses; by default the newest from 15 on that
# is installed, and where there is none the one that Debian packages.
set -euo pipefail

with_test_tools=${1:-}

die() {
	printf 'error: %s\n' "$*" >&2
	exit 1
}

on_debian() {
	command -v apt-get >/dev/null && command -v dpkg-query >/dev/null
}

# newest_installed prints the major version of the newest server in Debian's places
newest_installed() {
	local server version newest=
	for server in /usr/lib/postgresql/*/bin/postgres; do
		version=$(basename "${server%/bin/postgres}")
		[[ -x $server && $version =~ ^[0-9]+$ ]] || continue
		((version >= 15 && version > ${newest:-0})) && newest=$version
	done
	printf '%s' "$newest"
}

# packaged_version prints the major version that Debian's metapackage stands for
packaged_version() {
	apt-cache depends postgresql 2>/dev/null | sed -n 's/.*Depends: postgresql-\([0-9][0-9]*\)$/\1/p'
}

# debian_version prints the major version that a pg_config belongs to if it is Debian's, installed or not yet
debian_version() {
	local bindir
	on_debian || return 0
	case $1 in
		/usr/lib/postgresql/*/bin/pg_config) bindir=$(dirname "$1") ;;
		*) bindir=$("$1" --bindir 2>/dev/null) || return 0 ;;
	esac
	sed -n 's|^/usr/lib/postgresql/\([0-9]*\)/bin$|\1|p' <<<"$bindir"
}

refresh_lists() {
	[ "$(id -u)" -ne 0 ] || apt-get -qq update || echo 'warning: not all package lists could be refreshed' >&2
}

missing_of() {
	local package
	for package; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s ' "$package"
	done
}

# install_packages installs without making the cluster, and starting the server, that Debian adds to a new server
install_packages() {
	no_cluster=/etc/postgresql-common/createcluster.d/dq_gate-no-cluster.conf
	log=$(mktemp)
	trap 'rm -f "$no_cluster" "$log"' EXIT
	mkdir -p "$(dirname "$no_cluster")"
	echo 'create_main_cluster = false' >"$no_cluster"
	DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends -o Acquire::Retries=3 \
		-o DPkg::Lock::Timeout=120 install "$@" </dev/null >"$log" 2>&1 || {
		cat "$log" >&2
		die "could not install: $*"
	}
}

pg_config=${PG_CONFIG:-}
if [ -z "$pg_config" ]; then
	version=$(newest_installed)
	if [ -n "$version" ]; then
		pg_config=/usr/lib/postgresql/$version/bin/pg_config
	elif command -v pg_config >/dev/null && [ -x "$(pg_config --bindir)/postgres" ]; then
		pg_config=pg_config
	elif on_debian; then
		refresh_lists
		version=$(packaged_version)
		[ -n "$version" ] || die 'no PostgreSQL is installed, and apt knows no package named postgresql'
		pg_config=/usr/lib/postgresql/$version/bin/pg_config
	else
		die 'no PostgreSQL found: install the server and its development files, or set PG_CONFIG'
	fi
fi

version=$(debian_version "$pg_config")
if [ -n "$version" ]; then
	pg_config=/usr/lib/postgresql/$version/bin/pg_config
	wanted=(make gcc libc6-dev "postgresql-$version" "postgresql-server-dev-$version")
	[ -z "$with_test_tools" ] || wanted+=(perl libipc-run-perl "postgresql-$version-pgtap" "postgresql-$version-cron")
	read -ra missing <<<"$(missing_of "${wanted[@]}")"
	if [ ${#missing[@]} -gt 0 ]; then
		[ "$(id -u)" -eq 0 ] || die "packages are missing; as root: apt-get install ${missing[*]}"
		echo "installing packages: ${missing[*]}" >&2
		refresh_lists
		install_packages "${missing[@]}"
	fi
fi

command -v "$pg_config" >/dev/null || die "PG_CONFIG=$pg_config does not exist"
pg_config=$(command -v "$pg_config")
[ -x "$("$pg_config" --bindir)/postgres" ] || die "no server belongs to $pg_config"
[ -f "$("$pg_config" --pgxs)" ] || die "the server development files of $pg_config are missing"
printf '%s\n' "$pg_config"
