# SPDX-License-Identifier: LGPL-2.1
#
# What a program needs to be built with libkapf; a Makefile includes this file
# and finds the library, its compiler flags and the libraries that it uses.

LIBKAPF_DIR := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
LIBKAPF_TOP := $(abspath $(LIBKAPF_DIR)/../..)
LIBKAPF_A := $(LIBKAPF_TOP)/build/lib/libkapf.a
LIBKAPF_CFLAGS := -I$(LIBKAPF_DIR) -I$(LIBKAPF_TOP)/uapi
LIBKAPF_LIBS := -lyaml -ljson-c -lnettle

# Its gate has the engine of the module in it, over headers of its own that are for
# nothing else.  What is built with these lies in LIBKAPF_GATE, %.c in one of both
# directories.
LIBKAPF_ENGINE_DIR := $(LIBKAPF_TOP)/module/engine
LIBKAPF_GATE_CFLAGS := -I$(LIBKAPF_DIR)/gate -I$(LIBKAPF_ENGINE_DIR)
LIBKAPF_GATE := $(basename $(notdir $(wildcard $(LIBKAPF_DIR)/gate/*.c))) \
	queueset dealer allocation demand retryafter
