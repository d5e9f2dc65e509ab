/* Calls every function of coalesce.h with arrays of just the size that they must have, for
 * a build with the address sanitizer: .ci/python. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../coalesce.h"

#define EXPECT(x) \
    do { \
        if (!(x)) { \
            fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #x); \
            exit(1); \
        } \
    } while (0)

static unsigned long long state = 7;

static unsigned draw(unsigned below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(state >> 33) % below;
}

/* copy is memory of n bytes and no more. */
static void *copy(const void *from, size_t n) {
    void *p = malloc(n ? n : 1);
    memcpy(p, from, n);
    return p;
}

/* ended waits for a job, whose text it returns, and closes it. */
static char *ended(int64_t job, int32_t code) {
    int32_t found;
    while ((found = coalesce_wait(job, 20)) == COALESCE_RUNNING) {
    }
    int64_t n = coalesce_text(job, NULL, 0);
    EXPECT(n >= 0);
    char *text = malloc(n + 1);
    EXPECT(coalesce_text(job, text, n) == n);
    text[n] = 0;
    if (found != code) fprintf(stderr, "code %d, expected %d: %s\n", found, code, text);
    EXPECT(found == code);
    EXPECT(coalesce_close(job) == COALESCE_OK);
    EXPECT(coalesce_wait(job, 0) == COALESCE_INVALID);
    return text;
}

static size_t width(int type) {
    switch (type) {
    case COALESCE_INT8: case COALESCE_UINT8: return 1;
    case COALESCE_INT16: case COALESCE_UINT16: return 2;
    case COALESCE_INT32: case COALESCE_UINT32: case COALESCE_FLOAT32: return 4;
    }
    return 8;
}

static void store(char *at, int type, int x) {
    switch (type) {
    case COALESCE_INT8: *(int8_t *)at = x; break;
    case COALESCE_INT16: *(int16_t *)at = x; break;
    case COALESCE_INT32: *(int32_t *)at = x; break;
    case COALESCE_INT64: *(int64_t *)at = x; break;
    case COALESCE_UINT8: *(uint8_t *)at = x; break;
    case COALESCE_UINT16: *(uint16_t *)at = x; break;
    case COALESCE_UINT32: *(uint32_t *)at = x; break;
    case COALESCE_UINT64: *(uint64_t *)at = x; break;
    case COALESCE_FLOAT32: *(float *)at = x; break;
    default: *(double *)at = x;
    }
}

static int32_t ignore(void *user, double seconds, double value, double bound, double share) {
    (void)seconds, (void)value, (void)bound, (void)share;
    ++*(int *)user;
    return 0;
}

/* matrices solves batches of every type, order and stride, on this thread and as jobs. */
static void matrices(void) {
    for (int round = 0; round < 600; round++) {
        int64_t rows = 1 + draw(9), cols = 1 + draw(9), batch = round % 3 ? 1 : 1 + draw(4);
        if (round % 97 == 0) rows = 60 + draw(200), cols = 60 + draw(200);
        int type = COALESCE_INT8 + round % 10;
        size_t size = width(type);
        int turned = draw(2);
        int64_t down = turned ? size : size * cols, over = turned ? size * rows : size;
        char *costs = malloc(batch * rows * cols * size);
        int *plain = malloc(batch * rows * cols * sizeof(int));
        for (int64_t k = 0; k < batch; k++)
            for (int64_t i = 0; i < rows; i++)
                for (int64_t j = 0; j < cols; j++) {
                    int x = plain[(k * rows + i) * cols + j] = draw(100);
                    store(costs + k * rows * cols * size + i * down + j * over, type, x);
                }
        coalesce_assignment p = {.size = sizeof p, .device = COALESCE_HOST, .type = type, .batch = batch, .rows = rows, .cols = cols,
            .batch_stride = rows * cols * size, .row_stride = down, .col_stride = over, .costs = costs, .flags = draw(2) ? COALESCE_MAXIMIZE : 0};
        p.column = malloc(batch * rows * sizeof *p.column);
        p.code = malloc(batch * sizeof *p.code);
        p.text = malloc(p.text_size = 1 + draw(60));
        int told = 0;
        if (round % 2) p.u = malloc(batch * rows * 8), p.v = malloc(batch * cols * 8), p.scale = malloc(batch * 8), p.gap = malloc(batch * 8);
        if (round % 4 == 1) p.value = malloc(batch * 8), p.progress = ignore, p.user = &told;
        if (round % 5) {
            EXPECT(coalesce_assign(&p) == COALESCE_OK);
        } else {
            int64_t job;
            EXPECT(coalesce_start_assignment(&p, &job) == COALESCE_OK);
            free(ended(job, COALESCE_OK));
        }
        for (int64_t k = 0; k < batch; k++) {
            int64_t sum = 0, duals = 0, matched = 0;
            for (int64_t i = 0; i < rows; i++) {
                int j = p.column[k * rows + i];
                if (j >= 0) sum += plain[(k * rows + i) * cols + j], matched++;
                if (p.u) duals += p.u[k * rows + i];
            }
            for (int64_t j = 0; p.v && j < cols; j++) duals += p.v[k * cols + j];
            EXPECT(matched == (rows < cols ? rows : cols) && p.code[k] == COALESCE_OK);
            EXPECT(!p.u || duals == sum * p.scale[k]);
            EXPECT(!p.gap || p.gap[k] == 0);
            EXPECT(!p.value || p.value[k] == sum);
        }
        if (round % 2 == 0) { /* and with a limit that no cost reaches, or that all do */
            coalesce_assignment q = p;
            int most = p.flags & COALESCE_MAXIMIZE ? -1 : 1;
            q.flags |= COALESCE_LIMIT, q.limit = 1000 * most;
            EXPECT(coalesce_assign(&q) == COALESCE_OK);
            for (int64_t i = 0, matched = 0; i < rows; i++) {
                matched += q.column[i] >= 0;
                EXPECT(i < rows - 1 || matched == (rows < cols ? rows : cols));
            }
            q.limit = -1000 * most;
            EXPECT(coalesce_assign(&q) == COALESCE_OK);
            for (int64_t i = 0; i < batch * rows; i++) EXPECT(q.column[i] == -1);
        }
        if (batch == 1 && p.u) { /* and from its duals */
            coalesce_assignment q = p;
            q.start_u = copy(p.u, rows * 8), q.start_v = copy(p.v, cols * 8), q.start_scale = p.scale[0];
            EXPECT(coalesce_assign(&q) == COALESCE_OK);
            free((void *)q.start_u), free((void *)q.start_v);
        }
        free(costs), free(plain), free(p.column), free(p.code), free(p.text);
        free(p.u), free(p.v), free(p.scale), free(p.gap), free(p.value);
    }
}

/* others are sparse costs, points, ranks, the worst matched cost, a limit, and proofs that there is no answer. */
static void others(void) {
    int64_t job;
    int64_t *start = copy((int64_t[]){0, 2, 3}, 24);
    int32_t *col = copy((int32_t[]){0, 1, 0}, 12), *column = malloc(8), *code = malloc(4);
    float *costs = copy((float[]){5, 1, 2}, 12);
    coalesce_assignment p = {.size = sizeof p, .device = COALESCE_HOST, .type = COALESCE_FLOAT32, .batch = 1, .rows = 2, .cols = 2,
        .col_stride = 4, .costs = costs, .start = start, .col = col, .column = column, .code = code};
    EXPECT(coalesce_assign(&p) == COALESCE_OK && column[0] == 1 && column[1] == 0);
    start[1] = 3; /* rows whose entries are out of order */
    EXPECT(coalesce_assign(&p) == COALESCE_INVALID);
    free(start), free(col), free(costs);

    double *a = copy((double[]){0, 0, 3, 0}, 32), *b = copy((double[]){3, 1, 0, 1}, 32);
    coalesce_assignment q = {.size = sizeof q, .device = COALESCE_HOST, .batch = 1, .rows = 2, .cols = 2, .dimensions = 2, .row_points = a, .col_points = b,
        .metric = COALESCE_MANHATTAN, .column = column};
    EXPECT(coalesce_assign(&q) == COALESCE_OK && column[0] == 1 && column[1] == 0);
    q.metric = 9;
    EXPECT(coalesce_assign(&q) == COALESCE_INVALID);
    free(a), free(b);

    double *dense = copy((double[]){4, 1, 3, 2, 0, 5, 3, 2, 2}, 72);
    coalesce_assignment r = {.size = sizeof r, .device = COALESCE_HOST, .type = COALESCE_FLOAT64, .batch = 1, .rows = 3, .cols = 3, .row_stride = 24,
        .col_stride = 8, .costs = dense, .k_best = 4};
    EXPECT(coalesce_start_assignment(&r, &job) == COALESCE_OK);
    char *text = ended(job, COALESCE_OK);
    EXPECT(strstr(text, "\"best\""));
    free(text);
    r.k_best = 0, r.flags = COALESCE_BOTTLENECK;
    EXPECT(coalesce_start_assignment(&r, &job) == COALESCE_OK);
    free(ended(job, COALESCE_OK));
    r.flags = COALESCE_LIMIT, r.limit = 1;
    EXPECT(coalesce_assign(&r) == COALESCE_OK);
    r.flags = 0;
    dense[0] = dense[1] = dense[2] = INFINITY;
    EXPECT(coalesce_start_assignment(&r, &job) == COALESCE_OK);
    text = ended(job, COALESCE_INFEASIBLE);
    EXPECT(strstr(text, "hall"));
    free(text);
    dense[0] = 4;
    r.flags = COALESCE_REPORT, r.text = malloc(2000), r.text_size = 2000;
    EXPECT(coalesce_assign(&r) == COALESCE_OK && strstr(r.text, "certificate"));
    r.text_size = 40;
    EXPECT(coalesce_assign(&r) == COALESCE_INVALID);
    free(r.text);
    r.flags = 0, dense[0] = INFINITY;
    char *small = malloc(1);
    r.text = small, r.text_size = 1;
    EXPECT(coalesce_assign(&r) == COALESCE_INFEASIBLE && small[0] == 0);
    dense[4] = NAN;
    EXPECT(coalesce_assign(&r) == COALESCE_COST);
    r.flags = COALESCE_RESIDENT; /* without a GPU */
    EXPECT(coalesce_assign(&r) == COALESCE_INVALID);
    r.flags = 0, r.size = 8;
    EXPECT(coalesce_assign(&r) == COALESCE_INVALID && coalesce_assign(NULL) == COALESCE_INVALID);
    EXPECT(coalesce_start_assignment(&r, NULL) == COALESCE_INVALID);
    free(dense), free(small), free(column), free(code);
}

static void problems(void) {
    int64_t job;
    int told = 0;
    const int n = 20, entries = 120;
    int32_t *i = malloc(4 * entries), *j = malloc(4 * entries);
    double *c = malloc(8 * entries);
    for (int k = 0; k < entries; k++) i[k] = draw(n), j[k] = draw(n), c[k] = (double)draw(41) - 20;
    coalesce_array terms[] = {{"i", i, entries, COALESCE_INT32, 0}, {"j", j, entries, COALESCE_INT32, 0}, {"coefficients", c, entries, COALESCE_FLOAT64, 0}};
    const char *limited = "{\"variables\": 20, \"device\": \"host\", \"time_limit\": 1}";
    EXPECT(coalesce_start("qubo", limited, terms, 3, ignore, &told, &job) == COALESCE_OK);
    free(ended(job, COALESCE_OK));
    int32_t code;
    int64_t length = coalesce_solve("qubo", limited, terms, 3, &code, NULL, 0);
    EXPECT(length > 0 && code == COALESCE_OK);
    char *cut = malloc(length - 1); /* one byte too few */
    EXPECT(coalesce_solve("qubo", limited, terms, 3, &code, cut, length - 1) > 0 && code == COALESCE_OK && cut[0] == '{');
    free(cut);
    i[5] = n;
    EXPECT(coalesce_solve("qubo", limited, terms, 3, &code, NULL, 0) > 0 && code == COALESCE_INVALID);
    EXPECT(coalesce_start("qubo", limited, terms, 3, ignore, &told, &job) == COALESCE_OK);
    free(ended(job, COALESCE_INVALID));
    i[5] = 0;
    EXPECT(coalesce_start("qubo", "{\"variables\": 20, \"threads\": 1, \"device\": \"host\", \"time_limit\": 60}", terms, 3, NULL, NULL, &job) == COALESCE_OK);
    EXPECT(coalesce_cancel(job) == COALESCE_OK && coalesce_close(job) == COALESCE_OK);
    const char *wrong[] = {"{\"variable\": 20}", "[", "{\"variables\": -1}", "{\"variables\": 20, \"device\": \"tpu\"}", "{\"variables\": 20, \"pin\": [\"a\"]}"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        EXPECT(coalesce_start("qubo", wrong[k], terms, 3, NULL, NULL, &job) == COALESCE_OK);
        free(ended(job, COALESCE_INVALID));
    }
    terms[2].length = entries - 1;
    EXPECT(coalesce_start("qubo", limited, terms, 3, NULL, NULL, &job) == COALESCE_OK);
    free(ended(job, COALESCE_INVALID));
    EXPECT(coalesce_start("qubo", limited, terms, 2, NULL, NULL, &job) == COALESCE_OK);
    free(ended(job, COALESCE_INVALID));
    EXPECT(coalesce_start("tsp", NULL, NULL, 0, NULL, NULL, &job) == COALESCE_OK);
    free(ended(job, COALESCE_INVALID));
    free(i), free(j), free(c);

    float *values = malloc(4 << 10);
    for (int k = 0; k < 1 << 10; k++) values[k] = draw(1000);
    values[0] = 0;
    coalesce_array game = {"values", values, 1 << 10, COALESCE_FLOAT32, 0};
    const char *sizes = "{\"device\": \"host\", \"algorithm\": \"apart\", \"sizes\": \"1-4\"}";
    EXPECT(coalesce_start("csg", sizes, &game, 1, ignore, &told, &job) == COALESCE_OK);
    free(ended(job, COALESCE_OK));
    game.length = 1000;
    EXPECT(coalesce_start("csg", sizes, &game, 1, ignore, &told, &job) == COALESCE_OK);
    free(ended(job, COALESCE_INVALID));
    free(values);

    const char few[] = "{\"1 2\": 0.5, \"3 41\": -0.25, \"1\": 1, \"2\": 2}";
    char *list = copy(few, strlen(few));
    coalesce_array coalitions = {"text", list, strlen(few), COALESCE_UINT8, 0};
    EXPECT(coalesce_start("csg", "{\"device\": \"host\", \"minimize\": true}", &coalitions, 1, ignore, &told, &job) == COALESCE_OK);
    free(ended(job, COALESCE_INFEASIBLE)); /* agents 4 to 40 are in no coalition */
    free(list);

    const char bids[] = "goods 3\nbids 3\ndummy 0\n0 4.5 0 1 #\n1 3 1 2 #\n2 2 2 #\n";
    char *text = copy(bids, strlen(bids));
    coalesce_array file = {"text", text, strlen(bids), COALESCE_UINT8, 0};
    const char *payments = "{\"device\": \"host\", \"payments\": \"core\", \"proof\": true}";
    EXPECT(coalesce_start("auction", payments, &file, 1, ignore, &told, &job) == COALESCE_OK);
    char *answer = ended(job, COALESCE_OK);
    EXPECT(strstr(answer, "\"6.5\""));
    free(answer);
    file.length = 20;
    EXPECT(coalesce_start("auction", payments, &file, 1, ignore, &told, &job) == COALESCE_OK);
    free(ended(job, COALESCE_INVALID));
    free(text);

    const char *command[] = {"explain", "qubo", "--device", "host", "--size", "2500", "--json"};
    EXPECT(coalesce_start_command(command, 7, &job) == COALESCE_OK);
    answer = ended(job, COALESCE_OK);
    EXPECT(strstr(answer, "\"code\":"));
    free(answer);
    EXPECT(coalesce_start_command(command, 0, &job) == COALESCE_OK);
    free(ended(job, COALESCE_INVALID));
    command[0] = "tune";
    EXPECT(coalesce_start_command(command, 2, &job) == COALESCE_OK);
    free(ended(job, COALESCE_INVALID));

    EXPECT(coalesce_tuned("/nowhere/at/all.json") == COALESCE_INVALID && coalesce_tuned(NULL) == COALESCE_OK);
    coalesce_tune t = {.size = sizeof t, .device = COALESCE_HOST, .budget = 1};
    EXPECT(coalesce_start_tune(&t, &job) == COALESCE_OK);
    free(ended(job, COALESCE_INVALID));

    int64_t size = coalesce_devices(NULL, 0);
    char *facts = malloc(size + 64);
    EXPECT(size > 0 && coalesce_devices(facts, size + 64) > 0);
    free(facts);
}

int main(void) {
    matrices();
    others();
    problems();
    return 0;
}
