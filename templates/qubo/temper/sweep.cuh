// A sweep: Metropolis steps, variable by variable, for all replicas at once.
#include "cuda/variant.cuh"

namespace VARIANT {

// Flip transposes the 32 x 32 bits that 32 lanes hold, a word each: bit e of lane k
// becomes the former bit k of lane e. Five exchanges between lanes: of halves, of
// bytes, and of 4, 2 and 1 bits.
struct Flip {
    u32 half, byte, turn[3], stay[3];
    __device__ __forceinline__ Flip() {
        half = lane() & 16 ? 0x3276u : 0x5410u, byte = lane() & 8 ? 0x3715u : 0x6240u;
        const u32 low[3] = {0x0f0f0f0fu, 0x33333333u, EVEN};
#pragma unroll
        for (u32 k = 0; k < 3; k++) {
            bool high = lane() & 4 >> k;
            turn[k] = high ? 32 - (4 >> k) : 4 >> k, stay[k] = high ? ~low[k] : low[k];
        }
    }
    __device__ __forceinline__ u32 operator()(u32 w) const {
        w = __byte_perm(w, __shfl_xor_sync(ALL, w, 16), half);
        w = __byte_perm(w, __shfl_xor_sync(ALL, w, 8), byte);
#pragma unroll
        for (u32 k = 0; k < 3; k++) {
            u32 o = __shfl_xor_sync(ALL, w, 4 >> k);
            w = (w & stay[k]) | (__funnelshift_l(o, o, turn[k]) & ~stay[k]);
        }
        return w;
    }
};

// Replicas holds what a warp knows of the block's replicas; lane k has the data of
// replica k. Only the first warp knows the replicas' values.
struct Replicas {
    Random random;
    Flip flip;
    const i64* ladder;
    i64 value, kept;
    Sum sum;    // sum of gains since the last take
    u32 refused, turn;
    __device__ __forceinline__ Replicas(u64 key, const i64* ladder, const i64* score, u64 mode)
        : random(key + threadIdx.x), ladder(ladder), value(0), kept(mode & FRESH ? lowest<i64>() : score[KEPT]), sum(0), refused(0), turn(0) {}
    // at returns the temperature in sweep `done` of `sweeps`, interpolated linearly
    // between the ladder's first and last temperature.
    __device__ __forceinline__ u32 at(u32 done, u32 sweeps) const {
        i64 from = ladder[FROM + lane()];
        return (u32)(from + (ladder[TO + lane()] - from) * (i64)done / (i64)sweeps);
    }
    // take adds the gains of all warps to the replicas' values, in the first warp.
    __device__ __forceinline__ void take(SharedState& sharedState) {
        sharedState.sum[warp()][lane()] = sum, sum = 0;
        __syncthreads();
        if (warp() == 0)
            for (u32 w = 0; w < WARPS; w++) value += sharedState.sum[w][lane()];
        __syncthreads();
    }
};

// Field sums the weights of a variable's pairs whose other variable is 1, chunk by chunk.
struct Field {
    int pairs, all;
    __device__ __forceinline__ void clear() { pairs = all = 0; }
    // add adds the slots of visit v in a chunk. Bit k of `bits` is the value, in the
    // lane's replica, of the variable at slot k.
    __device__ __forceinline__ void add(const Problem& p, u32 chunk, u32 bits, const int4& v) {
        if constexpr (UNIT) {
            pairs += __popc((bits & (u32)v.z) ^ (u32)v.w);  // v.z: all slots of the visit; v.w: those of weight -unit
            all += __popc((u32)v.w);
        } else {
            u32 slot = (u32)v.z & 31, end = slot + (u32)v.w;
            for (; slot < end; slot += 4) {
                int4 weight = *(const int4*)(p.weights + (u64)chunk * WARP + slot);
                u32 four = bits >> slot;
                pairs += (four & 1 ? weight.x : 0) + (four & 2 ? weight.y : 0) + (four & 4 ? weight.z : 0) + (four & 8 ? weight.w : 0);
            }
        }
    }
    // gain returns the gain of setting the variable from 0 to 1. twice returns gain plus the
    // variable's linear weight; over all variables that are 1 this sums to twice the objective.
    __device__ __forceinline__ int gain(const Problem& p, const int4& v) const { return v.y + (UNIT ? p.unit * pairs : pairs); }
    __device__ __forceinline__ i64 twice(const Problem& p, const int4& v) const {
        return (i64)gain(p, v) + v.y + (UNIT ? p.unit * all : 0);
    }
};

// visits calls each(variable, visit, field) for every variable of a task.
template <class Do> __device__ __forceinline__ void visits(const Flip& flip, const Problem& p, const u32* x, u32 task, Do each) {
    Field field;
    field.clear();
    for (u32 chunk = p.tasks[task], end = p.tasks[task + 1]; chunk < end; chunk++) {
        u32 bits = flip(x[p.slots[(u64)chunk * WARP + lane()]]);
        u32 k = p.chunks[chunk], last = p.chunks[chunk + 1];
        for (int4 next = p.visits[k]; k < last;) {
            int4 v = next;
            next = p.visits[++k];  // loaded ahead, while v is processed; the array has one entry to spare
            field.add(p, chunk, bits, v);
            if (!((u32)v.x & LAST)) continue;
            each((u32)v.x & ~LAST, v, field);
            field.clear();
        }
    }
}

// sweep makes one Metropolis step for every variable in all replicas. `temperature` is the
// loss of objective that a random cost of 2^32 allows (Random.cost has 2^26 a factor of two).
__device__ __forceinline__ void sweep(Replicas& r, const Problem& p, SharedState& sharedState, u32* x, u32 temperature) {
    for (u32 c = 0; c < p.count; c++) {
        for (u32 t = p.colours[c] + warp(), end = p.colours[c + 1]; t < end; t += WARPS)
            visits(r.flip, p, x, t, [&](u32 at, const int4& v, const Field& field) {
                u32 word = x[at];
                int gain = field.gain(p, v);
                if (word >> lane() & 1) gain = -gain;
                int left = gain + (int)__umulhi(r.random.cost(), temperature);
                u32 change = __ballot_sync(ALL, left >= 0);
                __syncwarp();  // all lanes have read x[at] before lane 0 writes x[at]
                if (lane() == 0) x[at] = word ^ change;
                r.sum += left >= 0 ? gain : 0, r.refused += (u32)left >> 31;
            });
        __syncthreads();
    }
}

// measure computes the replicas' objectives from their variables.
__device__ __forceinline__ void measure(Replicas& r, const Problem& p, SharedState& sharedState, u32* x) {
    i64 twice = 0;
    for (u32 t = warp(), end = p.colours[p.count]; t < end; t += WARPS)
        visits(r.flip, p, x, t, [&](u32 at, const int4& v, const Field& field) {
            if (x[at] >> lane() & 1) twice += field.twice(p, v);
        });
    sharedState.sum[warp()][lane()] = twice;
    __syncthreads();
    if (warp() == 0) {
        twice = 0;
        for (u32 w = 0; w < WARPS; w++) twice += sharedState.sum[w][lane()];
        r.value = twice / 2;
    }
    __syncthreads();
}

}  // namespace VARIANT
