/* A libnccl.so.2 for the driver's tests beside fake.c: group calls are kept
 * and done when the group ends, after all earlier work of the stand-in GPUs. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct ncclComm { int rank, size; };
typedef struct ncclComm *comm_t;
int cuStreamSynchronize(void *stream); /* does all that is queued */

enum { MOST = 256 };
static struct call { char *p; size_t n; int type, op, root, rank, size; } calls[MOST];
static int made, open_groups;

int ncclGetVersion(int *v) { return *v = 22809, 0; }
const char *ncclGetErrorString(int r) { return r == 4 ? "invalid argument" : "invalid usage"; }
int ncclCommInitAll(comm_t *c, int n, const int *devices) {
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < i; j++)
			if (devices[i] == devices[j]) return 5;
		c[i] = malloc(sizeof *c[i]);
		c[i]->rank = i, c[i]->size = n;
	}
	return 0;
}
struct id { char internal[128]; }; /* ncclUniqueId */
int ncclGetUniqueId(struct id *id) { return strcpy(id->internal, "stand-in"), 0; }
int ncclCommInitRank(comm_t *c, int size, struct id id, int rank) {
	if (strcmp(id.internal, "stand-in") || size != 1) return 4;
	*c = malloc(sizeof **c);
	(*c)->rank = rank, (*c)->size = size;
	return 0;
}
int ncclCommDestroy(comm_t c) { return free(c), 0; }
int ncclGroupStart(void) { return open_groups++, 0; }

static int add(struct call c) {
	if (!open_groups || made == MOST) return 5;
	return calls[made++] = c, 0;
}
int ncclBroadcast(const void *from, void *to, size_t n, int type, int root, comm_t c, void *stream) {
	if (from != to || type != 0) return 4;
	return add((struct call){to, n, type, -1, root, c->rank, c->size});
}
int ncclAllReduce(const void *from, void *to, size_t n, int type, int op, comm_t c, void *stream) {
	if (from != to) return 4;
	return add((struct call){to, n, type, op, 0, c->rank, c->size});
}

#define FOLD(T)                                                                                       \
	for (size_t i = 0; i < n; i++) {                                                              \
		T *a = (T *)into + i, b = ((const T *)from)[i];                                       \
		*a = op == 0 ? *a + b : op == 2 ? (b > *a ? b : *a) : (b < *a ? b : *a);             \
	}
static void fold(char *into, const char *from, size_t n, int type, int op) {
	if (type == 2) FOLD(int)
	if (type == 4) FOLD(long long)
	if (type == 5) FOLD(unsigned long long)
}

/* The k-th call of every rank belongs together. */
int ncclGroupEnd(void) {
	if (--open_groups) return 0;
	cuStreamSynchronize(0);
	int n = made, size = n ? calls[0].size : 1, each = n / size;
	made = 0;
	if (n % size) return 5;
	for (int k = 0; k < each; k++) {
		struct call *of = &calls[k]; /* rank r's is of[r * each] */
		for (int r = 0; r < size; r++)
			if (of[r * each].rank != r || of[r * each].n != of->n || of[r * each].op != of->op) return 4;
		if (of->op < 0) {
			for (int r = 0; r < size; r++) memmove(of[r * each].p, of[of->root * each].p, of->n);
			continue;
		}
		for (int r = 1; r < size; r++) fold(of->p, of[r * each].p, of->n, of->type, of->op);
		for (int r = 1; r < size; r++) memcpy(of[r * each].p, of->p, of->n * (of->type == 2 ? 4 : 8));
	}
	return 0;
}
