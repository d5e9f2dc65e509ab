// Column reduction over the entries of T, ITEMS a lane.
#include "cuda/variant.cuh"

namespace VARIANT {

// columnMinima lowers least[j], INFINITE or more before, to the smallest scaled cost of
// column j. A warp stays at a chunk of columns and strides over rows.
__device__ void columnMinima(i64* least, const T* costs, Scale<T> scale, u32 rows, u32 cols, bool aligned, Team team) {
    typedef Chunk<ITEMS> C;
    u32 lane = threadIdx.x % WARP, chunks = (cols + C::SPAN - 1) / C::SPAN;
    u32 span = team.warps > chunks ? team.warps / chunks : 1;
    for (u32 chunk = team.warp / span; chunk < chunks; chunk += team.warps / span) {
        u32 w = chunk * WARP + lane, skip = C::padding(w, cols);
        i64 low[ITEMS];
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) low[k] = INFINITE;
        for (u32 i = team.warp % span; i < rows; i += span) {
            T x[ITEMS];
            C::fetch(x, costs + (u64)i * cols, w, cols, aligned);
#pragma unroll
            for (u32 k = 0; k < ITEMS; k++) low[k] = min(low[k], scale(x[k]));
        }
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++)
            if (!(skip >> k & 1) && low[k] < INFINITE) atomicMin(least + C::column(w, k), low[k]);
    }
}

}  // namespace VARIANT
