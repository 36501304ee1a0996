# Two commands for a fresh machine: `make demo` and `make test`. Both install into .venv with the pinned torch.
PYTHON ?= python3
BIN := .venv/bin
# One thread a test process: two pytest workers then use two cores without fighting over them.
export OMP_NUM_THREADS ?= 1

.PHONY: demo test lint types docs bench study clean

demo: .venv/installed
	$(BIN)/merlin demo

test: lint types
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: .venv/developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/developing
	$(BIN)/mypy

docs: .venv/developing
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: .venv/installed
	$(BIN)/merlin bench

study: .venv/installed
	$(BIN)/merlin grid studies/method/grid.toml --out runs/method
	$(BIN)/python tools/collect_results.py runs/method/split-mnist-* --into studies/method
	$(BIN)/python tools/method_page.py

.venv/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt -e .
	touch $@

.venv/developing: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev]"
	touch $@

clean:
	rm -rf .venv site .mypy_cache .pytest_cache .ruff_cache .hypothesis
