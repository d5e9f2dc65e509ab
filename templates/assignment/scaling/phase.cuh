// A phase: a search from all free rows, a fall of the prices within its reach, and an
// augmentation in each tree.
#include "cuda/variant.cuh"

namespace VARIANT {

// prepare begins a search from the rows of list `list`: all columns are unreached. It makes the
// lists of these rows hold their least c - v.
__device__ void prepare(State& s, GridBarrier& barrier, const u32* list, u32 free) {
    u32 lane = threadIdx.x % WARP;
    for (u32 j = thread(); j < s.n; j += threads()) {
        int i = __ldcg(s.owner + j);
        i64 v = s.v[j];
        s.column[j] = Column{v, NEVER};
        s.onward[j] = i < 0 ? 0 : v + s.epsilon - s.cost((u32)i, j);
        s.reached[j] = NOBODY, s.claim[j] = NEVER, s.full[j] = FAR;
    }
    clearWanted(s);
    for (u32 at = warp(); at < free; at += warps()) {
        u32 row = __ldcg(list + at);
        Least l = least(s, row);
        if (lane > 0) continue;
        s.base[at] = l.best < FAR ? -l.best : FAR;
        if (l.best > __ldcg(s.thr + row)) want(s, row, at);
    }
    if (thread() == 0) {
        s.control[SUM] = s.control[SUM + 1] = 0;
        s.control[LISTED] = s.control[LISTED + 1] = s.control[LISTED + 2] = 0;
        s.control[NEEDED] = s.control[NEEDED + 1] = 0;
        s.control[REACHED] = s.control[OVER] = 0, s.control[BOUND] = (u64)FAR;
        s.control[PHASES]++;
    }
    barrier.sync();
    u32 read = readWanted(s, [&](u32, const Entry& e, i64) {
        Least l = least(s, e.row);
        if (lane == 0) s.base[e.from] = l.best < FAR ? -l.best : FAR;
    });
    if (read > 0) barrier.sync();
    s.stamp(PREPARING);
}

// search labels all columns nearer than a bound with their distances. m: the free columns within
// the bound, at least, where so many can be reached. most: steps of the scale.
__device__ void search(State& s, const u32* list, u32 free, u32 m, u32 most) {
    Queue& q = queue();
    q.clear();
    GridSum sum(s.control + SUM, s.searchers);
    for (u32 k = thread(); k < free; k += s.searchers * BLOCK) {
        i64 base = __ldcg(s.base + k);
        if (base < FAR) put(s, q, 0, Entry{base, __ldcg(list + k), NOBODY});
    }
    __threadfence();
    __syncthreads();
    i64 bound = FAR;
    u32 t = 0;
    for (u32 turn = 0;; turn++) {
        if (!grow<false>(s, q, t, most, bound, m, sum, [] {})) {
            if (thread() == 0) s.control[REACHED] = 0;  // too late for prices and paths
            break;
        }
        s.stamp(SEARCHING);
        u32 reached = load(s.control + REACHED);
        if (reached > 0) {
            i64 d = nearest(s, reached, m < reached ? m : reached);
            bound = d + 1 < bound ? d + 1 : bound;
        }
        u32 rows = readNear<false, false>(s, q, t, turn, list, free, bound, sum);
        s.stamp(READING);
        if (rows == 0) break;
    }
    if (thread() == 0) s.control[WITHIN] = (u64)bound, s.control[STEPS] += t, coalesce::release(s.control + OVER, 1ull);
}

// root returns the free row at the root of column j's tree.
__device__ __forceinline__ u32 root(const State& s, u32 j) {
    for (;;) {
        u32 row = s.parent(j);
        int from = __ldcg(s.match + row);
        if (from < 0) return row;
        j = (u32)from;
    }
}

// phase matches some of the rows of list turn%3, `free` of them, and lists the others in the
// next list. It returns false where no free column can be reached.
__device__ bool phase(State& s, GridBarrier& barrier, u32& turn, u32 free, u32 half, u32 most) {
    const u32* list = s.free + (u64)(turn % 3) * s.n;
    prepare(s, barrier, list, free);
    u32 m = (free + (1u << half) - 1) >> half;
    if (blockIdx.x < s.searchers) search(s, list, free, m, most);
    else watch(s, m);
    barrier.sync();
    s.stamp(SEARCHING);
    u32 reached = load(s.control + REACHED);
    if (reached == 0) return false;
    i64 bound = (i64)__ldcg(s.control + BOUND), within = (i64)__ldcg(s.control + WITHIN);
    i64 D = (bound < within ? bound : within) - 1;  // within both bounds distances are final
    for (u32 j = thread(); j < s.n; j += threads()) {
        i64 d = s.distance(__ldcg(&s.column[j].word));
        if (d < D) s.v[j] -= D - d;
    }
    for (u32 k = thread(); k < reached; k += threads()) {
        u32 j = __ldcg(s.reached + k);
        u64 word = __ldcg(&s.column[j].word);
        if (s.distance(word) <= D) atomicMin(s.claim + root(s, j), word >> s.shift << s.shift | j);
    }
    barrier.sync();
    for (u32 first = 0; first < free; first += threads()) {  // neighbouring roots have different blocks
        u32 k = first + threadIdx.x * gridDim.x + blockIdx.x;
        u32 r = k < free ? __ldcg(list + k) : NOBODY;
        u64 claimed = k < free ? __ldcg(s.claim + r) : NEVER;
        if (claimed != NEVER) {
            for (u32 j = s.row(claimed);;) {
                u32 row = s.parent(j);
                int from = s.match[row];
                s.match[row] = (int)j, s.owner[j] = (int)row;
                if (from < 0) break;
                j = (u32)from;
            }
            count(s.control + PATHS);
        }
        __syncwarp();
        bool lost = k < free && claimed == NEVER;
        u32 at = place(s.control + FREED + (turn + 1) % 3, lost);
        if (lost) s.free[(u64)((turn + 1) % 3) * s.n + at] = r;
    }
    if (thread() == 0) s.control[FREED + (turn + 2) % 3] = 0;
    turn++;
    barrier.sync();
    s.stamp(AUGMENTING);
    return true;
}

}  // namespace VARIANT
