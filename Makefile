# Each target is a line or two that a person could type; `make` alone lists them.

PYTHON ?= $(shell for python in python3.11 python3 python3.12 python3.13 python3.14 python3.15 python; do \
	"$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo "$$python" && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# How many processes run the tests: one more than processors, as some tests wait.
JOBS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1) + 1)
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST = $(BIN)/pytest -n $(JOBS)
# The tests that `make test` runs; continuous integration sets TESTS="not slow".
TESTS ?= not slow and not thorough

# pyright is installed at a pinned version: do not look for a newer one
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
# tests start hundreds of processes: what Python compiled is kept, whatever the environment says
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help install demo diary gallery site test test-browser test-mariadb test-postgres test-redis test-slow lint format types check bench cluster chaos pythons release clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1\t/' | expand -t 17

install: $(STAMP)  ## create .venv with everything needed, or bring it up to date

$(STAMP): pyproject.toml requirements.lock
	@test -n "$(PYTHON)" || { echo "statewalk needs Python 3.11 or later: make PYTHON=/path/to/python" >&2; exit 2; }
	@echo "Installing into $(VENV) (a few minutes the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@$(BIN)/python -m statewalk.checker.machine.ahead
	@touch $@

demo: $(STAMP)  ## check Kafka's InitPid, then find a bug planted in it
	@$(BIN)/statewalk check models/kafka/init_pid.py
	@echo
	@echo "The same protocol with a bug: a broker forgets to raise the producer's epoch."
	@echo
	@code=0; $(BIN)/statewalk check models/kafka/init_pid.py \
		--set BROKERS=1 --set MUTANT=no_epoch_bump || code=$$?; \
	test $$code -eq 1 || { \
		echo "demo: a violation (exit code 1) was expected, but the exit code was $$code" >&2; exit 1; }

diary: $(STAMP)  ## run every entry of the diary: a few minutes
	$(BIN)/statewalk diary test

gallery: $(STAMP)  ## build pages of the diary's bugs in build/gallery
	$(BIN)/python docs/gallery.py

site: $(STAMP)  ## build the documentation as pages that run, in build/site; npm brings Python for browsers
	$(BIN)/python docs/site.py

test: $(STAMP)  ## run the tests, without the thorough and the slow ones
	$(PYTEST) -m "$(TESTS)" tests

test-browser: $(STAMP)  ## look at pages in a browser, Debian's chromium
	@command -v chromium google-chrome >/dev/null || apt-get install --yes chromium || true
	$(BIN)/pytest -m browser tests/checker/page tests/checker/runnable

test-mariadb: $(STAMP)  ## run the tests that need MariaDB, on a server of their own
	$(BIN)/python -m tests.checker.history.mariadb_server $(BIN)/pytest -m mariadb tests/checker/history

test-postgres: $(STAMP)  ## run the tests that need PostgreSQL, on a server of their own
	$(BIN)/python -m tests.checker.history.postgres_server $(BIN)/pytest -m postgres tests/checker/history tests/examples

test-redis: $(STAMP)  ## run the tests that need Redis, on a server of their own
	$(BIN)/python -m tests.checker.history.redis_server $(BIN)/pytest -m redis tests/checker/history/objects

test-slow: $(STAMP)  ## run the slow tests, and generate more
	$(PYTEST) -m "slow or hypothesis" --hypothesis-profile=default tests

lint: $(STAMP)  ## look for mistakes and for formatting that differs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(STAMP)  ## format the code and repair what can be repaired safely
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(STAMP)  ## check the types, with mypy and with pyright
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

check: lint types test  ## lint, types and test

bench: $(STAMP)  ## measure time and memory of the engines; fails where worse than recorded
	$(BIN)/python benchmarks/beside.py --guard
	$(BIN)/python benchmarks/small.py
	$(BIN)/python benchmarks/run.py --histories

cluster: $(STAMP)  ## start a Spark cluster on this machine, check a spec on it, end it
	$(BIN)/python benchmarks/cluster.py

chaos: $(STAMP)  ## disturb saved searches and Spark runs at random, and compare the results
	$(BIN)/python benchmarks/chaos_native.py
	$(BIN)/python benchmarks/chaos.py

pythons: $(STAMP)  ## run a smoke set on every other Python that is here, 3.11 to 3.15
	$(BIN)/python -m tests.package.pythons

release: $(STAMP)  ## build wheel and sdist, and try the wheel with each Python there is
	$(BIN)/python -m tests.package.release

clean:  ## remove caches, build output and runs; .venv stays
	rm -rf build dist .statewalk .pytest_cache .hypothesis .mypy_cache .ruff_cache .coverage htmlcov spark-warehouse
	find . -path ./$(VENV) -prune -o -type d -name __pycache__ -print0 | xargs -0 rm -rf
