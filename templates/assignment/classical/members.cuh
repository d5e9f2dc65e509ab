// devices=many, where devices reach each other's memory: the kernel of the members of a solve.
#include "cuda/variant.cuh"

namespace VARIANT {

// lead searches until a dual update is due or every row is matched. With `may` it then tells
// the other members whether an update follows. lead is not inlined, so that all registers
// are available to the search.
__device__ __noinline__ bool lead(Part part, State& state, SharedState& sharedState, MemberBarrier barrier, Team team, bool first,
                                  const Peers& peers, u32 e, bool may) {
    const Work m = part.open();
    State s = state;
    bool told = false;
    auto after = [&] {  // tells the other members at once, before this member's barrier
        __syncthreads();
        const volatile Control* ctl = m.ctl;
        told = threadIdx.x == 0 && may && ctl->head == ctl->tail && ctl->found == 0;
        if (told) peers.judge(e, GO);
    };
    while (s.roots != 0) {
        search(m, s, sharedState, barrier, team, first, after);
        if (s.found == 0) break;
        nextPhase(m, s, barrier, team);
    }
    may = may && s.roots != 0;
    if (team.thread == 0 && !told) peers.judge(e, may ? GO : STOP);
    state = s;
    return may;
}

// follow deletes zeros of the head's rows outside the forest, and adds the edges of all
// members to the head's zeros.
__device__ __noinline__ void follow(Part part, const State& s, Peers& peers, i64 d, u32 e, Team team) {
    const Work m = part.open();
    Control* ctl = m.ctl;
    if (team.thread == 0) ctl->count[(s.turn + 1) % 3] = 0, ctl->scanned += s.tail;
    if constexpr (!BOUNDED) remember(m, team);
    if (d != 0) forgetOthers(m, team);
    u32 n = peers.delivered(e);
    Reach r = {0, s.phase, s.tail, 0, ctl->count + s.turn % 3, m.queue(s.side)};
    absorb(m, r, n, [&](u32 x) { return peers.edge(x); }, false, team);
}

// peer does the work of members index .. index+here-1 of `count` in a solve, until every row
// is matched, some row cannot be, or after `budget` dual updates, the first of which has
// number `number`. It is a cooperative launch with equally many blocks for each member; the
// launches of all members run at the same time.
//
// In a dual update member 0 sends its verdict after its search. Every member copies the set
// of reached columns from the head, finds the least slack of its own rows, and sends that to
// all members. Each member then writes edges, its new zeros, to its own memory and sends
// their number to member 0, which reads the edges there and searches on.
extern "C" __global__ void __launch_bounds__(param::block, param::resident)
ENTRY(peer)(const unsigned long long* table, double scale, unsigned long long rows, unsigned long long cols,
        unsigned long long flags, unsigned long long index, unsigned long long here, unsigned long long count,
        unsigned long long number, unsigned long long budget) {
    __shared__ SharedState sharedState;
    __shared__ Peers peers;
    const Member* members = (const Member*)table;
    u32 blocks = gridDim.x / (u32)here, me = (u32)index + blockIdx.x / blocks, block = blockIdx.x % blocks;
    const Member& mine = members[me];
    const Part part = {mine.costs, mine.work, scale, (u32)mine.mine, (u32)cols, (u32)flags};
    const Part whole = {nullptr, members[count].work, scale, (u32)rows, (u32)cols, (u32)flags};
    const Work m = part.open(), head = whole.open();
    u32 origin = (u32)mine.first, e = (u32)number;
    Edge* edges = mine.edges;
    bool leads = me == 0;
    Team team = {block * (BLOCK / WARP) + threadIdx.x / WARP, blocks * (BLOCK / WARP), block * BLOCK + threadIdx.x, blocks * BLOCK};
    MemberBarrier barrier((u32*)&m.ctl->word, block, blocks);
    peers.begin(members, me, (u32)count);
    clear(sharedState);
    State s(head.ctl);
    bool stuck = false;
    if (leads) {
        bool fresh = head.ctl->stage == START;
        barrier.sync();
        if (fresh) s.advance(head.ctl), s.roots = s.tail;
    }
    for (;; e++, budget--) {
        if (leads) {
            if (!lead(whole, s, sharedState, barrier, team, block == 0, peers, e, budget > 0)) break;
            for (u32 w = team.thread; w < m.words; w += team.threads) head.covered[w] = head.reached[w];
        } else if (peers.judged(e) == STOP) {
            break;
        }
        survey(m, head, origin, team);
        barrier.sync();
        u32 n = (u32)*(volatile u64*)m.ctl->count;
        bool narrow = m.ctl->bound < NARROW;
        price(part, n, sharedState, team);
        i64 d = peers.nearest(m.ctl, barrier, e, narrow);
        if (stuck = d >= INFINITE; stuck) break;
        shift(part, edges, origin, n, d, team);
        peers.deliver(m, barrier, e);
        if (!leads) continue;
        follow(whole, s, peers, d, e, team);
        barrier.sync();
        s.number++;
        s.advance(head.ctl);
    }
    if (leads && team.thread == 0) s.save(head.ctl, stuck ? STUCK : s.roots == 0 ? MATCHED : SEARCH);
}

// addresses writes the addresses of a member's memory to `out`; the host makes the table of them.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(addresses)(unsigned long long* out, const T* costs, unsigned long long* work, unsigned int* edges,
        unsigned long long* messages) {
    if (threadIdx.x != 0) return;
    out[0] = (unsigned long long)costs;
    out[1] = (unsigned long long)work;
    out[2] = (unsigned long long)edges;
    out[3] = (unsigned long long)messages;
}

}  // namespace VARIANT
