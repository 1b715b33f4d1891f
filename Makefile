# Every target sets itself up from a bare Python; what is installed already is left alone.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PLAIN := $(VENV)/.plain
READY := $(VENV)/.ready

.PHONY: demo test test-lowest test-wheel coverage mutation docs lint check install

demo: $(PLAIN)  ## Explain 100 graphs, print a table, write pictures and a report into demo/
	$(BIN)/eigsearch demo

test: $(READY)  ## Run the tests on two processes
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

coverage: $(READY)  ## Run the tests and report which lines and branches of the source they reach
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --cov --cov-report=term --cov-report=html

mutation: $(READY)  ## Change the core in a fixed sample of places and see whether its tests notice
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.mutation

docs: $(READY)  ## Build the documentation into site/; a warning fails the build
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

test-lowest: $(READY)  ## Run tests on the lowest declared versions, in an environment of their own
	$(BIN)/python -m benchmarks.versions

test-wheel: $(READY)  ## Build the wheel, install it into an empty environment, run the quick start
	$(BIN)/python -m benchmarks.wheel

lint: $(READY)  ## Check style, types and the direction of imports; `pre-commit run -a` does the same
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

check: lint test  ## Both, as before every commit

install: $(READY)  ## Only set up

# Torch comes first: it is the one large package, and its build for this machine is pip's choice.
$(PLAIN): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[app,bench]"
	touch $(PLAIN)

$(READY): $(PLAIN)  # what tests need besides
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev,ray]"
	touch $(READY)
