// SPDX-License-Identifier: GPL-2.0
/*
 * The engine in memory, under a mutex: of one process (mutex), or shared by several
 * (shm).  Who waits sleeps on a futex of its own, and is woken after the unlock.  A
 * request that needs not wait makes no system call.
 *
 * In shared memory the mutex is robust: when its holder dies, the next one learns
 * of it.  But what that holder was about to change it has changed by half, so that
 * there is nothing to be done but to end; and for the seats of a process that dies
 * at any other time nobody cares.
 *
 * Exempt requests are counted, by worker, and ask nobody.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../bench.h"
#include "limiter.h"
#include "peer.h"

/* Seats that one request can leave to others. */
#define WOKEN_MAX 64

enum { WAITS, SEATED };

struct memory_worker {
	LINE uint32_t state;
	uint32_t exempt;
};

/**
 * struct memory - what is shared
 * @mutex: for the limiter, and changes of a worker's state
 * @limiter: behind the workers
 * @max_wait_ns: for which one waits
 * @size: of all
 * @futex: flag of the futex calls
 * @workers: one each
 */
struct memory {
	LINE pthread_mutex_t mutex;
	struct limiter *limiter;
	uint64_t max_wait_ns;
	size_t size;
	int futex;
	struct memory_worker workers[];
};

/**
 * struct woken - those to wake after the unlock
 * @nr: how many
 * @workers: their numbers
 */
struct woken {
	uint32_t nr;
	uint32_t workers[WOKEN_MAX];
};

static struct memory *memory_open(const struct peer_limits *limits, bool shared)
{
	size_t front = sizeof(struct memory) +
		       limits->workers * sizeof(struct memory_worker);
	size_t size = front + limiter_size(limits->load, limits->workers);
	pthread_mutexattr_t attr;
	struct memory *memory;

	if (limits->load->seats > WOKEN_MAX)
		bench_wrong("too many seats for a peer in memory");
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		bench_fail("no memory for a peer");
	pthread_mutexattr_init(&attr);
	if (shared) {
		pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	}
	pthread_mutex_init(&memory->mutex, &attr);
	memory->limiter = (struct limiter *)((char *)memory + front);
	limiter_init(memory->limiter, limits->load, limits->workers);
	memory->max_wait_ns = limits->max_wait_ns;
	memory->size = size;
	memory->futex = shared ? 0 : FUTEX_PRIVATE_FLAG;
	return memory;
}

static void *private_open(const struct peer_limits *limits)
{
	return memory_open(limits, false);
}

static void *shared_open(const struct peer_limits *limits)
{
	return memory_open(limits, true);
}

static void memory_lock(struct memory *memory)
{
	errno = pthread_mutex_lock(&memory->mutex);
	if (errno)
		bench_fail("who had the mutex has left the queues in disorder");
}

/* Those that have been dispatched have their seats from here on. */
static void memory_unlock(struct memory *memory, struct woken *woken)
{
	woken->nr = 0;
	while (limiter_granted(memory->limiter, &woken->workers[woken->nr])) {
		uint32_t worker = woken->workers[woken->nr++];

		__atomic_store_n(&memory->workers[worker].state, SEATED,
				 __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&memory->mutex);
}

static void memory_wake(struct memory *memory, const struct woken *woken)
{
	uint32_t i;

	for (i = 0; i < woken->nr; i++)
		syscall(SYS_futex, &memory->workers[woken->workers[i]].state,
			FUTEX_WAKE | memory->futex, 1, NULL, NULL, 0);
}

static bool seated(const struct memory_worker *me)
{
	return __atomic_load_n(&me->state, __ATOMIC_ACQUIRE) == SEATED;
}

static enum peer_verdict memory_give_up(struct memory *memory, uint32_t worker)
{
	struct woken woken;
	bool late;

	memory_lock(memory);
	late = seated(&memory->workers[worker]);
	if (!late)
		limiter_cancel(memory->limiter, worker, bench_now());
	memory_unlock(memory, &woken);
	memory_wake(memory, &woken);
	return late ? PEER_EXECUTE : PEER_TIME_OUT;
}

static enum peer_verdict memory_wait(struct memory *memory, uint32_t worker,
				     uint64_t deadline)
{
	struct memory_worker *me = &memory->workers[worker];
	struct timespec until = {
		.tv_sec = deadline / SECOND_NS, .tv_nsec = deadline % SECOND_NS,
	};

	while (!seated(me))
		if (syscall(SYS_futex, &me->state,
			    FUTEX_WAIT_BITSET | memory->futex, WAITS, &until,
			    NULL, FUTEX_BITSET_MATCH_ANY) < 0 &&
		    errno == ETIMEDOUT)
			return memory_give_up(memory, worker);
	return PEER_EXECUTE;
}

static enum peer_verdict memory_admit(void *handle, uint32_t worker,
				      const struct request *request)
{
	struct memory *memory = handle;
	struct memory_worker *me = &memory->workers[worker];
	enum limiter_verdict verdict;
	struct woken woken;
	uint64_t now;

	if (request->exempt) {
		me->exempt++;
		return PEER_EXECUTE;
	}
	me->state = WAITS;
	now = bench_now();
	memory_lock(memory);
	verdict = limiter_admit(memory->limiter, worker, request, now);
	memory_unlock(memory, &woken);
	memory_wake(memory, &woken);
	if (verdict == LIMITER_QUEUED)
		return memory_wait(memory, worker, now + memory->max_wait_ns);
	return verdict == LIMITER_SEATED ? PEER_EXECUTE : PEER_REFUSED;
}

static void memory_finish(void *handle, uint32_t worker,
			  const struct request *request)
{
	struct memory *memory = handle;
	struct woken woken;
	uint64_t now;

	if (request->exempt) {
		memory->workers[worker].exempt--;
		return;
	}
	now = bench_now();
	memory_lock(memory);
	limiter_finish(memory->limiter, worker, now);
	memory_unlock(memory, &woken);
	memory_wake(memory, &woken);
}

static void memory_close(void *handle)
{
	struct memory *memory = handle;

	munmap(memory, memory->size);
}

const struct peer peer_mutex = {
	.name = "mutex",
	.processes = 1,
	.fair = true,
	.open = private_open,
	.admit = memory_admit,
	.finish = memory_finish,
	.close = memory_close,
};

const struct peer peer_shm = {
	.name = "shm",
	.processes = 2,
	.fair = true,
	.open = shared_open,
	.admit = memory_admit,
	.finish = memory_finish,
	.close = memory_close,
};
