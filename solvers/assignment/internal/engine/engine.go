// Package engine is the contract of the algorithms on devices: their input (a Matrix),
// their answer (a Solution, or the reason why none exists), and the interface by which
// one algorithm goes on where another gave up.
package engine

import (
	"context"
	"errors"
	"math/big"
	"runtime"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A Solution is what an engine returns: the column of each row (-1: left
// unmatched, only with a limit) and optimal duals. Complementary slackness
// holds: u[i]+v[j] = c(i,j) on matched pairs, u[i] = limit for unmatched rows,
// v[j] = 0 for unmatched columns.
type Solution struct {
	Column []int32 // of each row, -1: left unmatched
	problem.Prices
	Low    *problem.Prices // what exact duals have beyond whole units, in units 2^Finer times finer, less than 2^Finer; nil: the duals are of scaled costs
	Counts Counts          // work of the solve
}

// Joined are exact duals as one number each, in exact units, and whether all are within problem.MaxDual.
func (s *Solution) Joined(finer uint) (d problem.Prices, fits bool) {
	fits = true
	join := func(high, low []int64) []int64 {
		list := make([]int64, len(high))
		for k, x := range high {
			list[k] = x<<finer + low[k]
			fits = fits && max(x, -x-1) < problem.MaxDual>>finer
		}
		return list
	}
	return problem.Prices{U: join(s.U, s.Low.U), V: join(s.V, s.Low.V)}, fits
}

// Counts are the work of a solve, for reports and for the decision to switch to another algorithm.
type Counts struct {
	Passes    float64    `json:"passes"`                                                 // matrix entries read, over rows*cols
	Steps     int64      `json:"steps"`                                                  // dependent steps: levels, relaxations, bidding rounds
	Levels    int64      `json:"levels,omitempty"`                                       // levels of searches that one block runs between two steps
	Phases    int64      `json:"phases"`                                                 // searches from all free rows
	Paths     int64      `json:"paths"`                                                  // augmenting paths
	Updates   int64      `json:"updates"`                                                // dual updates
	Repairs   int64      `json:"repairs"`                                                // rounds of pricing that found violations
	Bids      int64      `json:"bids,omitempty"`                                         // bids of auctions
	Structure float64    `json:"structure,omitempty"`                                    // structure of the costs, 0.6 for random ones
	Cycles    []int64    `json:"cycles,omitempty" none:"the family does not count them"` // clock cycles of the device, by stage of the family
	Edges     int64      `json:"edges,omitempty"`                                        // candidate edges at the end
	Switch    string     `json:"switch,omitempty" none:"the first family solved it"`     // why another family took over
	Stages    StageTimes `json:"stages,omitzero" none:"one device solved it"`            // times of several devices
	Sent      int64      `json:"sent,omitempty" unit:"bytes"`                            // data that this rank handed to the others
}

// StageTimes are the seconds that several devices took together: reading the
// matrix, each pass as long as the slowest of them; solving the core on one;
// and the rest, exchanges and waits.
type StageTimes struct {
	Passes float64 `json:"passes" unit:"s"`         // reading the matrix
	Core   float64 `json:"core,omitempty" unit:"s"` // solving the core, on one device
	Rest   float64 `json:"rest" unit:"s"`           // exchanges and waits
}

// A Matrix is a dense cost matrix on a device, oriented like its normal
// problem: entry (i,j) of the instance's type at index i*cols+j.
type Matrix struct {
	Costs      device.Buffer // Rows*Cols costs of the instance's type
	Rows, Cols int           // of the part that this device has
}

// Infeasible is the error of a problem without a full matching: by Hall's theorem, because Rows
// together have fewer allowed columns than there are Rows.
type Infeasible struct {
	Rows []int32 // of the normal problem
}

// Error says that no full matching exists.
func (e *Infeasible) Error() string { return "no full matching exists" }

// ExhaustedError says that an engine gave up, and why.
type ExhaustedError struct {
	Why  string // which bound was met
	Tied bool   // costs have few levels
}

// Error says why the engine gave up.
func (e *ExhaustedError) Error() string { return e.Why }

// Unwrap lets a relay go on with another algorithm.
func (e *ExhaustedError) Unwrap() error { return solve.ErrGaveUp }

// An Engine is a variant of a family with its workspace on a device.
type Engine interface {
	// Solve finds an optimal matching of p; m holds its costs on the device,
	// nil where p is sparse or made of points. start may be nil (cold) or
	// feasible duals.
	Solve(ctx context.Context, s device.Stream, p *problem.Normal, m *Matrix, start *problem.Prices) (*Solution, error)
	// LimitSteps makes an engine give up with an *Exhausted error, so that another family can take
	// over: the tree family after steps steps, the classical one after steps passes; 0: never. The
	// core family ignores the number and gives up where many costs are equal.
	LimitSteps(steps uint64)
	// SetReporter sets the function that later solves report their progress to, between launches.
	SetReporter(t Reporter)
	// Close gives back the workspace and the module.
	Close() error
}

// A Sharded engine solves on the devices of a group. Device k has the rows from
// number k to number k+1 of collective.SplitRows.
type Sharded interface {
	// Solve finds an optimal matching of p, whose costs ms holds, a matrix a
	// device. start may be nil (cold) or feasible duals.
	Solve(ctx context.Context, p *problem.Normal, ms []*Matrix, start *problem.Prices) (*Solution, error)
	// SetReporter is that of an Engine.
	SetReporter(t Reporter)
	// Close gives back the memory and the modules, not the devices.
	Close() error
}

// Classes of the range of costs. Where few costs differ there are many ties, and methods
// differ most in how long ties take them.
const (
	SmallRange  = "small"  // up to the longer side: ties everywhere
	MediumRange = "medium" // up to a hundred times that
	WideRange   = "wide"   // hardly any ties
)

// A Host is the part of a host's methods' input that is not the problem.
type Host struct {
	Threads int             // goroutines; 0: one a core
	Tuning  *tuned.Database // nil: the one embedded in the binary
	Telling Reporter
	Wary    bool // end with ErrLong where paths will be long
	Near    bool // the start is nearly optimal: no auctions come before the searches
}

// oneCore are the most pairs of rows and columns that one core works on: waiting for another takes longer than a pass over them.
const oneCore = 1 << 12

// ThreadsFor is how many goroutines work on a problem of so many pairs.
func (h Host) ThreadsFor(pairs int) int {
	switch {
	case pairs <= oneCore:
		return 1
	case h.Threads <= 0:
		return runtime.GOMAXPROCS(0)
	}
	return h.Threads
}

// ErrLong is the error of a wary solve.
var ErrLong = errors.New("paths are long")

// A Reporter is a function that a solve calls with its progress, and how often. The zero
// value calls none.
type Reporter struct {
	Report func(Progress) // nil: none
	Every  time.Duration  // the least time between two tellings
	last   time.Time
}

// SetReporter replaces t. Engines embed a Reporter, and with it this method.
func (t *Reporter) SetReporter(now Reporter) { *t = now }

// Due reports whether Every has passed since Report was called last, or since the first call
// of Due.
func (t *Reporter) Due() bool {
	if t.Report == nil {
		return false
	}
	now := time.Now()
	due := !t.last.IsZero() && now.Sub(t.last) >= t.Every
	if due || t.last.IsZero() {
		t.last = now
	}
	return due
}

// ReportMatched reports the number of matched rows, without a bound, where a report is due.
func (t *Reporter) ReportMatched(rows int) {
	if t.Due() {
		t.Report(Progress{Matched: rows})
	}
}

// A Progress is how a solve stands while it runs.
type Progress struct {
	Matched int      // rows of the problem that have a column now
	Dual    *big.Int // a sum of feasible duals, which no full matching costs less than; nil where none is known
}

// Workload describes p for the choice of a variant.
func Workload(p *problem.Normal) tuned.Workload {
	class, span, side := WideRange, uint64(p.Max-p.Min), uint64(max(1, p.Cols))
	switch {
	case span <= side:
		class = SmallRange
	case span <= 100*side:
		class = MediumRange
	}
	return tuned.Workload{Fixed: map[string]string{"value": string(p.Instance.Type), "range": class}, Size: p.Cols}
}

// RoundDuals turns duals of a finer problem into duals of the problem itself. Costs are whole numbers,
// so that c >= u + v still holds with u rounded up and v rounded down, and equations remain
// equations.
func (s *Solution) RoundDuals(shift uint) {
	for i, u := range s.U {
		s.U[i] = -(-u >> shift)
	}
	for j := range s.V {
		s.V[j] >>= shift
	}
}
