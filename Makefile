# `make demo` shows the whole path on real runtimes; `make check` and `make test` are what a change must pass.
# Every target sets up what it needs, from a Python 3.11 or newer alone. Another interpreter: make PYTHON=python3.13 test

PYTHON ?= python3
TAG := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
VENV := build/venv-$(TAG)
DEMO := build/demo-$(TAG)
COMPILED := build/compiled-$(TAG)
PIP_FLAGS := --quiet --disable-pip-version-check --constraint constraints.txt
CORE_TESTS := tests/compiled tests/unit/engine tests/unit/execution tests/litmus tests/specimens tests/end_to_end
SOURCES := hatch_build.py adapters harness reports scenarios tests benchmarks docs/examples

.PHONY: help demo setup check format native test test-compiled soak bench clean

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## make demo    run the release suite on ONNX Runtime and LiteRT, write receipts, ask the gate
demo: $(DEMO)/ready
	$(DEMO)/bin/racegate demo --out out/demo

## make setup   make the development environment in build/
setup: $(VENV)/ready

## make check   format, lint, types, import contracts
check: $(VENV)/ready
	$(VENV)/bin/ruff format --check $(SOURCES)
	$(VENV)/bin/ruff check $(SOURCES)
	$(VENV)/bin/basedpyright --pythonpath $(VENV)/bin/python
	$(VENV)/bin/lint-imports

## make format  apply the format and the safe fixes
format: $(VENV)/ready
	$(VENV)/bin/ruff format $(SOURCES)
	$(VENV)/bin/ruff check --fix $(SOURCES)

## make native  build the native fault libraries with the system's C compiler
native:
	$(PYTHON) -m harness.faults.native

## make test    the tests, in under ten minutes
test: $(VENV)/ready
	$(VENV)/bin/python -m pytest -n 2 --dist worksteal -m "not soak"

## make test-compiled  the engine's tests on a compiled core, which a C compiler makes in build/
test-compiled: $(COMPILED)/ready
	PYTHONPATH=$(CURDIR)/$(COMPILED)/site $(VENV)/bin/pytest -n 2 --dist worksteal -m "not soak" $(CORE_TESTS)

## make soak    the long explorations, with the tables that the docs keep
soak: $(VENV)/ready
	$(VENV)/bin/python -m pytest -m soak --timeout 7200

## make bench   the benchmarks, each a ratio measured side by side
bench: $(VENV)/ready
	for file in benchmarks/*.py; do echo "== $$file"; $(VENV)/bin/python $$file || exit 1; done

## make clean   remove what the targets made
clean:
	rm -rf build out

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install $(PIP_FLAGS) --editable '.[onnxruntime,litert,tflite,dev]'
	touch $@

$(COMPILED)/ready: $(VENV)/ready hatch_build.py $(shell find harness -name '*.py')
	rm -rf $(COMPILED)
	RACEGATE_COMPILED=1 $(VENV)/bin/python -m pip wheel $(PIP_FLAGS) --no-deps --no-build-isolation --wheel-dir $(COMPILED) .
	$(VENV)/bin/python -m pip install $(PIP_FLAGS) --no-deps --target $(COMPILED)/site $(COMPILED)/*.whl
	touch $@

$(DEMO)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/python -m pip install $(PIP_FLAGS) --editable '.[onnxruntime,litert,tflite]'
	touch $@
