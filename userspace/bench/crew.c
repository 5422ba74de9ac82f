// SPDX-License-Identifier: GPL-2.0
/*
 * Workers of one or two processes, who use a peer.
 *
 * Each worker is a thread.  Worker W runs in process W % processes, on one of two
 * processors, by its number, too: two processes have one each.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crew.h"

#define STACK_BYTES	(64 << 10)
#define MAX_WAIT_NS	(30 * SECOND_NS)
#define LOOK_NS		1000000

/**
 * struct thread - a worker
 * @crew: that it belongs to
 * @number: its own
 * @id: of the thread
 */
struct thread {
	struct crew *crew;
	uint32_t number;
	pthread_t id;
};

void crew_sleep_until(uint64_t when)
{
	struct timespec until = {
		.tv_sec = when / SECOND_NS, .tv_nsec = when % SECOND_NS,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}

void crew_sleep(uint64_t ns)
{
	crew_sleep_until(bench_now() + ns);
}

static void *run_thread(void *argument)
{
	struct thread *thread = argument;

	bench_pin(thread->number);
	/* A sleep is to last as long as asked for. */
	prctl(PR_SET_TIMERSLACK, 1);
	thread->crew->work(thread->crew, thread->number);
	return NULL;
}

static void start_thread(struct thread *thread)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	errno = pthread_create(&thread->id, &attr, run_thread, thread);
	if (errno)
		bench_fail("pthread_create");
	pthread_attr_destroy(&attr);
}

static void run_process(struct crew *crew, uint32_t process)
{
	struct thread threads[crew->workers];
	uint32_t i;

	if (crew->peer->attach)
		crew->peer->attach(crew->handle);
	for (i = process; i < crew->workers; i += crew->processes) {
		threads[i].crew = crew;
		threads[i].number = i;
		start_thread(&threads[i]);
	}
	for (i = process; i < crew->workers; i += crew->processes)
		pthread_join(threads[i].id, NULL);
	_exit(0);
}

static void *share(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		bench_fail("no memory for the workers");
	return memory;
}

static size_t shared_size(const struct crew *crew)
{
	return sizeof(*crew->shared) +
	       crew->workers * sizeof(*crew->shared->workers);
}

static size_t samples_size(const struct crew *crew)
{
	return (crew->nr_samples + 1) * sizeof(*crew->samples);
}

/* Until all of them have asked, and a bit: then those that have to wait do. */
static void wait_for_workers(const struct crew *crew)
{
	uint32_t i;

	while (__atomic_load_n(&crew->shared->ready, __ATOMIC_ACQUIRE) <
	       crew->workers) {
		for (i = 0; i < crew->processes; i++)
			if (waitpid(crew->pids[i], NULL, WNOHANG))
				bench_wrong("a process has ended");
		crew_sleep(LOOK_NS);
	}
	crew_sleep(WORKLOAD_START_NS);
}

/**
 * crew_start() - open the peer, and have the workers begin
 * @crew: with what is the caller's
 */
void crew_start(struct crew *crew)
{
	struct peer_limits limits = {
		.load = crew->load,
		.workers = crew->workers,
		.max_wait_ns = MAX_WAIT_NS,
	};
	uint32_t i;

	crew->shared = share(shared_size(crew));
	crew->samples = share(samples_size(crew));
	crew->handle = crew->peer->open(&limits);
	for (i = 0; i < crew->processes; i++) {
		crew->pids[i] = bench_fork();
		if (!crew->pids[i])
			run_process(crew, i);
	}
	wait_for_workers(crew);
	crew->shared->start_ns = bench_now();
	__atomic_store_n(&crew->shared->start, 1, __ATOMIC_RELEASE);
}

/**
 * crew_stop() - have the workers end, and wait for that
 * @crew: of crew_start()
 */
void crew_stop(struct crew *crew)
{
	uint32_t i;

	__atomic_store_n(&crew->shared->stop, 1, __ATOMIC_RELEASE);
	for (i = 0; i < crew->processes; i++) {
		int status;

		if (waitpid(crew->pids[i], &status, 0) < 0 || status)
			bench_wrong("a process has not ended well");
	}
	crew->peer->close(crew->handle);
}

/**
 * crew_end() - give back what crew_start() took
 * @crew: of crew_stop()
 */
void crew_end(struct crew *crew)
{
	munmap(crew->samples, samples_size(crew));
	munmap(crew->shared, shared_size(crew));
}

/**
 * crew_wait_for_start() - as a worker: be ready, and wait
 * @crew: of the worker
 */
void crew_wait_for_start(struct crew *crew)
{
	__atomic_add_fetch(&crew->shared->ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&crew->shared->start, __ATOMIC_ACQUIRE))
		crew_sleep(LOOK_NS);
}

/**
 * crew_first() - as a worker: a first request, which keeps its seats to the start
 * @crew: of the worker
 * @worker: its number
 * @request: that it makes
 */
void crew_first(struct crew *crew, uint32_t worker,
		const struct request *request)
{
	__atomic_add_fetch(&crew->shared->ready, 1, __ATOMIC_RELEASE);
	crew_admit(crew, worker, request);
	while (!__atomic_load_n(&crew->shared->start, __ATOMIC_ACQUIRE))
		crew_sleep(LOOK_NS);
	crew->peer->finish(crew->handle, worker, request);
}

/**
 * crew_admit() - as a worker: ask for seats, and wait for them
 * @crew: of the worker
 * @worker: its number
 * @request: that it makes
 */
void crew_admit(struct crew *crew, uint32_t worker,
		const struct request *request)
{
	if (crew->peer->admit(crew->handle, worker, request) != PEER_EXECUTE)
		bench_wrong("a request was refused");
}

/**
 * crew_finish() - as a worker: give them back, and count
 * @crew: of the worker
 * @worker: its number
 * @request: that it has made
 */
void crew_finish(struct crew *crew, uint32_t worker,
		 const struct request *request)
{
	uint64_t *finished = &crew->shared->workers[worker].finished;

	crew->peer->finish(crew->handle, worker, request);
	__atomic_store_n(finished, *finished + 1, __ATOMIC_RELAXED);
}

/**
 * crew_finished() - how many requests some workers have finished
 * @crew: that they are of
 * @from: the first
 * @nr: how many workers
 */
uint64_t crew_finished(const struct crew *crew, uint32_t from, uint32_t nr)
{
	uint64_t sum = 0;

	while (nr--)
		sum += __atomic_load_n(&crew->shared->workers[from++].finished,
				       __ATOMIC_RELAXED);
	return sum;
}

/**
 * crew_stopped() - as a worker: is this to be the end?
 * @crew: of the worker
 */
bool crew_stopped(const struct crew *crew)
{
	return __atomic_load_n(&crew->shared->stop, __ATOMIC_RELAXED);
}
