package auction

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// A drawnProgram is set packing, partitioning or covering, or the same with whole numbers.
type drawnProgram struct {
	maximize bool
	costs    []int
	rows     [][]int  // variables
	entries  [][]int  // coefficients
	senses   []string // <=, = or >=
	sides    []int
}

func (p *drawnProgram) lp() string {
	var b strings.Builder
	b.WriteString(map[bool]string{true: "Maximize\n obj:", false: "Minimize\n obj:"}[p.maximize])
	for j, c := range p.costs {
		fmt.Fprintf(&b, " %+d x%d", c, j)
	}
	b.WriteString("\nSubject To\n")
	for k, row := range p.rows {
		fmt.Fprintf(&b, " r%d:", k)
		for i, j := range row {
			fmt.Fprintf(&b, " + %d x%d", p.entries[k][i], j)
		}
		fmt.Fprintf(&b, " %s %d\n", p.senses[k], p.sides[k])
	}
	b.WriteString("Binary\n")
	for j := range p.costs {
		fmt.Fprintf(&b, " x%d", j)
	}
	return b.String() + "\nEnd\n"
}

func (p *drawnProgram) mps() string {
	var b strings.Builder
	b.WriteString("NAME drawn\nOBJSENSE\n    " + map[bool]string{true: "MAX", false: "MIN"}[p.maximize] + "\nROWS\n N obj\n")
	for k := range p.rows {
		fmt.Fprintf(&b, " %s r%d\n", map[string]string{"=": "E", "<=": "L", ">=": "G"}[p.senses[k]], k)
	}
	b.WriteString("COLUMNS\n    MARKER 'MARKER' 'INTORG'\n")
	for j, c := range p.costs {
		fmt.Fprintf(&b, "    x%d obj %d\n", j, c)
		for k, row := range p.rows {
			for at, i := range row {
				if i == j {
					fmt.Fprintf(&b, "    x%d r%d %d\n", j, k, p.entries[k][at])
				}
			}
		}
	}
	b.WriteString("    MARKER 'MARKER' 'INTEND'\nRHS\n")
	for k := range p.rows {
		fmt.Fprintf(&b, "    RHS r%d %d\n", k, p.sides[k])
	}
	b.WriteString("BOUNDS\n")
	for j := range p.costs {
		fmt.Fprintf(&b, " UP BND x%d 1\n", j)
	}
	return b.String() + "ENDATA\n"
}

// best is the best value by a look at all sets of variables.
func (p *drawnProgram) best() (best int, found bool) {
	for set := range 1 << len(p.costs) {
		ok, sum := true, 0
		for k, row := range p.rows {
			count := 0
			for i, j := range row {
				count += p.entries[k][i] * (set >> j & 1)
			}
			ok = ok && (count <= p.sides[k] || p.senses[k] == ">=") && (count >= p.sides[k] || p.senses[k] == "<=")
		}
		for j, c := range p.costs {
			sum += c * (set >> j & 1)
		}
		if ok && (!found || p.maximize && sum > best || !p.maximize && sum < best) {
			best, found = sum, true
		}
	}
	return best, found
}

// Random set packing, partitioning and covering, with several units too, as LP and MPS against a look at all sets of variables.
func TestPrograms(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 3))
	d := host.Open(1)
	defer d.Close()
	session, err := Open(Options{Settings: solve.Settings{Devices: []device.Device{d}}})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for n := range inputtest.Draws(2000) {
		p := &drawnProgram{maximize: r.IntN(2) == 0}
		for range 1 + r.IntN(8) {
			p.costs = append(p.costs, r.IntN(41)-20)
		}
		kind := r.IntN(6)
		p.maximize = p.maximize && kind != 4
		for range 1 + r.IntN(5) {
			var row []int
			for j := range p.costs {
				if r.IntN(2) == 0 {
					row = append(row, j)
				}
			}
			if row == nil {
				row = []int{0}
			}
			sense, side, largest := "<=", 1, 1
			switch {
			case kind == 1 || kind == 2 && r.IntN(2) == 0:
				sense = "="
			case kind == 3, kind == 5 && r.IntN(2) == 0:
				sense, side, largest = []string{"<=", "="}[kind/5], r.IntN(6), 3
			case kind == 4 && r.IntN(2) == 0:
				sense, side, largest = ">=", 1+r.IntN(4), 3
			}
			var entries []int
			for range row {
				entries = append(entries, 1+r.IntN(largest))
			}
			p.rows, p.entries, p.senses, p.sides = append(p.rows, row), append(p.entries, entries), append(p.senses, sense), append(p.sides, side)
		}
		name, text := "p.lp", p.lp()
		if n%2 == 0 {
			name, text = "p.mps", p.mps()
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := Read(path)
		if err != nil {
			t.Fatalf("%v of\n%s", err, text)
		}
		got, err := session.Solve(t.Context(), a)
		best, feasible := p.best()
		if !p.maximize && !slices.Contains(p.senses, "=") && !slices.Contains(p.senses, ">=") {
			best = -best
		}
		if feasible && (err != nil || got.Value.String() != fmt.Sprint(best) || !got.Proven) || !feasible && !errors.Is(err, solve.ErrInfeasible) {
			t.Fatalf("found %+v, %v, expected %d, %t, of\n%s", got, err, best, feasible, text)
		}
	}
}

// Programs that are no set packing say which line is none.
func TestProgramsRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Maximize\n obj: x + y\nSubject To\n r: x + 2.5 y <= 1\nBinary\n x y\nEnd\n", ":4: found the coefficient \"2.5\""},
		{"Maximize\n obj: x + y\nSubject To\n r: x - y <= 1\nBinary\n x y\nEnd\n", ":4: found the coefficient \"-1\""},
		{"Maximize\n obj: x + y\nSubject To\n r: x + y <= 1.5\nBinary\n x y\nEnd\n", "expected whole numbers"},
		{"Maximize\n obj: x + y\nSubject To\n r: x + y >= 1\nBinary\n x y\nEnd\n", ":4: found a row that is at least a number where the objective is maximised"},
		{"Minimize\n obj: x + y\nSubject To\n r: x + y >= 1\n q: x + y = 1\nBinary\n x y\nEnd\n", "expected one of these kinds"},
		{"Minimize\n obj: x + y\nSubject To\n r: x + y >= 1\n q: x + 2 y <= 2\nBinary\n x y\nEnd\n", ":5: found a row that is at most a number beside"},
		{"Maximize\n obj: x + y\nSubject To\n r: x + y <= 1\nBinary\n x\nEnd\n", "found the variable \"y\""},
	} {
		path := filepath.Join(t.TempDir(), "p.lp")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("found the error %v, expected %q", err, c.want)
		}
	}
}
