/* A libcuda.so.1 without a GPU, for the driver's tests: device memory is the
 * process's own, limited to 64 MB, and asynchronous work is queued and done as
 * late as the API allows, so that a staging buffer used too early shows.
 * An image is text: "FAKE" and then, for each symbol, its name, "=" and a
 * hash. The only kernel adds its third argument to the 64-bit words of its
 * first, as many as its second says. Threads may call at once, as they may the
 * real one. scripts/driver-test builds it; the entry points that are missing
 * here come from the link stub. */
#define _GNU_SOURCE
#include <cuda.h>
#undef cuInit
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 64 << 20, OPS = 1 << 16 };
enum { COPY, SET, ADD, MARK };
struct op { int kind; char *dst; const char *src; size_t n; unsigned long long x; };
static struct op queue[OPS];
static long head, tail;
static size_t taken;

/* Held wherever the queue or taken is used; given back where the scope ends. */
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int hold(void) { return pthread_mutex_lock(&mutex); }
static void release(int *held) { pthread_mutex_unlock(&mutex); }
#define LOCKED int held __attribute__((cleanup(release), unused)) = hold()

static void run(long until) {
	LOCKED;
	for (; head < until; head++) {
		struct op *o = &queue[head % OPS];
		unsigned long long *w = (unsigned long long *)o->dst;
		if (o->kind == COPY) memcpy(o->dst, o->src, o->n);
		if (o->kind == SET) memset(o->dst, (int)o->x, o->n);
		for (size_t i = 0; o->kind == ADD && i < o->n; i++) w[i] += o->x;
	}
}
static void run_all(void) {
	LOCKED;
	run(tail);
}
static CUresult add(struct op o) {
	LOCKED;
	if (tail - head == OPS) run(head + 1);
	queue[tail++ % OPS] = o;
	return CUDA_SUCCESS;
}

/* CUDA_VISIBLE_DEVICES hides all when it is empty, and "broken" stands for a
 * driver that is not the library's. */
CUresult cuInit(unsigned int flags) {
	const char *shown = getenv("CUDA_VISIBLE_DEVICES");
	if (shown && !*shown) return CUDA_ERROR_NO_DEVICE;
	return shown && !strcmp(shown, "broken") ? CUDA_ERROR_SYSTEM_DRIVER_MISMATCH : CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int *v) { return *v = 13000, CUDA_SUCCESS; }
CUresult cuGetErrorName(CUresult r, const char **s) { return *s = "CUDA_ERROR_FAKE", CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int *n) { return *n = 2, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *d, int i) { return *d = i, CUDA_SUCCESS; }
CUresult cuDeviceGetName(char *s, int n, CUdevice d) { return snprintf(s, n, "Fake GPU"), CUDA_SUCCESS; }
CUresult cuDeviceTotalMem(size_t *n, CUdevice d) { return *n = LIMIT, CUDA_SUCCESS; }
CUresult cuDeviceGetUuid(CUuuid *u, CUdevice d) { return memset(u, 7, sizeof *u), CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice d) {
	return *v = a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : (int)a, CUDA_SUCCESS;
}

/* A context for each device; two devices reach each other once access was
 * enabled in the right direction, which a copy between them checks. */
static char contexts[2];
static _Thread_local char *now;
static int reach[2][2];
CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d) { return *c = (CUcontext)&contexts[d], CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRelease(CUdevice d) { return CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext c) { return now = (char *)c, CUDA_SUCCESS; }
CUresult cuDeviceCanAccessPeer(int *can, CUdevice a, CUdevice b) { return *can = a != b, CUDA_SUCCESS; }
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
	int *r = &reach[now - contexts][(char *)peer - contexts];
	return *r ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : (*r = 1, CUDA_SUCCESS);
}

CUresult cuMemAlloc(CUdeviceptr *p, size_t n) {
	LOCKED;
	if (n > LIMIT - taken) return CUDA_ERROR_OUT_OF_MEMORY;
	size_t *m = malloc(n + 16);
	memset(m, 0xa5, n + 16);
	*m = n;
	taken += n;
	*p = (CUdeviceptr)m + 16;
	return CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr p) {
	LOCKED;
	size_t *m = (size_t *)(p - 16);
	run(tail);
	taken -= *m;
	free(m);
	return CUDA_SUCCESS;
}
CUresult cuMemGetInfo(size_t *f, size_t *t) { return *f = LIMIT - taken, *t = LIMIT, CUDA_SUCCESS; }
CUresult cuMemHostAlloc(void **p, size_t n, unsigned int flags) { return *p = malloc(n), CUDA_SUCCESS; }
CUresult cuMemFreeHost(void *p) { return run_all(), free(p), CUDA_SUCCESS; }
CUresult cuMemcpyDtoH(void *d, CUdeviceptr s, size_t n) { return run_all(), memcpy(d, (void *)s, n), CUDA_SUCCESS; }
CUresult cuMemcpyHtoDAsync(CUdeviceptr d, const void *s, size_t n, CUstream h) { return add((struct op){COPY, (char *)d, s, n, 0}); }
CUresult cuMemcpyDtoHAsync(void *d, CUdeviceptr s, size_t n, CUstream h) { return add((struct op){COPY, d, (char *)s, n, 0}); }
CUresult cuMemsetD8Async(CUdeviceptr d, unsigned char v, size_t n, CUstream h) { return add((struct op){SET, (char *)d, 0, n, v}); }
CUresult cuMemcpyDtoDAsync(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream h) { return add((struct op){COPY, (char *)d, (char *)s, n, 0}); }
CUresult cuMemcpyPeerAsync(CUdeviceptr d, CUcontext dc, CUdeviceptr s, CUcontext sc, size_t n, CUstream h) {
	char *other = (char *)dc == now ? (char *)sc : (char *)dc;
	if (dc == sc || !reach[now - contexts][other - contexts]) return CUDA_ERROR_INVALID_CONTEXT;
	return cuMemcpyDtoDAsync(d, s, n, h);
}

CUresult cuStreamCreate(CUstream *s, unsigned int flags) { return *s = malloc(1), CUDA_SUCCESS; }
CUresult cuStreamDestroy(CUstream s) { return free(s), CUDA_SUCCESS; }
CUresult cuStreamSynchronize(CUstream s) { return run_all(), CUDA_SUCCESS; }
CUresult cuEventCreate(CUevent *e, unsigned int flags) { return *e = calloc(1, sizeof(long)), CUDA_SUCCESS; }
CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned int flags) { return CUDA_SUCCESS; } /* one queue: done in order */
CUresult cuEventDestroy(CUevent e) { return free(e), CUDA_SUCCESS; }
CUresult cuEventRecord(CUevent e, CUstream s) {
	LOCKED;
	return add((struct op){MARK}), *(long *)e = tail, CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent e) { return run(*(long *)e), CUDA_SUCCESS; }
CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b) {
	LOCKED;
	if (*(long *)a > head || *(long *)b > head) return CUDA_ERROR_NOT_READY;
	return *ms = *(long *)b - *(long *)a, CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *m, const void *image) {
	if (strncmp(image, "FAKE", 4)) return CUDA_ERROR_NO_BINARY_FOR_GPU;
	return *m = (CUmodule)strdup(image), CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule m) { return free(m), CUDA_SUCCESS; }
static unsigned long long word;
CUresult cuModuleGetGlobal(CUdeviceptr *p, size_t *n, CUmodule m, const char *name) {
	char *at = strstr((char *)m, name);
	if (!at || at[strlen(name)] != '=') return CUDA_ERROR_NOT_FOUND;
	word = strtoull(at + strlen(name) + 1, 0, 16);
	return *p = (CUdeviceptr)&word, *n = sizeof word, CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name) {
	if (!strstr((char *)m, name)) return CUDA_ERROR_NOT_FOUND;
	return *f = (CUfunction)m, CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int *v, CUfunction_attribute a, CUfunction f) {
	return *v = a == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 256 : (int)a, CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int v) {
	return a == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || a == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction f, int threads, size_t shared) {
	return *n = 2048 / threads, CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
			unsigned shared, CUstream s, void **args, void **extra) {
	return add((struct op){ADD, *(char **)args[0], 0, *(size_t *)args[1], *(unsigned long long *)args[2]});
}
/* As a plain launch, of whole clusters of at most 8 blocks. */
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **args, void **extra) {
	unsigned size = c->attrs[0].value.clusterDim.x;
	if (c->numAttrs != 1 || c->attrs[0].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION || size > 8 || c->gridDimX % size) return CUDA_ERROR_INVALID_VALUE;
	return cuLaunchKernel(f, c->gridDimX, 1, 1, c->blockDimX, 1, 1, c->sharedMemBytes, c->hStream, args, extra);
}
CUresult cuOccupancyMaxActiveClusters(int *n, CUfunction f, const CUlaunchConfig *c) {
	return *n = 2048 / c->blockDimX / c->attrs[0].value.clusterDim.x, CUDA_SUCCESS;
}
/* One block a multiprocessor of 16 (the attribute's number). */
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
				   unsigned shared, CUstream s, void **args) {
	if (gx > 16) return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
	return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, s, args, 0);
}
