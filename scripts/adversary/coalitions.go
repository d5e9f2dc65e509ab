package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
)

// drawCSG draws a characteristic function of one to five agents, as CSV or as .npy.
// Of floats one value in eight may be forbidden.
func drawCSG(r *rand.Rand) instance {
	n := 1 + r.IntN(5)
	f := families[r.IntN(len(families))]
	list := f.numbers(r, 1<<n)
	list[0] = integer(0)
	inst := instance{args: []string{"solve", "csg", "FILE"}, sure: true}
	kind := r.IntN(3) // CSV, or .npy of the wide or the narrow type
	if !f.whole && kind == 2 {
		for i, v := range list {
			list[i] = float(float64(float32(v.float)))
			if math.IsInf(list[i].float, 0) {
				list[i] = float(math.Copysign(math.MaxFloat32, v.float))
			}
		}
	}
	if f.whole && kind == 2 && f.name != "small" && f.name != "ties" {
		kind = 1
	}
	if !f.whole && r.IntN(3) == 0 {
		for i := 1; i < len(list); i++ {
			if r.IntN(8) == 0 {
				list[i] = number{text: "-inf", float: math.Inf(-1)}
			}
		}
	}
	inst.whole = f.whole
	largest := new(big.Rat).SetFloat64(math.MaxFloat64)
	if f.whole {
		largest = new(big.Rat).SetInt64(math.MaxInt64)
	}
	inst.may = beyond(list, int64(n), largest)
	if kind == 0 {
		inst.file = "a.csv"
		var b strings.Builder
		for mask := 1; mask < len(list); mask++ {
			for a := range n {
				if mask>>a&1 == 1 {
					fmt.Fprint(&b, a+1, " ")
				}
			}
			fmt.Fprintf(&b, ",%s\n", list[mask].text)
		}
		inst.data = []byte(b.String())
	} else {
		inst.file = "a.npy"
		inst.data = arrayOf(list, f.whole, kind == 2, fmt.Sprintf("(%d,)", len(list)))
	}
	// best[mask] is the best partition of mask, in units.
	inst.value = func(solution json.RawMessage, decimal bool) (*big.Rat, *big.Rat, error) {
		value, scale := units(reading(list, decimal && kind == 0))
		best := make([]*big.Int, len(list))
		best[0] = new(big.Int)
		for mask := 1; mask < len(list); mask++ {
			low := mask & -mask
			for part := mask; part > 0; part = (part - 1) & mask {
				if part&low == 0 || value[part] == nil || best[mask^part] == nil {
					continue
				}
				if sum := new(big.Int).Add(value[part], best[mask^part]); best[mask] == nil || sum.Cmp(best[mask]) > 0 {
					best[mask] = sum
				}
			}
		}
		all := best[len(best)-1]
		if all == nil {
			return nil, nil, nil
		}
		var blocks [][]int
		if err := json.Unmarshal(solution, &blocks); err != nil {
			return nil, new(big.Rat).SetFrac(all, scale), err
		}
		sum, seen := new(big.Int), 0
		for _, block := range blocks {
			mask := 0
			for _, a := range block {
				mask |= 1 << (a - 1)
			}
			if seen&mask != 0 || value[mask] == nil {
				return nil, new(big.Rat).SetFrac(all, scale), fmt.Errorf("the block %v overlaps, or is forbidden", block)
			}
			seen |= mask
			sum.Add(sum, value[mask])
		}
		var err error
		if seen != len(list)-1 {
			err = errors.New("the blocks do not cover the agents")
		}
		return new(big.Rat).SetFrac(sum, scale), new(big.Rat).SetFrac(all, scale), err
	}
	return inst
}

// arrayOf is a .npy file of numbers, in 8 bytes each or, narrow, in 4.
func arrayOf(list []number, whole, narrow bool, shape string) []byte {
	data := make([]byte, 0, 8*len(list))
	for _, v := range list {
		switch {
		case whole && narrow:
			data = binary.LittleEndian.AppendUint32(data, uint32(v.exact.Num().Int64()))
		case whole:
			data = binary.LittleEndian.AppendUint64(data, uint64(v.exact.Num().Int64()))
		case narrow:
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v.float)))
		default:
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v.float))
		}
	}
	descr := map[[2]bool]string{{true, true}: "<i4", {true, false}: "<i8", {false, true}: "<f4", {false, false}: "<f8"}[[2]bool{whole, narrow}]
	return array(descr, shape, data)
}

// drawAuction draws an auction of up to six goods, two dummies and nine bids, whose
// prices are decimals.
func drawAuction(r *rand.Rand) instance {
	goods, dummies, bids := 1+r.IntN(6), r.IntN(3), 1+r.IntN(9)
	digits, huge := []int{1, 1, 3, 9, 14, 17, 19}[r.IntN(7)], r.IntN(8) == 0
	var b strings.Builder
	fmt.Fprintf(&b, "goods %d\nbids %d\ndummy %d\n", goods, bids, dummies)
	price, wants := make([]*big.Rat, bids), make([]int, bids)
	top := new(big.Rat)
	for k := range bids {
		text := ""
		for range 1 + r.IntN(digits) {
			text += fmt.Sprint(r.IntN(10))
		}
		if r.IntN(3) == 0 {
			text += fmt.Sprintf(".%d", r.IntN(1000))
		}
		if huge && r.IntN(3) == 0 {
			text = "9223372036854775807"
		}
		if r.IntN(8) == 0 {
			text = "-" + text
		}
		price[k], _ = new(big.Rat).SetString(text)
		if x := new(big.Rat).Abs(price[k]); x.Cmp(top) > 0 {
			top = x
		}
		fmt.Fprintf(&b, "%d\t%s", k, text)
		wants[k] = 1 << r.IntN(goods)
		for id := range goods + dummies {
			if wants[k]>>id&1 == 0 && r.IntN(3) == 0 {
				wants[k] |= 1 << id
			}
			if wants[k]>>id&1 == 1 {
				fmt.Fprintf(&b, "\t%d", id)
			}
		}
		b.WriteString("\t#\n")
	}
	inst := instance{file: "a.txt", data: []byte(b.String()), args: []string{"solve", "auction", "FILE"}, whole: true, sure: true}
	// Prices are whole numbers of the least power of ten that makes them so, and their
	// sums over goods are int64.
	unit := int64(1)
	for _, v := range price {
		for !new(big.Rat).Mul(v, big.NewRat(unit, 1)).IsInt() {
			unit *= 10
		}
	}
	inst.may = new(big.Rat).Mul(top, big.NewRat(unit*int64(goods+dummies), 1)).Cmp(power(63)) >= 0
	inst.value = func(solution json.RawMessage, _ bool) (*big.Rat, *big.Rat, error) {
		best := new(big.Rat)
		for set := range 1 << bids {
			if sum, ok := worth(set, price, wants); ok && sum.Cmp(best) > 0 {
				best = sum
			}
		}
		var winners []int
		if err := json.Unmarshal(solution, &winners); err != nil {
			return nil, best, err
		}
		set := 0
		for _, k := range winners {
			if k < 0 || k >= bids || set>>k&1 == 1 {
				return nil, best, fmt.Errorf("found the bid %d", k)
			}
			set |= 1 << k
		}
		sum, ok := worth(set, price, wants)
		if !ok {
			return nil, best, errors.New("a good is sold twice")
		}
		return sum, best, nil
	}
	return inst
}

// worth is what a set of bids pays; false where two want the same.
func worth(set int, price []*big.Rat, wants []int) (*big.Rat, bool) {
	sum, sold := new(big.Rat), 0
	for k := range price {
		if set>>k&1 == 0 {
			continue
		}
		if sold&wants[k] != 0 {
			return nil, false
		}
		sold |= wants[k]
		sum.Add(sum, price[k])
	}
	return sum, true
}
