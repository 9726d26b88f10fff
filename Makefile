# One word per task; each works from a clean clone. `make help` lists them.
PYTHON ?= python3
BIN := .venv/bin
MANAGE := $(BIN)/python manage.py

# The embedded default keeps its data and its secret in var/; a deployment sets the variables itself.
ifeq ($(HEART_SECRET_KEY)$(HEART_SECRET_KEY_FILE),)
export HEART_SECRET_KEY_FILE := $(CURDIR)/var/secret-key
SECRET := var/secret-key
endif

demo run: export HEART_LOG_LEVEL ?= WARNING

.DEFAULT_GOAL := help
.PHONY: help setup demo run test test-all audit audit-dependencies faults load scale check fix fuzz-api bench-prompt bench-ranks bench-gate bench-coverage bench-power bench-planner bench-console bench-people bench-ppi bench-ranking bench-refit bench-report bench-import bench-export bench-llm figures-docs lock pin-images clean

help: ## List the tasks
	@grep -hE '^[a-z%-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 15

setup: .venv/.dev $(SECRET) ## Make .venv with everything that development needs, from the lock

demo: .venv/.runtime $(SECRET) ## A judged and ranked study, then the site (CHECK=1: headless; DIALOGUES=FILE)
	@$(MANAGE) demo $(if $(CHECK),--check) $(if $(DIALOGUES),--dialogues "$(DIALOGUES)") $(if $(PORT),--port $(PORT))

run: .venv/.runtime $(SECRET) ## The site with worker and periodic tasks in one process
	@$(MANAGE) serve $(if $(PORT),--port $(PORT))

test: setup ## All tests, on SQLite and on PostgreSQL
	@BIN=$(BIN) tests/run $(ARGS)

test-all: export PAGES_ON_BOTH = 1
test-all: test ## The same, and every page on PostgreSQL, too

faults: setup ## Break every service under load, three times each, and hold the books (ARGS="-k web")
	HEART_FAULT_ROUNDS=$${HEART_FAULT_ROUNDS:-3} $(BIN)/python -m pytest tests/faults -q -n0 $(ARGS)

audit: .venv/.runtime $(SECRET) ## Whether anything but the texts tells raters who wrote what (STUDY=demo)
	@$(MANAGE) audit blinding --study $(or $(STUDY),demo)

load: export HEART_STATIC_STORAGE = whitenoise.storage.CompressedManifestStaticFilesStorage
load: setup ## How the rater's loop stands a crowd, beside bare Django; PostgreSQL and Redis (ARGS="--seconds 5")
	@$(MANAGE) collectstatic --noinput --verbosity 0
	$(BIN)/python -m benchmarks.load $(ARGS)

check: setup ## Lint, types, import contracts, migrations, deployment settings, compose file
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/lint-imports
	$(MANAGE) makemigrations --check --dry-run
	$(MANAGE) spectacular --fail-on-warn --validate --file /dev/null
	HEART_HTTPS=true HEART_ALLOWED_HOSTS=heart.example \
	  HEART_SECRET_KEY_FILE= HEART_SECRET_KEY=$$($(PYTHON) -c "import secrets; print(secrets.token_urlsafe(50))") \
	  $(MANAGE) check --deploy --fail-level WARNING
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml

audit-dependencies: ## Known weaknesses of the locked versions; needs a way to a service on the network
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/pip install --quiet pip-audit
	.venv-audit/bin/pip-audit -r requirements.lock --require-hashes --disable-pip --strict --progress-spinner off

fuzz-api: setup ## Ask every operation of the API with much odd input (ARGS="-k team", HEART_FUZZ_EXAMPLES=1000)
	HEART_FUZZ_EXAMPLES=$${HEART_FUZZ_EXAMPLES:-300} $(BIN)/python -m pytest tests/api/test_schema_fuzz.py $(ARGS)

fix: setup ## Format and repair what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench-ranks: setup ## How often intervals miss, by simulation, in some minutes (ARGS="--studies 100")
	$(BIN)/python -m benchmarks.ranks $(ARGS)

bench-coverage: setup ## How often each kind of interval holds, by simulation, in 15 minutes (ARGS="--studies 50")
	$(BIN)/python -m benchmarks.coverage $(ARGS)

bench-gate: setup ## How often the gate errs and how often it sees, by simulation, in some minutes (ARGS="--studies 50")
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.gate $(ARGS)

bench-power: setup ## Whether planned studies find what they are planned to, by simulation (ARGS="--studies 100")
	$(BIN)/python -m benchmarks.power $(ARGS)

bench-planner: setup ## Whether studies of the size that the planner asks for find what they should (ARGS="--studies 100")
	$(BIN)/python -m benchmarks.planner $(ARGS)

bench-console: setup ## What every page of the console costs in queries and time; needs PostgreSQL (ARGS="--judgments 1000000")
	$(BIN)/python -m benchmarks.console $(ARGS)

scale: setup ## What a million judgments and 285,000 comparisons cost: tables, lists, refit, pages (ARGS="--only refit")
	$(BIN)/python -m benchmarks.scale $(ARGS)

bench-people: setup ## What choosing the best text does to its rating, by simulation (ARGS="--studies 20")
	$(BIN)/python -m benchmarks.people $(ARGS)

bench-ppi: setup ## How often prediction-powered intervals hold, by simulation, in some minutes (ARGS="--studies 50")
	$(BIN)/python -m benchmarks.prediction_powered $(ARGS)

bench-ranking: setup ## What fits and their bootstrap cost, beside choix and evalica (ARGS="--sizes ab --rounds 3")
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.ranking $(ARGS)

bench-prompt: setup ## What ranking a million rows of a file costs (ARGS="--rows 100000")
	$(BIN)/python -m benchmarks.prompt $(ARGS)

bench-refit: setup ## What a refit costs beside a scan of the judgments, on PostgreSQL (ARGS="--size b")
	$(BIN)/python -m benchmarks.refit $(ARGS)

bench-report: setup ## What the report of a study and its pages cost, on PostgreSQL (ARGS="--judgments 4000")
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.report $(ARGS)

figures-docs: setup ## docs/figures.md: every figure of a simulated report, light and dark (PostgreSQL, Chromium)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.figures

bench-import: setup ## What an import of DIALOGUES=FILE costs beside json.load (ARGS="--rounds 3")
	$(BIN)/python -m benchmarks.importing "$(DIALOGUES)" $(ARGS)

bench-export: setup ## Rows a second and peak memory of each form of export, on PostgreSQL (ARGS="--judgments 42000")
	$(BIN)/python -m benchmarks.exports $(ARGS)

bench-llm: setup ## Calls to models a second beside the ideal, on PostgreSQL and Redis (ARGS="--pools")
	$(BIN)/python -m benchmarks.llm $(ARGS)

lock: ## Renew the locks (needs uv); releases younger than a week are left out
	for lock in "requirements.lock" "requirements-otel.lock --extra otel" "requirements-dev.lock --extra otel --group dev"; do \
	  uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
	    --no-annotate --no-header --upgrade --exclude-newer "7 days" --quiet --output-file $$lock; \
	done

pin-images: ## Write the digests of today behind the tags of images (needs docker and a network)
	deploy/pin-images

clean: ## Remove the environment and the embedded data
	rm -rf .venv var staticfiles

# --- Files behind the tasks ---
.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "HEART needs Python 3.11 or later: make PYTHON=python3.12 ..."; exit 1; }
	@if command -v uv >/dev/null; then uv venv --quiet --no-python-downloads --python $(PYTHON) .venv; \
	 else $(PYTHON) -m venv .venv || { echo "On Debian: apt-get install python3-venv"; exit 1; }; fi

.venv/.runtime: requirements.lock | .venv/bin/python
	@$(call install,$<)
	@touch $@

.venv/.dev: requirements-dev.lock | .venv/bin/python
	@$(call install,$<)
	@touch $@ .venv/.runtime

define install
echo "Installing $(1) ..."; if command -v uv >/dev/null; \
  then uv pip install --quiet --python $(BIN)/python --require-hashes -r $(1); \
  else $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(1); fi
endef

var/secret-key:
	@mkdir -p var
	@umask 077; $(PYTHON) -c 'import secrets; print(secrets.token_urlsafe(50))' > $@
