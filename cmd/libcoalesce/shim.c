/* The public functions: each refuses to enter Go in a forked child, where the threads
 * of Go's runtime are missing and a call would hang. */
#ifdef _WIN32
#define PUBLIC __declspec(dllexport) /* a DLL with exports of Go has no others else */
#pragma GCC diagnostic ignored "-Wdll-attribute-on-redeclaration"
#else
#define PUBLIC
#include <pthread.h>
#endif

#include "_cgo_export.h"
#include "shim.h"

static volatile int forked;

#ifndef _WIN32
static void in_child(void) { forked = 1; }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(0, 0, in_child); }
#endif

int32_t coalesce_tell(coalesce_progress f, void *user, double seconds, double value, double bound, double share) {
    return f(user, seconds, value, bound, share);
}

/* Small matrices are solved by the kernels of Go's side without an entry into Go, which takes longer than a solve of 10 rows. Those are
 * written in assembly and use no memory but their arguments' (lapjv.SmallEntries). */
#if defined(__x86_64__) && defined(__ELF__)
enum { SMALL = 64, SQUARE = 128, MEMORY = 6400, BATCH = 1 << 15 }; /* most columns, and those of a square; bytes; costs of a batch */

/* Calls a kernel, whose arguments lie on the stack as Go's ABI0 has them. */
int64_t coalesce_small(uint64_t kernel, void *memory, const void *costs, int64_t stride, int64_t rows, int64_t cols, int32_t *column);
__asm__(".text\n.hidden coalesce_small\n.globl coalesce_small\n.type coalesce_small,@function\ncoalesce_small:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\nmov 56(%rsp),%rax\nsub $56,%rsp\n"
        "mov %rsi,(%rsp)\nmov %rdx,8(%rsp)\nmov %rcx,16(%rsp)\nmov %r8,24(%rsp)\nmov %r9,32(%rsp)\nmov %rax,40(%rsp)\n"
        "call *%rdi\nmov 48(%rsp),%rax\nadd $56,%rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
        ".size coalesce_small,.-coalesce_small\n");

/* small says whether it has solved what a struct describes: a subset of what matchable of match.go takes. */
static int small(const coalesce_assignment *p) {
    static uint64_t kernels[3]; /* of float64, float32 and int32; 1: none */
    if (p == NULL || p->size < sizeof *p || p->flags != 0 || p->device != COALESCE_HOST || p->start != NULL || p->dimensions != 0 || p->k_best > 1 ||
        p->start_scale != 0 || p->time_limit != 0 || p->algorithm != NULL || p->options != NULL || p->u != NULL || p->v != NULL || p->scale != NULL || p->value != NULL ||
        p->costs == NULL || p->column == NULL || p->batch < 1 || p->rows < 1 || p->rows > p->cols || p->cols > (p->rows == p->cols ? SQUARE : SMALL) || p->batch > BATCH / (p->rows * p->cols))
        return 0;
    int type = p->type == COALESCE_FLOAT64 ? 0 : p->type == COALESCE_FLOAT32 ? 1 : p->type == COALESCE_INT32 ? 2 : 3;
    if (type == 3 || (p->col_stride != (type == 0 ? 8 : 4) && p->cols > 1)) return 0;
    uint64_t kernel = __atomic_load_n(&kernels[type], __ATOMIC_RELAXED);
    if (kernel == 0) {
        uint64_t found[3] = {1, 1, 1};
        goSmallKernels(found);
        for (int k = 0; k < 3; k++) __atomic_store_n(&kernels[k], found[k], __ATOMIC_RELAXED);
        kernel = found[type];
    }
    if (kernel == 1) return 0;
    uint64_t memory[MEMORY / 8];
    const char *costs = p->costs;
    for (int64_t k = 0; k < p->batch; k++, costs += p->batch_stride)
        if (coalesce_small(kernel, memory, costs, p->row_stride, p->rows, p->cols, p->column + k * p->rows) != 0) return 0;
    for (int64_t k = 0; k < p->batch; k++) {
        if (p->gap != NULL) p->gap[k] = 0;
        if (p->code != NULL) p->code[k] = COALESCE_OK;
    }
    return 1;
}
#else
static int small(const coalesce_assignment *p) { return 0; }
#endif

PUBLIC int32_t coalesce_assign(coalesce_assignment *p) { return forked ? COALESCE_FORKED : small(p) ? COALESCE_OK : goAssign(p); }
PUBLIC int32_t coalesce_assign_matrices(coalesce_matrices *p) { return forked ? COALESCE_FORKED : goAssignMatrices(p); }
PUBLIC int32_t coalesce_start_assignment(coalesce_assignment *p, int64_t *job) { return forked ? COALESCE_FORKED : goStartAssignment(p, job); }
PUBLIC int32_t coalesce_start(const char *problem, const char *options, const coalesce_array *arrays, int32_t count,
                       coalesce_progress progress, void *user, int64_t *job) {
    return forked ? COALESCE_FORKED : goStart((char *)problem, (char *)options, (coalesce_array *)arrays, count, progress, user, job);
}
PUBLIC int64_t coalesce_solve(const char *problem, const char *options, const coalesce_array *arrays, int32_t count, int32_t *code, char *buffer, int64_t size) {
    return forked ? -COALESCE_FORKED : goSolve((char *)problem, (char *)options, (coalesce_array *)arrays, count, code, buffer, size);
}
PUBLIC int32_t coalesce_start_command(const char *const *arguments, int32_t count, int64_t *job) {
    return forked ? COALESCE_FORKED : goStartCommand((char **)arguments, count, job);
}
PUBLIC int32_t coalesce_start_tune(coalesce_tune *p, int64_t *job) { return forked ? COALESCE_FORKED : goStartTune(p, job); }
PUBLIC int32_t coalesce_tune_worker(int32_t device) { return forked ? COALESCE_FORKED : goTuneWorker(device); }
PUBLIC int32_t coalesce_tuned(const char *path) { return forked ? COALESCE_FORKED : goTuned((char *)path); }
PUBLIC int32_t coalesce_wait(int64_t job, int32_t milliseconds) { return forked ? COALESCE_FORKED : goWait(job, milliseconds); }
PUBLIC int32_t coalesce_cancel(int64_t job) { return forked ? COALESCE_FORKED : goCancel(job); }
PUBLIC int64_t coalesce_text(int64_t job, char *buffer, int64_t size) { return forked ? -COALESCE_FORKED : goText(job, buffer, size); }
PUBLIC int32_t coalesce_close(int64_t job) { return forked ? COALESCE_FORKED : goClose(job); }
PUBLIC int64_t coalesce_devices(char *buffer, int64_t size) { return forked ? -COALESCE_FORKED : goDevices(buffer, size); }
