# SPDX-License-Identifier: GPL-2.0
#
# What a person types; `make help` lists it.  Everything that is made lies in
# build/.

MAKEFLAGS += --no-print-directory
include version.mk
# libkapf first: the others are linked with it.  What is in Go is for benchmarks alone,
# and long in the making.
USERSPACE := $(patsubst %/Makefile,%,$(wildcard userspace/libkapf/Makefile) \
	$(filter-out userspace/libkapf/% userspace/go/%, \
	$(wildcard userspace/*/Makefile)))

# Where `make install` puts things; below DESTDIR, if that is given.
prefix = /usr/local
bindir = $(prefix)/bin
libdir = $(prefix)/lib
includedir = $(prefix)/include
mandir = $(prefix)/share/man
docdir = $(prefix)/share/doc/kapf
pkgconfigdir = $(libdir)/pkgconfig
bashcompletiondir = $(prefix)/share/bash-completion/completions
zshcompletiondir = $(prefix)/share/zsh/site-functions
sysconfdir = /etc
# systemd and udev look below /usr/local/lib, too.
udevrulesdir = $(prefix)/lib/udev/rules.d
sysusersdir = $(prefix)/lib/sysusers.d
modulesloaddir = $(prefix)/lib/modules-load.d
systemdsystemunitdir = $(prefix)/lib/systemd/system
# Where dkms looks for the sources of modules.
usrsrcdir = /usr/src
INSTALL_VARIABLES := KAPF_VERSION DESTDIR prefix bindir libdir includedir \
	mandir docdir pkgconfigdir bashcompletiondir zshcompletiondir \
	sysconfdir udevrulesdir sysusersdir modulesloaddir \
	systemdsystemunitdir usrsrcdir

all: modules tools tests

help:
	@echo 'all (default)  modules, tools and tests'
	@echo 'modules        build/modules/KERNEL/kapf.ko, for each kernel'
	@echo 'tools          the library, kapfctl, kapf-apiserver and the demo, in build/lib'
	@echo '               and build/bin'
	@echo 'tests          the test programs, in build/selftests'
	@echo 'check          build everything, check the style, run all tests, in all kernels'
	@echo 'check-debug    run the tests in kernels that look for faults and leaks'
	@echo 'debug-kernel   build those kernels, into the cache'
	@echo 'fuzz           look for inputs that break the engine or libkapf, for SECONDS'
	@echo '               (60) each; installs clang'
	@echo 'bench          measure what kapf costs and what it buys, in virtual machines,'
	@echo '               beside other ways to get that; in build/bench'
	@echo 'bench-host     the same by the clock of this machine, with the module that is'
	@echo '               loaded; as root'
	@echo 'lint           check the style alone'
	@echo 'demo           run the demo in a virtual machine; with MANIFEST=FILE, that of'
	@echo '               another cure'
	@echo 'install        install what make tools has built, and what the machine'
	@echo '               needs to run it; prefix, DESTDIR and others say where'
	@echo 'uninstall      remove that'
	@echo 'clean          remove build/'
	@echo
	@echo 'What is needed and lacking is installed first, by scripts/deps; but not by'
	@echo 'install and uninstall, which may run as root.'

clean:
	rm -rf build

# Sets KERNELS.
ifneq ($(filter-out help clean install uninstall,$(or $(MAKECMDGOALS),all)),)
include build/deps.mk
endif

build/deps.mk: FORCE
	@scripts/deps $@

# Sets DEBUG_KERNELS.
ifneq ($(filter debug-kernel check-debug,$(MAKECMDGOALS)),)
include build/debug.mk
endif

build/debug.mk: build/deps.mk FORCE
	@scripts/debug-kernels $@

modules: $(KERNELS:%=build/modules/%/kapf.ko)

build/modules/%/kapf.ko: FORCE
	+@scripts/build-module $*

tools:
	@set -e; for dir in $(USERSPACE); do $(MAKE) -C $$dir; done

tests: tools
	@set -e; for dir in selftests $(patsubst %/Makefile,%, \
		$(wildcard selftests/*/Makefile)); do $(MAKE) -C $$dir; done

check:
	@scripts/check $(KERNELS)

check-debug:
	@scripts/check --debug $(DEBUG_KERNELS)

debug-kernel: build/debug.mk
	@:

SECONDS = 60
fuzz:
	@scripts/deps --fuzz
	@selftests/fuzz/fuzz "$(SECONDS)"

# What is built says nothing, unless it fails.
bench bench-host:
	@scripts/deps --bench
	@$(MAKE) -s modules tools
	@$(MAKE) -s -C userspace/go
	@userspace/bench/run $(if $(filter bench-host,$@),--host)

lint:
	@scripts/lint

# What is built says nothing, unless it fails.
demo:
	@echo 'demo: building the module and the tools ...'
	@$(MAKE) -s modules tools
	@userspace/demo/run $(if $(MANIFEST),--manifest '$(MANIFEST)')

install uninstall:
	@env $(foreach name,$(INSTALL_VARIABLES),$(name)='$($(name))') \
		scripts/install $@

FORCE:

.PHONY: all help clean modules tools tests check check-debug debug-kernel \
	fuzz bench bench-host lint demo install uninstall FORCE
