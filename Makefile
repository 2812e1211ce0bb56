# Everything runs in .venv inside this checkout. Nothing outside the checkout is written,
# except pip's own download cache.
#
#   make PYTHON=python3.12 demo     use another Python
#   make CONSTRAINTS= test          take the newest dependencies instead of CI's exact versions

PYTHON ?= python3
CONSTRAINTS ?= constraints.txt

BIN := .venv/bin
# The name holds the folder, because an editable install points at the folder it was made in:
# a copied checkout would otherwise run the code of the original.
STAMP := .venv/installed-$(shell pwd | cksum | cut -d ' ' -f 1)
PIP_INSTALL = $(BIN)/python -m pip install --quiet --no-input $(if $(CONSTRAINTS),-c $(CONSTRAINTS))
# The build backend goes into .venv too, so that constraints.txt covers it.
BUILD_TOOLS := hatchling editables

SHELL := /bin/bash
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Python looks here before .venv, so a caller's value could change what is tested.
unexport PYTHONPATH
unexport PYTHONHOME
# Many tests start Python anew, which would compile every file of bhmc again without its .pyc files.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test checks compiled-diffused compiled-hdp compiled-baselines exact interrupts kills bench rivals study pictures docs docs-check browser cluster fuzz release dist first-use oldest newest public-types lint types format constraints clean check-python

help: ## List the targets
	@echo "Targets of this Makefile:"
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) \
	    | while IFS='|' read -r name text; do printf '  make %-13s %s\n' "$$name" "$$text"; done

setup: $(STAMP) ## Create .venv in this checkout and install bhmc with its tools
	@echo "The environment in .venv is up to date."

# A stamp for this folder means a finished install, which is only brought up to date.
# Without one, .venv is missing, half made or copied, and is made anew.
$(STAMP): pyproject.toml $(CONSTRAINTS)
	@$(MAKE) --no-print-directory -s check-python
	@if [ ! -f $@ ]; then \
	    echo "Creating .venv with $$($(PYTHON) --version)."; \
	    $(PYTHON) -m venv --clear .venv; \
	fi
	@echo "Installing bhmc and its tools into .venv; the first time takes a minute or two."
	@$(PIP_INSTALL) $(BUILD_TOOLS)
	@$(PIP_INSTALL) --no-build-isolation -e '.[dev]'
	@touch $@

check-python:
	@command -v $(PYTHON) >/dev/null || { \
	    echo "The command '$(PYTHON)' was not found: install Python 3.11 or newer, or name one with make PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "bhmc needs Python 3.11 or newer and '$(PYTHON)' is $$($(PYTHON) --version 2>&1): name a newer one with make PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "'$(PYTHON)' cannot create environments because its venv module is missing: on Debian or Ubuntu, install the package python3-venv."; exit 1; }

demo: setup ## Fit the bundled Zoo data, print the tree, write results to build/demo
	@echo "Running the demo; its results go to build/demo."
	@$(BIN)/python -m bhmc demo --output build/demo

# Both cores compile first, and check style and types where one is free: each worker of pytest would
# otherwise compile the same code for itself. The longest part comes first.
COMPILED := compiled-diffused compiled-hdp compiled-baselines
test: setup ## Check style, imports and types, then run all tests but the long exact ones
	@$(MAKE) --no-print-directory -j 2 --output-sync=target $(COMPILED) checks
	@echo "Running the tests."
	@$(BIN)/python -m pytest -n 2 --dist worksteal --durations=25

checks: lint types

compiled-diffused: setup
	@$(BIN)/python -W ignore -c 'import numpy; from bhmc import BHMC, warmup; \
	    warmup("float64", "diffused"); warmup("float32", "diffused"); \
	    BHMC(transition="diffused", likelihood="bernoulli", n_warmup=1, n_draws=1).fit(numpy.eye(4))'

compiled-hdp: setup
	@$(BIN)/python -W ignore -c 'from bhmc import warmup; warmup("float64", "hdp"); warmup("float32", "hdp")'

compiled-baselines: setup
	@$(BIN)/python -W ignore -c 'import numpy; from bhmc import baselines; X = numpy.eye(4); \
	    [baselines.PYDT(sampler=s, n_warmup=1, n_draws=1).fit(X) for s in ("slice", "mh")]; \
	    baselines.Perch().fit(X)'

exact: setup ## Run the whole exactness ladder, the long tests (40,000 draws each) included
	@echo "Running the exactness ladder with its long tests; pytest prints the time at the end."
	@$(BIN)/python -m pytest -n 2 --dist worksteal -m '' -rP --durations=20 tests/exact tests/mutants \
	    tests/model tests/rows tests/likelihoods tests/baselines tests/estimator/test_animals.py \
	    tests/estimator/test_defaults.py tests/estimator/test_describe.py tests/estimator/test_conformance.py tests/docs/test_install.py \
	    tests/cli/test_fit.py tests/docs/test_docs.py tests/estimator/test_parallel.py tests/tree/test_convert.py

interrupts: setup ## Interrupt a fit of the command line at twenty random moments, and go on with it each time
	@BHMC_INTERRUPTS=20 $(BIN)/python -m pytest -s tests/cli/test_interrupts.py

kills: setup ## Kill 200 fits at random moments, 12 of them at the real interval of checkpoints, and resume each
	@echo "Killing fits and resuming them; this takes some 40 minutes."
	@BHMC_KILLS=188 BHMC_KILLS_TIMES=1 BHMC_KILLS_REAL=12 $(BIN)/python -m pytest -s -m '' -rs tests/estimator/test_kills.py tests/estimator/test_faults.py

bench: setup ## Measure speed, memory and cold start against their bounds; writes build/bench.json
	@echo "Running the benchmarks; this takes some ten minutes."
	@$(BIN)/python -m benchmarks.bench

rivals: setup ## Measure PERCH and PYDT: what they find, their speed, the ratio to their slow twins; some minutes
	@$(BIN)/python -m benchmarks.rivals_perch
	@$(BIN)/python -m benchmarks.rivals_pydt

pictures: setup ## Make the pictures of docs/pictures anew; takes some minutes
	@$(PIP_INSTALL) --no-build-isolation -e '.[plot]'
	@echo "Making the pictures of the documents."
	@$(BIN)/python -m docs.make_model_pictures
	@$(BIN)/python -m docs.make_pictures
	@$(BIN)/python -m docs.make_transition_pictures
	@$(BIN)/python -m docs.make_branch_pictures
	@$(BIN)/python -m docs.make_text_pictures
	@$(BIN)/python -m docs.make_gallery_pictures
	@$(BIN)/python -m docs.make_explorer_pictures

docs: setup ## Build the documentation site in build/site; a warning fails
	@$(PIP_INSTALL) --no-build-isolation -e '.[docs]'
	@echo "Building the documentation site."
	@$(BIN)/python -m docs.site.build

# Needs Node.js, npm and Chromium (CHROMIUM=... names its program); npm brings axe and Playwright.
docs-check: docs ## Open every page of the site in a browser: axe, width, requests; writes build/site-check
	@mkdir -p build/site-check
	@cp docs/site/browser/* build/site-check/
	@npm install --silent --no-audit --no-fund --prefix build/site-check
	@node build/site-check/check.mjs build/site build/site-check/screenshots

browser: setup ## Open the explorer in Chromium: all tests, the long ones included; screenshots go to build/browser
	@echo "Opening the explorer in a browser; this takes some minutes."
	@$(BIN)/python -m pytest -m '' -rs --durations=10 tests/browser

cluster: setup ## Fit on Dask clusters of this machine whose workers are killed: all tests, and what a sweep costs
	@echo "Fitting on clusters of this machine; this takes some minutes."
	@$(BIN)/python -m pytest -m '' -rs --durations=10 tests/cluster
	@$(BIN)/python -m benchmarks.dask_overhead

# SECONDS=600 is the long form; ONLY="tree csv" names readers. atheris has no wheels for Windows.
fuzz: SECONDS = 60
fuzz: setup ## Hand mutated files to every reader of files, guided by coverage; findings go to build/fuzz
	@$(PIP_INSTALL) --no-build-isolation -e '.[fuzz]'
	@echo "Fuzzing every reader of files for $(SECONDS) seconds."
	@$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(if $(ONLY),--only $(ONLY))

study: setup ## Run a study, as in make study NAME=same_draws ARGS="--only fit/"; without NAME, list all
	@$(BIN)/python -m studies$(if $(NAME),.$(NAME)) $(ARGS)

# The steps of a release work in environments of their own, in build/release. Those after `dist` take what is in it.
release: setup ## Build and check all that a release needs, in a fresh clone; uploads nothing; half an hour
	@$(BIN)/python -m release

dist: setup ## Build sdist and wheel in dist, and check what is in them
	@$(BIN)/python -m release.distributions

first-use: setup ## Install the wheel of dist into empty environments, without an index, and use it
	@$(BIN)/python -m release.first_use

oldest: setup ## Test the wheel of dist with the lower bounds of all dependencies
	@$(BIN)/python -m release.dependencies oldest

newest: setup ## Test the wheel of dist with the newest dependencies; a warning fails
	@$(BIN)/python -m release.dependencies newest

public-types: setup ## Measure how much of the public interface of the wheel of dist has types
	@$(BIN)/python -m release.public_types

lint: setup ## Check style, formatting and the direction of imports
	@echo "Checking style, formatting and the direction of imports."
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/lint-imports --no-logo

types: setup ## Check the types in src
	@echo "Checking types."
	@$(BIN)/pyright

format: setup ## Rewrite the code in the project's format
	@echo "Formatting the code and sorting its imports."
	@$(BIN)/ruff format
	@$(BIN)/ruff check --select I --fix

# Use Python 3.11, the oldest supported, so that the versions found exist for the newer ones too.
constraints: check-python ## Write constraints.txt anew from the newest versions
	@echo "Resolving the newest versions in a fresh environment and writing constraints.txt."
	@mkdir -p build
	@$(PYTHON) -m venv --clear build/constraints-venv
	@build/constraints-venv/bin/python -m pip install --quiet --no-input $(BUILD_TOOLS)
	@build/constraints-venv/bin/python -m pip install --quiet --no-input --no-build-isolation -e '.[dev]'
	@{ echo "# Exact versions for a repeatable CI; users of the package do not need them."; \
	   echo "# Regenerate with: make PYTHON=python3.11 constraints"; \
	   build/constraints-venv/bin/python -m pip freeze --exclude-editable; } > build/constraints.txt
	@mv build/constraints.txt constraints.txt
	@rm -rf build/constraints-venv

clean: ## Remove .venv, build and all caches
	@echo "Removing .venv, build and all caches."
	@rm -rf .venv build dist .pytest_cache .ruff_cache .import_linter_cache
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
