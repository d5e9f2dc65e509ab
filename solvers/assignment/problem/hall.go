package problem

import (
	"fmt"
	"math"
	"slices"

	"coalesce/solvers/cores"
)

// CheckHall holds a proof of infeasibility against an instance's own costs:
// members, numbers of rows, or of columns where there are fewer of those. It
// fills in their partners. Its errors wrap ErrCheck.
func CheckHall(inst *Instance, members []int32) (Hall, error) {
	if err := inst.Check(); err != nil {
		return Hall{}, err
	}
	return CheckPartners(inst, members, inst.Allowed)
}

// CheckPartners is CheckHall with the pairs for which allowed reports true in place of
// the allowed ones, for an instance that need not hold its costs; all cores call allowed at once.
func CheckPartners(inst *Instance, members []int32, allowed func(i, j int) bool) (Hall, error) {
	h := Hall{Side: "rows"}
	count, others := inst.Rows, inst.Cols
	if inst.Rows > inst.Cols {
		h.Side, count, others = "columns", inst.Cols, inst.Rows
	}
	if err := h.fill(count, others, members, allowed); err != nil {
		return h, err
	}
	if len(h.Partners) >= len(h.Members) {
		return h, fmt.Errorf("%w: found %d partners of %d %s, expected fewer", ErrCheck, len(h.Partners), len(h.Members), h.Side)
	}
	return h, nil
}

// fill sets the members, different ones of so many, and their partners among the others.
func (h *Hall) fill(count, others int, members []int32, allowed func(i, j int) bool) error {
	seen, partner := make([]bool, count), make([]bool, others)
	for _, k := range members {
		if k < 0 || int(k) >= count || seen[k] {
			return fmt.Errorf("%w: found member %d of the %s, expected different ones below %d", ErrCheck, k, h.Side, count)
		}
		seen[k] = true
		h.Members = append(h.Members, int(k))
	}
	slices.Sort(h.Members)
	cores.Split(others, max(1, 1<<14/max(1, len(members))), func(low, high int) {
		for k := low; k < high; k++ {
			for _, member := range h.Members {
				i, j := member, k
				if h.Side == "columns" {
					i, j = k, member
				}
				if allowed(i, j) {
					partner[k] = true
					break
				}
			}
		}
	})
	h.Partners = []int{}
	for k, found := range partner {
		if found {
			h.Partners = append(h.Partners, k)
		}
	}
	return nil
}

// Allowed reports whether a pair may be matched.
func (inst *Instance) Allowed(i, j int) bool {
	if inst.Points != nil {
		return true
	}
	k := inst.CostIndex(i, j)
	switch {
	case k < 0:
		return false
	case inst.Every && inst.Type.Integer():
		return true
	case inst.Type == Int32:
		return inst.I32[k] != math.MaxInt32
	case inst.Type == Int64:
		return inst.I64[k] != math.MaxInt64
	case inst.Type == Float32:
		return !math.IsInf(float64(inst.F32[k]), 0)
	}
	return !math.IsInf(inst.F64[k], 0)
}
