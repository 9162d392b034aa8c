# make demo | test | test-slow | test-cluster | test-slurm | test-kube | test-simgrid | test-clients | test-browser | fuzz | lint | docs | bench | format | stubs | clean
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(shell find cpp -name '*.hpp' -o -name '*.cpp')
DRIVER := $(wildcard src/noctule/simgrid/*.hpp src/noctule/simgrid/*.cpp)

# Tests start hundreds of Pythons, and look at each test's assertions once: compiled modules are kept, whoever says not to.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-cluster test-simgrid test-slurm test-kube test-clients test-browser test-cpp sanitized test-sanitized kube-schedulers fuzz lint docs study bench format stubs clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet "nanobind>=2.2" "scikit-build-core>=0.10" "cmake>=3.18" ninja

$(VENV)/.installed: $(BIN)/python pyproject.toml CMakeLists.txt $(NATIVE)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[dev]"
	touch $@

demo: $(VENV)/.installed
	rm -rf out/demo
	$(BIN)/noctule run examples/night.swf --hosts 128 --policy fcfs -o out/demo/fcfs --quiet
	$(BIN)/noctule run examples/night.swf --hosts 128 --policy easy -o out/demo/easy --quiet
	$(BIN)/noctule run examples/night.swf --hosts 128 --policy conservative -o out/demo/conservative
	$(BIN)/noctule metrics out/demo/fcfs out/demo/easy out/demo/conservative
	$(BIN)/noctule report out/demo/fcfs out/demo/easy out/demo/conservative -o out/demo/report.html --title "A night under three policies"

test: $(VENV)/.installed
	$(BIN)/python -m pytest -q -m "not slow" -n 2 --dist loadfile --ignore tests/simgrid

test-slow: $(VENV)/.installed
	$(BIN)/python -m pytest -q -m "slow or hypothesis" --hypothesis-profile thorough -n 2 --dist loadfile --ignore tests/cluster --ignore tests/simgrid

# Everything on clusters of this machine; with Slurm where it can be installed.
test-cluster: $(VENV)/.installed
	tests/cluster/install-slurm
	NOCTULE_TEST_SLURM=1 $(BIN)/python -m pytest -q tests/cluster

# The model of Slurm against real ones on loopback, in real time: some minutes, which they sleep.
test-slurm: $(VENV)/.installed
	tests/cluster/install-slurm
	tests/slurm/install-accounting
	NOCTULE_TEST_SLURM=1 $(BIN)/python -m pytest -q -n 6 tests/slurm

# Built once, in ten minutes, where there is Go or PyPI.
kube-schedulers:
	PYTHON=$(PYTHON) tests/kube/install-kube-scheduler

# Real kube-schedulers on simulated time.
test-kube: $(VENV)/.installed kube-schedulers
	NOCTULE_TEST_KUBE=1 $(BIN)/python -m pytest -q -n 2 --dist loadfile tests/kube

# Random platforms and job mixes in SimGrid and here; where SimGrid can be installed.
test-simgrid: $(VENV)/.installed
	tests/simgrid/install-simgrid
	NOCTULE_TEST_SIMGRID=1 $(BIN)/python -m pytest -q -n 2 tests/simgrid

# Schedulers and tools of others, unmodified, and our own examples in other languages.
test-clients: $(VENV)/.installed
	PYTHON=$(PYTHON) tests/clients/install-clients
	NOCTULE_TEST_CLIENTS=1 $(BIN)/python -m pytest -q tests/clients

# Pages of reports in a real Chromium; the screenshots of the documentation.
test-browser: $(VENV)/.installed
	tests/browser/install-chromium
	NOCTULE_TEST_BROWSER=1 NOCTULE_SCREENSHOTS=docs/images/report $(BIN)/python -m pytest -q -n 2 --dist loadfile tests/browser

# The core with sanitizers, and its own tests.
SANITIZED := build/sanitized
sanitized: $(BIN)/python
	mkdir -p build
	$(BIN)/cmake -S . -B $(SANITIZED) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DPython_EXECUTABLE=$(abspath $(BIN)/python) -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir) \
	  -DNOCTULE_SANITIZE=ON -DNOCTULE_WERROR=ON > build/sanitized.log || (cat build/sanitized.log; false)
	$(BIN)/cmake --build $(SANITIZED) --target noctule_tests _core

test-cpp: sanitized
	$(SANITIZED)/noctule_tests

SITE := -c "import sysconfig; print(sysconfig.get_path('purelib'))"
# The test suite on that core, but for what is in Python, in a second environment that borrows the packages.
IN_PYTHON := $(shell grep -v '^\#' tests/in-python.txt)
test-sanitized: $(VENV)/.installed sanitized
	$(PYTHON) -m venv --without-pip $(SANITIZED)/venv
	$(BIN)/python $(SITE) > $$($(SANITIZED)/venv/bin/python $(SITE))/borrowed.pth
	$(BIN)/python -m pip --python $(SANITIZED)/venv/bin/python install --quiet --no-build-isolation --no-deps \
	  --force-reinstall -C wheel.cmake=false .
	cp $(SANITIZED)/_core*.so $$($(SANITIZED)/venv/bin/python $(SITE))/noctule/
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0 $(SANITIZED)/venv/bin/python -m pytest -q -m "not slow" -n 2 --dist loadfile -p no:cacheprovider \
	  $(IN_PYTHON:%=--ignore-glob='tests/%') $(TESTS)

# Damaged inputs for all readers; what they break is kept in build/fuzz. READERS="--reader swf" for one.
INPUTS := 100000
fuzz: $(VENV)/.installed
	$(BIN)/python tests/fuzz/readers.py --inputs $(INPUTS) $(READERS)

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(NATIVE) $(DRIVER)
	$(BIN)/mypy
	$(BIN)/lint-imports
	mkdir -p build
	$(BIN)/python -m nanobind.stubgen -q -m noctule._core -O build
	diff build/_core.pyi src/noctule/_core.pyi

study: $(VENV)/.installed
	NOCTULE_SHARED=$${NOCTULE_SHARED:-../shared} $(BIN)/python studies/run.py $(NAME) $(if $(LOGS),--logs $(LOGS))

docs: $(VENV)/.installed
	$(BIN)/sphinx-build -q -n -W --keep-going -d build/doctrees docs build/docs
	@echo build/docs/index.html

bench: $(VENV)/.installed
	$(BIN)/python bench/platforms.py
	$(BIN)/python bench/campaign.py
	$(BIN)/python bench/campaign_dask.py
	$(BIN)/python bench/replay.py
	$(BIN)/python bench/energy.py
	$(BIN)/python bench/sessions.py
	$(BIN)/python bench/protocol.py
	$(BIN)/python bench/fluid.py
	$(BIN)/python bench/waits.py
	$(BIN)/python bench/report.py
	$(BIN)/python bench/slurm.py
	$(BIN)/python bench/vclock.py

format: $(VENV)/.installed
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE) $(DRIVER)

stubs: $(VENV)/.installed
	$(BIN)/python -m nanobind.stubgen -q -m noctule._core -O src/noctule

clean:
	rm -rf build out $(VENV)
