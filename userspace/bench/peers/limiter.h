/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Priority levels on the engine of the module, for peers in user space.  Who has
 * to wait, and who may call when, is the peer's affair.
 */
#ifndef KAPF_BENCH_LIMITER_H
#define KAPF_BENCH_LIMITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../workload.h"

struct limiter;

enum limiter_verdict {
	LIMITER_SEATED,
	LIMITER_QUEUED,
	LIMITER_REFUSED,
};

size_t limiter_size(const struct workload *load, uint32_t requests);
void limiter_init(struct limiter *limiter, const struct workload *load,
		  uint32_t requests);
enum limiter_verdict limiter_admit(struct limiter *limiter, uint32_t index,
				   const struct request *request, uint64_t now);
void limiter_finish(struct limiter *limiter, uint32_t index, uint64_t now);
void limiter_cancel(struct limiter *limiter, uint32_t index, uint64_t now);
bool limiter_granted(struct limiter *limiter, uint32_t *index);

#endif /* KAPF_BENCH_LIMITER_H */
