package auction

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/solve"
)

// A drawnProgram is set packing or partitioning.
type drawnProgram struct {
	maximize bool
	costs    []int
	rows     [][]int // variables
	equal    []bool
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
		for _, j := range row {
			fmt.Fprintf(&b, " + x%d", j)
		}
		b.WriteString(map[bool]string{true: " = 1\n", false: " <= 1\n"}[p.equal[k]])
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
		fmt.Fprintf(&b, " %s r%d\n", map[bool]string{true: "E", false: "L"}[p.equal[k]], k)
	}
	b.WriteString("COLUMNS\n    MARKER 'MARKER' 'INTORG'\n")
	for j, c := range p.costs {
		fmt.Fprintf(&b, "    x%d obj %d\n", j, c)
		for k, row := range p.rows {
			for _, i := range row {
				if i == j {
					fmt.Fprintf(&b, "    x%d r%d 1\n", j, k)
				}
			}
		}
	}
	b.WriteString("    MARKER 'MARKER' 'INTEND'\nRHS\n")
	for k := range p.rows {
		fmt.Fprintf(&b, "    RHS r%d 1\n", k)
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
			for _, j := range row {
				count += set >> j & 1
			}
			ok = ok && count <= 1 && (count == 1 || !p.equal[k])
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

// Random set packing and partitioning, and both, as LP and MPS against a look at all sets of variables.
func TestPrograms(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 3))
	d := host.Open(1)
	defer d.Close()
	session, err := Open(Options{Settings: solve.Settings{Devices: []device.Device{d}}})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for n := range 2000 {
		p := &drawnProgram{maximize: r.IntN(2) == 0}
		for range 1 + r.IntN(8) {
			p.costs = append(p.costs, r.IntN(41)-20)
		}
		kind := r.IntN(3)
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
			p.rows, p.equal = append(p.rows, row), append(p.equal, kind == 1 || kind == 2 && r.IntN(2) == 0)
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
		if !p.maximize {
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
		{"Maximize\n obj: x + y\nSubject To\n r: x + 2 y <= 1\nBinary\n x y\nEnd\n", ":4: found the coefficient \"2\""},
		{"Maximize\n obj: x + y\nSubject To\n r: x + y <= 2\nBinary\n x y\nEnd\n", "expected rows of ones"},
		{"Maximize\n obj: x + y\nSubject To\n r: x + y >= 1\nBinary\n x y\nEnd\n", "expected rows of ones"},
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
