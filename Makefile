# The front door: `make help` lists what there is. Meson and Ninja build, tools/ does the rest.

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := build
.NOTPARALLEL:

GCC ?= gcc
CLANG ?= clang
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
SUITE ?=
ONLY ?=
SCALE ?=
FUZZ_SECONDS ?= 60
SOAK_SCALE ?= 10
SOAK_FUZZ_SECONDS ?= 1800

PROGRAM = src/cli/sayso# where Meson puts it; build/sayso is a link to it
LIBRARY = src/lib/libsayso.so.1.0.0 src/lib/libsayso.a
# Directories that are chosen one by one reach tools/install_tree from the environment too.
TREE = DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' $(foreach name,BINDIR LIBDIR INCLUDEDIR DATADIR MANDIR DOCDIR UNITDIR,$(if $($(name)),$(name)='$($(name))'))
SOURCES = $(shell find src tests bench docs/examples -name '*.[ch]')

# $(call configure,DIR,COMPILER,OPTIONS) sets a build directory up; again only when source files
# came or went or the options changed, since Meson would not see that by itself.
define configure
command -v meson >/dev/null || { echo "meson is missing: run tools/install_packages build"; exit 1; }; \
mkdir -p $(1); \
{ echo "$(2) $(3)"; find src tests/unit tests/fuzz tests/simulate -name '*.[ch]' -o -name meson.build | sort; } \
    > $(1)/.wanted; \
if ! cmp -s $(1)/.wanted $(1)/.configured || ! [ -f $(1)/build.ninja ]; then \
    echo "configuring $(1)/"; \
    again=; if [ -f $(1)/build.ninja ]; then again=--reconfigure; fi; \
    CC="$(2)" meson setup $$again $(1) $(3) > $(1)/configure.log 2>&1 \
        || { cat $(1)/configure.log; exit 1; }; \
    mv $(1)/.wanted $(1)/.configured; \
fi
endef

# $(call compile,DIR,TARGETS): silent unless something is wrong.
define compile
echo "building $(1)/"; \
ninja -C $(1) -j $(JOBS) --quiet $(2) > $(1)/compile.log 2>&1; status=$$?; \
grep -v -e '^ninja: no work' -e '^ninja: Entering' $(1)/compile.log; \
[ ! -f $(1)/$(PROGRAM) ] || ln -sfn $(PROGRAM) $(1)/sayso; exit $$status
endef

# In variables, because a comma in a call would begin the next argument.
WITH_TESTS = -Dtests=$$(pkg-config --exists cmocka && echo true || echo false)
# -g1: lines in stack traces, and a fifth less time to compile.
SANITIZED = -Dc_args=-g1 -Db_sanitize=address,undefined -Doptimization=1 -Dc_link_args=-fuse-ld=lld -Dcrash_points=true \
    -Dconformance_fixture=true -Dfuzz=true
FUZZERS = -Db_sanitize=address,undefined -Dfuzz=true -Dtests=false -Db_lundef=false

##@ Everyday
.PHONY: build run test check install uninstall dist deb release
build: ## the program: build/sayso
	@$(call configure,build,$(GCC),$(WITH_TESTS))
	@$(call compile,build,$(PROGRAM))

run: packages-build build ## install what is missing, build, and run a demonstration
	@exec tools/run_demo

test: packages-compile ## every test
	@tools/install_packages test & installing=$$!; \
	$(MAKE) build-program build-sanitized build-simulator; built=$$?; \
	wait $$installing && [ $$built -eq 0 ] && exec tools/run_tests

check: build-plain ## the quick tests; SUITE=core, SUITE=lifecycle, SUITE=checks ... choose
	@tools/run_tests --fast $(if $(SUITE),--suite $(SUITE)) $(if $(ONLY),--only '$(ONLY)')

install: build ## program, library, manual and completions into $(DESTDIR)$(PREFIX), by default /usr/local
	@$(call compile,build,$(LIBRARY) pages)
	@$(TREE) tools/install_tree install build

uninstall: ## what install put there; your data stays
	@$(TREE) tools/install_tree uninstall

dist: ## the sources of this commit: build/sayso-VERSION.tar.gz, the same bytes each time
	@tools/package dist

deb: packages-deb ## Debian packages of the files as they are: build/deb/*.deb
	@tools/package deb

release: packages-release build ## everything that is handed out, with sums: build/release
	@$(call compile,build,$(LIBRARY))
	@JOBS=$(JOBS) tools/package release

##@ Longer looks
.PHONY: coverage fuzz simulate soak bench clients
coverage: packages-test ## lines (100 %) and branches (95 %) of src/core seen by the unit tests
	@$(call configure,build-cov,$(GCC),-Db_coverage=true -Dbuildtype=debug -Dc_args=-U_FORTIFY_SOURCE)
	@$(call compile,build-cov)
	@find build-cov -name '*.gcda' -delete
	@tools/run_tests --suite unit --build build-cov
	@gcovr --root . --filter 'src/core/' --object-directory build-cov build-cov \
	    --exclude-unreachable-branches --sort-percentage --branches --print-summary \
	    --fail-under-line 100 --fail-under-branch 95 > build-cov/coverage.txt 2>&1; \
	status=$$?; cat build-cov/coverage.txt; \
	if grep -q AssertionError build-cov/coverage.txt; then \
	    echo "gcovr stops like this when two functions begin on one line (macros, headers)."; \
	fi; exit $$status

fuzz: packages-fuzz build-fuzzers ## every fuzz target for FUZZ_SECONDS (60), with counts
	@tools/run_tests --suite fuzz --fuzz-seconds $(FUZZ_SECONDS) --fuzz-seed 0 $(if $(ONLY),--only '$(ONLY)')

simulate: packages-test build-simulator ## 20,000 simulated histories and the deliberate faults, with counts
	@tools/run_tests --suite simulate

soak: packages-soak build-plain build-sanitized build-threads build-fuzzers build-simulator ## races, valgrind, analyzers, larger counts; goes on where it stopped
	@SAYSO_SCALE=$(SOAK_SCALE) tools/run_tests --soak --fuzz-seconds $(SOAK_FUZZ_SECONDS) --fuzz-seed 0 \
	    $(if $(SUITE),--suite $(SUITE)) $(if $(ONLY),--only '$(ONLY)') --record docs/internals/soak.md

clients: packages-clients build ## the real clients, installed from npm, with a scripted model; docs/clients.md has the table
	@ONLY='$(ONLY)' SCALE='$(SCALE)' tests/clients/run

bench: packages-bench build ## the benchmarks of bench/
	@if [ -x bench/run ]; then exec bench/run; else echo "there are no benchmarks yet"; fi

##@ Tidying
.PHONY: format clean help
format: ## rewrite the C sources in the house format
	@clang-format -i $(SOURCES)

clean: ## remove every build directory
	@rm -rf build build-asan build-fuzz build-cov build-tsan build-sim

help: ## this list
	@awk 'BEGIN { FS = ":.*## " } /^##@ / { printf "%s%s\n", gap, substr($$0, 5); gap = "\n" } \
	    /^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# Steps the targets above share.
.PHONY: packages-build packages-compile packages-test packages-fuzz packages-soak packages-bench packages-deb packages-release packages-clients
packages-build packages-compile packages-test packages-fuzz packages-soak packages-bench packages-deb packages-release packages-clients:
	@tools/install_packages $(@:packages-%=%)

.PHONY: build-plain build-program build-sanitized build-fuzzers build-threads build-simulator
build-plain:
	@$(call configure,build,$(GCC),$(WITH_TESTS))
	@$(call compile,build)

build-program: # what the end-to-end tests use of the plain build; unit tests run sanitized
	@$(call configure,build,$(GCC),$(WITH_TESTS))
	@$(call compile,build,$(PROGRAM) $(LIBRARY) pages tests/unit/complexity tests/unit/print_access)

build-sanitized:
	@$(call configure,build-asan,$(GCC),$(SANITIZED))
	@$(call compile,build-asan)

build-fuzzers:
	@$(call configure,build-fuzz,$(CLANG),$(FUZZERS))
	@$(call compile,build-fuzz,fuzzers)

build-threads:
	@$(call configure,build-tsan,$(GCC),-Db_sanitize=thread -Dcrash_points=true)
	@$(call compile,build-tsan)

build-simulator:
	@$(call configure,build-sim,$(GCC),-Dc_args=-g1 -Dcrash_points=true -Dtests=false)
	@$(call compile,build-sim,tests/simulate/simulate)
