# dq_gate: build, install and test with PGXS; "make help" lists what there is to do.

EXTENSION = dq_gate
MODULE_big = dq_gate
EXTVERSION := $(shell sed -n "s/^default_version *= *'\([^']*\)'.*/\1/p" dq_gate.control)

OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c src/kinds/*.c)))
OWN_HEADERS = $(wildcard src/*.h src/kinds/*.h)

# the install script is its modules in the order in which they build on each other
SQL_MODULES = $(addprefix sql/,schema.sql tables.sql access.sql gate.sql expect.sql checks.sql exchange.sql publish.sql preview.sql requeue.sql backlog.sql trends.sql alerts.sql suggest.sql activity.sql retention.sql report.sql lifecycle.sql schedule.sql rights.sql)
FRESH_SQL = sql/dq_gate--$(EXTVERSION).sql
DATA_built = $(FRESH_SQL)
DATA = $(wildcard sql/dq_gate--*--*.sql)

# the extension is loaded when a test database is made, so that no test depends on the order of the others
REGRESS = $(patsubst test/sql/%.sql,%,$(sort $(wildcard test/sql/*.sql)))
# pg_regress would take a module of the same name in sql/ for the test
ifneq ($(filter $(REGRESS),$(basename $(notdir $(wildcard sql/*.sql)))),)
$(error a test in test/sql has the name of a file in sql)
endif
REGRESS_OPTS = --inputdir=test --load-extension=dq_gate
ISOLATION = $(patsubst test/specs/%.spec,%,$(sort $(wildcard test/specs/*.spec)))
ISOLATION_OPTS = --inputdir=test --load-extension=dq_gate

# the headers of the server leave parameters unused themselves
PG_CFLAGS = -Wall -Wextra -Wno-unused-parameter
PG_CPPFLAGS = -I$(srcdir)/src

PG_CONFIG ?= pg_config

# these goals prepare their own PostgreSQL, and so have to work where there is none yet
SELF_CONTAINED = test demo bench help
ifneq ($(filter-out $(SELF_CONTAINED),$(or $(MAKECMDGOALS),all)),)

PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
ifeq ($(PGXS),)
$(error $(PG_CONFIG) does not run: install PostgreSQL and its server development files, or name another with PG_CONFIG=/path/to/pg_config)
endif
ifeq ($(wildcard $(PGXS)),)
$(error $(PGXS) does not exist: install the server development files of PostgreSQL)
endif

# a server built with LLVM wants bitcode, which its headers can ask for where its clang is not installed
CLANG_OF_SERVER := $(shell sed -n 's/^CLANG *= *//p' $(dir $(PGXS))../Makefile.global)
ifeq ($(shell command -v $(or $(CLANG_OF_SERVER),clang) 2>/dev/null),)
override with_llvm := no
endif

include $(PGXS)

ifeq ($(shell test $(MAJORVERSION) -ge 15 && echo yes),)
$(error dq_gate needs PostgreSQL 15 or newer, and $(PG_CONFIG) is of $(VERSION))
endif

$(OBJS) $(OBJS:.o=.bc): $(OWN_HEADERS)

$(FRESH_SQL): $(SQL_MODULES) dq_gate.control
	cat $(SQL_MODULES) > $@

endif

# every suite in a private installation and cluster; narrow with SUITES="regress tap" and TESTS="name name"
test:
	@test/private.sh --with-test-tools test/suites.sh

# a year of real data through a gate, in a private installation and cluster
demo:
	@test/private.sh examples/demo.sh

# what a gate costs over the bare MERGE that it guards, and what a long history adds, likewise
bench:
	@test/private.sh bench/run.sh

help:
	@echo 'make               build dq_gate for the server of PG_CONFIG'
	@echo 'make install       install it there'
	@echo 'make installcheck  test it on a running server where it is installed'
	@echo 'make test          build it and run all tests in a private, throw-away cluster'
	@echo 'make demo          replay a year of real data through a gate, likewise'
	@echo 'make bench         measure what a gate costs over a bare MERGE, likewise'

.PHONY: test demo bench help
