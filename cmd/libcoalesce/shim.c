/* The public functions: each refuses to enter Go in a forked child, where the threads
 * of Go's runtime are missing and a call would hang. */
#include <pthread.h>

#include "_cgo_export.h"
#include "shim.h"

static volatile int forked;

static void in_child(void) { forked = 1; }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(0, 0, in_child); }

int32_t coalesce_tell(coalesce_progress f, void *user, double seconds, double value, double bound, double share) {
    return f(user, seconds, value, bound, share);
}

int32_t coalesce_assign(coalesce_assignment *p) { return forked ? COALESCE_FORKED : goAssign(p); }
int32_t coalesce_assign_matrices(coalesce_matrices *p) { return forked ? COALESCE_FORKED : goAssignMatrices(p); }
int32_t coalesce_start_assignment(coalesce_assignment *p, int64_t *job) { return forked ? COALESCE_FORKED : goStartAssignment(p, job); }
int32_t coalesce_start(const char *problem, const char *options, const coalesce_array *arrays, int32_t count,
                       coalesce_progress progress, void *user, int64_t *job) {
    return forked ? COALESCE_FORKED : goStart((char *)problem, (char *)options, (coalesce_array *)arrays, count, progress, user, job);
}
int64_t coalesce_solve(const char *problem, const char *options, const coalesce_array *arrays, int32_t count, int32_t *code, char *buffer, int64_t size) {
    return forked ? -COALESCE_FORKED : goSolve((char *)problem, (char *)options, (coalesce_array *)arrays, count, code, buffer, size);
}
int32_t coalesce_start_command(const char *const *arguments, int32_t count, int64_t *job) {
    return forked ? COALESCE_FORKED : goStartCommand((char **)arguments, count, job);
}
int32_t coalesce_start_tune(coalesce_tune *p, int64_t *job) { return forked ? COALESCE_FORKED : goStartTune(p, job); }
int32_t coalesce_tune_worker(int32_t device) { return forked ? COALESCE_FORKED : goTuneWorker(device); }
int32_t coalesce_tuned(const char *path) { return forked ? COALESCE_FORKED : goTuned((char *)path); }
int32_t coalesce_wait(int64_t job, int32_t milliseconds) { return forked ? COALESCE_FORKED : goWait(job, milliseconds); }
int32_t coalesce_cancel(int64_t job) { return forked ? COALESCE_FORKED : goCancel(job); }
int64_t coalesce_text(int64_t job, char *buffer, int64_t size) { return forked ? -COALESCE_FORKED : goText(job, buffer, size); }
int32_t coalesce_close(int64_t job) { return forked ? COALESCE_FORKED : goClose(job); }
int64_t coalesce_devices(char *buffer, int64_t size) { return forked ? -COALESCE_FORKED : goDevices(buffer, size); }
