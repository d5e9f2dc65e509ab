package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
)

// drawAssignment draws a matrix of up to five rows and columns, as CSV, .npy or
// Matrix Market coordinates, some of its pairs forbidden, to be minimised or
// maximised, with a limit or without.
func drawAssignment(r *rand.Rand, f family) instance {
	rows, cols := 1+r.IntN(5), 1+r.IntN(5)
	list := f.drawNumbers(r, rows*cols)
	inst := instance{args: []string{"solve", "assignment", "FILE"}, sure: true, least: r.IntN(3) > 0}
	kind, narrow := r.IntN(3), !f.whole && r.IntN(2) == 0 // of an array: float32
	if kind == 1 && narrow {
		for i, v := range list {
			list[i] = v.toFloat32()
		}
	}
	forbidden, sign := "inf", 1
	if !inst.least {
		inst.args = append(inst.args, "--maximize")
		forbidden, sign = "-inf", -1
	}
	if (kind != 1 || !f.whole) && r.IntN(2) == 0 {
		for i := range list {
			if r.IntN(4) == 0 {
				list[i] = number{text: forbidden, float: math.Inf(sign)}
			}
		}
	}
	var limit *number
	if r.IntN(4) == 0 {
		limit = &f.drawNumbers(r, 1)[0]
		if new(big.Rat).SetFloat64(limit.float).Cmp(limit.exact) == 0 {
			inst.args = append(inst.args, "--limit="+limit.text)
			inst.other = true
		} else {
			limit = nil
		}
	}
	var b strings.Builder
	switch kind {
	case 0:
		inst.file = "a.csv"
		inst.args = append(inst.args, "--header", "no", "--index", "no")
		for i := range rows {
			for j := range cols {
				b.WriteString(list[i*cols+j].text + map[bool]string{true: "\n", false: ","}[j == cols-1])
			}
		}
	case 1:
		inst.file = "a.npy"
		b.Write(arrayOf(list, f.whole, narrow, fmt.Sprintf("(%d, %d)", rows, cols)))
	default:
		inst.file = "a.mtx"
		count := 0
		for i, v := range list {
			if v.exact != nil {
				count++
				fmt.Fprintf(&b, "%d %d %s\n", i/cols+1, i%cols+1, v.text)
			}
		}
		text := b.String()
		b.Reset()
		fmt.Fprintf(&b, "%%%%MatrixMarket matrix coordinate %s general\n%d %d %d\n%s", map[bool]string{true: "integer", false: "real"}[f.whole], rows, cols, count, text)
	}
	inst.data = []byte(b.String())
	inst.size = sumMagnitudes(list)
	inst.whole = f.whole && inst.size.Cmp(powerOfTwo(53)) < 0 // larger sums may be rounded, once
	everything := slices.Clone(list)
	if limit != nil {
		everything = append(everything, *limit)
	}
	// Sums of floats stay finite.
	inst.may = !f.whole && exceeds(everything, 2*int64(max(rows, cols)+1), new(big.Rat).SetFloat64(math.MaxFloat64))
	inst.exact = true
	inst.value = func(solution json.RawMessage, decimal bool) (*big.Rat, *big.Rat, error) {
		all := everything
		if kind != 1 { // of text
			all = roundToFloats(all)
		}
		exact := exactValues(all, decimal && kind != 1)
		cost, scale := commonUnits(exact)
		price := new(big.Int)
		if limit != nil {
			price = cost[len(cost)-1]
		}
		// A pair is worth its cost, less the limit where there is one.
		cell := func(i, j int) *big.Int {
			if cost[i*cols+j] == nil {
				return nil
			}
			return new(big.Int).Sub(cost[i*cols+j], price)
		}
		best := matchBySubsets(rows, cols, inst.least, limit != nil, cell)
		if best == nil {
			return nil, nil, nil
		}
		total := new(big.Rat).SetFrac(best, scale)
		var column []int
		if err := json.Unmarshal(solution, &column); err != nil {
			return nil, total, err
		}
		sum, seen, matched := new(big.Int), map[int]bool{}, 0
		for i, j := range column {
			if j < 0 {
				continue
			}
			if j >= cols || seen[j] || cell(i, j) == nil {
				return nil, total, fmt.Errorf("row %d has column %d, which is taken or forbidden", i, j)
			}
			seen[j] = true
			matched++
			sum.Add(sum, cell(i, j))
		}
		var err error
		if limit == nil && matched != min(rows, cols) {
			err = errors.New("the matching is not full")
		}
		return new(big.Rat).SetFrac(sum, scale), total, err
	}
	return inst
}

// matchBySubsets is what the best matching is worth, row by row over sets of columns: a full
// one, or with free any; nil: there is none.
func matchBySubsets(rows, cols int, least, free bool, cell func(i, j int) *big.Int) *big.Int {
	at := map[[2]int]*big.Int{{0, 0}: new(big.Int)} // by columns taken and rows skipped
	better := func(to map[[2]int]*big.Int, key [2]int, v *big.Int) {
		if old := to[key]; old == nil || least && v.Cmp(old) < 0 || !least && v.Cmp(old) > 0 {
			to[key] = v
		}
	}
	for i := range rows {
		next := map[[2]int]*big.Int{}
		for key, v := range at {
			if skipped := key[1] + 1; free || skipped <= rows-cols {
				better(next, [2]int{key[0], skipped}, v)
			}
			for j := range cols {
				if c := cell(i, j); c != nil && key[0]>>j&1 == 0 {
					better(next, [2]int{key[0] | 1<<j, key[1]}, new(big.Int).Add(v, c))
				}
			}
		}
		at = next
	}
	var best *big.Int
	for _, v := range at {
		if best == nil || least && v.Cmp(best) < 0 || !least && v.Cmp(best) > 0 {
			best = v
		}
	}
	return best
}
