# `make quickstart` and `make test` do all their own set-up in .venv.
PYTHON ?= python3
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
BUILD_TOOLS := "scikit-build-core>=1.0" "nanobind>=2.9" "cmake>=3.26" ninja
# Without isolation the build folder outlives a run, so a change of one C++ file compiles one file.
INSTALL := $(PIP) --no-build-isolation --config-settings=editable.mode=redirect
CPP := $(shell find remy-plus/CMakeLists.txt remy-plus/cmake remy-plus/src remy-plus/bindings remy-plus/include -type f)
NS3_CPP := $(shell find gym-envs/ns3/CMakeLists.txt gym-envs/ns3/cmake gym-envs/ns3/src -type f)
LINUX_CPP := $(shell find gym-envs/linux/CMakeLists.txt gym-envs/linux/src -type f)
FORMATTED := $(filter %.cpp %.hpp,$(CPP) $(NS3_CPP) $(LINUX_CPP) $(shell find tests/remy-plus/cpp benchmarks -name '*.cpp'))
# ns-3 has wheels for x86-64 alone; elsewhere `make test NS3=` leaves it out and its tests skip.
NS3 ?= $(VENV)/.ns3
# The same of trials on this machine's own network stack, where that is no Linux.
LINUX ?= $(VENV)/.linux
BESIDE := $(NS3) $(LINUX)

SANITIZE ?= ON

# Deep reinforcement learning brings PyTorch with it; `make test EXTRAS=dev,runs,dna,tune` leaves it out and its tests skip.
EXTRAS ?= dev,runs,dna,drl,pettingzoo,tune,completion,serve

# Python keeps what it compiled: the tests start hundreds of processes, each of which would compile lcca anew.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest

SCHEMAS := $(basename $(notdir $(wildcard docs/reference/schemas/*.json)))

.DEFAULT_GOAL := help
.PHONY: help setup ns3 linux quickstart test test-slow tutorials test-full test-cpp sanitize lint types layers format stub schemas pages lock bench bench-settle wheel docs clean

help:  ## Show these commands
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

$(VENV)/.made:
	@.ci/need $(PYTHON)
	@echo "lcca: making $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) $(BUILD_TOOLS)
	@touch $@

$(VENV)/.base: $(VENV)/.made pyproject.toml constraints.txt $(CPP)
	@.ci/need $(BIN)/python
	@echo "lcca: installing (compiles the engine, about a minute the first time)"
	@$(INSTALL) -e ".[runs]"
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml constraints.txt $(CPP)
	@.ci/need $(BIN)/python
	@echo "lcca: installing with development tools (compiles the engine, about a minute the first time)"
	@$(INSTALL) -e ".[$(EXTRAS)]"
	@touch $(VENV)/.base $@

# ns-3's declared dependency cppyy is not needed, hence --no-deps.
$(VENV)/.ns3: $(VENV)/.made $(NS3_CPP) $(CPP) gym-envs/ns3/pyproject.toml
	@.ci/need $(BIN)/python
	@echo "lcca: installing ns-3 and lcca-ns3 (compiles the models, about a minute)"
	@$(PIP) --no-deps "ns3==3.44.post0"
	@$(PIP) --no-build-isolation --no-deps ./gym-envs/ns3
	@touch $@

ns3: $(VENV)/.base $(VENV)/.ns3  ## ns-3 beside the fast engine

$(VENV)/.linux: $(VENV)/.made $(LINUX_CPP) $(CPP) gym-envs/linux/pyproject.toml
	@.ci/need $(BIN)/python
	@echo "lcca: installing lcca-linux (compiles the emulated link and its hosts, about a minute)"
	@$(PIP) --no-build-isolation --no-deps ./gym-envs/linux
	@touch $@

linux: $(VENV)/.base $(VENV)/.linux  ## this machine's own network stack beside the fast engine

setup: $(VENV)/.dev $(BESIDE)  ## .venv with all extras and development tools

quickstart: $(VENV)/.base  ## a real small sweep: verdicts on the terminal and a report
	@$(BIN)/lcca sweep configs/quickstart.yaml --trainings 2 $(ARGS)

test: $(VENV)/.dev $(BESIDE)  ## all tests but those marked slow or full
	@$(PYTEST) -m "not slow and not full" $(ARGS)

test-slow: $(VENV)/.dev $(BESIDE)  ## tests marked slow
	@$(PYTEST) -m "slow and not full" $(ARGS)

tutorials: $(VENV)/.dev  ## the tutorials, as they are written
	@$(PYTEST) -m full tests/repository/test_tutorials.py $(ARGS)

test-full: $(VENV)/.dev $(BESIDE)  ## every test
	@$(PYTEST) $(ARGS)

test-cpp: $(VENV)/.made  ## C++ unit tests (needs GoogleTest: apt-get install libgtest-dev)
	@PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S remy-plus -B build/cpp -G Ninja -DBUILD_TESTING=ON -DLCCA_WERROR=ON
	@PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/cpp
	@PATH="$(CURDIR)/$(BIN):$$PATH" ctest --test-dir build/cpp --output-on-failure

sanitize: $(VENV)/.dev  ## 1,000 random trials of each engine under the address and undefined-behaviour sanitizers (GCC), or SANITIZE=thread
	@PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S remy-plus -B build/sanitize-$(SANITIZE) -G Ninja -DLCCA_SANITIZE=$(SANITIZE) -DSKBUILD=2 -DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" \
		-Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)"
	@PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/sanitize-$(SANITIZE)
	@LD_PRELOAD="$$($${CXX:-g++} -print-file-name=$(if $(filter thread,$(SANITIZE)),libtsan,libasan).so) $$($${CXX:-g++} -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1 \
		$(BIN)/python tests/evaluation/scenarios/random_trials.py --core build/sanitize-$(SANITIZE)/_core.*.so $(ARGS)

lint: $(VENV)/.dev types layers  ## ruff, clang-format, types and layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(if $(FORMATTED),$(BIN)/clang-format --dry-run --Werror $(FORMATTED))

types: $(VENV)/.dev  ## mypy --strict
	@$(BIN)/mypy

layers: $(VENV)/.dev  ## a folder imports only from folders below it
	@$(BIN)/lint-imports

format: $(VENV)/.dev  ## rewrite sources in the house style
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .
	@$(if $(FORMATTED),$(BIN)/clang-format -i $(FORMATTED))

stub: $(VENV)/.dev  ## write the type stub of the C++ module anew
	@$(BIN)/python -m nanobind.stubgen -q -m lcca.remy_plus._core -o remy-plus/lcca/remy_plus/_core.pyi
	@rm -rf .mypy_cache  # mypy does not notice a stub that appears

schemas: $(VENV)/.dev  ## write the JSON Schemas of the YAML files anew
	@for kind in $(SCHEMAS); do $(BIN)/lcca schema $$kind > docs/reference/schemas/$$kind.json; done

pages: $(VENV)/.dev  ## write the tables of pages anew: keys, columns, transports, headers, commands, results
	@$(BIN)/python docs/hooks/write.py

bench: $(VENV)/.dev  ## speed of the engine against the yardstick
	@$(BIN)/python benchmarks/engine.py $(ARGS)

bench-settle: $(VENV)/.base  ## error rates of the settling rules on real policies (20 minutes; later 5)
	@$(BIN)/python benchmarks/settling/null.py $(ARGS)

lock: setup  ## tested.txt: the versions that this .venv has
	@{ echo "# Versions with which the tests passed, by \`make lock\`: pip install -c tested.txt 'lcca[drl]'"; \
	  $(BIN)/python -m pip freeze --exclude-editable | grep -v '^lcca-\(ns3\|linux\) ' | sed 's/+cpu$$//'; } > tested.txt

wheel:  ## sdist and wheel in dist/, tried in an environment of its own
	@.ci/need $(PYTHON)
	@PYTHON=$(PYTHON) .ci/wheel dist

docs: $(VENV)/.dev  ## the documentation as a site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:  ## remove what was built; results stay
	@rm -rf build site .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
