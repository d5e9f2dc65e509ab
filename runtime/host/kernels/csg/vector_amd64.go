package csg

import "golang.org/x/sys/cpu"

// sets are what kernels are written for, the fastest first.
var sets = []set{
	{
		cpu.X86.HasAVX512F,
		// 16 lanes in 6 planes, 8 lanes in 4 planes
		once(4, 3, 1, convInt32AVX512, dotInt32AVX512, expandInt32AVX512),
		once(3, 3, 1, convInt64AVX512, dotInt64AVX512, expandInt64AVX512),
		once(4, 3, 1, convFloat32AVX512, dotFloat32AVX512, expandFloat32AVX512),
		once(3, 3, 1, convFloat64AVX512, dotFloat64AVX512, expandFloat64AVX512),
	},
	{
		cpu.X86.HasAVX2,
		// 8 lanes in 4 planes, 4 lanes in 3 planes; values of 8 bytes are permuted as pairs of words
		once(3, 2, 1, convInt32AVX2, dotInt32AVX2, expandInt32AVX2),
		once(2, 2, 2, convInt64AVX2, dotInt64AVX2, expandInt64AVX2),
		once(3, 2, 1, convFloat32AVX2, dotFloat32AVX2, expandFloat32AVX2),
		once(2, 2, 2, convFloat64AVX2, dotFloat64AVX2, expandFloat64AVX2),
	},
	{
		cpu.X86.HasSSE42 && cpu.X86.HasSSE41 && cpu.X86.HasSSSE3,
		// 4 lanes in 3 planes, 2 lanes in 2 planes; values are permuted as bytes
		once(2, 2, 4, convInt32SSE42, dotInt32SSE42, expandInt32SSE42),
		once(1, 2, 8, convInt64SSE42, dotInt64SSE42, expandInt64SSE42),
		once(2, 2, 4, convFloat32SSE42, dotFloat32SSE42, expandFloat32SSE42),
		once(1, 2, 8, convFloat64SSE42, dotFloat64SSE42, expandFloat64SSE42),
	},
}
