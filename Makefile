# One word per task; each works from a clean clone. `make help` lists them.
PYTHON ?= python3
BIN := .venv/bin
MANAGE := $(BIN)/python manage.py
# Installs the locks. .venv-uv brings it, and a pip for where it does not run; UV= takes that pip at once.
UV ?= .venv-uv/bin/uv
STARTED := $(shell date +%s)
took = echo "make $@: $$(( $$(date +%s) - $(STARTED) )) s"

# The embedded default keeps its data and its secret in var/; a deployment sets the variables itself.
ifeq ($(HEART_SECRET_KEY)$(HEART_SECRET_KEY_FILE),)
export HEART_SECRET_KEY_FILE := $(CURDIR)/var/secret-key
SECRET := var/secret-key
endif

# Whom to believe about the registry is as for git and the rest of the machine.
export UV_SYSTEM_CERTS ?= true

unexport PYTHONDONTWRITEBYTECODE # half of a start would be compiling

demo run paper: export HEART_LOG_LEVEL ?= WARNING
paper: export HEART_DATA_DIR ?= $(CURDIR)/var/paper

.DEFAULT_GOAL := help
.PHONY: help setup demo run paper test test-rest test-all audit audit-dependencies faults load scale check fix fuzz-api bench-prompt bench-ranks bench-gate bench-coverage bench-power bench-planner bench-console bench-people bench-ppi bench-ranking bench-refit bench-report bench-import bench-export bench-llm lock pin-images clean

help: ## List the tasks
	@grep -hE '^[a-z%-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 15

setup: .venv/.dev $(SECRET) ## Make .venv with everything that development needs, from the lock

demo: .venv/.runtime $(SECRET) ## A judged and ranked study, then the site (CHECK=1: headless; DIALOGUES=FILE)
	@$(MANAGE) demo $(if $(CHECK),--check) $(if $(DIALOGUES),--dialogues "$(DIALOGUES)") $(if $(PORT),--port $(PORT))
	@$(if $(CHECK),$(took))

run: .venv/.runtime $(SECRET) ## The site with worker and periodic tasks in one process
	@$(MANAGE) serve $(if $(PORT),--port $(PORT))

paper: .venv/.runtime $(SECRET) ## The whole HEART study, simulated: each number of the paper beside the planted (DIALOGUES=ESConv.json; SIZE=small)
	@$(MANAGE) paper --size $(or $(SIZE),full) $(if $(DIALOGUES),--dialogues "$(DIALOGUES)")
	@$(took)

test: setup ## What a change could break, in minutes: on SQLite, and on PostgreSQL what that alone answers
	@BIN=$(BIN) tests/run quick $(ARGS)
	@$(took)

test-rest: setup ## All that `make test` leaves out: full sizes, browser, load, faults, deployment, the other database
	@BIN=$(BIN) tests/run rest $(ARGS)
	@$(took)

test-all: test test-rest ## Both
	@$(took)

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
	HEART_FUZZ_EXAMPLES=$${HEART_FUZZ_EXAMPLES:-300} $(BIN)/python -m pytest tests/access/api/test_schema_fuzz.py $(ARGS)

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

# As docker-compose.yml and the site have it.
scale bench-refit: export MALLOC_MMAP_THRESHOLD_ = 4194304
scale bench-refit: export MALLOC_TRIM_THRESHOLD_ = 33554432
scale bench-refit: export MALLOC_ARENA_MAX = 1
scale bench-refit: export OPENBLAS_NUM_THREADS = 1
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

bench-report: setup ## What the report of a study, its release and its pages cost, on PostgreSQL (ARGS="--judgments 4000")
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.report $(ARGS)

bench-import: setup ## What an import of DIALOGUES=FILE costs beside json.load (ARGS="--rounds 3")
	$(BIN)/python -m benchmarks.importing "$(DIALOGUES)" $(ARGS)

bench-export: setup ## Rows a second and peak memory of each form of export, on PostgreSQL (ARGS="--judgments 42000")
	$(BIN)/python -m benchmarks.exports $(ARGS)

bench-llm: setup ## Calls to models a second beside the ideal, on PostgreSQL and Redis (ARGS="--pools")
	$(BIN)/python -m benchmarks.llm $(ARGS)

lock: .venv-uv/.tried ## Write the locks after a change of pyproject.toml (UPGRADE=1: with releases older than a week)
	$(compile) --output-file requirements-dev.lock pyproject.toml --group dev
	$(compile) --output-file requirements.lock pyproject.toml --constraints requirements-dev.lock
	$(compile) --output-file requirements-uv.lock --group installer

pin-images: ## Write the digests of today behind the tags of images (needs docker and a network)
	deploy/pin-images

clean: ## Remove the environment and the embedded data
	rm -rf .venv .venv-uv var staticfiles

# --- Files behind the tasks ---
.venv-uv/.tried: requirements-uv.lock
	@$(PYTHON) -m venv --clear .venv-uv || { echo "On Debian: apt-get install python3-venv"; exit 1; }
	@.venv-uv/bin/python -m pip install $(quietly) --only-binary :all: --require-hashes --no-deps -r $< \
	  || echo "uv is not to be had for this machine; pip installs instead, which takes longer."
	@touch $@

.venv/.runtime: requirements.lock .venv-uv/.tried
	@$(call install,$<)
	@rm -f .venv/.dev
	@touch $@

.venv/.dev: requirements-dev.lock .venv-uv/.tried
	@$(call install,$<)
	@touch $@ .venv/.runtime

# .venv has what the lock names and nothing else, no pip either. Where uv is not to be had, or finds no
# way to the registry, pip starts anew, since it cannot take away.
define install
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
  || { echo "HEART needs Python 3.11 or later: make PYTHON=python3.12 ..."; exit 1; }; \
echo "Installing $(1) ..."; if command -v "$(UV)" >/dev/null \
  && { [ -x $(BIN)/python ] || $(UV) venv --quiet --no-python-downloads --python $(PYTHON) .venv; } \
  && $(UV) pip sync --quiet --python $(BIN)/python --require-hashes $(1); then :; else \
  $(PYTHON) -m venv --without-pip --clear .venv && .venv-uv/bin/python -m pip --python $(BIN)/python \
    install $(quietly) --no-compile --require-hashes --no-deps -r $(1); fi
endef
quietly := --quiet --disable-pip-version-check

compile = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
  --no-strip-extras --no-annotate --no-header --exclude-newer "7 days" $(if $(UPGRADE),--upgrade)

var/secret-key:
	@mkdir -p var
	@umask 077; $(PYTHON) -c 'import secrets; print(secrets.token_urlsafe(50))' > $@
