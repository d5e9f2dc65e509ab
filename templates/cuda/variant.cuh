// What a variant's file and the bodies that it includes have in common. The file defines VARIANT, the variant's
// symbol, and gives its parameters in VARIANT::param, under their names in go.generate: a number is an int, a word
// (zeros=bits) a bool for each of its values (zeros_bits), and value a type. Bodies lie in the namespace VARIANT, so
// that several variants fit in one translation unit; they have no #pragma once.
#pragma once
#include "cuda/prelude.cuh"

// ENTRY(level) is the name of the entry point level.
#define COALESCE_JOIN(variant, name) variant##_##name
#define COALESCE_JOINED(variant, name) COALESCE_JOIN(variant, name)
#define ENTRY(name) COALESCE_JOINED(VARIANT, name)
