// devices=many, where devices reach each other's memory: messages between the members of a solve.
#include "cuda/members.cuh"
#include "cuda/variant.cuh"

namespace VARIANT {

// Member describes a device's part of a solve: rows first .. first+mine-1. The entry after
// the last member of a table is the head, the Work of all rows, in which member 0 searches.
// Go: Member
struct Member {
    const T* costs;
    u64* work;
    Edge* edges;  // zeros that a dual update makes in the member's rows, with room for all
    u64* messages;
    u64 first, mine;
};

// Part holds the arguments of Work's constructor: passing them takes fewer registers than passing Work.
struct Part {
    const T* costs;
    u64* work;
    double scale;
    u32 rows, cols, flags;

    __device__ __forceinline__ Work open() const { return Work(costs, nullptr, work, scale, 0, rows, cols, flags); }
};

// Go: Members
constexpr u32 MEMBERS = 32;  // most members of a solve: a lane each

// A member's message buffer has one word for the verdict of member 0, then three words for
// each member: the lower and the upper half of its least slack and, in the buffer of member
// 0 alone, the number of its edges. A word is overwritten one dual update later, when every
// member has received it, so that one buffer is enough.
__device__ __forceinline__ u32 leastAt(u32 member) { return 1 + 3 * member; }
__device__ __forceinline__ u32 countAt(u32 member) { return 3 + 3 * member; }
enum Verdict { STOP, GO };

// Peers holds the members' addresses, and the values received from them, in a block's shared memory.
struct Peers {
    u64* messages[MEMBERS];
    const Edge* edges[MEMBERS];
    i64 least[MEMBERS];
    u32 number[MEMBERS];
    u32 me, count, verdict;

    __device__ __forceinline__ void begin(const Member* members, u32 self, u32 n) {
        if (threadIdx.x == 0) me = self, count = n;
        if (threadIdx.x < n) messages[threadIdx.x] = members[threadIdx.x].messages, edges[threadIdx.x] = members[threadIdx.x].edges;
        __syncthreads();
    }
    // judge sends the verdict on dual update e to all other members, which receive it by judged.
    __device__ __forceinline__ void judge(u32 e, u32 x) const {
        publish();
        for (u32 g = 1; g < count; g++) send(messages[g], e, x);
    }
    __device__ __forceinline__ u32 judged(u32 e) {
        if (threadIdx.x == 0) verdict = receive(messages[me], e);
        __syncthreads();
        return verdict;
    }
    // nearest returns the least slack of all members. The block that arrives last sends the
    // slack of its member: with `narrow` as one word, in which ALL is INFINITE, else as two.
    __device__ __forceinline__ i64 nearest(const Control* ctl, MemberBarrier& barrier, u32 e, bool narrow) {
        if (barrier.last()) {
            u64 low = (u64)min(*(volatile const i64*)ctl->least, narrow ? (i64)ALL : INFINITE);
            publishHere();
            for (u32 g = 0; g < count; g++) {
                send(messages[g] + leastAt(me), e, (u32)low);
                if (!narrow) send(messages[g] + leastAt(me) + 1, e, (u32)(low >> 32));
            }
        }
        if (threadIdx.x < count) {
            const u64* word = messages[me] + leastAt(threadIdx.x);
            u64 low = receive(word, e);
            least[threadIdx.x] = narrow ? (low == ALL ? INFINITE : (i64)low) : (i64)((u64)receive(word + 1, e) << 32 | low);
        }
        __syncthreads();
        i64 d = INFINITE;
        for (u32 g = 0; g < count; g++) d = min(d, least[g]);
        return d;
    }
    // deliver ends a dual update: the block that arrives last clears the counters for the
    // next update, and sends the number of its member's edges to member 0.
    __device__ __forceinline__ void deliver(const Work& m, MemberBarrier& barrier, u32 e) {
        if (!barrier.last()) return;
        Control* ctl = m.ctl;
        u32 n = min((u32)*(volatile u64*)(ctl->count + 1), m.edges());
        ctl->count[0] = ctl->count[1] = 0, ctl->hits[0] = 0, ctl->least[0] = INFINITE;
        publish();
        send(messages[0] + countAt(me), e, n);
    }
    // delivered waits for the edges of all members, and returns their number.
    __device__ __forceinline__ u32 delivered(u32 e) {
        if (threadIdx.x < count) number[threadIdx.x] = receive(messages[0] + countAt(threadIdx.x), e);
        __syncthreads();
        u32 all = 0;
        for (u32 g = 0; g < count; g++) all += number[g];
        return all;
    }
    __device__ __forceinline__ Edge edge(u32 x) const {
        u32 g = 0;
        for (; x >= number[g]; g++) x -= number[g];
        const u32* of = (const u32*)(edges[g] + x);
        return {__ldcg(of), __ldcg(of + 1), __ldcg(of + 2)};
    }
};

}  // namespace VARIANT
