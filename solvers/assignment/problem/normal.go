package problem

// Infinity is the scaled cost of a forbidden pair. Every allowed scaled cost c has
// |c| <= MaxScaled(rows), so sums of a path's reduced costs stay below Infinity.
const Infinity int64 = 1 << 61

// A CostSource computes costs that no memory of the host holds.
type CostSource interface {
	// Scaled is the cost of row i and column j, times a scale, rounded to the
	// nearest integer.
	Scaled(scale float64, i, j int) int64
	// Cost is the cost of row i and column j.
	Cost(i, j int) float64
}

// A Normal problem is what every engine solves, whatever was read: minimise,
// rows <= cols, integer costs. The scaled cost of a pair is
//
//	round(c(i,j) * scale)
//
// in int64, with scale = sign * 2^shift: sign is -1 when the instance
// maximises, shift is 0 for integers, of which Instance is a copy without the last
// bits where sums over all rows would leave 2^60. For floats shift is the least that makes
// every cost an integer, where rows*max|c|*2^shift stays below 2^60, else the
// largest for which it does: then each cost is off by at most 2^-(shift+1)
// and the optimum by at most rows*2^-shift (Certificate says which).
type Normal struct {
	Instance   *Instance  // with at most as many rows as columns
	Rows, Cols int        // after transposing
	Transposed bool       // rows of the problem are columns of the instance
	Scale      float64    // sign * 2^shift
	Exact      bool       // every scaled cost is the cost times scale, unrounded
	Limit      int64      // scaled cost of leaving a row unmatched; Infinity: not allowed
	Min, Max   int64      // smallest and largest scaled cost of an allowed pair
	Source     CostSource // of costs that only devices hold; nil: the instance holds them
	Dropped    uint       // last bits that integers beyond 2^60/rows lost in Instance
	Lost       int64      // costs that this changed
	Whole      *Instance  // these integers with all their bits; nil: Instance has them
	Finer      uint       // exact units, which an engine may decide in, are 2^Finer times finer; 0: it decides in units

	limit  float64 // cost of leaving a row unmatched, negated where the instance maximises
	hidden int     // bits of rounded floats that units do not hold
}

// Prices are prices in scaled units: u of the rows, v of the columns. They are
// feasible when u[i]+v[j] <= c(i,j) for every allowed pair, v[j] <= 0 (where
// rows < cols or with a limit), u[i] <= limit.
type Prices struct {
	U []int64 // of rows
	V []int64 // of columns
}
