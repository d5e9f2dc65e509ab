package payoff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// best is the structure of the largest value, by exhaustion.
func best(g *game) problem.Structure {
	n := g.inst.N
	most, from := make([]*big.Rat, 1<<n), make([]uint64, 1<<n)
	most[0] = new(big.Rat)
	for mask := uint64(1); mask < 1<<n; mask++ {
		for sub := mask; sub != 0; sub = (sub - 1) & mask {
			if sub>>(bits.Len64(mask)-1) == 0 || !g.allowed(sub) || most[mask&^sub] == nil {
				continue
			}
			if v := g.rat(sub); most[mask] == nil || v.Add(v, most[mask&^sub]).Cmp(most[mask]) > 0 {
				most[mask], from[mask] = g.rat(sub), sub
				most[mask].Add(most[mask], most[mask&^sub])
			}
		}
	}
	var s problem.Structure
	for mask := uint64(1)<<n - 1; mask != 0; mask &^= from[mask] {
		s = append(s, from[mask])
	}
	return s
}

// drawn is a random game of one of several kinds: small integers, decimals, binary fractions, floats of many magnitudes, unanimity games, and
// games with forbidden coalitions.
func drawn(r *rand.Rand, n, kind int) *problem.Instance {
	values := make([]float64, 1<<n)
	for mask := 1; mask < len(values); mask++ {
		size := float64(bits.OnesCount(uint(mask)))
		switch kind {
		case 0:
			values[mask] = float64(r.IntN(7)) - 1
		case 1:
			values[mask] = math.Round(size*size*100+float64(r.IntN(200))) / 100
		case 2:
			values[mask] = size*size + r.NormFloat64()
		case 3:
			values[mask] = math.Ldexp(r.Float64(), r.IntN(60)-30)
		case 4:
			if values[mask] = 0; mask&5 == 5 || mask&6 == 6 {
				values[mask] = 1
			}
		default:
			if values[mask] = size * float64(r.IntN(9)); size > 1 && r.IntN(3) == 0 {
				values[mask] = math.Inf(-1)
			}
		}
	}
	inst, err := problem.NewInstance(values, "drawn")
	if err != nil {
		panic(err)
	}
	return inst
}

const kinds = 6

// Shapley and Banzhaf values are those of the definition, agent by agent over all coalitions.
func TestValuesByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for k := range inputtest.Draws(2000) {
		n := 1 + r.IntN(6)
		if k%100 == 0 {
			n = 12 // sums over high and low members
		}
		inst := drawn(r, n, k%(kinds-1))
		g, _ := newGame(inst, Shapley)
		s := problem.Structure{inst.GrandCoalition()}
		if half := uint64(r.IntN(1 << n)); half != 0 && half != inst.GrandCoalition() {
			s = problem.Structure{half, inst.GrandCoalition() &^ half}
		}
		for _, concept := range []string{Shapley, Banzhaf} {
			p, err := Divide(context.Background(), inst, s, concept)
			if err != nil {
				t.Fatal(err)
			}
			for _, block := range s {
				b := bits.OnesCount64(block)
				for _, agent := range problem.Agents(block) {
					i, want := uint64(1)<<(agent-1), new(big.Rat)
					rest := block &^ i
					for sub := rest; ; sub = (sub - 1) & rest {
						gain := new(big.Rat).Sub(g.rat(sub|i), g.rat(sub))
						w := big.NewRat(1, 1<<(b-1))
						if concept == Shapley {
							in := int64(bits.OnesCount64(sub))
							w.SetFrac(new(big.Int).Mul(new(big.Int).MulRange(1, in), new(big.Int).MulRange(1, int64(b)-in-1)), new(big.Int).MulRange(1, int64(b)))
						}
						want.Add(want, gain.Mul(gain, w))
						if sub == 0 {
							break
						}
					}
					if p.Exact[agent-1] != text(want) {
						t.Fatalf("%s %d: agent %d has %s, expected %s", concept, k, agent, p.Exact[agent-1], text(want))
					}
				}
			}
		}
	}
}

// Payoffs of the core meet all coalitions, an empty core has its collection, and the nucleolus has lexicographically least excesses
// among payoffs near it. All are checked by Check, which refuses altered ones.
func TestCoresAndNucleoli(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	empty, refused := 0, 0
	for k := range inputtest.Draws(2000) {
		inst := drawn(r, 1+r.IntN(6), k%kinds)
		g, _ := newGame(inst, Core)
		s := best(g)
		for _, concept := range []string{Core, Nucleolus} {
			p, err := Divide(context.Background(), inst, s, concept)
			if err != nil {
				t.Fatalf("%s %d: %v", concept, k, err)
			}
			if _, err := p.Check(context.Background(), inst, s); err != nil {
				t.Fatalf("%s %d: %v", concept, k, err)
			}
			if p.Exact == nil {
				empty++
				p.Balanced[r.IntN(len(p.Balanced))].Weight = "1/5"
			} else {
				if concept == Nucleolus {
					checkLeast(t, r, g, s, p)
				}
				i := r.IntN(inst.N)
				x, _ := new(big.Rat).SetString(p.Exact[i])
				p.Exact[i] = text(x.Add(x, big.NewRat(int64(r.IntN(2)*2-1), 1<<20)))
				p.Values[i], _ = x.Float64()
			}
			if _, err := p.Check(context.Background(), inst, s); err == nil {
				t.Errorf("%s %d: altered payoffs are accepted", concept, k)
			} else {
				refused++
			}
		}
	}
	if empty < inputtest.Draws(40) || refused < inputtest.Draws(4000) {
		t.Errorf("cores were empty %d times, %d altered payoffs refused", empty, refused)
	}
}

// checkLeast moves payoffs a little between agents of a block: excesses do not become less, in lexicographic order.
func checkLeast(t *testing.T, r *rand.Rand, g *game, s problem.Structure, p *Payoff) {
	x := make([]*big.Rat, g.inst.N)
	for i := range x {
		x[i], _ = new(big.Rat).SetString(p.Exact[i])
	}
	excesses := func() (list []*big.Rat) {
		for mask := uint64(1); mask < g.inst.Len(); mask++ {
			if g.allowed(mask) {
				list = append(list, g.excess(mask, x))
			}
		}
		slices.SortFunc(list, func(a, b *big.Rat) int { return b.Cmp(a) })
		return list
	}
	least := excesses()
	for range 4 {
		moved := slices.Clone(x)
		for _, block := range s {
			agents := problem.Agents(block)
			for range 3 {
				by := big.NewRat(int64(r.IntN(9)), 1<<(4*r.IntN(8)))
				a, b := agents[r.IntN(len(agents))]-1, agents[r.IntN(len(agents))]-1
				moved[a] = new(big.Rat).Add(moved[a], by)
				moved[b] = new(big.Rat).Sub(moved[b], by)
			}
		}
		x, moved = moved, x
		rational := true
		for i := range x {
			rational = rational && g.excess(1<<i, x).Sign() <= 0
		}
		if now := excesses(); rational && slices.CompareFunc(now, least, func(a, b *big.Rat) int { return a.Cmp(b) }) < 0 {
			t.Fatalf("payoffs %v have less excesses than the nucleolus %v", x, moved)
		}
		x = moved
	}
}

// The estates of the Talmud (Aumann and Maschler, 1985), the airport of Littlechild (1974) for three kinds of planes, and three men's game of
// majority have known nucleoli.
func TestKnownNucleoli(t *testing.T) {
	talmud := func(estate float64) []float64 {
		claims, v := []float64{100, 200, 300}, make([]float64, 8)
		for mask := range v {
			left := estate
			for i, c := range claims {
				if mask>>i&1 == 0 {
					left -= c
				}
			}
			v[mask] = max(0, left)
		}
		v[0] = 0
		return v
	}
	for _, test := range []struct {
		values []float64
		want   []string
	}{
		{talmud(100), []string{"100/3", "100/3", "100/3"}},
		{talmud(200), []string{"50", "75", "75"}},
		{talmud(300), []string{"50", "100", "150"}},
		{[]float64{0, 0, 0, 1, 0, 1, 1, 1}, []string{"1/3", "1/3", "1/3"}},
		{[]float64{0, -1, -2, -2, -4, -4, -4, -4}, []string{"-0.5", "-0.75", "-2.75"}},
	} {
		inst, err := problem.NewInstance(test.values, "known")
		if err != nil {
			t.Fatal(err)
		}
		p, err := Divide(context.Background(), inst, problem.Structure{7}, Nucleolus)
		if err != nil || !slices.Equal(p.Exact, test.want) {
			t.Errorf("%v: %v %v, expected %v", test.values, p, err, test.want)
		}
	}
}

// Payoffs that need forbidden values, or more agents than there may be, are refused.
func TestPayoffsAreRefused(t *testing.T) {
	inf := math.Inf(-1)
	for _, test := range []struct {
		values  []float64
		concept string
	}{{[]float64{0, inf, 1, 3}, Shapley}, {[]float64{0, inf, 1, 3}, Nucleolus}, {make([]float64, 1<<17), Nucleolus}, {[]float64{0, 1, 1, 1}, Nucleolus}, {[]float64{0, 1e-300, 1e300, 0}, Core}} {
		inst, err := problem.NewInstance(test.values, "refused")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Divide(context.Background(), inst, problem.Structure{inst.GrandCoalition()}, test.concept); !errors.Is(err, solve.ErrInput) {
			t.Errorf("%s of %d agents: %v", test.concept, inst.N, err)
		}
	}
	inst, _ := problem.NewInstance([]float64{0, inf, 1, 3}, "core")
	if p, err := Divide(context.Background(), inst, problem.Structure{3}, Core); err != nil || p.Exact == nil {
		t.Errorf("a core without agents alone: %v %v", p, err)
	}
}

func BenchmarkPayoffs(b *testing.B) {
	for _, test := range []struct {
		concept string
		n, kind int
	}{{Shapley, 20, 2}, {Core, 16, 2}, {Core, 20, 2}, {Nucleolus, 12, 2}, {Nucleolus, 16, 2}, {Nucleolus, 16, 4}} {
		b.Run(fmt.Sprintf("%s/%d/%d", test.concept, test.n, test.kind), func(b *testing.B) {
			inst := drawn(rand.New(rand.NewPCG(3, 1)), test.n, test.kind)
			for b.Loop() {
				if p, err := Divide(context.Background(), inst, problem.Structure{inst.GrandCoalition()}, test.concept); err != nil || cmp.Or(len(p.Exact), len(p.Balanced)) == 0 {
					b.Fatal(err)
				}
			}
		})
	}
}
