/* Stands before the toolkit's cuda.h on the include path (scripts/toolkit
 * --print-env puts it there), so that gorgonia.org/cu v0.9.6, written for the
 * signatures of CUDA 12 and earlier, compiles against CUDA 13 unchanged.
 *
 * Since 13.0 the names below are macros for entry points of other signatures.
 * libcuda still exports the older ones: take the macros away and declare
 * those. cuEventElapsedTime is here because its new entry point is missing in
 * drivers before 12.8. */
#ifndef COALESCE_CUDA_H
#define COALESCE_CUDA_H
#include_next <cuda.h>

#if CUDA_VERSION >= 13000
#undef cuCtxCreate
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuGraphAddDependencies
#undef cuGraphGetEdges
#define cuCtxCreate cuCtxCreate_v2
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *ctx, unsigned int flags, CUdevice dev);
CUresult CUDAAPI cuMemAdvise(CUdeviceptr ptr, size_t count, CUmem_advise advice, CUdevice dev);
CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr ptr, size_t count, CUdevice dev, CUstream stream);
CUresult CUDAAPI cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count);
CUresult CUDAAPI cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count);
#endif

/* cu initializes CUDA before main and ends the process where that fails, as it
 * does on a machine whose driver shows no GPU. It is told of success, and
 * driver.Count asks again. */
static inline CUresult coalesceInit(unsigned int flags) {
	(void)cuInit(flags);
	return CUDA_SUCCESS;
}
#define cuInit coalesceInit

#if CUDA_VERSION >= 12080
#undef cuEventElapsedTime
CUresult CUDAAPI cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);
#endif
#endif
