# Everything a person or CI does here. Needs Python 3.11 or later, pip, a C compiler, make and git; the rest goes into .venv.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.locked
LOCK := $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--custom-compile-command "make lock"
WHEEL_ENV := build/wheel-env

.PHONY: help env demo test lint types contracts schemas-check docs-check pytest wheel test-deep bench lock schemas docs tour screenshots clean

help:
	@echo "make demo        render clips, record a run, score it, show it"
	@echo "make test        the whole of CI: format, lint, types, contracts, drift, tests, wheel"
	@echo "make test-deep   the long kill, fuzz and simulation runs"
	@echo "make bench       measured ratios against bare loops"
	@echo "make lock        resolve the locked requirements anew"
	@echo "make schemas     regenerate schemas/"
	@echo "make docs        regenerate the reference pages in docs/"
	@echo "make tour        run the tour of README.md and renew its output"
	@echo "make screenshots take the pictures in docs/ anew, from the demo's data (needs Chromium)"

env: $(STAMP)

$(STAMP): requirements-dev.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed, this is " + sys.version)'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

demo: env
	bash docs/demo.sh $(BIN)/vlmrec demo

test: lint types contracts schemas-check docs-check pytest wheel
	@echo "make test: all green"

lint: env
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: env
	$(BIN)/mypy

contracts: env
	$(BIN)/lint-imports

schemas-check: env
	$(BIN)/vlmrec schema --check schemas

docs-check: env
	$(BIN)/python docs/generate.py --check

pytest: env
	$(BIN)/pytest -n 2 -q

# The built wheel, in an environment that holds nothing but the locked runtime requirements, run outside the repository.
wheel: env
	rm -rf build/lib build/bdist.* build/dist $(WHEEL_ENV)
	mkdir -p build
	$(BIN)/python -m build --no-isolation --outdir build/dist . > build/wheel.log 2>&1 || { cat build/wheel.log; exit 1; }
	$(BIN)/uv venv -q --seed --python $(BIN)/python $(WHEEL_ENV) || $(BIN)/python -m venv $(WHEEL_ENV)
	$(BIN)/uv pip install -q --python $(WHEEL_ENV)/bin/python --require-hashes -r requirements.txt \
		|| $(WHEEL_ENV)/bin/python -m pip install -q --require-hashes -r requirements.txt
	$(BIN)/python -m pip --python $(WHEEL_ENV)/bin/python install -q --no-deps --no-index build/dist/*.whl
	cp tests/installed.py build/ && cd / && $(CURDIR)/$(WHEEL_ENV)/bin/python -I $(CURDIR)/build/installed.py

test-deep: env
	HYPOTHESIS_PROFILE=deep $(BIN)/pytest -n 2 -q -m deep

bench: env
	$(BIN)/python bench/run.py

lock: env
	$(LOCK) $(LOCKFLAGS) pyproject.toml -o requirements.txt
	$(LOCK) $(LOCKFLAGS) --extra dev -c requirements.txt pyproject.toml -o requirements-dev.txt

schemas: env
	$(BIN)/vlmrec schema --write schemas

docs: env
	$(BIN)/python docs/generate.py

tour: env
	$(BIN)/python docs/tour.py

screenshots: env
	$(BIN)/python docs/screenshots.py

clean:
	rm -rf build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
