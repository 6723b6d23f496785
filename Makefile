# A thin front of the command line. `make demo` and `make test` need only Python 3.11+ and pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo dev test test-slow lint bench clean
.DEFAULT_GOAL := demo

demo: $(READY)
	$(BIN)/shiftlake demo

dev: $(READY)
	$(BIN)/shiftlake dev

test: $(READY)-test lint
# A file at a time to each process, those that run the whole flow first: they take longest. One process
# more than there are cores, since many tests wait for servers, browsers and daemons.
	$(BIN)/python -m pytest --numprocesses $$($(BIN)/python -c "import os; print(os.cpu_count() + 1)") --dist loadfile --no-loadscope-reorder tests/pipelines tests

test-slow: $(READY)-test
	$(BIN)/python -m pytest -m slow

lint: $(READY)-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(READY)-test
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .shiftlake build *.egg-info

# torch first and by its exact version: a range would pull gigabytes of CUDA packages.
$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet "$$(grep '^torch==' constraints.txt)"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $@

$(READY)-test: $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[test]"
# For its frost photographs alone. Its dependencies would put a second OpenCV over the first.
	$(BIN)/python -m pip install --quiet --no-deps imagecorruptions==1.1.2
	touch $@
