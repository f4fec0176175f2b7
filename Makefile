# Each target sets up what it needs in .venv, a virtual environment of its own.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
# Of the checkout, with the core compiled where the next target finds it: one make at a time.
EDITABLE := $(PIP) install --no-build-isolation --config-settings=build-dir=build/{wheel_tag} -e
SOURCES := pyproject.toml CMakeLists.txt $(wildcard cpp/* cpp/*/*)

.PHONY: demo check docs wheel test test-python test-oldest test-spark test-cpp test-cpp-all test-cpp-plain test-cpp-clang test-cpp-memory test-cpp-threads fuzz lint lint-cpp format stub clean

# What compiles the core once more runs only where it may say something new.
CORE := cpp CMakeLists.txt
CORE_CHANGED := $(shell packaging/changed.sh $(CORE))
OBJECTIVE_CHANGED := $(shell packaging/changed.sh $(CORE) src/surtree/survival src/surtree/solver tests/objective)

demo: $(VENV)/demo
	$(BIN)/python examples/demo.py demo

# The developer's loop, in less than a minute: linters, and the tests that take few milliseconds.
check: lint $(VENV)/test
	$(BIN)/python -m pytest -q -n auto -m fast

test: test-begins test-cpp test-python

.PHONY: test-begins
test-begins:
	@echo "all tests: 5 to 10 minutes on two cores, longer where cpp/ has changed; make check takes less than one"

test-python: $(VENV)/test
	$(BIN)/python -m pytest -n auto $(if $(OBJECTIVE_CHANGED),,-m "not compiles")

# Which tests are fast is measured, and written to tests/slow.txt.
.PHONY: slow-tests
slow-tests: $(VENV)/test
	$(BIN)/python -m pytest -q --record-slow tests/slow.txt

# With the least versions that pyproject.toml declares, in an environment of their own (.venv-oldest): what reads
# tables, draws, exports and is the command line. The wheel is made from the objects that .venv has compiled.
OLDEST := .venv-oldest/bin/python
OLDEST_TESTS := $(addprefix tests/, contract/test_bad_input.py data/test_table.py estimators/test_estimator.py \
  cuts/test_unseen.py questions/test_audit.py averages/test_bayes.py estimators/test_competing_risks.py \
  estimators/test_effect_tree.py validation/test_evaluation.py plot/test_plot_path.py tree/test_curves.py \
  contract/test_check_estimator.py metrics/test_metrics.py cli/test_cli_fit.py cli/test_cli_models.py \
  cli/test_cli_reading.py cli/test_cli_streaming.py cli/test_cli_validate.py cli/test_cli_dates.py \
  export/test_onnx.py export/test_export.py export/test_same_leaf.py export/test_model_file.py)
test-oldest: .venv-oldest/ready
	rm -rf build/oldest
	$(PIP) wheel --no-deps --no-build-isolation --config-settings=build-dir=build/{wheel_tag} -w build/oldest .
	$(OLDEST) -m pip --disable-pip-version-check -q install --no-deps --force-reinstall build/oldest/*.whl
	$(OLDEST) -m pytest -n auto -q -k "not duckdb" $(OLDEST_WARNINGS) $(OLDEST_TESTS)
# What these versions deprecate, or say of newer ones of each other, is past.
OLDEST_WARNINGS := $(foreach kind, DeprecationWarning PendingDeprecationWarning FutureWarning, -W ignore::$(kind))

# Data frames of Spark, in local mode: needs Java (17 or newer, such as Debian's default-jre-headless).
test-spark: $(VENV)/test
	@command -v java > /dev/null || (echo "test-spark needs Java: apt-get install default-jre-headless"; false)
	$(PIP) install "pyspark>=4.0"
	$(BIN)/python -m pytest tests/engines/test_spark.py

# The core without Python, under the sanitizers of memory and undefined behaviour, with one instruction set.
# Where it has changed, under that of threads too, and by a second compiler and its linter, where there are
# such; test-cpp-all does all of it, with every instruction set.
CLANG := $(shell command -v clang++)
CLANG_TIDY := $(shell command -v clang-tidy)
# In CI their absence is an error.
WHERE_CHANGED := test-cpp-threads $(if $(CLANG)$(CI),test-cpp-clang) $(if $(CLANG_TIDY)$(CI),lint-cpp)
SETS = avx2
test-cpp: test-cpp-memory $(if $(CORE_CHANGED),$(WHERE_CHANGED))
test-cpp-all: SETS = avx2;avx512;plain
test-cpp-all: test-cpp-memory $(WHERE_CHANGED)
test-cpp-memory: OPTIONS = -DSURTREE_SANITIZE=address,undefined '-DSURTREE_INSTRUCTION_SETS=$(SETS)'
test-cpp-plain test-cpp-clang test-cpp-memory: ONLY := -E threads
# Instruction sets add nothing to the thread sanitizer but build time.
test-cpp-threads: OPTIONS := -DSURTREE_SANITIZE=thread -DSURTREE_INSTRUCTION_SETS=
test-cpp-threads: ONLY := -R threads
test-cpp-threads: PARTS := --target test_average test_local_search test_search_parts test_solver
test-cpp-clang: OPTIONS := -DCMAKE_CXX_COMPILER=clang++ '-DSURTREE_INSTRUCTION_SETS=avx2;avx512;plain'
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

# clang-tidy, with the checks of .clang-tidy.
lint-cpp: $(VENV)/bin/python
	@mkdir -p build
	$(BIN)/cmake -S . -B build/tidy -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DSURTREE_TESTS=ON \
	  -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DSURTREE_INSTRUCTION_SETS= \
	  > build/tidy.log || (cat build/tidy.log; false)
	ls cpp/solve.cpp cpp/*/*.cpp | xargs -P 2 -n 5 clang-tidy --quiet -p build/tidy

# The types of the compiled core, which tests/contract/test_core_stub.py compares with it.
stub: $(VENV)/test
	$(BIN)/python -m nanobind.stubgen -q -D -m surtree._core -o src/surtree/_core.pyi

format: $(VENV)/lint
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i cpp/*.?pp cpp/*/*.?pp

# What builds the package is installed once, so that the core is compiled once for all targets.
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install "scikit-build-core>=0.11" "nanobind>=2.9" "cmake>=3.20" "ninja>=1.11"

$(VENV)/demo: $(VENV)/bin/python $(SOURCES)
	@echo "compiling the core, 2 to 3 minutes"
	$(EDITABLE) ".[plot]" pandas
	@touch $@

$(VENV)/docs: $(VENV)/bin/python $(SOURCES)
	$(EDITABLE) ".[docs]"
	@touch $@

$(VENV)/test: $(VENV)/bin/python $(SOURCES)
	$(EDITABLE) ".[test]"
	@mkdir -p build && touch $@

# Of CPython 3.11, the oldest that is supported: later ones have no wheels of these versions.
.venv-oldest/ready: $(VENV)/test packaging/oldest.py
	@$(BIN)/python -c "import sys; sys.version_info[:2] == (3, 11) or sys.exit('test-oldest needs CPython 3.11: make clean test-oldest PYTHON=python3.11')"
	$(BIN)/python packaging/oldest.py > build/oldest.txt
	$(BIN)/python -m venv --clear .venv-oldest
	$(OLDEST) -m pip --disable-pip-version-check -q install --only-binary :all: -r build/oldest.txt
	@touch $@

# Without the package itself: nothing is compiled.
$(VENV)/lint: $(VENV)/bin/python pyproject.toml packaging/extra.py
	@mkdir -p build
	$(BIN)/python packaging/extra.py lint > build/lint.txt
	$(PIP) install -r build/lint.txt
	@touch $@

clean:
	rm -rf $(VENV) .venv-oldest build dist demo docs/reference/api
