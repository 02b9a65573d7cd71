# One environment in .venv, installed from hashed locks by plain pip. `make help` lists what there is.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PACKAGES := graph_memory ingest daemon mcp_server cli

# What a user gets is small: the engines are extras, and none of them is in a lock until something here uses it.
RUNTIME := --group build
DEVELOPMENT := $(RUNTIME) --extra neo4j --extra metrics --extra formats --group test --group dev
# Universal: one file for Linux and macOS, CPython 3.11 and later. Never an index address in it.
RESOLVE := $(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header

.DEFAULT_GOAL := help
.PHONY: help env run test fuzz check lint types layers docs pages spec bench lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Both locks go into the same environment: the development lock is resolved under the runtime one and contains it.
# pip compiles what it installs to bytecode; an editable install is compiled here, or every start pays half a second.
define install-project
	$(PIP) install --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q $(PACKAGES)
endef

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed (make PYTHON=python3.12 …)")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.lock pyproject.toml | $(BIN)/python
	$(PIP) install --require-hashes -r requirements.lock
	$(install-project)
	@touch $@

$(VENV)/.development: requirements-dev.lock pyproject.toml | $(BIN)/python
	$(PIP) install --require-hashes -r requirements-dev.lock
	$(install-project)
	@touch $@ $(VENV)/.runtime

env: $(VENV)/.development ## the environment for working on the project

run: $(VENV)/.runtime ## the daemon in the foreground
	@exec $(BIN)/graph-memory run

test: $(VENV)/.development ## the whole test suite, on all cores
	@$(BIN)/python -m pytest -n auto

fuzz: $(VENV)/.development ## 20,000 random operations in ten seeds on all stores side by side
	@for seed in 1 2 3 4 5 6 7 8 9 10; do \
		CI= CONTRACT_OPERATIONS=2000 $(BIN)/python -m pytest -q --hypothesis-seed=$$seed tests/contract/test_stateful.py || exit 1; \
	done

check: lint types layers docs ## everything short of the tests

lint: $(VENV)/.development ## ruff, rules and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(VENV)/.development ## mypy --strict
	@$(BIN)/mypy

layers: $(VENV)/.development ## who may import whom
	@$(BIN)/lint-imports

pages: $(VENV)/.development ## write the generated parts of the documentation
	@$(BIN)/python -m tests.docs.pages

docs: $(VENV)/.development ## links, settings and decisions in the documentation
	@$(BIN)/python -m pytest -q tests/docs

spec: $(VENV)/.development ## which requirement is proved by which test
	@$(BIN)/python -m tests.spec

bench: $(VENV)/.development ## the measurements of docs/performance.md
	@$(BIN)/python -m bench

lock: $(VENV)/.development ## resolve the lock files anew (UPGRADE=1: to the newest releases)
	@$(RESOLVE) $(if $(UPGRADE),--upgrade) $(RUNTIME) --output-file requirements.lock
	@$(RESOLVE) $(if $(UPGRADE),--upgrade) $(DEVELOPMENT) --constraints requirements.lock --output-file requirements-dev.lock

clean: ## everything that can be made again
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find $(PACKAGES) tests bench -type d -name __pycache__ -prune -exec rm -rf {} +
