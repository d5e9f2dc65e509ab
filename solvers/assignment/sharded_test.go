package assignment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment/internal/coreprice"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/hungarian"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/internal/verify"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// openShards are those of core and price, helped by what the binary's tuning data choose.
func openShards(g *collective.Group, v *device.Variant, rows, cols int) (engine.Sharded, error) {
	return coreprice.OpenShards(g, nil, v, rows, cols)
}

// shardsAgree solves every case on a group of n devices, without and with a
// start, and checks the certificate over the shards.
func shardsAgree(t *testing.T, n int, f *device.Family, value problem.Value, open func(*collective.Group, *device.Variant, int, int) (engine.Sharded, error), cases map[string]*problem.Normal) {
	t.Helper()
	devices := emulatedtest.OpenSeveral(t, n)
	db, err := tuned.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(4, 80))
	for name, p := range cases {
		want := problem.Infinity
		if s, err := reference.Solve(p, nil); err == nil {
			if want, err = enginetest.CheckOptimal(p, s); err != nil {
				t.Fatal(name, err)
			}
		}
		g, err := collective.Open(devices)
		if err != nil {
			t.Fatal(name, err)
		}
		e, err := open(g, enginetest.SafeOf(f, value), p.Rows, p.Cols)
		if err != nil {
			t.Fatal(name, err)
		}
		c := &shardedCosts{group: g, engine: e, first: collective.SplitRows(p.Rows, n)}
		c.held.CloseLater(g)
		c.held.CloseLater(e)
		if err := c.allocate(p, Options{Settings: solve.Settings{Tuning: db}}); err != nil {
			t.Fatal(name, err)
		}
		if err := c.upload(context.Background(), p.Instance.Bytes()); err != nil {
			t.Fatal(name, err)
		}
		starts := []*problem.Prices{nil}
		if start := enginetest.FeasibleDuals(p, r); n > 1 || emulatedtest.Thorough() { // of one device: the families' own tests
			starts = append(starts, start)
		}
		for _, from := range starts {
			err := enginetest.CheckLeastCost(p, from, func(p *problem.Normal, start *problem.Prices) (*engine.Solution, error) {
				sol, err := e.Solve(context.Background(), p, c.costs, start)
				if err != nil || p.Rows == 0 {
					return sol, err
				}
				_, _, err = verify.CheckShards(context.Background(), p, c.checks, sol)
				return sol, err
			}, want)
			if err != nil {
				t.Errorf("%d devices, %s, start %v: %v", n, name, from != nil, err)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// share leaves of some cases the third that a run on n of three devices takes; all where
// more than the default is asked for.
func share(cases map[string]*problem.Normal, n int) map[string]*problem.Normal {
	for at, name := range slices.Sorted(maps.Keys(cases)) {
		if !emulatedtest.Thorough() && at%3 != n%3 {
			delete(cases, name)
		}
	}
	return cases
}

func TestCoreOnSeveralDevices(t *testing.T) {
	for n, value := range map[int]problem.Value{1: problem.Int64, 2: problem.Int32, 3: problem.Float64} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			shardsAgree(t, n, &assignment.Core, value, openShards, share(enginetest.ShardCases(t, value, 6), n))
		})
	}
}

func TestSolveSharded(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 3)
	inst, err := draw.Generate("uniform", 50, 61, 100, 1<<40, problem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Solve(context.Background(), inst, on(Options{}, host.Open(1)))
	if err != nil {
		t.Fatal(err)
	}
	for _, transposed := range []bool{false, true} {
		if transposed {
			inst = inst.Transpose()
		}
		r, err := Solve(context.Background(), inst, on(Options{Duals: true}, devices...))
		if err != nil {
			t.Fatal(err)
		}
		if r.Value.String() != want.Value.String() || !r.Proven || r.Certificate.By == "host" || r.Counts.Stages == (engine.StageTimes{}) {
			t.Errorf("found %s by %s, certificate %+v, stages %+v, want %s", r.Value.String(), r.Variant, r.Certificate, r.Counts.Stages, want.Value.String())
		}
	}
	big := &problem.Instance{Rows: 1 << 20, Cols: 1 << 20, Type: problem.Int32}
	err = fitsTogether(devices, &problem.Normal{Instance: big, Rows: big.Rows, Cols: big.Cols}, collective.SplitRows(big.Rows, 3))
	if !errors.Is(err, device.ErrMemory) || !strings.Contains(err.Error(), "enough for about 28377 x 28377") {
		t.Errorf("refusal: %v", err)
	}
}

// On several devices runs what won among the variants for those, or else the one most
// like the winner on one; the reason is that of the variant that runs.
func TestPlanSharded(t *testing.T) {
	facts := device.Facts{Kind: device.CUDA, Name: "Test GPU", Major: 9, SMs: 100, ThreadsPerBlock: 1024}
	inst, err := draw.Generate("uniform", 60, 60, 2, 1<<40, problem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	f := &assignment.Classical
	won := func(label string) *tuned.Database {
		w := engine.Workload(p)
		db, err := tuned.New(tuned.Entry{Family: f.Name, Class: facts.Class(), Fixed: w.Fixed, Size: w.Size, Protocol: tuned.Protocol,
			Winner: label, Results: []tuned.Result{{Variant: label, Hash: tuned.Hash(f.Variant(label).Hash), Nanos: 1}}})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	const (
		one   = "block=512,items=32,rows=1,resident=1,barrier=grid,singleblock=64,zeros=lists,slack=bounded,forest=kept,paths=many,devices=one,value=int32"
		like  = "block=512,items=32,rows=1,resident=1,barrier=grid,singleblock=64,zeros=lists,slack=bounded,forest=kept,paths=many,devices=many,value=int32"
		other = "block=512,items=32,rows=1,resident=1,barrier=grid,singleblock=1,zeros=bits,slack=recomputed,forest=kept,paths=many,devices=many,value=int32"
	)
	for name, c := range map[string]struct {
		settings     solve.Settings
		want, reason string
	}{
		"won on one":        {solve.Settings{Tuning: won(one)}, like, "predicted: of the variants for several devices the one most like " + one + ", which is that for one (exact: won"},
		"won on several":    {solve.Settings{Tuning: won(other)}, other, "exact: won when size 60 was tuned on Test GPU"},
		"asked, of one":     {solve.Settings{Tuning: won(other), Variant: one}, like, "asked for by name; of the variants for several devices the one most alike"},
		"asked, of several": {solve.Settings{Tuning: won(one), Variant: other}, other, "asked for by name"},
	} {
		c.settings.Algorithm = "classical"
		got, err := planSharded(facts, p, "", Options{Settings: c.settings})
		if err != nil || got.variant.Label != c.want || !strings.HasPrefix(got.reason, c.reason) {
			t.Errorf("%s: %v, %s: %v; expected %s: %s", name, got.variant, got.reason, err, c.want, c.reason)
		}
	}
}

func TestDrawnOnDevices(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 2)
	for _, value := range []problem.Value{problem.Int32, problem.Float64} {
		w := draw.Drawing{Kind: "uniform", Rows: 33, Cols: 40, Seed: 1 << 40, Type: value}
		inst, err := draw.Draw(w)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Solve(context.Background(), inst, on(Options{}, host.Open(1)))
		if err != nil {
			t.Fatal(err)
		}
		d, err := OpenDrawnSharded(context.Background(), w, on(Options{}, devices...))
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for k, m := range d.job.spread.costs {
			costs := make([]byte, m.Costs.Len())
			if err := d.job.spread.group.Streams[k].Download(costs, m.Costs, 0); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(costs, inst.Bytes()[at:at+len(costs)]) {
				t.Errorf("%s: device %d drew other costs", value, k)
			}
			at += len(costs)
		}
		r, err := d.SolveAgain(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if r.Value.String() != want.Value.String() || !r.Proven {
			t.Errorf("%s: found %s, want %s", value, r.Value.String(), want.Value.String())
		}
		alone, err := OpenDrawn(context.Background(), w, on(Options{}, devices[0]))
		if err != nil {
			t.Fatal(err)
		}
		if r, err = alone.SolveAgain(context.Background()); err != nil || r.Value.String() != want.Value.String() {
			t.Errorf("%s: %v: one device found %s, want %s", value, err, r.Value.String(), want.Value.String())
		}
		if err := errors.Join(d.Close(), alone.Close()); err != nil {
			t.Error(err)
		}
	}
}

// What core gives up another family solves, where the costs are.
func TestShardedSuccessor(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 2)
	inst, err := draw.Generate("uniform", 30, 30, 100, 1<<40, problem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []*float64{nil, new(float64)} {
		if inst.Limit = limit; limit != nil {
			*limit = 5 // only the host's method takes it
		}
		want, err := Solve(context.Background(), inst, on(Options{}, host.Open(1)))
		if err != nil {
			t.Fatal(err)
		}
		s, err := loaded(inst, on(Options{}, devices...))
		if err != nil {
			t.Fatal(err)
		}
		s.job.spread.engine.(*coreprice.CoreShards).Schedule.Rounds = 0
		r, err := s.SolveAgain(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		next := "assignment/classical"
		if limit != nil {
			next = "host"
		}
		if r.Value.String() != want.Value.String() || !r.Proven || !strings.HasPrefix(r.Counts.Switch, next) {
			t.Errorf("found %s by %q, want %s by %s", r.Value.String(), r.Counts.Switch, want.Value.String(), next)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A stated device says of itself what a test wants.
type stated struct {
	device.Device
	sms  int
	uuid string
}

func (d stated) Facts() device.Facts {
	f := d.Device.Facts()
	f.SMs, f.UUID = d.sms, d.uuid
	return f
}

func (d stated) PeerAccess(device.Device) (bool, error) { return true, nil }

// Members wait for one another, so the smallest device has to run as many blocks
// at once as the others.
func TestUnequalDevices(t *testing.T) {
	var devices []device.Device
	for k, d := range emulatedtest.OpenSeveral(t, 3) {
		devices = append(devices, stated{d, []int{12, 5, 9}[k], ""})
	}
	g, err := collective.Open(devices)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	const rows, cols = 900, 1000
	v := assignment.Classical.Variant("block=512,items=32,rows=1,resident=1,barrier=grid,singleblock=64,zeros=lists,slack=bounded,forest=kept,paths=many,devices=many,value=int32")
	c, err := hungarian.NewClassicalParts(g, v, rows, cols, collective.SplitRows(rows, 3))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Peers == nil || c.Grid.Blocks != 5 {
		t.Errorf("classical: %d blocks a member, want 5", c.Grid.Blocks)
	}
	e, err := hungarian.OpenTreeShards(g, assignment.Tree.Variant("block=512,items=4,rows=4,barrier=peers,paths=many,matchedtrees=stop,value=int32"), rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for k, m := range e.(*hungarian.TreePeers).Members {
		if m.Blocks() != 5 {
			t.Errorf("tree: %d blocks of member %d, want 5", m.Blocks(), k)
		}
	}
}

func TestDistinctDevices(t *testing.T) {
	inst, err := problem.NewInstance(1, 1, []int32{7}, "test")
	if err != nil {
		t.Fatal(err)
	}
	d := host.Open(1)
	for _, c := range []struct {
		devices []device.Device
		want    string
	}{
		{nil, "Devices: found none"},
		{[]device.Device{stated{d, 1, "GPU-a"}, stated{d, 1, "GPU-b"}, stated{d, 2, "GPU-a"}}, "devices 0 and 2 are both GPU-a"},
	} {
		if _, err := Solve(t.Context(), inst, on(Options{}, c.devices...)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d devices: %v, want %q", len(c.devices), err, c.want)
		}
	}
}

func TestClassicalOnSeveralDevices(t *testing.T) {
	t.Parallel()
	f := &assignment.Classical
	for n, value := range map[int]problem.Value{1: problem.Float32, 2: problem.Int64, 3: problem.Int32} {
		for k, zeros := range []string{"bits", "lists"} {
			if !emulatedtest.EveryVariant() && k != n%2 {
				continue
			}
			t.Run(fmt.Sprint(n, zeros), func(t *testing.T) {
				open := func(g *collective.Group, v *device.Variant, rows, cols int) (engine.Sharded, error) {
					i := slices.IndexFunc(f.Variants, func(w device.Variant) bool {
						return f.Value(&w, "devices") == "many" && f.Value(&w, "value") == f.Value(v, "value") && f.Value(&w, "zeros") == zeros
					})
					return hungarian.OpenClassicalShards(g, &f.Variants[i], rows, cols)
				}
				cases := share(enginetest.Cases(t, value, 4), n)
				if value == problem.Int32 {
					cases["more new zeros than a message buffer holds"] = enginetest.ManyZeros(t)
				}
				shardsAgree(t, n, f, value, open, cases)
			})
		}
	}
}
