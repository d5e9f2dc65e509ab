package host

import (
	"math/big"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// A progressReport is an engine.Reporter, and the facts of the problem by which progress is computed.
type progressReport struct {
	engine.Reporter
	rows  int  // of the problem, without rows that the solver added
	shift uint // duals are 2^shift times the problem's: see problem.Normal.Refined
}

// enableReports lets h report the progress of the solve of a problem of rows rows, where the caller asks
// for reports.
func (h *core) enableReports(on engine.Host, rows int, shift uint) {
	if on.Telling.Report != nil {
		h.telling = &progressReport{on.Telling, rows, shift}
		h.telling.Due()
	}
}

// reportProgress reports the progress of the solve, at most as often as asked. It also reports a lower bound,
// the sum of the duals: the largest u that known pairs and bounds allow is feasible with v at all
// times, and v of columns that may stay unmatched is at most 0.
func (h *core) reportProgress() {
	t := h.telling
	if t == nil || !t.Due() {
		return
	}
	var s engine.Progress
	for _, j := range h.column[:t.rows] {
		if j >= 0 {
			s.Matched++
		}
	}
	if h.limit == problem.Infinity {
		s.Dual = new(big.Int)
		for i := range h.u {
			s.Dual.Add(s.Dual, big.NewInt(h.leastKnown(i)))
		}
		for _, v := range h.v {
			s.Dual.Add(s.Dual, big.NewInt(v))
		}
		s.Dual.Rsh(s.Dual, t.shift)
	}
	t.Report(s)
}
