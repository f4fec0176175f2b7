# Each target sets up what it needs in .venv, a virtual environment of its own.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
# Of the checkout, with the core compiled where the next target finds it: one make at a time.
EDITABLE := $(PIP) install --no-build-isolation --config-settings=build-dir=build/{wheel_tag} -e
SOURCES := pyproject.toml CMakeLists.txt $(wildcard cpp/* cpp/*/*)

.PHONY: demo docs wheel test test-python test-spark test-cpp test-cpp-plain test-cpp-clang test-cpp-memory test-cpp-threads fuzz lint format clean

demo: $(VENV)/demo
	$(BIN)/python examples/demo.py demo

test: test-cpp test-python

test-python: $(VENV)/test
	$(BIN)/python -m pytest -n auto

# Data frames of Spark, in local mode: needs Java (17 or newer, such as Debian's default-jre-headless).
test-spark: $(VENV)/test
	@command -v java > /dev/null || (echo "test-spark needs Java: apt-get install default-jre-headless"; false)
	$(PIP) install "pyspark>=4.0"
	$(BIN)/python -m pytest tests/streaming/test_spark.py

# The core without Python: under sanitizers (of memory and undefined behaviour, and of threads), and as a
# second compiler builds it, where there is one.
CLANG := $(shell command -v clang++)
ifneq ($(CLANG)$(CI),)  # in CI its absence is an error
SECOND_COMPILER := test-cpp-clang
endif
test-cpp: test-cpp-memory test-cpp-threads $(SECOND_COMPILER)
test-cpp-memory: OPTIONS := -DSURTREE_SANITIZE=address,undefined
test-cpp-plain test-cpp-clang test-cpp-memory: ONLY := -E threads
# Instruction sets add nothing to the thread sanitizer but build time.
test-cpp-threads: OPTIONS := -DSURTREE_SANITIZE=thread -DSURTREE_PORTABLE_ONLY=ON
test-cpp-threads: ONLY := -R threads
test-cpp-threads: PARTS := --target test_local_search test_search_parts test_solver
test-cpp-clang: OPTIONS := -DCMAKE_CXX_COMPILER=clang++
test-cpp-plain test-cpp-clang test-cpp-memory test-cpp-threads: test-cpp-%: $(VENV)/test
	$(BIN)/cmake -S . -B build/$* -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DSURTREE_TESTS=ON $(OPTIONS) > build/$*.log || (cat build/$*.log; false)
	$(BIN)/cmake --build build/$* $(PARTS)
	$(BIN)/ctest --test-dir build/$* --output-on-failure -j 2 $(ONLY)

# Random problems against the reference solver, for so many seconds; other ones after every commit.
SECONDS ?= 60
JOBS ?= 2
SEED ?= $(shell git rev-parse --short=8 HEAD 2> /dev/null | sed 's/^/0x/' | grep . || date +%Y%m%d)
fuzz: $(VENV)/test
	$(BIN)/python -m fuzz --seconds $(SECONDS) --seed $(SEED) --jobs $(JOBS)

# The site, built anew: the code of its pages runs. Warnings and dead links are errors.
docs: $(VENV)/docs
	rm -rf build/docs docs/reference/api
	$(BIN)/python -m sphinx -q -W --keep-going -j auto -d build/doctrees -E docs build/docs
	$(BIN)/python docs/_ext/check_links.py build/docs
	@echo "open build/docs/index.html"

# An sdist and wheels in dist/, tried in a new environment of every CPython on the machine.
wheel:
	$(PYTHON) packaging/wheel.py dist

lint: $(VENV)/lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror cpp/*.?pp cpp/*/*.?pp

format: $(VENV)/lint
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i cpp/*.?pp cpp/*/*.?pp

# What builds the package is installed once, so that the core is compiled once for all targets.
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install "scikit-build-core>=0.11" "nanobind>=2.9" "cmake>=3.20" "ninja>=1.11"

$(VENV)/demo: $(VENV)/bin/python $(SOURCES)
	$(EDITABLE) ".[plot]" pandas
	@touch $@

$(VENV)/docs: $(VENV)/bin/python $(SOURCES)
	$(EDITABLE) ".[docs]"
	@touch $@

$(VENV)/test: $(VENV)/bin/python $(SOURCES)
	$(EDITABLE) ".[test]"
	@mkdir -p build && touch $@

# mypy wants the stub of the compiled module, which the build makes, beside the sources.
$(VENV)/lint: $(VENV)/bin/python $(SOURCES)
	$(EDITABLE) ".[lint]"
	@cp $(VENV)/lib/python*/site-packages/surtree/_core.pyi src/surtree/
	@touch $@

clean:
	rm -rf $(VENV) build dist demo docs/reference/api
