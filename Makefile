# Three commands do everything: `make demo`, `make test` and `make docs`.
PYTHON ?= python3
BIN := .venv/bin
RESULTS ?= results

.PHONY: setup demo test lint types unit coverage slow fuzz chaos docs clean
.DELETE_ON_ERROR:

setup: .venv/.setup

# PyTorch first and by itself, so that no other package chooses its version.
.venv/.setup: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[report]"
	touch $@

.venv/.setup-test: .venv/.setup
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[test]"
	touch $@

demo: setup
	$(BIN)/graphsct demo --out $(RESULTS)/demo

test: lint types unit

lint: .venv/.setup-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.setup-test
	$(BIN)/mypy

# A process per core, each with one thread.
unit: .venv/.setup-test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not slow" --numprocesses auto --dist worksteal

# The same tests take half as long again when the lines they reach are counted.
coverage: .venv/.setup-test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not slow" --cov --numprocesses auto --dist worksteal

# The tests that wait for killed processes or repeat hundreds of runs.
slow: .venv/.setup-test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m slow --numprocesses auto --dist worksteal

# Ten thousand wrong inputs; GRAPHSCT_SEED=7 draws others.
fuzz: .venv/.setup-test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/fuzz

# Kills, interruptions, full disks, two processes at once and a cut link, of which `make slow` has a
# share. `make chaos FAULTS=100 SEED=7` has more and others.
FAULTS ?= 25
SEED ?= 0
chaos: .venv/.setup-test
	OMP_NUM_THREADS=1 GRAPHSCT_FAULTS=$(FAULTS) GRAPHSCT_SEED=$(SEED) \
		$(BIN)/python -m pytest tests/chaos --numprocesses auto --dist worksteal

.venv/.setup-docs: .venv/.setup
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[docs]"
	touch $@

docs: .venv/.setup-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

clean:
	rm -rf .venv $(RESULTS) site
