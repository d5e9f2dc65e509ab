package assignment

import (
	"fmt"
	"slices"

	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// checkBottleneck refuses options that have no effect on the worst pair.
func (o *Options) checkBottleneck() error {
	switch {
	case o.KBest > 1:
		return solve.InvalidInput("KBest", "found %d with Bottleneck, expected 1: sums of costs are ranked", o.KBest)
	case o.Duals:
		return solve.InvalidInput("Duals", "found true with Bottleneck, expected false: duals prove sums of costs")
	case o.Start != nil:
		return solve.InvalidInput("Start", "found duals with Bottleneck, expected none: they are for sums of costs")
	case o.Algorithm != "":
		return solve.InvalidInput("Algorithm", "found %s with Bottleneck, expected none: one method looks for the worst pair", o.Algorithm)
	case o.RankCount() > 1:
		return solve.InvalidInput("Bottleneck", "found true on %d ranks, expected false: one process looks for the worst pair", o.RankCount())
	}
	return o.RefuseVariant("bottleneck")
}

// solvedOn names the devices of a solve: the worst pair is looked for on the host.
func (o *Options) solvedOn() string {
	if o.Bottleneck {
		return device.Host
	}
	return o.DeviceNames()
}

// checkComparable refuses an instance whose worst pair cannot be looked for.
func checkComparable(inst *problem.Instance) error {
	if inst.Limit != nil {
		return solve.InvalidInput("Limit", "found %v, expected none: a limit is for sums of costs, and not for the worst of them", *inst.Limit)
	}
	return nil
}

// certifyWorst checks a matching whose worst pair is as good as possible, by the proof of that.
func (r *Result) certifyWorst(s *Session, sol *engine.Solution, proof []int32) error {
	r.Column = sol.Column
	if s.p.Transposed {
		r.Column = slices.Repeat([]int32{-1}, s.inst.Rows)
		for j, i := range sol.Column {
			r.Column[i] = int32(j)
		}
	}
	if r.Matched = len(sol.Column); r.Matched == 0 {
		return nil
	}
	h, row, err := CheckBottleneck(s.inst, r.Column, proof)
	if err != nil {
		return err
	}
	r.Value = solve.Number(r.Cost(row))
	r.setCertificate(&problem.Certificate{By: device.Host, Hall: &h, Row: row})
	return nil
}

// CheckBottleneck checks a full matching of an instance with pairs against the instance's own
// costs. members are rows, or columns where there are fewer of these, that prove the matching best
// (Hall 1935): together they have fewer partners at costs better than the matching's worst than
// there are members, so that every matching has a pair that is as bad. It returns the proof and the
// row of the worst pair. Errors wrap ErrCheck.
func CheckBottleneck(inst *problem.Instance, column []int32, members []int32) (problem.Hall, int, error) {
	if err := inst.Check(); err != nil {
		return problem.Hall{}, -1, err
	}
	if err := checkMatching(inst, column); err != nil {
		return problem.Hall{}, -1, fmt.Errorf("%w: %w", problem.ErrCheck, err)
	}
	worst := worstRow(inst, column)
	if worst < 0 {
		return problem.Hall{}, -1, fmt.Errorf("%w: found no pairs", problem.ErrCheck)
	}
	at := int(column[worst])
	h, err := problem.CheckPartners(inst, members, func(i, j int) bool {
		return inst.Allowed(i, j) && better(inst, i, j, worst, at)
	})
	return h, worst, err
}

// worstRow is the row of a matching's worst pair, -1 where there are no pairs.
func worstRow(inst *problem.Instance, column []int32) int {
	worst := -1
	for i, j := range column {
		if j >= 0 && (worst < 0 || better(inst, worst, int(column[worst]), i, int(j))) {
			worst = i
		}
	}
	return worst
}

// better reports whether an allowed pair (i, j) is better than the allowed pair (k, l).
func better(inst *problem.Instance, i, j, k, l int) bool {
	if inst.Maximize {
		i, j, k, l = k, l, i, j
	}
	if inst.Points != nil {
		return inst.Points.Cost(i, j) < inst.Points.Cost(k, l)
	}
	a, b := inst.CostIndex(i, j), inst.CostIndex(k, l)
	switch inst.Type {
	case problem.Int32:
		return inst.I32[a] < inst.I32[b]
	case problem.Int64:
		return inst.I64[a] < inst.I64[b]
	case problem.Float32:
		return inst.F32[a] < inst.F32[b]
	}
	return inst.F64[a] < inst.F64[b]
}
