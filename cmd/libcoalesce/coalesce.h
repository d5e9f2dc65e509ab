/* The C interface of Coalesce: exact assignments, binary quadratic programs, coalition
 * structures and combinatorial auctions, from any language that calls C.
 *
 * Arrays are passed by pointer, shape and strides in bytes, and are read in place where
 * they can be; they must stay as they are until the call returns, or until
 * coalesce_close. Nothing is printed. All functions may be called from several threads
 * at once. No signal handler is needed; the library must not be unloaded.
 *
 * Structs begin with their size in bytes, so that fields can be added at their end. Unused
 * fields are 0.
 *
 * A solve is a job: coalesce_start or coalesce_start_assignment gives its handle, coalesce_wait waits for its end,
 * coalesce_text is its answer (JSON, as the command prints with --json) or its error,
 * coalesce_close gives it back. coalesce_assign is an assignment without a job, on the
 * calling thread, for small problems that are called often, and coalesce_solve the same of other problems.
 */
#ifndef COALESCE_H
#define COALESCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Codes that functions return. */
enum {
    COALESCE_RUNNING = -1,   /* of coalesce_wait: the job has not ended */
    COALESCE_OK = 0,
    COALESCE_INVALID = 1,    /* an argument cannot be used */
    COALESCE_COST = 2,       /* a cost, value or coefficient cannot be used */
    COALESCE_INFEASIBLE = 3, /* no solution is feasible; the text of a job holds the proof */
    COALESCE_CANCELLED = 4,  /* coalesce_cancel or the time limit ended the solve before an answer */
    COALESCE_MEMORY = 5,     /* memory of the device or the machine does not suffice */
    COALESCE_INTERNAL = 6,   /* anything else; an answer that a check refuted is a bug, please report it */
    COALESCE_FORKED = 7,     /* the process was forked after the library was loaded */
    COALESCE_SHAPE = 8       /* of coalesce_assign_matrices and coalesce_solve_transports: no kernel takes such sizes; other functions may */
};

/* Types of numbers. */
enum {
    COALESCE_INT8 = 1,
    COALESCE_INT16 = 2,
    COALESCE_INT32 = 3,
    COALESCE_INT64 = 4,
    COALESCE_UINT8 = 5,
    COALESCE_UINT16 = 6,
    COALESCE_UINT32 = 7,
    COALESCE_UINT64 = 8,
    COALESCE_FLOAT32 = 9,
    COALESCE_FLOAT64 = 10
};

/* Flags. */
enum {
    COALESCE_MAXIMIZE = 1,  /* the largest value is asked for, not the smallest */
    COALESCE_LIMIT = 2,     /* of assignments: limit is set */
    COALESCE_UNCHECKED = 4, /* of assignments: no certificate */
    COALESCE_BOTTLENECK = 16, /* of assignments: the worst matched cost counts, not the sum; no duals */
    COALESCE_FLOOR = 32,    /* of points: distances are cut to integers */
    COALESCE_RESIDENT = 128, /* of assignments: costs are in the memory of the GPU `device` */
    COALESCE_REPORT = 256,  /* of coalesce_assign: the answer's report goes to text, ended by 0 */
    COALESCE_ENQUEUE = 512, /* of coalesce_assign_matrices: returns once the work is in the stream */
    COALESCE_ANY_SUMS = 2048, /* of coalesce_solve_transports: masses of columns are scaled to the sum of those of rows, whatever theirs is */
    COALESCE_SCIPY_TIES = 1024 /* of several optimal matchings SciPy's, where its sums of float64 are exact: of coalesce_assign_matrices,
                                 * and of coalesce_assign for dense matrices on the host, without limit and duals */
};

/* Metrics of points, of the coordinates' differences d. */
enum {
    COALESCE_EUCLIDEAN = 0, /* the root of the sum of d*d */
    COALESCE_SQUARED = 1,   /* the sum of d*d */
    COALESCE_MANHATTAN = 2  /* the sum of |d| */
};

/* COALESCE_HOST is the device of the processor's cores; 0, 1, ... are GPUs. */
#define COALESCE_HOST (-1)

/* coalesce_progress is told of better solutions, one call at a time, on a thread of the
 * library. NaN stands for a value or a bound that is not known. Not 0 ends the solve. */
typedef int32_t (*coalesce_progress)(void *user, double seconds, double value, double bound, double share);

/* An assignment, or many of one shape. Forbidden pairs cost plus infinity, or minus
 * infinity where it maximises; the largest number of an integer type is a cost like any
 * other. A sparse one (start is set) lists the allowed pairs row by row: columns
 * col[start[i]] ... col[start[i+1]-1] of row i, ascending, each with a cost in costs. */
typedef struct {
    uint32_t size;
    uint32_t flags;
    int32_t device;
    int32_t type;          /* of costs */
    int64_t batch;         /* number of matrices, at least 1 */
    int64_t rows, cols;
    int64_t batch_stride;  /* bytes, as the two that follow */
    int64_t row_stride, col_stride;
    const void *costs;
    const int64_t *start;  /* rows + 1 of them */
    const int32_t *col;
    double limit;          /* what a row and a column left unmatched cost together */
    double time_limit;     /* seconds; 0: none */
    const char *algorithm; /* null: the library's choice */

    /* Answers. Pointers may be null: not asked for. */
    int32_t *column;       /* batch x rows: the column of each row, -1: unmatched */
    int64_t *u, *v;        /* batch x rows and batch x cols: duals in units of 1/scale */
    double *scale;         /* batch */
    double *value;         /* batch: sums of the matched costs */
    double *gap;           /* batch: no matching is better by more; NaN: not proven */
    int32_t *code;         /* batch: COALESCE_OK or COALESCE_INFEASIBLE */
    char *text;            /* of coalesce_assign: where to write an error, or the report, ended by 0 */
    int64_t text_size;     /* bytes there */

    int64_t k_best;        /* matchings of one matrix, the best first, all in the text of a job; 0: the best */

    /* Points in place of costs, where dimensions is not 0: the cost of a pair is the distance
     * of its row's point and its column's, float64, or int64 with COALESCE_FLOOR. */
    int64_t dimensions;    /* coordinates of a point */
    const double *row_points, *col_points; /* rows x dimensions and cols x dimensions */
    int32_t metric;

    int32_t unused;
    /* Duals to begin from, of one matrix, where start_scale is not 0: such as u, v and
     * scale that a solve of a similar matrix gave. */
    const int64_t *start_u, *start_v;
    double start_scale;

    coalesce_progress progress; /* on a host: the bound, and the share of the rows that are matched */
    void *user;

    /* With COALESCE_RESIDENT no cost goes through the host. Matrices lie row after row and
     * one after the other from a multiple of 64 bytes on, of int32, int64, float32 or float64;
     * a single one of more than 256 rows has no more rows than columns. The infinity of the
     * sign that MAXIMIZE says forbids pairs there. A cost that cannot be solved with, the
     * largest number of an integer type too, is a COALESCE_COST. There are no duals to
     * begin from, no points, no limit, and no proof of infeasibility. Memory and kernels for
     * a shape are kept for later calls. */
    int64_t stream;        /* CUDA's handle of the stream whose work the solve waits for; 0: the default stream */
    const char *options;   /* a JSON object of the options variant, threads, tuned, pin and frozen (docs/options.md); null: none */
} coalesce_assignment;

/* What became of a matrix, in `status`. */
enum {
    COALESCE_PROVEN = 0,    /* its columns are optimal */
    COALESCE_UNMATCHED = 1, /* it has no full matching: all its indices are -1 */
    COALESCE_BAD_COST = 2,  /* a cost is not a number, an infinity that forbids nothing, the largest number of an integer
                             * type, or an integer beyond 2^60 over the rows: all its indices are -1 */
    COALESCE_ROUNDED = 3,   /* its columns are optimal for costs rounded to about 60 bits; another matching may be better
                             * by the rounding */
    COALESCE_REFUTED = 4    /* the check failed: a bug, please report it */
};

/* Small matrices of one shape in the memory of a GPU, one after the other and row after row, of int32, int64, float32 or
 * float64. Indices and statuses go to memory of that GPU, by the caller's stream. All memory begins at a multiple of
 * 64 bytes. The infinity of the sign that MAXIMIZE says forbids pairs. */
typedef struct {
    uint32_t size;
    uint32_t flags;        /* COALESCE_MAXIMIZE, _UNCHECKED, _ENQUEUE, _SCIPY_TIES */
    int32_t device;
    int32_t type;          /* of costs */
    int64_t batch, rows, cols;
    const void *costs;
    int64_t stream;        /* CUDA's handle; 0: the default stream */

    /* Answers; null: not asked for. */
    int64_t *row_ind, *col_ind; /* batch x the fewer of rows and cols: matched rows, ascending, and their columns */
    int64_t *column;       /* batch x rows: the column of each row, -1: unmatched */
    int32_t *status;       /* batch */
    char *text;            /* of the host: where to write an error, ended by 0 */
    int64_t text_size;     /* bytes there */
} coalesce_matrices;

/* Optimal transport between masses, problems of one shape in the memory of a GPU, one after the other and row after row, of int32, int64,
 * float32 or float64. Answers go to memory of that GPU, by the caller's stream. All memory begins at a multiple of 64 bytes. Masses are
 * taken as multiples of 2^-60 of the sum of those of rows. Or one problem of the host, on the calling thread. */
typedef struct {
    uint32_t size;
    uint32_t flags;        /* COALESCE_ANY_SUMS */
    int32_t device;        /* a GPU, or COALESCE_HOST */
    int32_t type;          /* of costs */
    int64_t batch, rows, cols;
    const void *costs;     /* batch x rows x cols, finite */
    const double *a, *b;   /* masses: batch x rows, batch x cols */
    int64_t stream;        /* CUDA's handle; 0: the default stream */

    /* Answers. */
    void *plan;            /* batch x rows x cols, of the type of costs, or double of integers */
    double *u, *v;         /* batch x rows and batch x cols: duals, u + v at most the cost of each pair */
    double *cost;          /* batch */
    int32_t *status;       /* batch: 0, once the call has returned without an error */
    char *text;            /* of the host: where to write an error, ended by 0 */
    int64_t text_size;     /* bytes there */

    /* On the host in place of plan, cost and status, for one problem: at most rows + cols pairs with a flow, what each ships, and how many there are. */
    int32_t *pair_row, *pair_col;
    double *amount;
    int64_t *pairs;
} coalesce_transports;

/* An array by its name: numbers of a type, one after the other. */
typedef struct {
    const char *name;
    const void *data;
    int64_t length;        /* of numbers */
    int32_t type;          /* COALESCE_UINT8 of a text, or COALESCE_INT32, _INT64, _FLOAT32, _FLOAT64 */
    int32_t unused;
} coalesce_array;

/* Tuning: the variants of the kernels are measured on a device, and the fastest are kept in
 * a file. Trials run in processes of their own, which call coalesce_tune_worker. */
typedef struct {
    uint32_t size;
    uint32_t flags;
    int32_t device;
    int32_t arguments;         /* of worker */
    const char *const *worker; /* a command with its arguments whose process calls coalesce_tune_worker for that device */
    const char *problem;       /* "csg", "assignment" or "qubo"; null: all */
    const char *family;        /* of kernels, such as "tiles"; null: all that run on the device */
    const char *output;        /* the file of winners */
    double budget;             /* seconds */
    uint64_t seed;             /* of the order of trying and of the instances */
    coalesce_progress progress; /* its value: seconds of the best variant; its share: of the budget */
    void *user;
} coalesce_tune;

/* coalesce_assign solves on the calling thread. */
int32_t coalesce_assign(coalesce_assignment *p);

/* coalesce_assign_matrices solves in one launch. It waits, and solves by other means what the kernel leaves open; a matrix without
 * a full matching is COALESCE_INFEASIBLE. With COALESCE_ENQUEUE it returns before the GPU has begun, and status tells the
 * rest: once a call with the same shape has loaded the kernel, the stream may be one that is captured into a graph. */
int32_t coalesce_assign_matrices(coalesce_matrices *p);

/* coalesce_solve_transports finds exact plans in one launch. It waits, and solves on the host what rounding leaves open there. COALESCE_SHAPE: a
 * problem has more rows and columns than a kernel holds. */
int32_t coalesce_solve_transports(coalesce_transports *p);

/* These start a job; struct and arrays must live until coalesce_close. On an error there is no job. */
int32_t coalesce_start_assignment(coalesce_assignment *p, int64_t *job);
int32_t coalesce_start_tune(coalesce_tune *p, int64_t *job);

/* coalesce_start starts a job of a problem, "qubo", "csg", "auction" or "transport". options is a JSON object of options, or null:
 * docs/options.schema.json lists those of each problem with their types, limits and defaults, and the device is one of
 * them. A name that is not there is an error. The arrays must live until coalesce_close. They are
 *   qubo     i, j (int32) and coefficients (int64 or float64): the sum of coefficients[k] * x[i[k]] * x[j[k]]. Entries
 *            of the same variables add up; i[k] == j[k] is a linear term, of spins too.
 *   transport costs (int32, int64, float32 or float64), row by row, supply and capacity (int64): what each row ships and
 *            each column takes at most. The answer is a flow. With the option metric row_points and col_points (float64),
 *            point by point, take the place of costs.
 *   csg      values (int32, int64, float32 or float64): of all coalitions, agent i being bit i-1 of a coalition's
 *            number. Minus infinity forbids a coalition. Or text (uint8): a CSV or JSON file of coalitions and values that
 *            docs/csg.md describes, of any number of agents; coalitions that it lacks are forbidden.
 *   auction  text (uint8): a file in a format that docs/auction.md describes: JSON with bidders and reserves, or CATS,
 *            where bids that share a good which is not for sale, of a number that is that of the goods or larger,
 *            exclude each other. */
int32_t coalesce_start(const char *problem, const char *options, const coalesce_array *arrays, int32_t count,
                       coalesce_progress progress, void *user, int64_t *job);

/* coalesce_solve is coalesce_start, coalesce_wait and coalesce_text in one, for small problems that are called often. It
 * returns the length of the text in bytes, of which it copies as many to buffer as fit, and sets the job's code. Nothing
 * ends it before its time. */
int64_t coalesce_solve(const char *problem, const char *options, const coalesce_array *arrays, int32_t count,
                       int32_t *code, char *buffer, int64_t size);

/* coalesce_start_command starts a job of a command, such as "verify", "answer.json", "costs.npy": the arguments of the
 * program coalesce, without its name. Its text is a JSON object of the exit code, the standard output and the messages:
 * {"code": 0, "output": "...", "messages": "..."}. Standard input is empty. The commands tune and bundle are the
 * program's alone; coalesce_start_tune tunes. */
int32_t coalesce_start_command(const char *const *arguments, int32_t count, int64_t *job);

/* coalesce_wait waits for the end of a job, at most so many milliseconds, and returns
 * its code or COALESCE_RUNNING. */
int32_t coalesce_wait(int64_t job, int32_t milliseconds);

/* coalesce_cancel asks a job to end soon, with the best so far where there is one. */
int32_t coalesce_cancel(int64_t job);

/* coalesce_text copies the answer or the error of a job that has ended to buffer, at most
 * size bytes and without a 0 at its end, and returns its length in bytes; negative: no
 * such job, or it runs. */
int64_t coalesce_text(int64_t job, char *buffer, int64_t size);

/* coalesce_close ends a job, waits for its end, and gives it back. */
int32_t coalesce_close(int64_t job);

/* coalesce_tune_worker runs trials that are asked for on standard input, and answers on
 * standard output, until that ends. */
int32_t coalesce_tune_worker(int32_t device);

/* coalesce_tuned has later solves choose variants by a file of winners, over those that
 * the library carries; null: by the latter alone. At first it is the user's own, as
 * coalesce tune keeps it, where that is there. */
int32_t coalesce_tuned(const char *path);

/* coalesce_devices is a JSON list of the devices' facts, in the manner of coalesce_text. */
int64_t coalesce_devices(char *buffer, int64_t size);

#ifdef __cplusplus
}
#endif
#endif
