// SPDX-License-Identifier: GPL-2.0
/*
 * A System V semaphore for each level: crosses processes and, with SEM_UNDO,
 * survives them, but knows no flows: who asks more gets more.  Its waiters form one
 * line, in which, however, a wide request waits while narrow ones pass it.
 *
 * Exempt requests are counted, by worker, and ask nobody.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <time.h>
#include <unistd.h>

#include "../bench.h"
#include "peer.h"

struct sysv_worker {
	LINE uint32_t exempt;
};

/**
 * struct sysv - the semaphores
 * @id: of the set
 * @max_wait: for which one waits
 * @workers: one each
 */
struct sysv {
	int id;
	struct timespec max_wait;
	struct sysv_worker workers[];
};

/* A set outlives all who use it: who is interrupted has to remove it. */
static int set_id;
static pid_t set_owner;

static void sysv_interrupted(int sig)
{
	if (getpid() == set_owner)
		semctl(set_id, 0, IPC_RMID);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void *sysv_open(const struct peer_limits *limits)
{
	struct sysv *sysv = bench_lines(sizeof(*sysv) + limits->workers *
					sizeof(*sysv->workers));
	uint32_t i;

	sysv->max_wait.tv_sec = limits->max_wait_ns / SECOND_NS;
	sysv->max_wait.tv_nsec = limits->max_wait_ns % SECOND_NS;
	sysv->id = semget(IPC_PRIVATE, limits->load->levels, 0600);
	if (sysv->id < 0)
		bench_fail("semget");
	set_id = sysv->id;
	set_owner = getpid();
	signal(SIGINT, sysv_interrupted);
	signal(SIGTERM, sysv_interrupted);
	for (i = 0; i < limits->load->levels; i++)
		if (semctl(sysv->id, i, SETVAL, limits->load->seats) < 0)
			bench_fail("semctl");
	return sysv;
}

static enum peer_verdict sysv_admit(void *handle, uint32_t worker,
				    const struct request *request)
{
	struct sysv *sysv = handle;
	struct sembuf op = {
		.sem_num = request->level,
		.sem_op = -request->seats,
		.sem_flg = SEM_UNDO,
	};

	if (request->exempt) {
		sysv->workers[worker].exempt++;
		return PEER_EXECUTE;
	}
	if (!semtimedop(sysv->id, &op, 1, &sysv->max_wait))
		return PEER_EXECUTE;
	if (errno != EAGAIN)
		bench_fail("semtimedop");
	return PEER_TIME_OUT;
}

static void sysv_finish(void *handle, uint32_t worker,
			const struct request *request)
{
	struct sysv *sysv = handle;
	struct sembuf op = {
		.sem_num = request->level,
		.sem_op = request->seats,
		.sem_flg = SEM_UNDO,
	};

	if (request->exempt)
		sysv->workers[worker].exempt--;
	else if (semop(sysv->id, &op, 1))
		bench_fail("semop");
}

static void sysv_close(void *handle)
{
	struct sysv *sysv = handle;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	semctl(sysv->id, 0, IPC_RMID);
	free(sysv);
}

const struct peer peer_sysv = {
	.name = "sysv",
	.processes = 2,
	.returns_seats = true,
	.open = sysv_open,
	.admit = sysv_admit,
	.finish = sysv_finish,
	.close = sysv_close,
};
