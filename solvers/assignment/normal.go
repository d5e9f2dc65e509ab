package assignment

import (
	"coalesce/runtime/device"
)

// far is the scaled cost of a forbidden pair. Every allowed scaled cost c has
// |c| <= maxScaled(rows), so sums of a path's reduced costs stay below far.
const far int64 = 1 << 61

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
	drawn      *Drawing // of costs that only devices hold; nil: the instance holds them
}

// duals are prices in scaled units: u of the rows, v of the columns. They are
// feasible when u[i]+v[j] <= c(i,j) for every allowed pair, v[j] <= 0 (where
// rows < cols or with a limit), u[i] <= limit.
type duals struct{ u, v []int64 }

// A solution is what an engine returns: the column of each row (-1: left
// unmatched, only with a limit) and optimal duals. Complementary slackness
// holds: u[i]+v[j] = c(i,j) on matched pairs, u[i] = limit for unmatched rows,
// v[j] = 0 for unmatched columns.
type solution struct {
	column []int32
	duals
	counts Counts
}

// Counts say what a solve did, for reports and for the decision to switch.
type Counts struct {
	Passes  float64 `json:"passes"`           // matrix entries read, over rows*cols
	Steps   int64   `json:"steps"`            // dependent steps: levels, relaxations, bidding rounds
	Levels  int64   `json:"levels,omitempty"` // of a search that one block does, between steps: see the family
	Phases  int64   `json:"phases"`           // searches from all free rows
	Paths   int64   `json:"paths"`            // augmenting paths
	Updates int64   `json:"updates"`          // dual updates
	Repairs int64   `json:"repairs"`          // rounds of pricing that found violations
	Bids    int64   `json:"bids,omitempty"`   // of auctions
	Primed  float64 `json:"primed,omitempty"` // surprise of structured costs: see assignment/prime
	Cycles  []int64 `json:"cycles,omitempty"` // of the device, by stage: see the family
	Edges   int64   `json:"edges,omitempty"`  // candidate edges at the end
	Switch  string  `json:"switch,omitempty"` // why another family took over
	Stages  Stages  `json:"stages,omitzero"`  // of several devices
}

// Stages are the seconds that several devices took together: reading the
// matrix, each pass as long as the slowest of them; solving the core on one;
// and the rest, exchanges and waits.
type Stages struct {
	Passes float64 `json:"passes"`
	Core   float64 `json:"core,omitempty"`
	Rest   float64 `json:"rest"`
}

// A matrix is a dense cost matrix on a device, oriented like its normal
// problem: entry (i,j) of the instance's type at index i*cols+j.
type matrix struct {
	costs      device.Buffer
	rows, cols int
}

// An infeasible problem has no full matching: the rows of Violator (Hall's
// theorem) have fewer neighbours together than they are many.
type infeasible struct {
	rows []int32 // of the normal problem
}

func (e *infeasible) Error() string { return "no full matching exists" }
