#!/usr/bin/env bash
# demo.sh: replays a year of real weather data through a gate, one batch a day.
# "make demo" runs it in a private cluster; on a server of yours, where dq_gate
# is installed, it makes a database named dq_gate_demo.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

psql -Xq -d postgres -c 'CREATE DATABASE dq_gate_demo'
# read from standard input, so that messages do not begin with file and line
PGOPTIONS='-c client_min_messages=warning' psql -Xq -d dq_gate_demo -v ON_ERROR_STOP=1 <demo.sql
