package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"coalesce/runtime/host"
)

// A worker that crashes and one that hangs are told apart.
func TestFaults(t *testing.T) {
	for class, script := range map[string]string{
		"crash": "#!/bin/sh\necho 'fatal error: out of memory' >&2\necho 'coalesce/solvers/csg.Read(...)' >&2\nexit 2\n",
		"hang":  "#!/bin/sh\nexec sleep 60\n",
		"spin":  "#!/bin/sh\ntrap 'echo stacks >&2; exit 2' QUIT\nwhile :; do :; done\n",
	} {
		t.Run(class, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "worker")
			if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			w := &pool{program: program, patience: 300 * time.Millisecond}
			r, err := w.run([]string{"version"})
			want := strings.ReplaceAll(class, "spin", "hang")
			var f *fault
			if !errors.As(err, &f) || f.class != want {
				t.Fatalf("found %v, want a %s", err, want)
			}
			if class == "spin" && string(r.Err) != "stacks\n" {
				t.Errorf("found %q, want what the worker says at its end", r.Err)
			}
			if class == "hang" && !strings.Contains(f.text, "no end after 1.2s") {
				t.Errorf("%q: a worker that has no core gets four times the patience", f.text)
			}
			if class == "crash" && !strings.Contains(f.text, "fatal error: out of memory; coalesce/solvers/csg.Read") {
				t.Errorf("%q does not say what crashed", f.text)
			}
			if err := w.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestJudgeFile(t *testing.T) {
	for _, c := range []struct {
		code      int
		out, said string
		want      string // the class, empty: no fault
	}{
		{0, `{"value":1}`, "", ""},
		{0, "", "", "silent"},
		{1, "", "coalesce: /x/a.csv:3: found \"z\", expected a number\n", ""},
		{1, "", "coalesce: unexpected end\n", "unnamed"},
		{1, `{"value":null,"proven":true}`, "coalesce: no full matching\n", ""},
		{1, "", "coalesce: a.csv: found \x1b[31m\n", "raw"},
		{1, "", "coalesce: a.csv: found \x9b\n", "raw"},
		{1, "", "coalesce: a.csv: found \ufffd\n", ""},
		{1, "", "coalesce: a.csv: " + strings.Repeat("x", 1<<12), "long"},
		{3, "", "coalesce: check failed: a.csv\n", "check"},
		{2, "", "coalesce: a.csv\n", "check"},
	} {
		class := ""
		if f := judgeFile(reply{Code: c.code, Out: []byte(c.out), Err: []byte(c.said)}, "a.csv", false); f != nil {
			class = f.class
		}
		if class != c.want {
			t.Errorf("exit %d, %q, %q: found %q, want %q", c.code, c.out, shorten(c.said), class, c.want)
		}
	}
}

// planted is an instance with solutions 0 to 3 that are worth 1, 5, 4.5 and 0.1 +
// 0.2, and is maximised.
func planted() instance {
	third := new(big.Rat).Add(floatNumber(0.1).exact, floatNumber(0.2).exact)
	worth := []*big.Rat{big.NewRat(1, 1), big.NewRat(5, 1), big.NewRat(9, 2), third}
	return instance{file: "a", value: func(solution json.RawMessage, _ bool) (*big.Rat, *big.Rat, error) {
		var k int
		if err := json.Unmarshal(solution, &k); err != nil {
			return nil, worth[1], err
		}
		return worth[k], worth[1], nil
	}}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		code int
		out  string
		want string
	}{
		{0, `{"value":5,"bound":5,"gap":0,"proven":true,"solution":1}`, ""},
		{0, `{"value":"5","bound":"5","gap":0,"proven":true,"solution":1}`, ""},
		{0, `{"value":4.5,"bound":4.5,"gap":0,"proven":true,"solution":2}`, "false proof"},
		{0, `{"value":4.5,"bound":5,"gap":0.5,"proven":true,"solution":2}`, ""},
		{0, `{"value":4.5,"bound":5,"gap":0.4,"proven":true,"solution":2}`, "false proof"},
		{0, `{"value":4.5,"bound":4.75,"gap":null,"proven":false,"solution":2}`, "false proof"},
		{0, `{"value":4.5,"bound":null,"gap":null,"proven":false,"solution":2}`, ""},
		{0, `{"value":5,"bound":5,"gap":null,"proven":true,"solution":1}`, "wrong"},
		{0, `{"value":5,"bound":5,"gap":0,"proven":true,"solution":2}`, "wrong"},
		{0, `{"value":0.3,"bound":null,"gap":null,"proven":false,"solution":3}`, ""},
		{0, `{"value":0.300001,"bound":null,"gap":null,"proven":false,"solution":3}`, "wrong"},
		{1, `{"value":null,"bound":null,"gap":null,"proven":true,"solution":null}`, "false proof"},
		{1, ``, "refused"},
		{3, ``, "check"},
		{0, `{`, "wrong"},
	} {
		inst, class := planted(), ""
		if f := inst.checkReply(reply{Code: c.code, Out: []byte(c.out)}); f != nil {
			class = f.class
		}
		if class != c.want {
			t.Errorf("exit %d, %s: found %q, want %q", c.code, c.out, class, c.want)
		}
	}
	inst := planted()
	inst.sure = true
	if f := inst.checkReply(reply{Out: []byte(`{"value":5,"bound":5,"gap":0,"proven":false,"solution":1}`)}); f == nil {
		t.Error("an answer that should be proven is not, and nothing counts")
	}
}

// What solves end with that were interrupted, had no memory, or were compared with a
// reference.
func TestJudgeActs(t *testing.T) {
	const line, two = "coalesce: a: interrupted\n", "coalesce: a\ncoalesce: b\n"
	for _, c := range []struct {
		code    int
		out     string
		said    string
		seconds float64
		want    [4]string // of judgeEnd, judgeMemory with little and with all memory, judgeReference
	}{
		{0, `{"value":1,"gap":0,"proven":true}`, "", 0.5, [4]string{"", "", "", ""}},
		{0, `{"value":1,"gap":null,"proven":false}`, "", 1.5, [4]string{"late", "", "", "wrong"}},
		{0, `{"value":1,"gap":null,"proven":false,"interrupted":true}`, "", 0.5, [4]string{"", "", "", "wrong"}},
		{0, `{"value":1,"gap":null,"proven":false}`, "", 0.5, [4]string{"wrong", "", "", "wrong"}},
		{1, `{"value":1,"gap":null,"proven":false,"interrupted":true}`, line, 0.5, [4]string{"wrong", "wrong", "refused", "refused"}},
		{0, ``, "", 0.5, [4]string{"wrong", "silent", "silent", "wrong"}},
		{1, ``, line, 0.5, [4]string{"", "wrong", "refused", "refused"}},
		{1, ``, "coalesce: out of memory\n", 0.5, [4]string{"", "", "refused", "refused"}},
		{1, ``, two, 0.5, [4]string{"wrong", "wrong", "refused", "refused"}},
		{2, ``, "panic\n", 0.5, [4]string{"crash", "wrong", "refused", "refused"}},
		{3, `{"value":1,"gap":0,"proven":true}`, line, 0.5, [4]string{"crash", "wrong", "refused", "wrong"}},
	} {
		r := reply{Code: c.code, Out: []byte(c.out), Err: []byte(c.said), Seconds: c.seconds}
		for i, f := range []*fault{judgeEnd(r, true, "SIGINT", time.Second), judgeMemory(r, true), judgeMemory(r, false), judgeReference(r, true)} {
			class := ""
			if f != nil {
				class = f.class
			}
			if class != c.want[i] {
				t.Errorf("exit %d, %s, %q: judge %d found %q, want %q", c.code, c.out, c.said, i, class, c.want[i])
			}
		}
	}
}

// Programs' instances are solved, and refused, of every problem.
func TestPrograms(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	for _, x := range fillers {
		r := rand.New(rand.NewPCG(5, 7))
		solved, refused := 0, 0
		for range 200 {
			o := x.try(r, d)
			for _, text := range o.faults {
				t.Errorf("%s: %s: %s", x.name, o.class, text)
			}
			if o.solved {
				solved++
			}
			refused += o.refused
		}
		if solved < 40 || refused < 40 {
			t.Errorf("%s: %d instances were solved and %d calls refused, expected more", x.name, solved, refused)
		}
	}
}

func TestTables(t *testing.T) {
	for _, x := range tableReaders() {
		for seed := range uint64(3) {
			if _, wrong := tryTable(x.name, rand.New(rand.NewPCG(seed, 0))); wrong != nil {
				t.Errorf("%s: %v", x.name, wrong)
			}
		}
	}
}

// SIGINT ends a command that does not ask for it, also where the adversary itself ignores it.
func TestInterruptIsHeard(t *testing.T) {
	signal.Ignore(os.Interrupt)
	defer signal.Reset(os.Interrupt)
	a := &adversary{Device: "host", program: "sleep"}
	if r, wrong := a.sendSignal(command{}, []string{"5"}, syscall.SIGINT, 50*time.Millisecond); wrong != nil || r.Code != 1 || r.Seconds > 4 {
		t.Errorf("found %+v, %+v", r, wrong)
	}
}

// The planted spins are worth the planted optimum, and no others of some drawn are worth
// more.
func TestIsing(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		const n = 8
		inst := isingInstance(r, "host", families[r.IntN(len(families))], n)
		met := false
		for x := range 1 << n {
			var spins [n]byte
			for i := range spins {
				spins[i] = "-+"[x>>i&1]
			}
			sum, best, err := inst.value(json.RawMessage(`"`+string(spins[:])+`"`), false)
			if err != nil || sum.Cmp(best) < 0 {
				t.Fatalf("%s is worth %v, the best %v: %v", spins, sum, best, err)
			}
			met = met || sum.Cmp(best) == 0
		}
		if !met {
			t.Fatalf("no spins are worth the optimum\n%s", inst.data)
		}
	}
}

// Rows by columns, the columns in all orders: what matchBySubsets finds.
func TestMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		rows, cols := 1+r.IntN(3), 3+r.IntN(2)
		cost := make([]*big.Int, rows*cols)
		for i := range cost {
			if r.IntN(5) > 0 {
				cost[i] = big.NewInt(r.Int64N(21) - 10)
			}
		}
		for _, free := range []bool{false, true} {
			least := r.IntN(2) == 0
			var best *big.Int
			var try func(i int, used int, sum *big.Int)
			try = func(i, used int, sum *big.Int) {
				if i == rows {
					if best == nil || least && sum.Cmp(best) < 0 || !least && sum.Cmp(best) > 0 {
						best = sum
					}
					return
				}
				if free {
					try(i+1, used, sum)
				}
				for j := range cols {
					if c := cost[i*cols+j]; c != nil && used>>j&1 == 0 {
						try(i+1, used|1<<j, new(big.Int).Add(sum, c))
					}
				}
			}
			try(0, 0, new(big.Int))
			for _, turned := range []bool{false, true} { // with more rows than columns too
				got := matchBySubsets(rows, cols, least, free, func(i, j int) *big.Int { return cost[i*cols+j] })
				if turned {
					got = matchBySubsets(cols, rows, least, free, func(i, j int) *big.Int { return cost[j*cols+i] })
				}
				if fmt.Sprint(got) != fmt.Sprint(best) {
					t.Fatalf("%d x %d %v: found %v, want %v", rows, cols, cost, got, best)
				}
			}
		}
	}
}

// Numbers are what their texts say, to the last bit and in units.
func TestNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, f := range families {
		list := f.drawNumbers(r, 50)
		exact := exactValues(list, false)
		whole, scale := commonUnits(append(exact, nil))
		for i, v := range list {
			if back := new(big.Rat).SetFrac(whole[i], scale); back.Cmp(exact[i]) != 0 {
				t.Errorf("%s: %s became %s", f.name, v.text, back)
			}
			if x, _ := v.exact.Float64(); !f.whole && x != v.float || math.IsInf(x, 0) {
				t.Errorf("%s: %s is %v", f.name, v.text, x)
			}
			if x, ok := new(big.Rat).SetString(v.text); !ok || x.Cmp(v.digits) != 0 {
				t.Errorf("%s: %s is read as %s", f.name, v.text, v.digits)
			}
		}
	}
}

// Edits leave the seed as it was, change most files, and unpack to what was packed.
func TestMutate(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, p := range parsers() {
		changed := 0
		for range 50 {
			seed := p.seeds[0]
			before := slices.Clone(seed)
			if string(mutate(r, seed, p.seeds[len(p.seeds)-1])) != string(before) {
				changed++
			}
			if !slices.Equal(seed, before) {
				t.Fatalf("%s: the seed was edited in place", p.name)
			}
		}
		if changed < 35 {
			t.Errorf("%s: %d of 50 files differ from the seed", p.name, changed)
		}
	}
}
