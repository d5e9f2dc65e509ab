// The search: label correcting over all columns.
#include "cuda/variant.cuh"

namespace VARIANT {

// Own is a block's part of a search, in dynamic shared memory: its columns, a part of the list
// of entries, and what each thread has found.
struct Own {
    i64* dist;    // [width] distance; refine: price
    i64* price;   // [width] what a distance has less than the sum of base and cost
    i64* onward;  // [width] what is added to a distance for the base of the owner's entry
    int* owner;   // [width]
    int* pushed;  // [width] whether the last step has listed the owner
    i64* base;    // [BLOCK]
    i64* least;   // [BLOCK]
    Entry* entry; // [BLOCK]
    u32* root;    // [BLOCK]
    u32* at;      // [BLOCK]

    __device__ __forceinline__ Own(i64* room, u32 width) {
        base = room, least = base + BLOCK, entry = (Entry*)(least + BLOCK);
        dist = (i64*)(entry + BLOCK), price = dist + width, onward = price + width;
        root = (u32*)(onward + width), at = root + BLOCK, owner = (int*)(at + BLOCK), pushed = owner + width;
    }
};

// prepare loads the block's columns. REFINE: distances are prices, which fall to what keeps
// every row's own column its best; else they begin above all, and only reached columns matter.
template <bool REFINE> __device__ __forceinline__ void prepare(const State& s, const Own& o) {
    for (u32 c = threadIdx.x; c < s.width; c += BLOCK) {
        u32 j = blockIdx.x * s.width + c;
        if (j >= s.n) break;
        int i = __ldcg(s.owner + j);
        i64 v = __ldcg(s.v + j);
        o.owner[c] = i;
        o.price[c] = REFINE ? 0 : v;
        o.dist[c] = REFINE ? v : FAR;
        o.onward[c] = i < 0 ? 0 : (REFINE ? 0 : v + s.epsilon) - s.cost((u32)i, j);
        if (REFINE) {
            s.path[j] = Entry{NOBODY, NOBODY};
            s.base[j] = v + o.onward[c], s.entry[j] = Entry{(u32)i, j};
        } else {
            s.dist[j] = FAR, s.reached[j] = NOBODY;
        }
    }
}

// relax takes step t: it lowers the distances of the block's columns by the `entries` rows of
// list t%3, and appends the owners of lowered columns to the next list; `pushed` counts them.
// All threads of a block call.
template <bool REFINE> __device__ __forceinline__ void relax(const State& s, const Own& o, u32 t, u32 entries, i64 bound, u32* pushed) {
    u32 lanes = BLOCK / s.width, lane = threadIdx.x / s.width, c = threadIdx.x % s.width, j = blockIdx.x * s.width + c;
    u64 list = (u64)(t % 3) * s.n, next = (u64)((t + 1) % 3) * s.n;
    bool mine = lane < lanes && j < s.n;
    i64 least = mine ? (o.dist[c] < bound ? o.dist[c] : bound) + o.price[c] : 0;
    u32 at = NOBODY;
    for (u32 first = 0; first < entries; first += BLOCK) {
        u32 part = entries - first < BLOCK ? entries - first : BLOCK;
        if (first > 0) __syncthreads();
        if (threadIdx.x < part) {
            u64 k = list + first + threadIdx.x;
            o.base[threadIdx.x] = __ldcg(s.base + k);
            u64 e = __ldcg((const u64*)s.entry + k);
            o.entry[threadIdx.x] = Entry{(u32)e, (u32)(e >> 32)};
            if (!REFINE) o.root[threadIdx.x] = __ldcg(s.root + k);
        }
        __syncthreads();
        if (!mine) continue;
        for (u32 e = lane; e < part; e += lanes * FLIGHT) {
            T x[FLIGHT];
#pragma unroll
            for (u32 k = 0; k < FLIGHT; k++)
                if (e + k * lanes < part) x[k] = s.costs[(u64)o.entry[e + k * lanes].row * s.n + j];
#pragma unroll
            for (u32 k = 0; k < FLIGHT; k++) {
                if (e + k * lanes >= part) break;
                i64 d = o.base[e + k * lanes] + s.scale(x[k]);
                if (d < least) least = d, at = first + e + k * lanes;
            }
        }
    }
    o.least[threadIdx.x] = least, o.at[threadIdx.x] = at;
    __syncthreads();
    if (threadIdx.x >= s.width) return;
#pragma unroll 4
    for (u32 k = 1; k < lanes; k++) {  // threads that have found nothing hold the bound
        i64 d = o.least[k * s.width + c];
        if (d < least) least = d, at = o.at[k * s.width + c];
    }
    bool lower = at != NOBODY, fresh = false, push = false;
    u32 root = 0;
    i64 d = least - o.price[c];
    if (lower) {
        Entry e;
        if (entries <= BLOCK) e = o.entry[at], root = REFINE ? 0 : o.root[at];
        else {
            u64 w = __ldcg((const u64*)s.entry + list + at);
            e = Entry{(u32)w, (u32)(w >> 32)}, root = REFINE ? 0 : __ldcg(s.root + list + at);
        }
        push = o.owner[c] >= 0;
        fresh = !REFINE && !push && o.dist[c] == FAR;
        o.dist[c] = d;
        s.path[j] = e;
        if (!push) s.dist[j] = d, s.tree[j] = root;
    }
    if (REFINE) o.pushed[c] = push;
    u32 to = place(s.control + LISTED + (t + 1) % 3, push);
    if (push) {
        s.base[next + to] = d + o.onward[c], s.entry[next + to] = Entry{(u32)o.owner[c], j};
        if (!REFINE) s.root[next + to] = root;
    }
    u32 pushers = __ballot_sync(ALL, push);
    if (threadIdx.x % WARP == 0 && pushers) atomicAdd(pushed, (u32)__popc(pushers));
    if (!REFINE) {
        to = place(s.control + REACHED, fresh);
        if (fresh) s.reached[to] = j;
    }
    __threadfence();
}

// warpLeast returns the least x of a warp.
__device__ __forceinline__ i64 warpLeast(i64 x) {
#pragma unroll
    for (u32 d = WARP / 2; d > 0; d >>= 1) {
        i64 y = __shfl_xor_sync(ALL, x, d);
        x = y < x ? y : x;
    }
    return x;
}

// nearest returns a distance within which m, and few more, of the first `reached` free columns
// lie: for m = 1 the least distance, else the upper edge of one of BLOCK bins. A whole block calls.
__device__ i64 nearest(const State& s, u32 reached, u32 m) {
    __shared__ i64 low, high, answer;  // high is negated
    __shared__ u32 bin[BLOCK], part[WARPS];
    u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    auto distance = [&](u32 k) {
        u32 j = __ldcg(s.reached + k);
        return j == NOBODY ? FAR : __ldcg(s.dist + j);  // NOBODY: another block has counted the column and will write
    };
    __syncthreads();
    if (threadIdx.x == 0) low = answer = FAR, high = 0;
    bin[threadIdx.x] = 0;
    i64 least = FAR, most = 0;
    for (u32 k = threadIdx.x; k < reached; k += BLOCK) {
        i64 d = distance(k);
        least = d < least ? d : least;
        if (d < FAR) most = -d < most ? -d : most;
    }
    least = warpLeast(least), most = warpLeast(most);
    __syncthreads();
    if (lane == 0) atomicMin(&low, least), atomicMin(&high, most);
    __syncthreads();
    least = low;
    if (m == 1 || least == FAR) return least;
    u32 bits = 64 - __clzll(-high - least), shift = bits > LOG2<BLOCK> ? bits - LOG2<BLOCK> : 0;
    for (u32 k = threadIdx.x; k < reached; k += BLOCK) {
        i64 d = distance(k), b = (d - least) >> shift;
        if (d < FAR) atomicAdd(bin + (b < 0 ? 0 : b < BLOCK ? b : BLOCK - 1), 1u);
    }
    __syncthreads();
    u32 here = bin[threadIdx.x], up = here;
#pragma unroll
    for (u32 d = 1; d < WARP; d <<= 1) {
        u32 x = __shfl_up_sync(ALL, up, d);
        if (lane >= d) up += x;
    }
    if (lane == WARP - 1) part[warp] = up;
    __syncthreads();
    for (u32 w = 0; w < warp; w++) up += part[w];
    if (up >= m && up - here < m) answer = least + ((i64)(threadIdx.x + 1) << shift) - 1;
    __syncthreads();
    return answer;
}

// tighten lowers the bound to the distance of the m-th free column, once m are reached.
// Distances may fall while it reads them; the bound is then too high, and the search only
// takes longer. A whole block calls.
__device__ void tighten(const State& s, u32 m) {
    __shared__ u32 reached;
    __syncthreads();
    if (threadIdx.x == 0) reached = (u32)acquire(s.control + REACHED);
    __syncthreads();
    if (reached < m) return;
    i64 d = nearest(s, reached, m);
    if (threadIdx.x == 0 && d + 1 < (i64)__ldcg(s.control + BOUND)) *(volatile u64*)(s.control + BOUND) = (u64)(d + 1);
}

// watch lowers the bound while the other blocks search.
__device__ void watch(const State& s, u32 m) {
    __shared__ u32 over;
    for (;;) {
        if (threadIdx.x == 0)
            do over = (u32)acquire(s.control + OVER);
            while (!over && (u32)acquire(s.control + REACHED) < m);
        __syncthreads();
        if (over) return;
        tighten(s, m);
        __syncthreads();
    }
}

// grow relaxes step after step, from the `entries` rows of list 0 on, until none is left, or
// after `most` steps. It returns the entries that are left. m: free columns that a phase needs.
template <bool REFINE> __device__ u32 grow(State& s, const Own& o, u32& t, u32 entries, u32 m, u32 most, GridSum& sum) {
    __shared__ u32 pushed, total;
    __shared__ i64 bound;
    if (threadIdx.x == 0) bound = FAR, pushed = 0;
    __syncthreads();
    for (u32 k = 0; entries > 0 && k < most; k++, t++) {
        relax<REFINE>(s, o, t, entries, bound, &pushed);
        if (thread() == 0) s.control[LISTED + (t + 2) % 3] = 0, s.control[STEPS]++, s.control[READ] += entries, __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            sum.arrive(pushed);
            pushed = 0;
            if (!REFINE) bound = (i64)__ldcg(s.control + BOUND);
            total = sum.wait();
        }
        __syncthreads();
        entries = total;
        if (!REFINE && gridDim.x == 1 && k % 4 == 3) tighten(s, m);
    }
    return entries;
}

}  // namespace VARIANT
