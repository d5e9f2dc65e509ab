// Dynamic shared memory, whose size the launch gives: device.Grid.Shared bytes
// a block, up to the device's Facts.SharedPerBlock less the static.
#pragma once
#include "cuda/prelude.cuh"

// COALESCE_DYNAMIC_SHARED(type, name) declares type* name at the start of the
// block's dynamic shared memory, aligned to 16 bytes. Every use in a kernel
// gives the same start.
#ifdef COALESCE_EMULATED
#define COALESCE_DYNAMIC_SHARED(type, name) type* name = (type*)emu_dynamic
#else
extern __shared__ int4 coalesce_dynamic[];
#define COALESCE_DYNAMIC_SHARED(type, name) type* name = (type*)coalesce_dynamic
#endif
