// The basis: a tree of rows and columns, in shared memory.
#include "cuda/variant.cuh"

namespace VARIANT {

// Tree holds nodes, rows before columns, by their parents; the root is one more. Children of the root ship nothing to it. Every arc without a flow leads
// from a node to its parent, which keeps pivots from repeating (Cunningham, Mathematical Programming 11, 1976).
struct Tree {
    u32 n, nodes;
    i64 *price, *flow;    // u of a row, -v of a column; what the pair with the parent ships
    u32 *spot, *link;     // place and size; parent and depth. Place: in an order in which a node's descendants follow it
    u16 *pathA, *pathB;   // by depth - 1: the nodes of a cycle; that of the side that stays then lists the nodes that move
    u32* count;           // while the tree is made, in the paths' place
    __device__ __forceinline__ Tree(u32 n, u32 nodes, char* memory) : n(n), nodes(nodes), price((i64*)memory), flow(price + nodes), spot((u32*)(flow + nodes)),
        link(spot + nodes), pathA((u16*)(link + nodes)), pathB(pathA + nodes), count((u32*)pathA) {}
    __device__ __forceinline__ bool isRow(u32 z) const { return z < n; }
    __device__ __forceinline__ u32 parent(u32 z) const { return link[z] >> 16; }
    __device__ __forceinline__ u32 depth(u32 z) const { return link[z] & 0xffff; }
};

// Spot is a node's place, and how many nodes its subtree has.
struct Spot {
    u32 pre, size;
    __device__ __forceinline__ explicit Spot(u32 word) : pre(word >> 16), size(word & 0xffff) {}
    __device__ __forceinline__ bool has(u32 place) const { return place - pre < size; }
    __device__ __forceinline__ u32 word() const { return pre << 16 | size; }
};

// make makes the tree of the first flow. A block calls.
__device__ __forceinline__ void make(const Problem& p, const Tree& t) {
    __shared__ u32 first;
    if (threadIdx.x == 0) first = 1;
    for (u32 z = threadIdx.x; z < t.nodes; z += TEAM) {
        u32 parent = p.parent[z];
        t.link[z] = parent << 16 | (parent == t.nodes ? 1 : 0), t.flow[z] = p.carried[z], t.count[z] = 1;
        if (parent == t.nodes) t.price[z] = t.isRow(z) ? p.u[z] : -p.v[z - t.n];
    }
    __syncthreads();
    u32 deepest = 1;
    for (bool more = true; more; deepest += more) {  // prices, and depths
        u32 found = 0;
#pragma unroll
        for (u32 k = 0; k < EACH; k++) {
            u32 z = threadIdx.x + k * TEAM;
            if (z < t.nodes && t.depth(z) == 0 && t.depth(t.parent(z)) == deepest) found |= 1u << k;
        }
        more = __syncthreads_or(found != 0);
#pragma unroll
        for (u32 k = 0; k < EACH; k++) {
            u32 z = threadIdx.x + k * TEAM;
            if ((found >> k & 1) == 0) continue;
            u32 parent = t.parent(z);
            t.link[z] = parent << 16 | (deepest + 1);
            t.price[z] = t.isRow(z) ? t.price[parent] + p.cost(z, parent - t.n) : t.price[parent] - p.cost(parent, z - t.n);
        }
        __syncthreads();
    }
    for (u32 depth = deepest; depth > 1; depth--) {  // sizes
        for (u32 z = threadIdx.x; z < t.nodes; z += TEAM)
            if (t.depth(z) == depth) atomicAdd(t.count + t.parent(z), t.count[z]);
        __syncthreads();
    }
    for (u32 z = threadIdx.x; z < t.nodes; z += TEAM) t.spot[z] = t.count[z];
    __syncthreads();
    for (u32 depth = 1; depth <= deepest; depth++) {  // places
        for (u32 z = threadIdx.x; z < t.nodes; z += TEAM) {
            if (t.depth(z) != depth) continue;
            u32 at = atomicAdd(depth == 1 ? &first : t.count + t.parent(z), t.spot[z]);
            t.spot[z] |= at << 16, t.count[z] = at + 1;
        }
        __syncthreads();
    }
}

// publish writes prices where all blocks see them.
__device__ __forceinline__ void publish(const Problem& p, const Tree& t) {
    for (u32 z = threadIdx.x; z < t.nodes; z += TEAM)
        if (t.isRow(z)) p.u[z] = t.price[z];
        else p.v[z - t.n] = -t.price[z];
}

}  // namespace VARIANT
