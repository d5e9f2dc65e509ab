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
 * written in assembly and use no memory but their arguments' (lapjv.Entries). */
#if defined(__x86_64__) && defined(__ELF__)
#include <emmintrin.h>
#include <string.h>
enum { SMALL = 64, SQUARE = 128, MEMORY = 6400, BATCH = 1 << 15 }; /* most columns, and those of a square; bytes; costs of a batch */
enum { FIND, NEAREST, PATH, CHECK, CLOSE, KERNELS };               /* of each type */

/* Calls a kernel, whose arguments lie on the stack as Go's ABI0 has them, before the result. */
int64_t coalesce_kernel(uint64_t kernel, const uint64_t *arguments, int64_t count);
__asm__(".text\n.hidden coalesce_kernel\n.globl coalesce_kernel\n.type coalesce_kernel,@function\ncoalesce_kernel:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\npush %rdx\nsub $64,%rsp\n"
        "movups (%rsi),%xmm0\nmovups 16(%rsi),%xmm1\nmovups 32(%rsi),%xmm2\nmovups %xmm0,(%rsp)\nmovups %xmm1,16(%rsp)\nmovups %xmm2,32(%rsp)\n"
        "call *%rdi\nmov 64(%rsp),%rdx\nmov (%rsp,%rdx,8),%rax\nadd $72,%rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
        ".size coalesce_kernel,.-coalesce_kernel\n");

/* The parts of lapjv.Search that kernels know. */
typedef struct {
    const char *costs;
    int64_t stride, rows, cols, turns;
    double share, *price;
    int32_t *column, *row, *free;
    double *distance, *shut;
    int64_t *from;
    int32_t *left;
    double *reach;
    int64_t scans, *dual_row, *dual_col;
    double scale;
    int64_t slack;
    uint64_t rounded;
    int32_t *near;
    unsigned char *nearby;
    int64_t nearby_stride;
} search;

static int64_t call(uint64_t kernel, search *s, int64_t a, int64_t b, int64_t c, int64_t count) {
    return coalesce_kernel(kernel, (const uint64_t[6]){(uint64_t)s, a, b, c}, count);
}

/* The costs of a wide matrix, its columns, and those with room for a kernel's last block. */
enum { WIDE = 1 << 16, COLUMNS = 1024, ROOM = COLUMNS + 32 };

/* wide solves a matrix of fewer rows than columns as paths.Match does: rows take their nearest columns, those that then are free search for a path, and
 * integers prove the answer. Rows whose own cost is their least, in a column without a price, need no other proof. What rounding
 * leaves open it leaves to Go. */
__attribute__((noinline)) /* 84 KB of the stack, which others do not take */
static int wide(const coalesce_assignment *p, const uint64_t *kernels, int type) {
    double price[ROOM], distance[ROOM], shut[ROOM], reach[ROOM], scale = 1, most = 0;
    int64_t from[ROOM], dual_row[COLUMNS], dual_col[ROOM], rows = p->rows, cols = p->cols;
    int32_t row[ROOM], left[ROOM], near[ROOM], list[COLUMNS];
    unsigned char nearby[ROOM];
    search s = {p->costs, p->row_stride, rows, cols, 0, 1, price, p->column, row, list, distance, shut, from, left, reach, 0, dual_row, dual_col, 1, 0, 0, near, nearby, 0};
    memset(row, -1, 4 * (cols + 16));
    memset(p->column, -1, 4 * rows);
    int64_t n = call(kernels[NEAREST], &s, 0, 0, 0, 1);
    if (n < 0) return 0;
    double own[COLUMNS];
    if (n > 0) {
        memset(price, 0, 8 * (cols + 16));
        for (int64_t k = 0; k < n; k++)
            if (call(kernels[PATH], &s, list[k], 0, 0, 2) != 0) return 0;
    }
    for (int64_t i = 0; i < rows; i++) {
        const char *c = s.costs + i * s.stride;
        int32_t j = p->column[i];
        own[i] = type == 0 ? ((const double *)c)[j] : type == 1 ? ((const float *)c)[j] : ((const int32_t *)c)[j];
        double x = own[i] < 0 ? -own[i] : own[i], y = n > 0 ? -price[j] : 0;
        if (y < 0) return 0;
        most = x > most ? x : most;
        most = y > most ? y : most;
    }
    if (!(most < 1e307)) return 0;
    if (n == 0) return 1; /* each row has its least cost */
    if (type != 2 && most > 0) {
        uint64_t bits;
        memcpy(&bits, &most, 8);
        int64_t shift = 59 + 1022 - (int64_t)(bits >> 52); /* most is below 2^60 units */
        if (shift < 0) return 0;
        bits = (uint64_t)(1023 + (shift < 1000 ? shift : 1000)) << 52;
        memcpy(&scale, &bits, 8);
    }
    s.scale = scale;
    int64_t others = 0;
    for (int64_t i = 0; i < rows; i++) {
        double least;
        memcpy(&least, &dual_row[i], 8);
        int known = own[i] == least && price[p->column[i]] == 0;
        dual_row[i] = known ? _mm_cvtsd_si64(_mm_set_sd(least * scale)) : INT64_MIN;
        if (!known) list[others++] = (int32_t)i;
    }
    if (call(kernels[CHECK], &s, 0, 0, 0, 2) != 0) return 0;
    uint64_t above = 0, free = 0; /* the sign bit: a dual above 0; any bit: one other than 0 of a free column. Compilers make vectors of this */
    for (int64_t j = 0; j < cols; j++) {
        above |= -(uint64_t)dual_col[j];
        free |= (uint64_t)dual_col[j] & (uint64_t)(int64_t)(row[j] >> 31);
    }
    if (above >> 63 != 0 || free != 0) return 0;
    if (s.slack == 0 && s.rounded == 0) return 1;
    if (type == 2) return 0;
    for (int64_t k = 0; k < others; k++) /* no row but these could gain, and they have no other column to within rounding */
        if (call(kernels[CLOSE], &s, list[k], s.slack + rows + 1, 0, 4) != 1) return 0;
    return 1;
}

/* small says whether it has solved what a struct describes: a subset of what matchable of match.go takes. */
static int small(const coalesce_assignment *p) {
    static uint64_t kernels[3 * KERNELS]; /* of float64, float32 and int32; 1: none */
    if (p == NULL || p->size < sizeof *p || p->flags != 0 || p->device != COALESCE_HOST || p->start != NULL || p->dimensions != 0 || p->k_best > 1 ||
        p->start_scale != 0 || p->time_limit != 0 || p->algorithm != NULL || p->options != NULL || p->u != NULL || p->v != NULL || p->scale != NULL || p->value != NULL ||
        p->costs == NULL || p->column == NULL || p->batch < 1 || p->rows < 1 || p->rows > p->cols)
        return 0;
    int few = p->cols <= (p->rows == p->cols ? SQUARE : SMALL);
    if (few ? p->batch > BATCH / (p->rows * p->cols) : p->batch > 1 || p->rows == p->cols || p->cols > COLUMNS || p->rows * p->cols > WIDE) return 0;
    int type = p->type == COALESCE_FLOAT64 ? 0 : p->type == COALESCE_FLOAT32 ? 1 : p->type == COALESCE_INT32 ? 2 : 3;
    if (type == 3 || (p->col_stride != (type == 0 ? 8 : 4) && p->cols > 1)) return 0;
    if (__atomic_load_n(&kernels[3 * KERNELS - 1], __ATOMIC_ACQUIRE) == 0) {
        uint64_t found[3 * KERNELS];
        for (int k = 0; k < 3 * KERNELS; k++) found[k] = 1;
        goKernels(found);
        for (int k = 0; k < 3 * KERNELS; k++) __atomic_store_n(&kernels[k], found[k], __ATOMIC_RELEASE);
    }
    const uint64_t *of = kernels + KERNELS * type;
    if (of[FIND] == 1) return 0;
    if (!few && !wide(p, of, type)) return 0;
    uint64_t memory[MEMORY / 8];
    const char *costs = p->costs;
    for (int64_t k = 0; few && k < p->batch; k++, costs += p->batch_stride) {
        const uint64_t arguments[6] = {(uint64_t)memory, (uint64_t)costs, p->row_stride, p->rows, p->cols, (uint64_t)(p->column + k * p->rows)};
        if (coalesce_kernel(of[FIND], arguments, 6) != 0) return 0;
    }
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
PUBLIC int32_t coalesce_solve_transports(coalesce_transports *p) { return forked ? COALESCE_FORKED : goSolveTransports(p); }
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
