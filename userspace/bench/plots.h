/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_BENCH_PLOTS_H
#define KAPF_BENCH_PLOTS_H

#include "results.h"

void plots_write(const char *dir, const struct samples *samples,
		 const struct results *results);

#endif /* KAPF_BENCH_PLOTS_H */
