# Two commands to know: `make model` and `make test`. The rest is listed by `make help`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock

.PHONY: help model test lint bench fuzz lock mutants mutants-all peers pictures sdk-versions clean
help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

# The light environment: what `pip install doneness` brings, at the locked versions.
$(VENV)/.model: pyproject.toml requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	touch $@

# The full one: every extra and the development tools.
$(VENV)/.test: $(VENV)/.model
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(PIP) --editable '.[all]' --group dev
	touch $@

# The compiler for the JavaScript part's types; its test is skipped where npm cannot bring it.
$(VENV)/.node: tests/javascript/package.json $(VENV)/.test
	-command -v npm >/dev/null && npm install --prefix tests/javascript --no-package-lock --no-audit --no-fund --silent
	touch $@

model: $(VENV)/.model ## set up, then look for divergences: pytest -m model
	$(BIN)/python -m pytest -m model

test: $(VENV)/.test $(VENV)/.node lint ## set up, then everything
	$(BIN)/python -m pytest

lint: $(VENV)/.test ## format, lint, types, import directions
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	PYTHONPATH= $(BIN)/lint-imports

pictures: $(VENV)/.test ## draw the committed pictures anew, from the declarations
	$(BIN)/python -m doneness.diagrams.gallery
	$(BIN)/python -m doneness.diagrams.tables_page docs/tables.md

# The adapter's tested range: the locked release of openai-agents in `make test`, this one here.
SDK_BEFORE := 0.23.1
SDK_VENV := $(VENV)/sdk-$(SDK_BEFORE)
$(SDK_VENV)/.ready: pyproject.toml requirements.lock
	$(PYTHON) -m venv $(SDK_VENV)
	grep -v '^openai-agents==' requirements.lock > $(SDK_VENV)/constraints.txt
	$(SDK_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(SDK_VENV)/constraints.txt 'openai-agents==$(SDK_BEFORE)' pytest pytest-timeout --editable '.[openai-agents]'
	touch $@

sdk-versions: $(SDK_VENV)/.ready ## the adapter's tests with the release of openai-agents before the locked one
	$(SDK_VENV)/bin/python -m pytest --quiet tests/adapters/openai_agents

bench: $(VENV)/.test ## figures beside the plain way, as ratios
	for script in tests/bench/bench_*.py; do $(BIN)/python $$script || exit 1; done

# Campaigns, each with its own packages.
$(VENV)/.fuzz $(VENV)/.mutants $(VENV)/.peers: $(VENV)/.%: $(VENV)/.test
	$(PIP) --group $*
	touch $@

FUZZ_SECONDS ?= 600
fuzz: $(VENV)/.fuzz ## ten minutes of coverage-guided inputs to the decoder, against its declaration
	$(BIN)/python tests/fuzz/fuzz_framing.py -max_total_time=$(FUZZ_SECONDS) -max_len=160 -rss_limit_mb=4096

peers: $(VENV)/.peers ## the decoder beside its peers: every case, promptness, speed
	-command -v npm >/dev/null && npm ci --prefix tests/peers/javascript --silent --ignore-scripts --no-audit --no-fund
	$(BIN)/python tests/peers/compare.py --details
	$(BIN)/python tests/peers/speed.py
	$(BIN)/python tests/peers/one_call.py

mutants: $(VENV)/.test ## every single change of the machine and the declared tables; all must be noticed
	$(BIN)/doneness mutants

# Resumable: what was judged stays judged; `make clean` forgets it.
mutants-all: $(VENV)/.mutants ## a campaign: every change of all of machine by mutmut, judged by pytest -m model
	$(BIN)/python -m doneness.generators.mutants.staging build/mutmut
	cd build/mutmut && PYTHONPATH=src $(CURDIR)/$(BIN)/python -m mutmut run $(MUTANTS)
	cd build/mutmut && $(CURDIR)/$(BIN)/python -m mutmut results

lock: ## resolve the lock file anew
	$(PYTHON) -m venv $(VENV)/lock && $(VENV)/lock/bin/pip install --quiet uv
	$(VENV)/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --all-extras --group dev --group peers --group fuzz --group mutants --no-header --no-annotate --no-emit-index-url --output-file requirements.lock pyproject.toml

clean: ## remove the environment and caches
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
