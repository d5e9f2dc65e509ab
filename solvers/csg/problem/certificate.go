package problem

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// A Structure is a coalition structure: disjoint blocks that cover the agents,
// as coalition numbers, sorted by their first agents.
//
// JSON: [][]int
type Structure []uint64

// MarshalJSON writes Lists.
func (s Structure) MarshalJSON() ([]byte, error) {
	if s == nil {
		return []byte("null"), nil
	}
	return json.Marshal(s.Lists())
}

// Sort puts the blocks in the order of their first agents.
func (s Structure) Sort() {
	slices.SortFunc(s, func(a, b uint64) int {
		return cmp.Or(cmp.Compare(bits.TrailingZeros64(a), bits.TrailingZeros64(b)), cmp.Compare(a, b))
	})
}

// Lists are the blocks as lists of agents 1..n.
func (s Structure) Lists() [][]int {
	lists := make([][]int, len(s))
	for i, b := range s {
		lists[i] = Agents(b)
	}
	return lists
}

// ErrCheck is wrapped by the errors of answers that do not check.
var ErrCheck = errors.New("check failed")

// A Certificate has the findings of Check: the blocks' values by the instance, and their sum.
//
// Sum is exact for integers and decimals (Instance.Places); floats are added without
// rounding, and their sum is rounded once, to float64. A
// solver of floats adds the k values in an order of its own and in its own
// precision; by Higham (Accuracy and Stability of Numerical Algorithms, 2nd
// edition, section 4.2) its sum differs from the exact one by at most
// (k-1)u/(1-(k-1)u) times the sum of magnitudes, u being 2^-24 or 2^-53. That
// is Tolerance, 0 for integers.
type Certificate struct {
	Blocks    []Block `json:"blocks" none:"there is no structure"` // blocks, in the order of their first agents
	Sum       string  `json:"sum"`                                 // sum of the blocks' values in decimals, or -inf
	Claimed   string  `json:"claimed"`                             // total that the solver claims
	Tolerance float64 `json:"tolerance"`                           // most that the two may differ
	Partition bool    `json:"partition"`                           // whether blocks are disjoint and cover the agents
}

// A Block is one block of a structure and its value.
type Block struct {
	Mask   uint64   `json:"coalition"` // number of the coalition: bit i-1 stands for agent i
	Agents []string `json:"agents"`    // names of the agents, or their numbers
	Value  string   `json:"value"`     // value in decimals, or -inf
}

// Check recomputes a structure's value from the instance alone and compares it with the claimed total, in
// decimals. Its errors wrap ErrCheck.
func Check(inst *Instance, s Structure, claimed string) (Certificate, error) {
	c := Certificate{Blocks: []Block{}, Claimed: claimed}
	if err := inst.Check(); err != nil {
		return c, err
	}
	if err := partition(inst, s); err != nil {
		return c, err
	}
	c.Partition = true
	s = slices.Clone(s)
	s.Sort()
	sum := NewExact()
	magnitude := 0.0
	infinite := false
	for _, b := range s {
		names := []string{}
		for _, a := range Agents(b) {
			names = append(names, inst.Name(a))
		}
		c.Blocks = append(c.Blocks, Block{b, names, inst.ValueDecimals(b)})
		x := ExactValue(inst, b)
		if x == nil {
			infinite = true
			continue
		}
		sum.Add(sum, x)
		magnitude += math.Abs(inst.Value64(b))
	}
	if infinite {
		c.Sum = "-inf"
	} else {
		c.Sum = inst.Decimal(sum)
	}
	total, ok := inst.ParseExact(claimed)
	if !ok {
		return c, fmt.Errorf("%w: found the total %q, expected a number", ErrCheck, claimed)
	}
	if infinite && total != nil && inst.Type.Integer() && s.penalty(inst).Cmp(total) == 0 {
		return c, nil
	}
	if total == nil || infinite {
		if total == nil && infinite {
			return c, nil
		}
		return c, fmt.Errorf("%w: the total is %s, the blocks add up to %s", ErrCheck, claimed, c.Sum)
	}
	roundings := len(s)
	if inst.Places > 0 {
		roundings += 2 // of values, and of the total's digits
	}
	c.Tolerance = Tolerance(inst.Type, roundings, magnitude)
	diff := new(big.Float).SetPrec(exactBits).Sub(total, sum)
	if diff.Abs(diff).Cmp(new(big.Float).SetFloat64(c.Tolerance)) > 0 {
		return c, fmt.Errorf("%w: the total is %s, the blocks add up to %s (may differ by %g)", ErrCheck, claimed, c.Sum, c.Tolerance)
	}
	return c, nil
}

// penalty is the sum of an integer instance's values as solvers see them: forbidden
// coalitions have values too.
func (s Structure) penalty(inst *Instance) *big.Float {
	sum := NewExact()
	for _, b := range s {
		switch inst.Type {
		case Int16:
			sum.Add(sum, NewExact().SetInt64(int64(inst.I16[b])))
		case Int32:
			sum.Add(sum, NewExact().SetInt64(int64(inst.I32[b])))
		default:
			sum.Add(sum, NewExact().SetInt64(inst.I64[b]))
		}
	}
	return sum
}

// partition checks that blocks are disjoint and cover the agents, and that there are as many as constraints allow.
func partition(inst *Instance, s Structure) error {
	var seen uint64
	for _, b := range s {
		switch {
		case b == 0:
			return fmt.Errorf("%w: found an empty block", ErrCheck)
		case b > inst.GrandCoalition():
			return fmt.Errorf("%w: found block %#x, expected agents 1 to %d", ErrCheck, b, inst.N)
		case b&seen != 0:
			return fmt.Errorf("%w: found %s in two blocks", ErrCheck, inst.Coalition(b&seen))
		}
		seen |= b
	}
	if left := inst.GrandCoalition() &^ seen; left != 0 {
		return fmt.Errorf("%w: found %s in no block", ErrCheck, inst.Coalition(left))
	}
	if err := inst.Blocks().Check(len(s)); err != nil {
		return fmt.Errorf("%w: %w", ErrCheck, err)
	}
	return nil
}

// Tolerance is Higham's bound on the error of k values added in any order,
// widened by a few roundings of its own.
func Tolerance(v Value, k int, magnitude float64) float64 {
	u := 0.0
	switch v {
	case Float32:
		u = 0x1p-24
	case Float64:
		u = 0x1p-53
	}
	e := float64(max(0, k-1)) * u
	return e / (1 - e) * magnitude * (1 + 0x1p-40)
}

// exactBits holds any sum of 2^11 float64 values without rounding: 2098 bits
// from 2^-1074 to 2^1024, and the carries.
const exactBits = 2176

func NewExact() *big.Float { return new(big.Float).SetPrec(exactBits) }

// ExactValue is a coalition's value, nil for minus infinity. Decimals differ from it by less than their 2^-2000th.
func ExactValue(inst *Instance, mask uint64) *big.Float {
	if !inst.filter().allows(mask) {
		return nil
	}
	if inst.Type == Int64 && inst.HoldsValues() {
		return NewExact().SetInt64(inst.I64[mask])
	}
	x := inst.Value64(mask)
	if math.IsInf(x, -1) {
		return nil
	}
	exact := NewExact().SetFloat64(x)
	if units, ok := decimalUnits(x, inst.factor()); ok && inst.Places > 0 {
		exact.Quo(exact.SetFloat64(units), NewExact().SetFloat64(inst.factor()))
	}
	return exact
}

// ParseExact reads a total of the instance's values; nil for minus infinity.
func (inst *Instance) ParseExact(s string) (*big.Float, bool) {
	v := inst.Type
	if strings.EqualFold(s, "-inf") {
		return nil, true
	}
	if !v.Integer() {
		x, err := strconv.ParseFloat(s, 8*v.Size())
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, false
		}
		if inst.Places > 0 {
			return NewExact().SetString(s)
		}
		return NewExact().SetFloat64(x), true
	}
	i, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return nil, false
	}
	return NewExact().SetInt(i), true
}

// Decimal writes a sum of values in full: integers and decimals digit by digit, other fractions by the
// shortest decimals that give the nearest float64 back.
func (inst *Instance) Decimal(x *big.Float) string {
	if inst.Places > 0 {
		if units, ok := inst.units(x); ok {
			return decimal(units, inst.Places)
		}
	}
	if x.IsInt() {
		i, _ := x.Int(nil)
		if s := i.String(); len(s) <= 40 {
			return s
		}
	}
	f, _ := x.Float64()
	return FormatFloat(f, 64)
}
