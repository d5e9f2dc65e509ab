// slack=bounded: the search for the least uncovered slack.
#include "cuda/variant.cuh"

namespace VARIANT {

// Finds holds, in shared memory, the pairs of a queue's row and a part that a block will
// read, and the least slack that the block knows.
struct Finds {
    static constexpr u32 AHEAD = 4;  // bounds that a thread reads at once
    i64 least;
    u32 count, pair[(AHEAD + 1) * BLOCK];
};

// Probe searches for the least uncovered slack of rows of the queue. Few parts are all read;
// of many parts only those whose lower bound is at most the least slack known so far. Parts
// that have the least slack are among the hits.
template <class A> struct Probe {
    static constexpr u32 FEW = 4;  // up to so many pairs a warp, all are read, whatever their bounds
    const Work m;
    const u32* queue;
    u32 total;  // pairs
    i64* least;
    u64* hits;
    Finds& finds;

    // known returns the least slack that the block knows; send makes a slack known to all
    // blocks.
    __device__ __forceinline__ i64 known() const { return *(volatile i64*)&finds.least; }
    __device__ __forceinline__ void send(i64 low) const {
        atomicMin(&finds.least, low);
        atomicMin(least, low);
    }

    // above computes lower bounds of the slacks of pairs first, first + step, and so on;
    // INFINITE past the last pair.
    template <u32 N> __device__ __forceinline__ void above(i64 (&bound)[N], u32 first, u32 step) const {
        u32 row[N];
        i64 u[N];
        auto pair = [&](u32 k) { return min(first + k * step, total - 1); };
#pragma unroll
        for (u32 k = 0; k < N; k++) row[k] = queue[pair(k) / m.parts];
#pragma unroll
        for (u32 k = 0; k < N; k++) bound[k] = m.least[(u64)row[k] * m.parts + pair(k) % m.parts], u[k] = m.u[row[k]];
#pragma unroll
        for (u32 k = 0; k < N; k++) bound[k] = first + k * step < total && bound[k] < INFINITE ? bound[k] - u[k] : INFINITE;
    }

    // guess reads, of the warp's first parts, the one with the least bound above 0, so that a small slack is known early.
    __device__ __forceinline__ void guess(u32 pair) const {
        i64 bound[1];
        above(bound, pair, 0);
        i64 low = warpLeast(bound[0] > 0 ? bound[0] : INFINITE);
        if (low >= INFINITE) return;
        pair = __shfl_sync(ALL, pair, __ffs((int)__ballot_sync(ALL, bound[0] == low)) - 1);
        Look<A> l;
        u32 row = queue[pair / m.parts];
        l.load(m, row, pair % m.parts, m.u[row]);
        low = l.least(m);
        if (threadIdx.x % WARP == 0 && low < known()) send(low);
    }

    // read reads the pairs of the warp's first n lanes, one after another; code for several
    // at once is so long that fetching instructions takes more time than it saves.
    __device__ __forceinline__ void read(u32 pair, u32 n) const {
        u32 row = queue[pair / m.parts], part = pair % m.parts;
        i64 u = m.u[row];
        for (int x = 0; x < (int)n; x++) {
            Look<A> l;
            l.load(m, __shfl_sync(ALL, row, x), __shfl_sync(ALL, part, x), __shfl_sync(ALL, u, x));
            i64 low = l.least(m);
            if (threadIdx.x % WARP != 0 || low > known() || low >= INFINITE) continue;
            if (low < known()) send(low);
            ((Hit*)m.fresh)[atomicAdd(hits, 1ull)] = {l.row, l.part, low, low + l.u};
        }
    }
    // share reads the share of warp number `warp` of `warps` in the pairs at(0) .. at(n-1).
    template <class F> __device__ __forceinline__ void share(u32 warp, u32 warps, u32 n, F at) const {
        u32 most = min((n + warps - 1) / warps, WARP), lane = threadIdx.x % WARP;
        for (u32 first = warp * most; first < n; first += warps * most) {
            u32 here = min(most, n - first);
            read(at(first + min(lane, here - 1)), here);
        }
    }
    // readFinds reads the pairs in finds, by the whole block, and empties finds.
    __device__ __forceinline__ void readFinds() const {
        u32 n = finds.count;
        share(threadIdx.x / WARP, BLOCK / WARP, n, [&](u32 x) { return finds.pair[x]; });
        __syncthreads();
        if (threadIdx.x == 0) atomicAdd(&m.ctl->read, (u64)n), finds.count = 0;
        __syncthreads();
    }

    __device__ __forceinline__ void run(Team team) const {
        constexpr u32 AHEAD = Finds::AHEAD;
        if (threadIdx.x == 0) finds.count = 0, finds.least = INFINITE;
        __syncthreads();
        if (total <= FEW * team.warps) {
            if (team.thread == 0) atomicAdd(&m.ctl->read, (u64)total);
            share(team.warp, team.warps, total, [](u32 x) { return x; });
            return;
        }
        if (team.thread == 0) atomicAdd(&m.ctl->read, (u64)team.warps);
        guess(team.thread);
        for (u32 first = team.thread; first - threadIdx.x < total; first += AHEAD * team.threads) {
            i64 bound[AHEAD], others = threadIdx.x == 0 ? (i64)*(volatile i64*)least : INFINITE;
            above(bound, first, team.threads);
            if (threadIdx.x == 0) atomicMin(&finds.least, others);
            __syncthreads();
            i64 best = known();
#pragma unroll
            for (u32 k = 0; k < AHEAD; k++)
                if (bound[k] < INFINITE && bound[k] <= best) finds.pair[atomicAdd(&finds.count, 1u)] = first + k * team.threads;
            __syncthreads();
            bool due = finds.count > BLOCK || first - threadIdx.x + AHEAD * team.threads >= total;
            __syncthreads();
            if (due) readFinds();
        }
    }
};
template <class A> __device__ __noinline__ void probe(const Work& m, const u32* queue, u32 count, u64 update, Finds& finds, Team team) {
    u32 turn = update % 2;
    if (count != 0) Probe<A>{m, queue, count * m.parts, m.ctl->least + turn, m.ctl->hits + turn, finds}.run(team);
}

}  // namespace VARIANT
