# SPDX-License-Identifier: Apache-2.0
# A thin front of CMake (see CMakePresets.json). `make help` says what there is.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
MAKEFLAGS += --no-print-directory
export DESTDIR
.NOTPARALLEL:
.PHONY: all demo test bench figures fuzz check-kernels coverage install uninstall clean help \
	test-tree test-dev test-narrow test-install test-sanitizers test-asan test-tsan test-long

all: build/release/Makefile	## build build/release/millrace (the default)
	@cmake --build build/release -j$(JOBS)

# Configured once; CMake itself looks after changes of its files and for new sources.
build/%/Makefile:
	@cmake --preset $*

demo:		## install what is missing, build, and stream a graph through less memory than it takes
	@cmake/deps.sh build
	@$(MAKE) all
	@bench/demo.sh build/release/millrace

bench: all	## every table of bench/README.md, quick form, ten minutes; FULL=1 TABLES="peers lab" PEERS=DIR GRAPHS=DIR
	@cmake --build build/release --target mill_templates mill_codec mill_device mill_arcs -j$(JOBS)
	-@cmake --build build/release --target mill_igraph -j$(JOBS)	# not there without Debian's libigraph-dev
	@bench/all.sh build/release build/bench "$(PEERS)" "$(GRAPHS)"

figures: all	## the plot and the measured rows of README.md again; PEERS=DIR has built peers
	@cmake --build build/release --target mill_arcs -j$(JOBS)
	-@cmake --build build/release --target mill_igraph -j$(JOBS)
	@bench/figures.sh build/release/millrace build/bench "$(PEERS)"

install: all	## install under PREFIX (default /usr/local); DESTDIR is honoured
	@cmake --install build/release --prefix $(PREFIX)

uninstall:	## remove what the last `make install` wrote
	@cmake -DMANIFEST=build/release/install_manifest.txt -P cmake/uninstall.cmake

test:		## what a change must pass: four stages, up to ten minutes on two idle cores; each runs alone too:
	@cmake/stages.sh tree dev narrow install

# $(call build,PRESET,TARGETS): builds these targets, or all.
define build
	@cmake/deps.sh test
	@[ -f build/$(1)/Makefile ] || cmake --preset $(1)
	@cmake --build build/$(1) -j$(JOBS) $(if $(2),--target $(2))
endef

# $(call run,PRESET,LABELS,OPTIONS)
define run
	@ctest --preset $(1) -j$(JOBS) -L '^($(2))$$' $(3)
endef

test-tree:	##   the order of the folders; no test is empty; lengths and words of documents and comments
	@cmake/check-includes.sh
	@cmake/check-tests.sh
	@cmake/check-words.sh

test-dev:	##   all tests, warnings as errors
	$(call build,dev)
	$(call run,dev,unit|algo|cli|fault|guide)

test-narrow:	##   with 8-bit vertices and 16-bit edge counts
	$(call build,narrow,unit_tests)
	$(call run,narrow,unit)

test-install: all	##   the header alone, installation, examples
	@cmake/check-install.sh build/release

test-sanitizers:	## the C tests under AddressSanitizer, UBSan and ThreadSanitizer (fifteen minutes); each runs alone too:
	@cmake/stages.sh asan tsan

# Left out: what takes minutes and runs the code of the matrix once more.
test-asan:	##   under AddressSanitizer and UBSan
	$(call build,asan)
	$(call run,asan,unit|algo|cli|fault,-E '(algo|cli)/device|cli/gts|algo/(counts|tiny|oracle|largegraph)')

# Left out: tests with one thread; tests of devices, where all threads are the driver's; algo/tiny, as the matrix runs the same code.
test-tsan:	##   under ThreadSanitizer
	$(call build,tsan,unit_tests algo_tests fault_tests)
	$(call run,tsan,unit|algo|fault,-E 'fault/(device|environment|signals)|unit/(fault|store|writer|verify|formats|packed|number|file|moves|residency)|algo/(device|damage|transfers|gunrock|intersect|graphie|gts|largegraph|counts|declaration|tiny|host|plan|oracle)')

test-long:	## all tests of test-dev with every repetition of theirs (half an hour)
	@LONG=1 $(MAKE) test-dev

coverage:	## the lines of src/ that the tests of test-dev run, in total and by folder
	$(call build,coverage)
	@find build/coverage -name '*.gcda' -delete
	$(call run,coverage,unit|algo|cli|fault|guide)
	@cmake/coverage.py build/coverage

FUZZ_SECONDS ?= 20
fuzz:		## every reader under libFuzzer (clang), FUZZ_SECONDS (20) each
	@cmake/deps.sh build
	@cmake/deps.sh fuzz
	@[ -f build/fuzz/Makefile ] || cmake --preset fuzz
	@cmake --build build/fuzz -j$(JOBS)
	@tests/fuzz/run.sh build/fuzz $(FUZZ_SECONDS)

# Needs the tests' build. Exit 77: what it needs is not there.
check-kernels:	## every kernel under oclgrind, by clang and, where it is installed, by nvcc; records what passed (ten minutes)
	$(call build,dev)
	@RECORD=write bash tests/cli/compile.sh build/dev/millrace || [ $$? = 77 ]
	@RECORD=write bash tests/cli/kernels.sh build/dev/millrace || [ $$? = 77 ]

clean:		## remove build/
	@rm -rf build

help:		## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 26
