package anytime

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"coalesce/solvers/csg/internal/payoff"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// A drawn graph of CFSS: values of agents alone and of edges in tenths.
type drawnCFSS struct {
	own  []int64
	edge map[[2]int]int64
	text string
}

func drawCFSS(r *rand.Rand) *drawnCFSS {
	d := &drawnCFSS{edge: map[[2]int]int64{}}
	var b strings.Builder
	n := 1 + r.IntN(6)
	for range n {
		x := int64(r.IntN(81) - 40)
		d.own = append(d.own, x)
		fmt.Fprintf(&b, "%.1f\n", float64(x)/10)
	}
	for i := range n {
		for j := range i {
			if r.IntN(3) > 0 {
				x := int64(r.IntN(81) - 40)
				d.edge[[2]int{j, i}] = x
				fmt.Fprintf(&b, "%d\t%d %.1f\n", i, j, float64(x)/10)
			}
		}
	}
	d.text = b.String()
	return d
}

// value is that of the agents of a mask, in tenths.
func (d *drawnCFSS) value(mask int) (sum int64) {
	for i, x := range d.own {
		if mask>>i&1 == 1 {
			sum += x
		}
	}
	for pair, x := range d.edge {
		if mask>>pair[0]&1 == 1 && mask>>pair[1]&1 == 1 {
			sum += x
		}
	}
	return sum
}

// best is the value of the best structure of the agents of a mask.
func (d *drawnCFSS) best(mask int) int64 {
	if mask == 0 {
		return 0
	}
	first := mask & -mask
	rest := mask &^ first
	most := d.value(first) + d.best(rest)
	for part := rest; part > 0; part = (part - 1) & rest {
		most = max(most, d.value(first|part)+d.best(rest&^part))
	}
	return most
}

// shapley is an agent's Shapley value of the game of a mask's agents, by all coalitions of the others.
func (d *drawnCFSS) shapley(agent, mask int) *big.Rat {
	sum := new(big.Rat)
	others := mask &^ (1 << agent)
	count := func(m int) (k int64) {
		for ; m > 0; m &= m - 1 {
			k++
		}
		return k
	}
	n := count(mask)
	for part := others; ; part = (part - 1) & others {
		k := count(part)
		weight := new(big.Rat).SetFrac(new(big.Int).Mul(new(big.Int).MulRange(1, k), new(big.Int).MulRange(1, n-1-k)), new(big.Int).MulRange(1, n))
		sum.Add(sum, weight.Mul(weight, big.NewRat(d.value(part|1<<agent)-d.value(part), 10)))
		if part == 0 {
			return sum
		}
	}
}

// Random graphs of CFSS against all structures, and Shapley values of the best blocks against all their coalitions; what another agent receives is refuted.
func TestCFSSAgainstExhaustion(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 5))
	o := options(t, time.Minute)
	for k := range inputtest.Draws(3000) {
		d := drawCFSS(r)
		inst, err := ReadFrom(strings.NewReader(d.text), "x.txt", ReadOptions{Format: "cfss"})
		if err != nil {
			t.Fatalf("%q: %v", d.text, err)
		}
		o.Payoff = []string{"shapley", "banzhaf", "core"}[k%3]
		x := checked(t, inst, o)
		want := big.NewRat(d.best(1<<len(d.own)-1), 10)
		if got, ok := x.Value.Rat(); !ok || got.Cmp(want) != 0 || !x.Proven {
			t.Fatalf("%q: found %s, proven %t, expected %s", d.text, x.Value, x.Proven, want.FloatString(1))
		}
		if o.Payoff == "core" {
			d.checkCore(t, x.Payoff, want)
		}
		for _, block := range x.Blocks {
			if o.Payoff == "core" {
				break
			}
			mask := 0
			for _, agent := range block {
				mask |= 1 << (agent - 1)
			}
			for _, agent := range block {
				got, ok := new(big.Rat).SetString(x.Payoff.Exact[agent-1])
				if want := d.shapley(agent-1, mask); !ok || got.Cmp(want) != 0 {
					t.Fatalf("%q: agent %d receives %s, expected %s", d.text, agent, x.Payoff.Exact[agent-1], want.RatString())
				}
			}
		}
		if k%20 == 0 {
			x.Payoff.Exact[0], x.Payoff.Values[0] = "1000", 1000
			text, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := Verify(inst, text); err != nil || v.Err() == nil {
				t.Fatalf("%q: found another payoff accepted, %v", d.text, err)
			}
		}
	}
}

// A cycle of five agents has an empty core. The weights that prove it pass the check; altered ones are refused.
func TestEmptyCore(t *testing.T) {
	inst := read(t, "cycle.rud", "5 10\n1 2 1\n2 3 1\n3 4 1\n4 5 1\n1 5 1\n1 3 -10\n1 4 -10\n2 4 -10\n2 5 -10\n3 5 -10\n")
	o := options(t, time.Minute)
	o.Payoff = payoff.Core
	x := checked(t, inst, o)
	if x.Payoff.Exact != nil || len(x.Payoff.Balanced) != 5 || x.Payoff.Balanced[0].Weight != "0.5" {
		t.Fatalf("found %+v", x.Payoff)
	}
	for _, lie := range []func(){func() { x.Payoff.Balanced[0].Weight = "0.75" }, func() { x.Payoff.Balanced[0].Weight, x.Payoff.Balanced[0].Agents = "0.5", []int{1, 3} }} {
		lie()
		text, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Verify(inst, text); err != nil || v.Err() == nil {
			t.Errorf("found %+v accepted, %v", x.Payoff.Balanced[0], err)
		}
	}
}

// checkCore holds payoffs of the core against all coalitions, or weights against the best structure.
func (d *drawnCFSS) checkCore(t *testing.T, p *payoff.Payoff, best *big.Rat) {
	t.Helper()
	n := len(d.own)
	if p.Exact == nil {
		total, sum := new(big.Rat), make([]big.Rat, n)
		for _, c := range p.Balanced {
			w, _ := new(big.Rat).SetString(c.Weight)
			mask := 0
			for _, agent := range c.Agents {
				mask |= 1 << (agent - 1)
				sum[agent-1].Add(&sum[agent-1], w)
			}
			if w.Sign() < 0 {
				t.Fatalf("%q: found the weight %s", d.text, c.Weight)
			}
			total.Add(total, w.Mul(w, big.NewRat(d.value(mask), 10)))
		}
		for i := range sum {
			if sum[i].Cmp(big.NewRat(1, 1)) != 0 {
				t.Fatalf("%q: weights of agent %d add up to %s", d.text, i, sum[i].RatString())
			}
		}
		if total.Cmp(best) <= 0 {
			t.Fatalf("%q: found coalitions worth %s, and the best structure is worth %s", d.text, total.RatString(), best.RatString())
		}
		return
	}
	x := make([]*big.Rat, n)
	for i, exact := range p.Exact {
		x[i], _ = new(big.Rat).SetString(exact)
	}
	for mask := 1; mask < 1<<n; mask++ {
		paid := new(big.Rat)
		for i := range n {
			if mask>>i&1 == 1 {
				paid.Add(paid, x[i])
			}
		}
		if paid.Cmp(big.NewRat(d.value(mask), 10)) < 0 || mask == 1<<n-1 && paid.Cmp(best) != 0 {
			t.Fatalf("%q: coalition %b receives %s", d.text, mask, paid.RatString())
		}
	}
}

// Errors of graphs of CFSS name the line, what was found and what was expected.
func TestCFSSErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "x.txt: found no agents, expected what each is worth alone, a line each",
		"0\nx\n":               `x.txt:2: found "x", expected what an agent is worth alone, a number`,
		"0\n0 1\n":             "x.txt:2: found 2 words, expected what an agent is worth alone, or two agents and a value",
		"0\n0\n0 2 1\n":        `x.txt:3: found agent "2", expected one of the 2 from 0 that have a line above`,
		"0\n0\n-1 1 1\n":       `x.txt:3: found agent "-1", expected one of the 2 from 0`,
		"0\n0\n1 1 1\n":        "x.txt:3: found an edge from an agent to itself, expected two agents",
		"0\n0\n0 1 1\n1 0 2\n": "x.txt:4: found the edge of agents 0 and 1 again, expected each once: it is on line 3",
		"0\n0\n0 1 1\n5\n":     `x.txt:4: found "5" below edges, expected two agents and a value`,
		"0\n0\n0 1 inf\n":      `x.txt:3: found "inf", expected what the edge adds, a number`,
	} {
		if _, err := ReadFrom(strings.NewReader(text), "x.txt", ReadOptions{Format: "cfss"}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: found %v, expected %s", text, err, want)
		}
	}
}

// Payoffs of searches are those of graphs, by concepts that need no other coalitions.
func TestPayoffErrors(t *testing.T) {
	graph, err := Draw("sign", 5, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	large, err := Draw("sign", coreAgents+1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := NewDrawn("normal", 45, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		inst    *Instance
		concept string
	}{{large, "core"}, {drawn, "core"}, {graph, "nucleolus"}, {graph, "x"}, {drawn, "shapley"}} {
		o := options(t, time.Second)
		o.Payoff = c.concept
		if _, err := Solve(t.Context(), c.inst, o); !errors.Is(err, solve.ErrInput) || !strings.HasPrefix(err.Error(), "Payoff: found ") {
			t.Errorf("%s: found %v", c.concept, err)
		}
	}
}
