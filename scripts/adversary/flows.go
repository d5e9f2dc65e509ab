package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
)

// drawFlow draws a matrix of up to three rows and thirty columns, or the reverse, as CSV, some of its pairs forbidden, to be minimised or maximised: each of
// the few ships so many units, each of the others takes one or two.
func drawFlow(r *rand.Rand, f family) instance {
	few, many := 1+r.IntN(3), 1+r.IntN(30)
	supply, capacity := 1+r.IntN(1+2*many/few), 1+r.IntN(2)
	list := f.drawNumbers(r, few*many)
	inst := instance{args: []string{"solve", "assignment", "FILE", "--header", "no", "--index", "no"}, file: "a.csv", sure: true, exact: true, least: r.IntN(3) > 0}
	forbidden, sign := "inf", 1
	if !inst.least {
		inst.args = append(inst.args, "--maximize")
		forbidden, sign = "-inf", -1
	}
	if r.IntN(2) == 0 {
		for i := range list {
			if r.IntN(4) == 0 {
				list[i] = number{text: forbidden, float: math.Inf(sign)}
			}
		}
	}
	turned := r.IntN(2) == 0 // columns are the few
	rows, cols, at := few, many, func(i, j int) int { return i*many + j }
	amounts := [2]int{supply, capacity}
	if turned {
		rows, cols, at = many, few, func(i, j int) int { return j*many + i }
		amounts = [2]int{capacity, supply}
	}
	inst.args = append(inst.args, "--supply", fmt.Sprint(amounts[0]), "--capacity", fmt.Sprint(amounts[1]))
	var b strings.Builder
	for i := range rows {
		for j := range cols {
			b.WriteString(list[at(i, j)].text + map[bool]string{true: "\n", false: ","}[j == cols-1])
		}
	}
	inst.data = []byte(b.String())
	inst.size = new(big.Rat).Mul(sumMagnitudes(list), big.NewRat(int64(supply*capacity), 1))
	inst.whole = f.whole && inst.size.Cmp(powerOfTwo(53)) < 0
	inst.may = exceeds(list, 4*int64(supply*few+capacity*many), new(big.Rat).SetFloat64(map[bool]float64{true: 1 << 62, false: math.MaxFloat64}[f.whole]))
	inst.value = func(solution json.RawMessage, decimal bool) (*big.Rat, *big.Rat, error) {
		cost, scale := commonUnits(exactValues(roundToFloats(list), decimal))
		best := shipByState(few, many, supply, capacity, inst.least, cost)
		if best == nil {
			return nil, nil, nil
		}
		total := new(big.Rat).SetFrac(best, scale)
		var flow []struct{ Row, Column, Amount int }
		if err := json.Unmarshal(solution, &flow); err != nil {
			return nil, total, err
		}
		sum, ships, takes, shipped := new(big.Int), make([]int, rows), make([]int, cols), 0
		for _, x := range flow {
			if x.Amount < 1 || cost[at(x.Row, x.Column)] == nil {
				return nil, total, fmt.Errorf("%d units from row %d to column %d", x.Amount, x.Row, x.Column)
			}
			ships[x.Row] += x.Amount
			takes[x.Column] += x.Amount
			shipped += x.Amount
			if ships[x.Row] > amounts[0] || takes[x.Column] > amounts[1] {
				return nil, total, fmt.Errorf("row %d ships %d, column %d takes %d", x.Row, ships[x.Row], x.Column, takes[x.Column])
			}
			sum.Add(sum, new(big.Int).Mul(cost[at(x.Row, x.Column)], big.NewInt(int64(x.Amount))))
		}
		if want := min(few*supply, many*capacity); shipped != want {
			return nil, total, fmt.Errorf("%d units are shipped of %d", shipped, want)
		}
		return new(big.Rat).SetFrac(sum, scale), total, nil
	}
	return inst
}

// shipByState is what the best flow costs, unit by unit of the many over what the few have shipped; nil: there is none.
func shipByState(few, many, supply, capacity int, least bool, cost []*big.Int) *big.Int {
	at := map[[3]int]*big.Int{{}: new(big.Int)}
	better := func(to map[[3]int]*big.Int, key [3]int, v *big.Int) {
		if old := to[key]; old == nil || least && v.Cmp(old) < 0 || !least && v.Cmp(old) > 0 {
			to[key] = v
		}
	}
	all := few*supply >= many*capacity // the many take all they may
	for unit := range many * capacity {
		next := map[[3]int]*big.Int{}
		for key, v := range at {
			if !all {
				better(next, key, v)
			}
			for i := range few {
				if c := cost[i*many+unit/capacity]; c != nil && key[i] < supply {
					to := key
					to[i]++
					better(next, to, new(big.Int).Add(v, c))
				}
			}
		}
		at = next
	}
	var best *big.Int
	for key, v := range at {
		if full := key[0]+key[1]+key[2] == few*supply; (all || full) && (best == nil || least && v.Cmp(best) < 0 || !least && v.Cmp(best) > 0) {
			best = v
		}
	}
	return best
}
