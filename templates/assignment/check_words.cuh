// What a check finds.
#include "cuda/variant.cuh"

namespace VARIANT {

// Indices of the findings: counts, sums, and the least row, column or entry at fault.
// Go: Word
enum Word { ENTRIES, ROWS_WRONG, COLUMNS_WRONG, FORBIDDEN, ROUNDED, MATCHED, PRIMAL, PRIMAL_LOW, DUAL, DUAL_LOW,
            FIRST_ENTRY, FIRST_ROW, FIRST_COLUMN, WORDS };

// A row at fault is recorded as row * ROW_FAULTS + its fault: a dual out of range, a column that does not exist or that
// another row has too, a pair that is forbidden or has slack; with a limit, a dual that is not or is beyond it.
// Go: RowFault
enum RowFault { ROW_RIGHT, BAD_DUAL, NO_COLUMN, COLUMN_TAKEN, FORBIDDEN_PAIR, SLACK_PAIR, NOT_LIMIT, BEYOND_LIMIT, ROW_FAULTS };

// A column at fault is recorded as column * COLUMN_FAULTS + its fault: a dual out of range, one that is
// positive, or not zero where no row has the column.
// Go: ColumnFault
enum ColumnFault { COLUMN_RIGHT, BAD_PRICE, POSITIVE_PRICE, FREE_PRICE, COLUMN_FAULTS };

}  // namespace VARIANT
