// Coalition structures on several devices: copies of finished tiles between the devices' tables. See package csg, tiles_group.go.
#include "cuda/variant.cuh"
#include "csg/coalitions.cuh"

namespace VARIANT {

using namespace coalesce;
using namespace csg;

constexpr u32 BLOCK = param::block;  // threads; each copies 8 bytes at a time

// pack copies tiles of the table f to `room`, from room[at] on, one after the other. A tile is
// `words` words of 8 bytes. The tiles are those of ranks first .. first+count-1 among the targets
// that have `size` of the `high` high agents.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(pack)(const unsigned long long* f, unsigned long long* room, unsigned long long at,
        unsigned long long high, unsigned long long size, unsigned long long first, unsigned long long count,
        unsigned long long words) {
    for (u64 t = blockIdx.x; t < count; t += gridDim.x) {
        const u64* from = f + unrank((u32)(first + t), (u32)size, (u32)high) * words;
        u64* to = room + at + t * words;
        for (u64 i = threadIdx.x; i < words; i += BLOCK) to[i] = from[i];
    }
}

// unpack copies tiles that pack of another device left in `room` to the table f.
extern "C" __global__ void __launch_bounds__(param::block)
ENTRY(unpack)(unsigned long long* f, const unsigned long long* room, unsigned long long at,
        unsigned long long high, unsigned long long size, unsigned long long first, unsigned long long count,
        unsigned long long words) {
    for (u64 t = blockIdx.x; t < count; t += gridDim.x) {
        u64* to = f + unrank((u32)(first + t), (u32)size, (u32)high) * words;
        const u64* from = room + at + t * words;
        for (u64 i = threadIdx.x; i < words; i += BLOCK) to[i] = from[i];
    }
}

}  // namespace VARIANT
