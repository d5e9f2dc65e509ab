// The library between coalesce-mpi and one implementation of MPI: scripts/mpi builds it
// with that implementation's mpicc, and the program loads it by its path. Its functions
// are flat: no constant and no handle of MPI's crosses. One thread calls all of them.
#include <mpi.h>
#include <signal.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static MPI_Comm world, ends; // ends: where ranks agree how the program ends, whatever they wait for elsewhere

// out: rank, size, rank on this host, number of hosts. MPI's signal handlers are undone:
// Go's need a stack of their own.
int coalesce_mpi_init(int64_t *out) {
	struct sigaction kept[65];
	for (int s = 1; s < 65; s++) sigaction(s, NULL, &kept[s]);
	int level, rank, size, local, heads, first, e = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
	for (int s = 1; s < 65; s++)
		if (s != SIGKILL && s != SIGSTOP && s != 32 && s != 33) sigaction(s, &kept[s], NULL);
	if (e) return e;
	if ((e = MPI_Comm_dup(MPI_COMM_WORLD, &world)) || (e = MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN)) || (e = MPI_Comm_dup(world, &ends))) return e;
	MPI_Comm host;
	MPI_Comm_rank(world, &rank);
	MPI_Comm_size(world, &size);
	if ((e = MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host))) return e;
	MPI_Comm_rank(host, &local);
	first = local == 0;
	if ((e = MPI_Allreduce(&first, &heads, 1, MPI_INT, MPI_SUM, world))) return e;
	out[0] = rank, out[1] = size, out[2] = local, out[3] = heads;
	return MPI_Comm_free(&host);
}

int coalesce_mpi_library(char *text) { // of at least MPI_MAX_LIBRARY_VERSION_STRING bytes
	int n;
	return MPI_Get_library_version(text, &n);
}
int64_t coalesce_mpi_most(void) { return MPI_MAX_LIBRARY_VERSION_STRING; }

// Each of the next begins an operation; *r is what wait takes. Sizes are at most 2^30 bytes.
int coalesce_mpi_broadcast(void *p, int64_t n, int64_t root, void **r) {
	return MPI_Ibcast(p, (int)n, MPI_BYTE, (int)root, world, *r = malloc(sizeof(MPI_Request)));
}
int coalesce_mpi_reduce(void *p, int64_t n, int64_t type, int64_t op, void **r) {
	MPI_Datatype types[] = {MPI_INT32_T, MPI_INT64_T, MPI_UINT64_T};
	MPI_Op ops[] = {MPI_MIN, MPI_MAX, MPI_SUM};
	return MPI_Iallreduce(MPI_IN_PLACE, p, (int)n, types[type], ops[op], world, *r = malloc(sizeof(MPI_Request)));
}
int coalesce_mpi_gather(void *p, int *counts, int *offsets, void **r) {
	return MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p, counts, offsets, MPI_BYTE, world, *r = malloc(sizeof(MPI_Request)));
}
int coalesce_mpi_send(void *p, int64_t n, int64_t to, int64_t tag, void **r) {
	return MPI_Isend(p, (int)n, MPI_BYTE, (int)to, (int)tag, world, *r = malloc(sizeof(MPI_Request)));
}
int coalesce_mpi_receive(void *p, int64_t n, int64_t from, int64_t tag, void **r) {
	return MPI_Irecv(p, (int)n, MPI_BYTE, (int)from, (int)tag, world, *r = malloc(sizeof(MPI_Request)));
}

int coalesce_mpi_agree(int64_t *p, void **r) {
	return MPI_Iallreduce(MPI_IN_PLACE, p, 1, MPI_INT64_T, MPI_MAX, ends, *r = malloc(sizeof(MPI_Request)));
}

// out: whether a message with the tag is there, its sender, its bytes.
int coalesce_mpi_probe(int64_t tag, int64_t *out) {
	int there, n = 0, e;
	MPI_Status s;
	if ((e = MPI_Iprobe(MPI_ANY_SOURCE, (int)tag, world, &there, &s))) return e;
	if ((out[0] = there)) MPI_Get_count(&s, MPI_BYTE, &n), out[1] = s.MPI_SOURCE, out[2] = n;
	return 0;
}

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

// wait waits for some microseconds at most, ever more patiently, and sets *done. A done
// operation's request is gone.
int coalesce_mpi_wait(void *r, int64_t waited, int64_t microseconds, int *done) {
	int64_t start = now(), at = start;
	for (int k = 0;; k++) {
		int e = MPI_Test(r, done, MPI_STATUS_IGNORE);
		if (e || *done) {
			free(r);
			return e;
		}
		if (k < 20) continue;
		if ((at = now()) - start > microseconds) return 0;
		if (waited + at - start < 500) {
			sched_yield();
			continue;
		}
		struct timespec nap = {0, waited + at - start < 20000 ? 50000 : 500000};
		nanosleep(&nap, NULL);
	}
}

int coalesce_mpi_message(int64_t e, char *text) { // of at least MPI_MAX_ERROR_STRING bytes, which most exceeds
	int n;
	return MPI_Error_string((int)e, text, &n);
}
void coalesce_mpi_abort(int64_t code) { MPI_Abort(MPI_COMM_WORLD, (int)code); }
void coalesce_mpi_exit(int64_t code) {
	MPI_Finalize();
	exit((int)code);
}
