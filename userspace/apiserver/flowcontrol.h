/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flow control API, flowcontrol.apiserver.k8s.io/v1: requests about the
 * objects of a configuration, and which API that is.
 */
#ifndef APISERVER_FLOWCONTROL_H
#define APISERVER_FLOWCONTROL_H

#include <stdbool.h>
#include "call.h"

struct kapf_configuration;
struct kapf_error;

/**
 * struct flowcontrol - where the objects are
 * @read: reads the configuration, of which the caller frees what comes in
 *	@config; returns 0 or a negative errno, and says why in @err
 * @data: for @read
 */
struct flowcontrol {
	int (*read)(void *data, struct kapf_configuration **config,
		    struct kapf_error *err);
	void *data;
};

/**
 * flowcontrol_answer() - answer a request for objects
 * @flowcontrol: where they are
 * @call: the request
 * @reply: out
 *
 * Return: false, and no answer, where its path is none of theirs.
 */
bool flowcontrol_answer(const struct flowcontrol *flowcontrol,
			const struct call *call, struct reply *reply);

/**
 * discovery_answer() - answer a request for which APIs and resources there are
 * @call: the request
 * @reply: out
 *
 * Return: false, and no answer, where its path is none of these.
 */
bool discovery_answer(const struct call *call, struct reply *reply);

#endif /* APISERVER_FLOWCONTROL_H */
