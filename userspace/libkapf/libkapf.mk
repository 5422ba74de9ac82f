# SPDX-License-Identifier: LGPL-2.1
#
# What a program needs to be built with libkapf; a Makefile includes this file
# and finds the library, its compiler flags and the libraries that it uses.

LIBKAPF_DIR := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
LIBKAPF_TOP := $(abspath $(LIBKAPF_DIR)/../..)
LIBKAPF_A := $(LIBKAPF_TOP)/build/lib/libkapf.a
LIBKAPF_CFLAGS := -I$(LIBKAPF_DIR) -I$(LIBKAPF_TOP)/uapi
LIBKAPF_LIBS := -lyaml -ljson-c -lnettle
