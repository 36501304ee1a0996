# Two commands for a fresh machine: `make demo` and `make test`. Both install into .venv what constraints.txt pins; what that
# downloads, and how PIP_ARGS gets torch without CUDA, is said there.
PYTHON ?= python3
PIP_ARGS ?=
BIN := .venv/bin
# One thread a test process: two pytest workers then use two cores without fighting over them.
export OMP_NUM_THREADS ?= 1
# Byte code is kept: tests start many processes, each of which would compile the package anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test lint types docs bench study clean

demo: .venv/installed
	$(BIN)/merlin demo

# Types are checked beside the tests, which would otherwise wait half a minute for them: either fails the whole.
test: lint
	@$(BIN)/mypy & types=$$!; \
	$(BIN)/python -m pytest -n 2 --dist worksteal; tests=$$?; \
	wait $$types || { echo "mypy complains, see above; make types says it again."; exit 1; }; \
	exit $$tests

lint: .venv/developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/developing
	$(BIN)/mypy

docs: .venv/developing
	$(BIN)/python -m mkdocs build --strict --quiet

bench: .venv/installed
	$(BIN)/merlin bench

study: .venv/installed
	$(BIN)/merlin grid experiments/study.toml --out runs/study
	$(BIN)/python tools/collect_results.py runs/study/split-mnist-* --into experiments/results/study
	$(BIN)/python experiments/consolidation.py --tasks 60
	$(BIN)/python -m tools.pages method

.venv/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt $(PIP_ARGS) -e .
	touch $@

.venv/developing: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt $(PIP_ARGS) -e ".[dev]"
	touch $@

clean:
	rm -rf .venv site .mypy_cache .pytest_cache .ruff_cache .hypothesis
