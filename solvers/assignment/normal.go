package assignment

// far is the scaled cost of a forbidden pair. Every allowed scaled cost c has
// |c| <= maxScaled(rows), so sums of a path's reduced costs stay below far.
const far int64 = 1 << 61

// A costSource computes costs that no memory of the host holds.
type costSource interface {
	// scaled is the cost of row i and column j, times a scale, rounded to the
	// nearest integer.
	scaled(scale float64, i, j int) int64
}

// A normal problem is what every engine solves, whatever was read: minimise,
// rows <= cols, integer costs. The scaled cost of a pair is
//
//	round(c(i,j) * scale)
//
// in int64, with scale = sign * 2^shift: sign is -1 when the instance
// maximises, shift is 0 for integers. For floats shift is the least that makes
// every cost an integer, where rows*max|c|*2^shift stays below 2^60, else the
// largest for which it does: then each cost is off by at most 2^-(shift+1)
// and the optimum by at most rows*2^-shift (Certificate says which).
type normal struct {
	inst       *Instance
	rows, cols int     // after transposing
	transposed bool    // rows of the problem are columns of the instance
	scale      float64 // sign * 2^shift
	exact      bool    // every scaled cost is the cost times scale, unrounded
	limit      int64   // scaled cost of leaving a row unmatched; far: not allowed
	least      int64   // smallest and largest scaled cost of an allowed pair
	most       int64
	drawn      costSource // of costs that only devices hold; nil: the instance holds them
}

// duals are prices in scaled units: u of the rows, v of the columns. They are
// feasible when u[i]+v[j] <= c(i,j) for every allowed pair, v[j] <= 0 (where
// rows < cols or with a limit), u[i] <= limit.
type duals struct{ u, v []int64 }
