// The control words of core and price.
#include "cuda/variant.cuh"

namespace VARIANT {

// Indices of the control words, 8 bytes each, which the host reads and clears.
// Go: Word
enum Word {
    BARRIER, COUNT, REACHED = COUNT + 3, BOUND, STATUS, FREE, QUEUE, ASSIGNED, POOL = 12, VIOLATIONS, GROWN, CUT,
    STEPS = 16, PHASES, PATHS, BIDS, LEVELS, OVER, SUM, STAGES = SUM + 2
};
// Go: Status
enum Status { SOLVED, STUCK, STALLED, OVERFLOWED, TIED };
constexpr u64 NEVER = ~0ull;  // word of a column that no search has reached

}  // namespace VARIANT
