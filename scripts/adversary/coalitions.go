package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
)

// drawCSG draws a characteristic function of one to five agents, as CSV or as .npy.
// Of floats one value in eight may be forbidden.
func drawCSG(r *rand.Rand, f family) instance {
	n := 1 + r.IntN(5)
	list := f.drawNumbers(r, 1<<n)
	list[0] = integerNumber(0)
	inst := instance{args: []string{"solve", "csg", "FILE"}, sure: true}
	kind := r.IntN(3) // CSV, or .npy of the wide or the narrow type
	if !f.whole && kind == 2 {
		for i, v := range list {
			list[i] = v.toFloat32()
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
	inst.whole = f.whole && !exceeds(list, 1, new(big.Rat).SetInt64(math.MaxInt64))
	largest := new(big.Rat).SetFloat64(math.MaxFloat64)
	if f.whole {
		largest = new(big.Rat).SetInt64(math.MaxInt64)
	}
	inst.may = exceeds(list, int64(n), largest)
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
		value, scale := commonUnits(exactValues(roundToFloats(list), decimal && kind == 0))
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
			data = binary.LittleEndian.AppendUint64(data, new(big.Int).And(v.exact.Num(), new(big.Int).SetUint64(math.MaxUint64)).Uint64())
		case narrow:
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v.float)))
		default:
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v.float))
		}
	}
	descr := map[[2]bool]string{{true, true}: "<i4", {true, false}: "<i8", {false, true}: "<f4", {false, false}: "<f8"}[[2]bool{whole, narrow}]
	if slices.ContainsFunc(list, func(v number) bool { return whole && v.exact.Num().Cmp(big.NewInt(math.MaxInt64)) > 0 }) {
		descr = "<u8"
	}
	return npyArray(descr, shape, data)
}

// drawAuction draws an auction of up to six goods, two dummies and nine bids, whose
// prices are the decimals of a family.
func drawAuction(r *rand.Rand, f family) instance {
	goods, dummies, bids := 1+r.IntN(6), r.IntN(3), 1+r.IntN(9)
	var b strings.Builder
	fmt.Fprintf(&b, "goods %d\nbids %d\ndummy %d\n", goods, bids, dummies)
	price, wants := make([]*big.Rat, bids), make([]int, bids)
	for k, v := range f.drawNumbers(r, bids) {
		price[k] = v.digits
		fmt.Fprintf(&b, "%d\t%s", k, v.text)
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
	unit, most := big.NewInt(1), powerOfTwo(63)
	for _, v := range price {
		for !inst.may && !new(big.Rat).Mul(v, new(big.Rat).SetInt(unit)).IsInt() {
			unit.Mul(unit, big.NewInt(10))
			inst.may = unit.BitLen() > 63
		}
	}
	for _, v := range price {
		sum := new(big.Rat).Mul(new(big.Rat).Abs(v), new(big.Rat).SetInt(unit))
		inst.may = inst.may || sum.Mul(sum, big.NewRat(int64(goods+dummies), 1)).Cmp(most) >= 0
	}
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
