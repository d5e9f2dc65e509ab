package csg

// sets are what kernels are written for; each arm64 processor has NEON.
var sets = []set{{
	true,
	// 4 lanes in 3 planes, 2 lanes in 2 planes; values are permuted as bytes
	once(2, 3, 4, convInt32NEON, dotInt32NEON, expandInt32NEON),
	once(1, 3, 8, convInt64NEON, dotInt64NEON, expandInt64NEON),
	once(2, 3, 4, convFloat32NEON, dotFloat32NEON, expandFloat32NEON),
	once(1, 3, 8, convFloat64NEON, dotFloat64NEON, expandFloat64NEON),
}}
