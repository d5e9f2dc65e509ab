// Coalition structures by (max,+) subset convolutions of tiles: see package csg, tiles.go.
#include "cuda/variant.cuh"
#include "cuda/shared.cuh"
#include "cuda/tensor.cuh"
#include "csg/coalitions.cuh"
#include "csg/convolution.cuh"

// f      values by coalition of all agents but the last, v at first and f in the end; f[0] = 0
// tile   the 2^K coalitions with the same members above the K lowest agents
// chunk  the 2^R coalitions of a tile with the same members above the R lowest
// slot   two disjoint sets of the SLOT agents between the R lowest and the high ones: a
//        chunk of one tile and a chunk of another, whose sums belong to one chunk of the target
// block  works on one target tile; a thread keeps the bests of EACH slots with the same
//        first chunk, over all pairs of tiles of the block
namespace VARIANT {

using namespace coalesce;
using namespace csg;

using T = param::value;
typedef WordOf<T>::Word W;               // a register: one value, or one value of each of LANES pairs of tiles
constexpr u32 LANES = sizeof(W) / sizeof(T);
typedef decltype(T() + T()) Sum;
constexpr u32 R = param::chunk;
constexpr u32 SLOT = param::slot;
constexpr u32 EACH = param::each;
constexpr u32 BLOCK = param::block;
constexpr u32 STAGES = param::stages;    // stages of the pipeline that copies tiles to shared memory
constexpr u32 PAIRS = param::pairs;      // pairs of tiles in a stage
constexpr bool MIXED = param::adder_mixed;

constexpr u32 K = R + SLOT;
constexpr u32 CHUNK = 1 << R, CHUNKS = 1 << SLOT, TILE = 1 << K;
constexpr u32 VALUES = 16 / sizeof(W);   // words in one access of 16 bytes
constexpr u32 STRIDE = CHUNK + VALUES;   // words from a chunk to the next; the padding starts neighbouring chunks in different banks
constexpr u32 STAGE = 2 * PAIRS * CHUNKS * STRIDE;

}  // namespace VARIANT
