/* SPDX-License-Identifier: LGPL-2.1 */
/* Labels: what dumps show of a request. */
#ifndef KAPF_LABEL_H
#define KAPF_LABEL_H

#include <stddef.h>

#include "libkapf.h"

/* Room for a label beside each slot: most fit whole. */
#define LABEL_BYTES 512

size_t label_make(char *label, const struct kapf_flow_schema *schema,
		  const struct kapf_digest *digest);

#endif /* KAPF_LABEL_H */
