#!/usr/bin/env bash
# run.sh: every benchmark in turn, in the cluster of test/private.sh ("make bench").
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

./publish.sh
./history.sh
