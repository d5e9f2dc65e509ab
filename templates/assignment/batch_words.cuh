// The problems and the answers of assignment/batch, which assignment/fit prepares and collects.
#include "cuda/variant.cuh"

namespace VARIANT {

// Problem is the host's description of a problem: the offset of its costs, and the stride
// between rows of the instance, in costs. rows <= cols are those of the instance or, where
// copy >= 0, of its transpose, which the block writes at offset copy. The answer consists of
// words of 8 bytes: COUNTS counts, u, v and the columns of rows, as ints.
// Go: Problem
struct Problem {
    i64 costs, stride, rows, cols, answer, copy, state;
    double scale;
};

// Indices of the counts of an answer: rows left free (above 0 only where no full matching exists), rounds of
// bidding, turns, searches, rows scanned.
// Go: Count
enum Count { LEFT, BIDS, TURNS, SEARCHES, SCANS, COUNTS };

}  // namespace VARIANT
