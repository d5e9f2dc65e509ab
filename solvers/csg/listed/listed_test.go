package listed_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/anytime"
	"coalesce/solvers/csg/listed"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

func onHost(t *testing.T) solve.Settings {
	d := host.Open(1)
	t.Cleanup(func() { d.Close() })
	return solve.Settings{Devices: []device.Device{d}}
}

// best is the value of the best structure by looking at all of them, in units; false: there is none.
func best(inst *listed.Instance, c *listed.Constraints, together, separate [][]int) (value int64, found bool) {
	allowed := func(agents []int) bool {
		if c.Sizes != 0 && c.Sizes>>len(agents)&1 == 0 {
			return false
		}
		in := func(group []int) (k int) {
			for _, agent := range group {
				if slices.Contains(agents, agent) {
					k++
				}
			}
			return k
		}
		for _, group := range together {
			if k := in(group); k > 0 && k < len(group) {
				return false
			}
		}
		for _, group := range separate {
			if in(group) > 1 {
				return false
			}
		}
		part := map[int]int{} // of each agent, joined by edges
		for _, agent := range agents {
			part[agent] = agent
		}
		for range agents {
			for _, chain := range c.Edges {
				before := 0
				for _, word := range strings.Fields(chain) {
					agent, _ := strconv.Atoi(word)
					if p, q := part[before], part[agent]; p > 0 && q > 0 {
						part[before], part[agent] = min(p, q), min(p, q)
					}
					before = agent
				}
			}
		}
		for _, p := range part {
			if p != agents[0] && len(c.Edges) > 0 {
				return false
			}
		}
		return true
	}
	var masks []uint64
	var values []int64
	for _, l := range inst.Coalitions {
		if allowed(l.Agents) {
			mask := uint64(0)
			for _, agent := range l.Agents {
				mask |= 1 << (agent - 1)
			}
			masks, values = append(masks, mask), append(values, l.Value)
		}
	}
	var visit func(left uint64, blocks int, sum int64)
	visit = func(left uint64, blocks int, sum int64) {
		if left == 0 {
			if blocks >= c.Blocks.Least && (c.Blocks.Most == 0 || blocks <= c.Blocks.Most) && (!found || (sum > value) != c.Minimize && sum != value) {
				value, found = sum, true
			}
			return
		}
		first := left & -left
		for k, mask := range masks {
			if mask&first != 0 && mask&^left == 0 {
				visit(left&^mask, blocks+1, sum+values[k])
			}
		}
	}
	visit(1<<inst.N-1, 0, 0)
	return value, found
}

// drawn is a random instance and constraints.
func drawn(r *rand.Rand) (inst *listed.Instance, c listed.Constraints, together, separate [][]int) {
	n := 1 + r.IntN(8)
	inst = &listed.Instance{N: n, Scale: r.IntN(3), Source: "drawn"}
	for mask := 1; mask < 1<<n; mask++ {
		if r.IntN(4) > 0 && (mask&(mask-1) != 0 || r.IntN(5) == 0) {
			continue
		}
		inst.Coalitions = append(inst.Coalitions, listed.Coalition{Agents: problem.Agents(uint64(mask)), Value: int64(r.IntN(41) - 20)})
	}
	r.Shuffle(len(inst.Coalitions), func(i, j int) {
		inst.Coalitions[i], inst.Coalitions[j] = inst.Coalitions[j], inst.Coalitions[i]
	})
	c.Minimize = r.IntN(2) == 0
	switch r.IntN(5) {
	case 0:
		k := 1 + r.IntN(n)
		c.Blocks = listed.Counts{Least: k, Most: k}
	case 1:
		c.Blocks = listed.Counts{Least: 1, Most: 1 + r.IntN(n)}
	case 2:
		c.Blocks = listed.Counts{Least: 1 + r.IntN(n+1)}
	}
	for n > 1 && r.IntN(3) == 0 {
		var words []string
		for _, agent := range r.Perm(n)[:2+r.IntN(n-1)] {
			words = append(words, strconv.Itoa(agent+1))
		}
		c.Edges = append(c.Edges, strings.Join(words, " "))
	}
	pair := func() ([]int, string) {
		a := r.Perm(n)[:2]
		slices.Sort(a)
		return []int{a[0] + 1, a[1] + 1}, fmt.Sprintf("%d %d", a[0]+1, a[1]+1)
	}
	if n > 2 && r.IntN(4) == 0 {
		group, text := pair()
		together, c.Together = append(together, group), append(c.Together, text)
	}
	if n > 2 && r.IntN(4) == 0 {
		group, text := pair()
		separate, c.Separate = append(separate, group), append(c.Separate, text)
	}
	if r.IntN(5) == 0 {
		c.Sizes = problem.Sizes(r.IntN(1<<n)) << 1
	}
	return inst, c, together, separate
}

// Random instances under random constraints against a look at all structures: value, proof, and no proof of less.
func TestSolve(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 5))
	infeasible, proofs := 0, 0
	settings := onHost(t)
	for k := range inputtest.Draws(2000) {
		inst, c, together, separate := drawn(r)
		want, feasible := best(inst, &c, together, separate)
		got, err := listed.Solve(t.Context(), inst, listed.Options{Settings: settings, Constraints: c})
		if !feasible {
			infeasible++
			if !errors.Is(err, solve.ErrInfeasible) || got == nil || !got.Proven || got.Value != "" {
				t.Fatalf("%d: found %+v, %v, expected the proof that no structure is allowed", k, got, err)
			}
		} else {
			if err != nil {
				t.Fatalf("%d: %+v under %+v: %v", k, inst, c, err)
			}
			if value, _ := got.Value.Rat(); fmt.Sprint(value.FloatString(inst.Scale)) != decimal(want, inst.Scale) || !got.Proven || got.Bound != got.Value {
				t.Fatalf("%d: found %s of at most %s, proven %t, expected %s of %+v under %+v", k, got.Value, got.Bound, got.Proven, decimal(want, inst.Scale), inst, c)
			}
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		v, err := listed.Verify(inst, text)
		if err != nil || v.Err() != nil || !v.Proven {
			t.Fatalf("%d: %v, %+v", k, err, v)
		}
		if v.BoundChecked {
			proofs++
		}
		if !feasible || len(got.Blocks) < 2 {
			continue
		}
		// A better value or another structure is refuted.
		lie := strings.Replace(string(text), `"value":`+got.Value.String(), `"value":`+got.Value.String()+"1", 1)
		if v, err := listed.Verify(inst, []byte(lie)); err == nil && v.Err() == nil {
			t.Fatalf("%d: found another value than the blocks' accepted", k)
		}
	}
	if infeasible < inputtest.Draws(100) || proofs < inputtest.Draws(1900) {
		t.Errorf("found %d instances without a structure and %d proofs, expected more", infeasible, proofs)
	}
}

func decimal(units int64, scale int) string {
	sign := ""
	if units < 0 {
		sign, units = "-", -units
	}
	text := fmt.Sprintf("%0*d", scale+1, units)
	if scale == 0 {
		return sign + text
	}
	return sign + text[:len(text)-scale] + "." + text[len(text)-scale:]
}

// Some hundred coalitions of 30 to 45 agents, as those that a table has no room for, against sums that integer programming found.
func TestMany(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	inst := &listed.Instance{N: 60, Source: "many"}
	for i := range inst.N {
		inst.Coalitions = append(inst.Coalitions, listed.Coalition{Agents: []int{i + 1}, Value: -10})
	}
	seen := map[string]bool{}
	for range 240 {
		agents := r.Perm(inst.N)[:2+r.IntN(4)]
		for k := range agents {
			agents[k]++
		}
		slices.Sort(agents)
		if seen[fmt.Sprint(agents)] {
			continue
		}
		seen[fmt.Sprint(agents)] = true
		inst.Coalitions = append(inst.Coalitions, listed.Coalition{Agents: agents, Value: int64(-10 - r.IntN(20))})
	}
	began := time.Now()
	got, err := listed.Solve(t.Context(), inst, listed.Options{Settings: onHost(t)})
	if err != nil || !got.Proven {
		t.Fatalf("found %+v, %v", got, err)
	}
	t.Logf("%s in %v, %d nodes", got.Value, time.Since(began), got.Nodes)
	text, _ := json.Marshal(got)
	if v, err := listed.Verify(inst, text); err != nil || v.Err() != nil || !v.BoundChecked {
		t.Fatalf("found %+v, %v", v, err)
	}
}

// Files told by their size, decimals, and values of coalitions without a row.
func TestRead(t *testing.T) {
	few := "coalition,value\n"
	for i := range 50 {
		few += fmt.Sprintf("r%d,-1\n", i)
	}
	few += "r0 r49,0.5\n"
	for _, c := range []struct {
		name, text, missing, value string
		agents                     int
		forced                     bool
		constraints                listed.Constraints
	}{
		{"few.csv", few, "-inf", "-47.5", 50, false, listed.Constraints{}},
		{"zeros.csv", "1,0\n1 2,5\n2 3,7\n40 50,2\n", "0", "9", 50, false, listed.Constraints{}},
		{"decimals.csv", "coalition,value\n1,0.1\n2,0.2\n1 2,0.3\n", "", "0.3", 2, true, listed.Constraints{}},
		{"less.json", `{"1": 3, "2": 4, "1,2": 5.5}`, "", "5.5", 2, true, listed.Constraints{Minimize: true}},
		{"records.json", `[{"coalition":["ann"],"value":3},{"coalition":["bob"],"value":4},{"coalition":["ann","bob"],"value":9}]`, "", "7", 2, true, listed.Constraints{Separate: []string{"ann bob"}}},
		{"values.txt", "0.0\n3.0E1\n4.0E1\n5.0E1\n2.5E1\n6.0E1\n5.5E1\n9.0E1\n", "", "95", 3, true, listed.Constraints{Blocks: listed.Counts{Least: 3}}},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, inst, err := listed.Read(path, csg.ReadOptions{Missing: c.missing}, c.forced)
		if err != nil || inst == nil || inst.N != c.agents {
			t.Errorf("%s: found %+v, %v, expected %d agents", c.name, inst, err, c.agents)
			continue
		}
		got, err := listed.Solve(t.Context(), inst, listed.Options{Settings: onHost(t), Constraints: c.constraints})
		if err != nil || got.Value.String() != c.value || !got.Proven {
			t.Errorf("%s: found %+v, %v, expected %s", c.name, got, err, c.value)
		}
	}
}

// What cannot be solved says why.
func TestRefused(t *testing.T) {
	two := func() *listed.Instance {
		return &listed.Instance{N: 2, Coalitions: []listed.Coalition{{Agents: []int{1}, Value: 1}, {Agents: []int{2}, Value: -1}, {Agents: []int{1, 2}}}}
	}
	twice := two()
	twice.Coalitions = append(twice.Coalitions, listed.Coalition{Agents: []int{2}})
	turned := two()
	turned.Coalitions[2].Agents = []int{2, 1}
	zeros := two()
	zeros.Zeros = true
	for _, c := range []struct {
		inst *listed.Instance
		c    listed.Constraints
		want string
	}{
		{nil, listed.Constraints{}, "listing: found nil"},
		{&listed.Instance{}, listed.Constraints{}, "N: found 0 agents"},
		{twice, listed.Constraints{}, "Coalitions[3].Agents: found coalition {2}"},
		{turned, listed.Constraints{}, "Coalitions[2].Agents: found agent 1"},
		{zeros, listed.Constraints{}, "agent 2 alone is worth less"},
		{two(), listed.Constraints{Together: []string{"1"}}, "Together: found"},
		{two(), listed.Constraints{Separate: []string{"1 3"}}, "Separate: found agent"},
		{two(), listed.Constraints{Edges: []string{"1"}}, "Edges: found"},
	} {
		if _, err := listed.Solve(t.Context(), c.inst, listed.Options{Settings: onHost(t), Constraints: c.c}); !errors.Is(err, solve.ErrInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("found the error %v, expected %q", err, c.want)
		}
	}
}

// Random graphs, with sizes of blocks, connected or not, against a look at all structures of coalitions counted edge by edge.
func TestGraphs(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 6))
	settings := onHost(t)
	for k := range inputtest.Draws(2000) {
		n := 2 + r.IntN(6)
		weight := map[[2]int]int64{}
		text := ""
		for i := 1; i <= n; i++ {
			for j := i + 1; j <= n; j++ {
				if w := int64(r.IntN(21) - 10); w != 0 && r.IntN(2) == 0 {
					weight[[2]int{i, j}] = w
					text += fmt.Sprintf("%d %d %d\n", i, j, w)
				}
			}
		}
		g, err := anytime.ReadFrom(strings.NewReader(fmt.Sprintf("%d %d\n%s", n, len(weight), text)), "g.rud", anytime.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c := listed.Constraints{Minimize: r.IntN(3) == 0, Connected: r.IntN(2) == 0}
		if r.IntN(2) == 0 {
			c.Sizes = problem.Sizes(2 + r.IntN(1<<n)<<2)
		}
		if r.IntN(3) == 0 {
			c.Blocks = listed.Counts{Least: 1 + r.IntN(2), Most: 2 + r.IntN(3)}
		}
		all := &listed.Instance{N: n}
		for mask := uint64(1); mask < 1<<n; mask++ {
			agents := problem.Agents(mask)
			value, reached := int64(0), uint64(1)<<(agents[0]-1)
			for range agents {
				for e, w := range weight {
					if a, b := uint64(1)<<(e[0]-1), uint64(1)<<(e[1]-1); w != 0 && mask&a != 0 && mask&b != 0 && reached&(a|b) != 0 {
						reached |= a | b
					}
				}
			}
			for e, w := range weight {
				if slices.Contains(agents, e[0]) && slices.Contains(agents, e[1]) {
					value += w
				}
			}
			if !c.Connected || reached == mask {
				all.Coalitions = append(all.Coalitions, listed.Coalition{Agents: agents, Value: value})
			}
		}
		want, feasible := best(all, &c, nil, nil)
		inst, err := listed.FromGraph(g, &c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := listed.Solve(t.Context(), inst, listed.Options{Settings: settings, Constraints: c})
		if feasible && (err != nil || got.Value.String() != fmt.Sprint(want) || !got.Proven) || !feasible && !errors.Is(err, solve.ErrInfeasible) {
			t.Fatalf("%d: found %+v, %v, expected %d, %t, of\n%s%+v", k, got, err, want, feasible, text, c)
		}
		written, _ := json.Marshal(got)
		if v, err := listed.VerifyGraph(g, written); err != nil || v.Err() != nil || !v.Proven || !v.BoundChecked {
			t.Fatalf("%d: %+v, %v", k, v, err)
		}
	}
}
