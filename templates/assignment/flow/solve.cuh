// The solve, its check, and the entry point.
#include "cuda/variant.cuh"

namespace VARIANT {

constexpr u32 MOST_PIVOTS = 256;  // a node

// Answers are where those of all problems go: the plan, of the costs' type or float64 of integers, the duals, the cost, and the status.
using Shipped = Choice<INTEGERS, double, T>;
struct Answers {
    Shipped* plan;
    double *u, *v, *cost;
    int* status;
};

// optimise makes the first flow optimal; false: pivots ran out.
__device__ __forceinline__ bool optimise(const Problem& p, const Tree& t, Slot* slots) {
    u64 left = (u64)MOST_PIVOTS * t.nodes;
    if (p.member == 0) {
        make(p, t);
        publish(p, t);
    }
    p.sync();
    for (;;) {
        price(p);
        p.sync();
        if (p.member == 0) {
            u64 done = pivots(p, t, slots, left);
            left -= done;
            publish(p, t);
            if (threadIdx.x == 0) p.control[DONE] = left == 0 ? 2 : done == 0 ? 1 : 0;
        }
        p.sync();
        u64 state = p.control[DONE];
        if (state != 0) return state == 1;
    }
}

// check holds duals and flow against the costs, read again by their bits, and the masses. Duals bound every pair's cost, pairs with a flow have that cost, and
// rows and columns ship and take what they have. Where costs were rounded, no other pair may be within the rounding of a cycle. All blocks call.
__device__ __forceinline__ Status check(const Problem& p, const Tree& t, double scale) {
    Cost cost(1, (__double_as_longlong(scale) >> 52 & 2047) - 1023);
    bool wrong = false, near = false;
    i64 width = (i64)min(p.n, p.m) + 2;
    if (p.member == 0)
        for (u32 z = threadIdx.x; z < t.nodes; z += TEAM) {
            u32 parent = t.parent(z);
            i64 flow = t.flow[z];
            p.parent[z] = parent, p.carried[z] = flow;
            if (flow < 0 || (parent == t.nodes && flow != 0)) wrong = true;
            if (flow == 0) continue;
            u32 i = t.isRow(z) ? z : parent, j = t.isRow(z) ? parent : z;
            if (i >= p.n || j < p.n || j >= t.nodes) {
                wrong = true;
                continue;
            }
            atomicAdd((u64*)p.left + i, (u64)flow), atomicAdd((u64*)p.room + (j - p.n), (u64)flow);
            if (plus(p.u[i], p.v[j - p.n]) != cost(p.costs[(u64)i * p.m + j - p.n])) wrong = true;
        }
    p.sync();
    for (u32 i = p.thread(); i < p.n; i += p.threads()) wrong |= p.left[i] != p.supply[i] || !within(p.u[i]);
    for (u32 j = p.thread(); j < p.m; j += p.threads()) wrong |= p.room[j] != p.demand[j] || !within(p.v[j]);
    for (u32 row = p.warp(); row < p.n; row += p.warps()) {
        const T* costs = p.costs + (u64)row * p.m;
        i64 u = p.u[row];
        for (u32 from = threadIdx.x % WARP; from < p.m; from += WARP * FLIGHT) {
            T c[FLIGHT];
#pragma unroll
            for (u32 f = 0; f < FLIGHT; f++) c[f] = costs[min(from + f * WARP, p.m - 1)];
#pragma unroll
            for (u32 f = 0; f < FLIGHT; f++) {
                u32 j = from + f * WARP;
                if (j >= p.m) continue;
                i64 sum = plus(u, p.v[j]), w = cost(c[f]);
                if (sum > w) wrong = true;
                if (INTEGERS || w - sum > width) continue;
                bool carries = (p.parent[row] == p.n + j && p.carried[row] > 0) || (p.parent[p.n + j] == row && p.carried[p.n + j] > 0);
                near |= !carries;
            }
        }
    }
    if (wrong) p.control[WRONG] = 1;
    if (near) p.control[NEAR] = 1;
    if (cost.rounded != 0) p.control[ROUNDED] = 1;
    p.sync();
    if (p.control[WRONG] != 0) return REFUTED;
    return p.control[NEAR] != 0 && p.control[ROUNDED] != 0 ? UNDECIDED : PROVEN;
}

// write writes the answers about problem `index`.
__device__ __forceinline__ void write(const Problem& p, const Answers& to, u64 index, double scale, Status status) {
    bool found = status == PROVEN || status == UNDECIDED;
    Shipped* plan = to.plan + index * p.n * p.m;
    for (u64 k = (u64)p.member * TEAM + threadIdx.x; k < (u64)p.n * p.m; k += p.threads()) plan[k] = 0;
    for (u32 i = p.thread(); i < p.n; i += p.threads()) to.u[index * p.n + i] = found ? (double)p.u[i] / scale : 0;
    for (u32 j = p.thread(); j < p.m; j += p.threads()) to.v[index * p.m + j] = found ? (double)p.v[j] / scale : 0;
    p.sync();
    if (p.member > 0) return;
    double sum = 0, unit = found ? power((int)-(i64)p.control[SHIFT]) : 0;
    if (found)
        for (u32 z = threadIdx.x; z < p.nodes(); z += TEAM) {
            u32 parent = p.parent[z];
            if (p.carried[z] == 0) continue;
            u64 at = z < p.n ? (u64)z * p.m + parent - p.n : (u64)parent * p.m + z - p.n;
            double shipped = (double)p.carried[z] * unit;
            plan[at] = (Shipped)shipped, sum += shipped * (double)p.costs[at];
        }
    sum = blockSum(sum);
    if (threadIdx.x == 0) to.cost[index] = sum, to.status[index] = status;
}

// solve solves problems first, first + 1 and so on, of rows * cols costs and masses each, as they lie: `group` blocks a problem, one, or in a cooperative launch for one problem any.
// work: `words` words a problem, the control's zero. rounds, last: of Sinkhorn's iterations, and the last epsilon in the costs' mean.
extern "C" __global__ void __launch_bounds__(param::team, 1) ENTRY(solve)(const T* costs, const double* a, const double* b, unsigned long long first,
    unsigned long long rows, unsigned long long cols, unsigned long long group, unsigned long long anySums, long long bound, unsigned long long rounds, double last,
    unsigned long long* work, unsigned long long words, unsigned int* barrier, void* plan, double* u, double* v, double* cost, int* status) {
    COALESCE_DYNAMIC_SHARED(char, dynamic);
    __shared__ Slot slots[2 * WARPS];
    u32 blocks = (u32)group;
    u64 index = first + blockIdx.x / blocks;
    Problem p(costs + index * rows * cols, work + blockIdx.x / blocks * words, (u32*)barrier, rows, cols, blocks, blockIdx.x % blocks);
    Answers to = {(Shipped*)plan, u, v, cost, status};
    Tree t(p.n, p.nodes(), dynamic);
    if (p.member == 0) {
        for (u32 k = threadIdx.x; k < CONTROLS; k += TEAM) p.control[k] = 0;
        __syncthreads();
        bool valid = masses(p, a + index * rows, b + index * cols, anySums == 0);
        if (threadIdx.x == 0) p.control[FOUND] = !valid;
    }
    Range range = survey(p, bound);
    Status found = range.bad ? INVALID_COST : p.control[FOUND] != 0 ? INVALID_MASS : UNFINISHED;
    if (found == UNFINISHED) {
        p.scale = Scale<T>(range.scale);
        sinkhorn(p, range, (u32)rounds, (float)last, dynamic);
        fill(p);
        if (optimise(p, t, slots)) found = check(p, t, range.scale);
    }
    write(p, to, index, range.scale, found);
}

}  // namespace VARIANT
