# Everything that a developer or CI runs. Needs make and Python 3.11 or newer; the rest is installed into .venv.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready-for-development
DEMO_READY := .venv/.ready-for-demo
SCALE_READY := .venv-scale/.ready
RELEASE := .venv-release/bin
RELEASE_READY := .venv-release/.ready
DOCS_READY := .venv-docs/.ready
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# one more than cores: a test that waits leaves its core to another
WORKERS ?= 3
FUZZ_SECONDS ?= 60
MUTANTS ?= 500
SEED ?= 1
ROW ?=
CLIENTS ?=
UPSTREAMS ?=
SOAK_REQUESTS ?= 100000
SOAK_ABORTED ?= 1000
SOAK_STREAMS ?= 1000
PYTEST_ARGS ?=
SCALE_ARGS ?=
# bytecode of tests and package is kept: writing the asserts of the tests anew takes each worker 25 s, and every program
# that a test starts would compile what it imports
unexport PYTHONDONTWRITEBYTECODE
CHECKS := check-format check-lint check-words check-types check-public-types check-typing check-contract

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup lock demo test check test-js test-agents test-clients test-comply test-local-tools fuzz mutants sabotage scoreboard soak bench bench-full golden-update scale test-scale dist sbom docs docs-serve check-workflows $(CHECKS)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "$(PYTHON) is older than Python 3.11; name a newer one: make setup PYTHON=python3.12"; exit 1; }
	@echo "== .venv from $$($(PYTHON) --version)"
	@$(PYTHON) -m venv .venv

$(READY): requirements/dev.lock pyproject.toml | $(BIN)/python
	@echo "== packages for development (requirements/dev.lock)"
	@$(PIP) install --require-hashes --requirement requirements/dev.lock
	@echo "== interlingua itself, editable"
	@$(PIP) install --no-build-isolation --no-deps --editable .
	@touch $@

$(DEMO_READY): requirements/dev.txt pyproject.toml | $(BIN)/python
	@echo "== interlingua with its local engine and its gateway, and the official SDKs (60 MB, about a minute)"
	@$(PIP) install --constraint requirements/dev.txt --editable '.[local,gateway]' openai anthropic google-genai ollama
	@touch $@

$(DOCS_READY): requirements/docs.lock | $(BIN)/python
	@echo "== .venv-docs: what builds the site (requirements/docs.lock)"
	@$(BIN)/python -m venv .venv-docs
	@.venv-docs/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes --requirement requirements/docs.lock
	@touch $@

setup: $(READY) ## build .venv with everything that development and tests need

lock: $(READY) ## the pins of requirements/*.txt with the hashes of their files, as pip's index has them
	@$(BIN)/python requirements/lock.py

demo: $(DEMO_READY) ## a real local model calls a function, returns a typed value, streams text; then the same through the gateway
	@$(BIN)/il models pull tiny
	@$(BIN)/python examples/demo.py
	@$(BIN)/python examples/demo_gateway.py

test: $(READY) ## all tests; no network
	@$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal $(PYTEST_ARGS)

check: $(CHECKS) ## format, lint, types, import graph, documents

check-format: $(READY)
	@echo "== format"; $(BIN)/ruff format --check

check-lint: $(READY)
	@echo "== lint"; $(BIN)/ruff check

check-words: $(READY)
	@echo "== words"; $(BIN)/typos

check-types: $(READY)
	@echo "== types"; $(BIN)/pyright

check-public-types: $(READY)
	@echo "== types of the public API"; PATH="$(CURDIR)/$(BIN):$$PATH" pyright --verifytypes interlingua --ignoreexternal

check-typing: $(READY)
	@echo "== types, a second opinion"; $(BIN)/mypy tests/typing

check-contract: $(READY)
	@echo "== import graph, budget, documents"; $(BIN)/python -m pytest --quiet --numprocesses $(WORKERS) tests/contract

fuzz: $(READY) ## every decoder against random bytes, FUZZ_SECONDS in all
	@$(BIN)/python -m fuzz --seconds $(FUZZ_SECONDS)

mutants: $(READY) ## mutation testing of wire/, stream/, dialects/: MUTANTS of them, chosen by SEED; or of rows alone: ROW=R07, ROW=all
ifeq ($(ROW),)
	@$(BIN)/python -m mutants --sample $(MUTANTS) --seed $(SEED) --workers $(WORKERS)
endif
	@$(BIN)/python -m mutants.rows --workers $(WORKERS) $(filter-out all,$(ROW))

sabotage: $(READY) ## small losses planted in the codec: does the judge of recorded exchanges notice them?
	@$(BIN)/python -m sabotage

scoreboard: $(READY) ## our gateway and those of others, judged by three judges in minutes: writes docs/scoreboard.md; installs them by pip and npm
	@$(BIN)/python -m scoreboard

bench: $(READY) ## the numbers that need no other software, in some minutes
	@$(BIN)/python -m compileall -q src/interlingua
	@$(BIN)/python -m bench

golden-update: $(READY) ## rewrite golden files and generated tables; the diff is the review
	@$(BIN)/python -m pytest tests/golden tests/matrix tests/unit/cli/litellm --golden-update
	@$(BIN)/python -m tests.support.docs_tables
	@git diff --stat -- tests/golden tests/matrix docs README.md

$(RELEASE_READY): requirements/release.lock | $(BIN)/python
	@echo "== packages that check a release (requirements/release.lock)"
	@$(BIN)/python -m venv .venv-release
	@$(RELEASE)/python -m pip --disable-pip-version-check --quiet install --require-hashes --requirement requirements/release.lock
	@touch $@

docs: $(READY) $(DOCS_READY) ## the documentation site in build/site, strictly: a broken link fails; then its search is tried in a browser
	@mkdir -p build/site-source
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/python -m mkdocs --quiet build --strict --clean
	@$(BIN)/python -m pytest --quiet -n0 tests/e2e/site.py $(PYTEST_ARGS)

docs-serve: $(READY) $(DOCS_READY) ## the site at http://127.0.0.1:8000, built anew when a page changes
	@mkdir -p build/site-source
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/python -m mkdocs serve

dist: $(READY) $(RELEASE_READY) ## wheel and source archive in dist/, each the same bytes wherever it is built; checked
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation
	@$(RELEASE)/twine check --strict dist/*

sbom: $(READY) ## the bill of materials of the gateway's image in dist/ (CycloneDX), from its lock
	@mkdir -p dist
	@$(BIN)/python requirements/sbom.py > dist/interlingua.cdx.json

check-workflows: $(RELEASE_READY) ## the workflows and issue forms of .github against their schemas, and for what an attacker could use
	@$(RELEASE)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(RELEASE)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	@$(RELEASE)/zizmor --offline --quiet .github

$(SCALE_READY): requirements/scale.lock | $(BIN)/python
	@echo "== the engines of a cluster (requirements/scale.lock, 1.3 GB)"
	@$(BIN)/python -m venv .venv-scale
	@.venv-scale/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes --requirement requirements/scale.lock
	@touch $@

test-scale: $(READY) $(SCALE_READY) ## `map` on real Ray, Dask and Spark, with killed workers and drivers, and journals in an imitation of S3
	@$(BIN)/python -m pytest -n0 tests/e2e/scale.py $(PYTEST_ARGS)

scale: $(READY) $(SCALE_READY) ## a map on Ray with killed workers and drivers, ten minutes: writes bench/SCALE.md; SCALE_ARGS="--inputs 100000 map"
	@$(BIN)/python -m bench.scale $(SCALE_ARGS)

test-js: $(READY) ## the official JavaScript SDKs and the AI SDK through the gateway; installs them by npm
	@$(BIN)/python -m pytest tests/e2e/js_sdks.py $(PYTEST_ARGS)

test-agents: $(READY) ## five coding agents behind `il launch`, on loopback alone; npm installs 1.4 GB once
	@$(BIN)/python -m tests.support.node tests/agents
	@$(BIN)/python -m tests.support.alone $(BIN)/python -m pytest -n $(WORKERS) tests/e2e/agents.py $(PYTEST_ARGS)

test-clients: $(READY) ## other people's clients on the gateway, a venv each: CLIENTS of them, or all, which writes docs/guides/clients.md
	@$(BIN)/python -m gallery $(if $(UPSTREAMS),--upstreams $(UPSTREAMS)) $(CLIENTS)

test-comply: $(READY) ## llm-comply's 40 checks on the gateway, in front of each of four kinds of upstream
	@$(BIN)/python -m pytest --verbose --no-header -rN tests/e2e/test_llm_comply_gateway.py

test-local-tools: $(READY) ## the larger local model picks tools: pulls 1.06 GB once, needs 2 GB of memory
	@$(BIN)/il models pull coder
	@$(BIN)/python -m pytest tests/e2e/local_tools.py

soak: $(READY) ## 100,000 requests, 1,000 of them abandoned, 1,000 streams at once: does memory stay flat?
	@SOAK_REQUESTS=$(SOAK_REQUESTS) SOAK_ABORTED=$(SOAK_ABORTED) SOAK_STREAMS=$(SOAK_STREAMS) $(BIN)/python -m bench.soak

bench-full: $(READY) ## every number, beside other libraries and gateways, in about an hour: writes bench/RESULTS.md; installs them by pip and npm
	@$(BIN)/python -m bench.peers
	@$(BIN)/python -m compileall -q src/interlingua
	@$(BIN)/python -m bench --full
