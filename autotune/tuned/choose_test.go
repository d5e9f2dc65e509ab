package tuned

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coalesce/generated/assignment"
	"coalesce/generated/csg"
	"coalesce/runtime/device"
)

var facts = device.Facts{Kind: device.CUDA, Name: "Test GPU", Major: 9, SMs: 132, Driver: "3.4"}

// family has variants a=1..4 of int32 (a=1 safe) and a=1 of float64 (safe);
// the hash of a=i is i.
func family() *device.Family {
	f := &device.Family{Name: "csg/splits", Target: device.CUDA, Params: []string{"a", "value"}}
	add := func(a int, value string) {
		f.Variants = append(f.Variants, device.Variant{
			Label:  fmt.Sprintf("a=%d,value=%s", a, value),
			Hash:   uint64(a),
			Values: []string{fmt.Sprint(a), value},
			Safe:   a == 1,
		})
	}
	for a := 1; a <= 4; a++ {
		add(a, "int32")
	}
	add(1, "float64")
	return f
}

var int32s = map[string]string{"value": "int32"}

// entry makes an int32 entry; variants of pairs (label, time) after the winner.
func entry(size int, winner string, hash Hash, nanos int64) Entry {
	return Entry{Family: "csg/splits", Class: facts.Class(), Fixed: int32s, Size: size, Protocol: Protocol,
		Time: time.Unix(1e9, 0), Winner: winner, Results: []Result{{Variant: winner, Hash: hash, Nanos: nanos}}}
}

// tunedAt makes an entry from the times of a=1, a=2, …; 0 leaves one out, the
// least wins.
func tunedAt(size int, nanos ...int64) Entry {
	e := entry(size, "", 0, 0)
	e.Results = nil
	for i, ns := range nanos {
		if ns > 0 {
			e.Results = append(e.Results, Result{Variant: fmt.Sprintf("a=%d,value=int32", i+1), Hash: Hash(i + 1), Nanos: ns})
		}
	}
	e = e.normalised()
	e.Winner = e.Results[0].Variant
	return e
}

func TestChoose(t *testing.T) {
	stale := tunedAt(20, 50, 10, 20)
	stale.Results[0].Hash = 77 // a=2, the winner
	crowned := tunedAt(20, 50, 10, 11)
	crowned.Winner = "a=3,value=int32" // an incumbent kept within the margin
	other := tunedAt(20, 50, 10)
	other.Class = "another device"
	old := tunedAt(20, 50, 10)
	old.Protocol = "mp0"
	close := tunedAt(20, 50, 10, 11)
	close.Results[0].Hash = 77
	kin, far, ampere, driven := tunedAt(20, 50, 10), tunedAt(20, 50, 0, 10), tunedAt(20, 50, 0, 10), tunedAt(20, 50, 10)
	kin.Class = "cuda|Other GPU|9.0|100sm|smem0"
	far.Class = "cuda|Large GPU|9.0|10000sm|smem0"
	ampere.Class = "cuda|Old GPU|8.0|100sm|smem0"
	driven.Driver = "1.2"
	no2 := func(v *device.Variant) error {
		if strings.HasPrefix(v.Label, "a=2") {
			return errors.New("too much shared memory")
		}
		return nil
	}
	for name, tc := range map[string]struct {
		entries  []Entry
		size     int
		fixed    map[string]string
		feasible func(*device.Variant) error
		want     string // a
		level    string
		reason   string
	}{
		"exact":                    {[]Entry{tunedAt(20, 50, 10, 20)}, 20, nil, nil, "2", Exact, "exact: won when size 20 was tuned on Test GPU"},
		"exact, incumbent":         {[]Entry{crowned}, 20, nil, nil, "3", Exact, "on Test GPU, where another had a lesser time that its samples, few or scattered, do not prove"},
		"exact, winner stale":      {[]Entry{stale}, 20, nil, nil, "3", Nearest, "1 tuned result of kernels that have changed since ignored as stale"},
		"exact, winner infeasible": {[]Entry{tunedAt(20, 50, 10, 20)}, 20, nil, no2, "3", Exact, "1 tuned result not feasible here ignored (too much shared memory)"},
		"interpolated":             {[]Entry{tunedAt(16, 40, 10, 12, 20), tunedAt(24, 90, 90, 21, 20)}, 20, nil, nil, "3", Interpolated, "interpolated: size 20 lies between the tuned sizes 16 and 24 on Test GPU, and of 4 variants"},
		"interpolated, near low":   {[]Entry{tunedAt(16, 40, 10, 13, 20), tunedAt(24, 90, 40, 21, 20)}, 17, nil, nil, "2", Interpolated, "predicted fastest"},
		"only safe at both":        {[]Entry{tunedAt(16, 40, 10), tunedAt(24, 90, 0, 20)}, 23, nil, nil, "3", Interpolated, "of 3 variants measured there it is predicted fastest"},
		"only safe, near low":      {[]Entry{tunedAt(16, 40, 10), tunedAt(24, 90, 0, 23)}, 17, nil, nil, "2", Interpolated, "predicted fastest"},
		"little ahead at one":      {[]Entry{tunedAt(16, 40, 10, 12), tunedAt(24, 90, 22, 24, 21)}, 18, nil, nil, "2", Interpolated, "of 4 variants measured there"},
		"nothing compared":         {[]Entry{tunedAt(16, 40, 38), tunedAt(24, 90)}, 22, nil, nil, "2", Interpolated, "of 2 variants measured there"},
		"no variant at both":       {[]Entry{tunedAt(16, 0, 10), tunedAt(24, 90, 0, 20)}, 23, nil, nil, "3", Interpolated, "of 3 variants measured there"},
		"nearest above":            {[]Entry{tunedAt(16, 40, 10), tunedAt(24, 90, 0, 20)}, 26, nil, nil, "3", Nearest, "the best at size 24, the tuned size nearest to 26"},
		"no variant, by ratio":     {[]Entry{tunedAt(100, 0, 10), tunedAt(190, 90, 0, 20)}, 140, nil, nil, "3", Interpolated, "between the tuned sizes 100 and 190"},
		"beyond all":               {[]Entry{tunedAt(16, 60, 10, 12), tunedAt(24, 62, 60, 59)}, 200, nil, nil, "3", Nearest, "the best at size 24, the tuned size nearest to 200 on Test GPU"},
		"below all":                {[]Entry{tunedAt(16, 40, 10, 12), tunedAt(24, 90, 60, 20)}, 2, nil, nil, "2", Nearest, "the best at size 16"},
		"beyond one size":          {[]Entry{tunedAt(16, 40, 10, 12)}, 200, nil, nil, "2", Nearest, "the best at size 16, the tuned size nearest to 200"},
		"stale, then neighbour":    {[]Entry{stale, tunedAt(24, 90, 90, 21, 20)}, 20, nil, nil, "4", Nearest, "the best at size 24"},
		"stale, runner-up close":   {[]Entry{close}, 20, nil, nil, "3", Exact, "runner-up when size 20 was tuned"},
		"kin":                      {[]Entry{kin}, 20, nil, nil, "2", Exact, "exact: won when size 20 was tuned on Other GPU"},
		"kin and this device":      {[]Entry{kin, tunedAt(20, 90, 90, 21, 20)}, 20, nil, nil, "4", Exact, "exact: won when size 20 was tuned on Test GPU"},
		"between kin's and own":    {[]Entry{kin, tunedAt(26, 900, 90, 150)}, 21, nil, nil, "2", Interpolated, "size 21 lies between the tuned sizes 20 on Other GPU (of the same compute capability) and 26 on Test GPU, and of 3"},
		"beyond kin's and own":     {[]Entry{kin, tunedAt(26, 900, 90, 95)}, 80, nil, nil, "2", Nearest, "the best at size 26, the tuned size nearest to 80 on Test GPU"},
		"kin at the size":          {[]Entry{kin, tunedAt(21, 90, 90, 21, 20)}, 20, nil, nil, "2", Exact, "exact: won when size 20 was tuned on Other GPU (of the same compute capability); coalesce tune csg --family splits --sizes 20 measures them here"},
		"kin, stale here":          {[]Entry{kin, stale}, 20, nil, nil, "2", Exact, "exact: won when size 20 was tuned on Other GPU"},
		"nearest kin":              {[]Entry{kin, far}, 20, nil, nil, "2", Exact, "Other GPU"},
		"another capability":       {[]Entry{ampere}, 20, nil, nil, "3", FamilyDefault, "csg/splits was tuned on devices unlike this one alone, and going by size 20 on Old GPU this variant is predicted fastest"},
		"another type":             {[]Entry{tunedAt(20, 10, 50)}, 20, map[string]string{"value": "float64"}, nil, "1", Exact, "tuned on Test GPU for value=int32; coalesce tune csg --family splits --sizes 20 measures them here"},
		"another driver":           {[]Entry{driven}, 20, nil, nil, "2", Exact, "; measured with driver 1.2, here 3.4"},
		"two far apart":            {[]Entry{tunedAt(16, 0, 10), tunedAt(200, 90, 0, 20)}, 57, nil, nil, "3", Interpolated, "size 57 lies between the tuned sizes 16 and 200 on Test GPU"},
		"other device":             {[]Entry{other}, 20, nil, nil, "1", Safe, "safe: csg/splits was not tuned for value=int32 on Test GPU, so the safe point is used; coalesce tune csg --family splits --sizes 20 measures the others"},
		"other protocol":           {[]Entry{old}, 20, nil, nil, "1", Safe, "was not tuned"},
		"other fixed":              {[]Entry{tunedAt(20, 50, 10)}, 20, map[string]string{"value": "float64"}, nil, "1", Safe, "safe: the one variant of csg/splits for value=float64"},
		"nothing usable":           {[]Entry{tunedAt(20, 0, 10)}, 20, nil, no2, "1", Safe, "safe: nothing tuned for value=int32 on Test GPU is usable"},
		"empty":                    {nil, 20, nil, nil, "1", Safe, "safe: "},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := New(tc.entries...)
			if err != nil {
				t.Fatal(err)
			}
			f, fixed := family(), tc.fixed
			if fixed == nil {
				fixed = int32s
			}
			c, err := db.Choose(f, facts, Workload{Fixed: fixed, Size: tc.size}, tc.feasible)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Value(c.Variant, "a"); got != tc.want || c.Level != tc.level || !strings.Contains(c.Reason(), tc.reason) {
				t.Errorf("chose %s (%s: %q), want a=%s (%s: … %q)", c.Variant.Label, c.Level, c.Reason(), tc.want, tc.level, tc.reason)
			}
			if f.Value(c.Variant, "value") != fixed["value"] {
				t.Errorf("chose %s for %v", c.Variant.Label, fixed)
			}
		})
	}
}

// Many goroutines choose from one database at once, some for workloads that were
// asked for before and some for new ones; the race detector watches.
func TestChooseAtOnce(t *testing.T) {
	db, err := New(tunedAt(20, 10, 50))
	if err != nil {
		t.Fatal(err)
	}
	f := family()
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for k := range 50 {
				w := Workload{Fixed: map[string]string{"value": "float64", "density": fmt.Sprint(k * (g % 2))}, Size: 20}
				if c, err := db.Choose(f, facts, w, nil); err != nil || f.Value(c.Variant, "value") != "float64" {
					t.Errorf("chose %v, %v", c.Variant, err)
				}
			}
		})
	}
	all.Wait()
}

// What is no parameter of the family keys the results and fits every variant.
func TestChooseByRange(t *testing.T) {
	wide := map[string]string{"value": "int32", "range": "wide"}
	e := tunedAt(20, 50, 10)
	e.Fixed = wide
	db, err := New(e)
	if err != nil {
		t.Fatal(err)
	}
	f := family()
	for _, tc := range []struct {
		fixed map[string]string
		level string
	}{{wide, Exact}, {int32s, Safe}, {map[string]string{"value": "int32", "range": "small"}, Exact}} {
		c, err := db.Choose(f, facts, Workload{Fixed: tc.fixed, Size: 20}, nil)
		if err != nil || c.Level != tc.level || f.Value(c.Variant, "value") != "int32" {
			t.Errorf("%v: chose %+v, %v, expected level %s", tc.fixed, c, err, tc.level)
		}
	}
}

func TestChooseWithoutSafe(t *testing.T) {
	f := family()
	c, err := (*Database)(nil).Choose(f, facts, Workload{Fixed: int32s, Size: 9}, func(v *device.Variant) error {
		if v.Safe {
			return errors.New("block too big")
		}
		return nil
	})
	if err != nil || f.Value(c.Variant, "a") != "2" || !strings.Contains(c.Reason(), "the variant nearest to the safe point") {
		t.Errorf("chose %v, %v", c, err)
	}
	_, err = (*Database)(nil).Choose(f, facts, Workload{Fixed: int32s, Size: 9}, func(*device.Variant) error { return errors.New("9 agents are too few") })
	if !errors.Is(err, ErrNoVariant) || !strings.Contains(err.Error(), "a=1,value=int32: 9 agents are too few") {
		t.Errorf("error %v", err)
	}
	_, err = (*Database)(nil).Choose(f, facts, Workload{Fixed: map[string]string{"value": "int8"}, Size: 9}, nil)
	if !errors.Is(err, ErrNoVariant) || !strings.Contains(err.Error(), `the workload's is "int8"`) {
		t.Errorf("error %v", err)
	}
}

// Whatever was tuned, a choice can run, has the workload's fixed parameters,
// is in the binary, and does not depend on the order of the entries.
func TestChooseProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := family()
		var entries []Entry
		for range rapid.IntRange(0, 5).Draw(t, "entries") {
			e := tunedAt(rapid.IntRange(0, 40).Draw(t, "size"), rapid.Int64Range(1, 5).Draw(t, "safe"),
				rapid.Int64Range(0, 5).Draw(t, "2"), rapid.Int64Range(0, 5).Draw(t, "3"), rapid.Int64Range(0, 5).Draw(t, "4"))
			if rapid.IntRange(0, 3).Draw(t, "stale") == 0 {
				e.Results[0].Hash = 99
			}
			entries = append(entries, e)
		}
		banned := rapid.SampledFrom([]string{"", "a=2", "a=3", "a=1"}).Draw(t, "banned")
		feasible := func(v *device.Variant) error {
			if banned != "" && strings.HasPrefix(v.Label, banned) {
				return errors.New("banned")
			}
			return nil
		}
		w := Workload{Fixed: int32s, Size: rapid.IntRange(0, 60).Draw(t, "workload")}
		db, err := New(entries...)
		if err != nil {
			t.Fatal(err)
		}
		c, err := db.Choose(f, facts, w, feasible)
		if err != nil {
			t.Fatal(err)
		}
		if feasible(c.Variant) != nil || f.Value(c.Variant, "value") != "int32" || f.Variant(c.Variant.Label) != c.Variant {
			t.Fatalf("chose %s although %q is banned", c.Variant.Label, banned)
		}
		if !strings.HasPrefix(c.Reason(), c.Level+":") || strings.Contains(c.Reason(), "\n") {
			t.Fatalf("reason %q at level %q", c.Reason(), c.Level)
		}
		for i, j := 0, len(entries)-1; i < j; i, j = i+1, j-1 {
			entries[i], entries[j] = entries[j], entries[i]
		}
		db, _ = New(entries...)
		if d, err := db.Choose(f, facts, w, feasible); err != nil || d.Variant != c.Variant || d.Reason() != c.Reason() {
			t.Fatalf("chose %v, with the entries reversed %v (%v)", c, d, err)
		}
	})
}

// The user's results lie over those of the binary: what is not stale comes first, then
// what is the user's own, whenever it was measured.
func TestOver(t *testing.T) {
	own, shipped := tunedAt(20, 50, 10), tunedAt(20, 50, 60, 10)
	own.Time, shipped.Time = time.Unix(1e9, 0), time.Unix(2e9, 0)
	stale := tunedAt(20, 50, 10)
	stale.Results[0].Hash, stale.Time = 77, time.Unix(3e9, 0)
	elsewhere := tunedAt(24, 90, 0, 0, 10)
	for name, tc := range map[string]struct {
		own, shipped []Entry
		size         int
		want, level  string
	}{
		"own before later":   {[]Entry{own}, []Entry{shipped}, 20, "2", Exact},
		"valid before stale": {[]Entry{stale}, []Entry{shipped}, 20, "3", Exact},
		"both":               {[]Entry{own}, []Entry{elsewhere}, 24, "4", Exact},
		"shipped alone":      {nil, []Entry{shipped}, 20, "3", Exact},
	} {
		a, err := New(tc.own...)
		if err != nil {
			t.Fatal(err)
		}
		b, err := New(tc.shipped...)
		if err != nil {
			t.Fatal(err)
		}
		f := family()
		c, err := a.Over(b).Choose(f, facts, Workload{Fixed: int32s, Size: tc.size}, nil)
		if err != nil || f.Value(c.Variant, "a") != tc.want || c.Level != tc.level {
			t.Errorf("%s: chose %v (%s), %v, expected a=%s", name, c.Variant, c.Level, err, tc.want)
		}
	}
}

// A prediction of the problem's shape stands where nothing was measured, keeps results
// of other sizes to similar variants, and is overruled by a result at this size.
func TestPredict(t *testing.T) {
	f := family()
	w := Workload{Fixed: int32s, Size: 20, Prior: Prior{&f.Variants[3], "the largest a"},
		Comparable: func(v *device.Variant, _ int) error {
			if v.Label < "a=3" {
				return errors.New("a is small")
			}
			return nil
		}}
	for _, tc := range []struct {
		size        int
		entry       Entry
		want, level string
	}{
		{20, tunedAt(9, 50, 10, 30), "3", Nearest},
		{20, tunedAt(20, 50, 10, 30), "2", Exact},
		{20, tunedAt(9, 50, 10), "4", Predicted},
	} {
		db, err := New(tc.entry)
		if err != nil {
			t.Fatal(err)
		}
		c, err := db.Choose(f, facts, w, nil)
		if err != nil || f.Value(c.Variant, "a") != tc.want || c.Level != tc.level {
			t.Errorf("size %d tuned: chose %v: %v, expected a=%s (%s)", tc.entry.Size, c.Variant, c.Reason(), tc.want, tc.level)
		}
	}
}

// Where a range or a type is not known, the nearest one tells.
func TestNearestWorkload(t *testing.T) {
	of := func(e Entry, fixed map[string]string) Entry {
		e.Fixed = fixed
		return e
	}
	db, err := New(of(tunedAt(20, 50, 10), map[string]string{"value": "int32", "range": "small"}),
		of(tunedAt(40, 50, 60, 10), map[string]string{"value": "int32", "range": "medium"}))
	if err != nil {
		t.Fatal(err)
	}
	f := family()
	c, err := db.Choose(f, facts, Workload{Fixed: map[string]string{"value": "int32", "range": "wide"}, Size: 20}, nil)
	if err != nil || f.Value(c.Variant, "a") != "3" || !strings.Contains(c.Reason(), "for range=medium") {
		t.Errorf("wide: chose %v: %s, %v", c.Variant, c.Reason(), err)
	}
	for _, x := range []struct {
		a, b string
		want int
	}{{"small", "wide", 2}, {"int32", "float32", 1}, {"int32", "int64", 2}, {"float32", "int64", 3}, {"int32", "small", 4}, {"unit", "int32", 4}, {"bits", "pairs", 4}} {
		if got := valueDistance(x.a, x.b); got != x.want || valueDistance(x.b, x.a) != got {
			t.Errorf("from %s to %s: %d steps, expected %d", x.a, x.b, got, x.want)
		}
	}
}

// What another compiler made, or the same with other flags, was not measured; where
// either is not known they count as the same.
func TestCompiledOtherwise(t *testing.T) {
	const old, young = "nvcc 12.9.1 -O3", "nvcc 13.0.88 -O3"
	made := func(e Entry, compiler string) Entry {
		e.Compiler = compiler
		return e
	}
	two, three := tunedAt(20, 50, 10), tunedAt(20, 50, 60, 10)
	for name, tc := range map[string]struct {
		compiler     string
		own, shipped Entry
		want, level  string
	}{
		"the same":             {young, made(two, young), three, "2", Exact},
		"another":              {young, made(two, old), made(three, young), "3", Exact},
		"another, none else":   {young, made(two, old), made(two, old), "1", Safe},
		"that of the entry":    {young, two, made(three, old), "2", Exact},
		"that of the device":   {"", made(two, old), made(three, young), "2", Exact},
		"another at this size": {young, made(two, old), tunedAt(24, 90, 60, 20), "3", Nearest},
	} {
		a, errA := New(tc.own)
		b, errB := New(tc.shipped)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		f, here := family(), facts
		here.Compiler = tc.compiler
		c, err := a.Over(b).Choose(f, here, Workload{Fixed: int32s, Size: 20}, nil)
		if err != nil || f.Value(c.Variant, "a") != tc.want || c.Level != tc.level {
			t.Errorf("%s: chose %v: %v, %v, expected a=%s (%s)", name, c.Variant, c.Reason(), err, tc.want, tc.level)
		}
	}
}

// An H100 takes the winners of the H200 that the binary carries, which has its compute
// capability and number of multiprocessors; one with fewer takes those of larger sizes.
func TestKin(t *testing.T) {
	shipped, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	var list []Entry
	for _, e := range shipped.Entries() {
		if e.Class == "cuda|NVIDIA H200|9.0|132sm|smem232448" {
			list = append(list, e)
		}
	}
	db, err := New(list...)
	if err != nil {
		t.Fatal(err)
	}
	h100 := device.Facts{Kind: device.CUDA, Name: "NVIDIA H100 80GB HBM3", Major: 9, SMs: 132, SharedPerBlock: 232448, ThreadsPerBlock: 1024}
	families := map[string]*device.Family{}
	for _, f := range []*device.Family{&csg.Tiles, &csg.Splits, &assignment.Core, &assignment.Tree, &assignment.Classical} {
		families[f.Name] = f
	}
	tried := 0
	for _, e := range db.Entries() {
		f := families[e.Family]
		if f == nil || f.Variant(e.Winner) == nil {
			continue
		}
		tried++
		c, err := db.Choose(f, h100, Workload{Fixed: e.Fixed, Size: e.Size}, nil)
		if _, valid := e.Result(e.Winner).Valid(f); valid && (err != nil || c.Variant.Label != e.Winner || c.Level != Exact || !strings.Contains(c.Reason(), "NVIDIA H200 (of the same compute capability)") ||
			!strings.HasSuffix(c.Reason(), fmt.Sprintf("; coalesce tune %s --sizes %d measures them here", strings.Replace(f.Name, "/", " --family ", 1), e.Size))) {
			t.Errorf("%s, %v, size %d: chose %v: %s, %v, expected %s", e.Family, e.Fixed, e.Size, c.Variant, c.Reason(), err, e.Winner)
		}
	}
	if tried == 0 {
		t.Error("the binary carries no winners of an H200")
	}

	half := facts
	half.Name, half.SMs = "Half of it", 66
	worked := func(e Entry) Entry {
		e.Class = "cuda|Test GPU|9.0|132sm|smem0"
		for i := range e.Results {
			e.Results[i].Work = float64(e.Size) * float64(e.Size)
		}
		return e
	}
	two, err := New(worked(tunedAt(1000, 50, 10, 20)), worked(tunedAt(1414, 90, 60, 20)), worked(tunedAt(4000, 90, 60, 70)))
	if err != nil {
		t.Fatal(err)
	}
	f := family()
	c, err := two.Choose(f, half, Workload{Fixed: int32s, Size: 1000}, nil)
	if err != nil || f.Value(c.Variant, "a") != "3" || c.Level != Exact || !strings.Contains(c.Reason(), "size 1414 gives each of its 132 multiprocessors as much work as size 1000") {
		t.Errorf("half the multiprocessors: chose %v: %s, %v", c.Variant, c.Reason(), err)
	}
	if _, err := two.Choose(f, half, Workload{Fixed: int32s}, nil); err != nil {
		t.Errorf("size 0: %v", err)
	}
}

// A choice is made among its candidates: the fastest that can run.
func TestCandidates(t *testing.T) {
	no2 := func(v *device.Variant) error {
		if strings.HasPrefix(v.Label, "a=2") {
			return errors.New("too much shared memory")
		}
		return nil
	}
	for name, tc := range map[string]struct {
		entries  []Entry
		size     int
		feasible func(*device.Variant) error
		want     string // a, time in ns at a size, slowdown; each
	}{
		"exact":        {[]Entry{tunedAt(20, 50, 10, 20)}, 20, nil, "2 10@20 1.00, 3 20@20 2.00, 1 50@20 5.00"},
		"not feasible": {[]Entry{tunedAt(20, 50, 10, 20)}, 20, no2, "2 10@20 1.00 (too much shared memory), 3 20@20 2.00, 1 50@20 5.00"},
		"interpolated": {[]Entry{tunedAt(10, 100, 10, 20), tunedAt(40, 400, 40, 0, 10)}, 20, nil, "4 6@20 1.00, 2 20@20 3.53, 3 45@20 8.00, 1 200@20 35.30"},
		"beyond all":   {[]Entry{tunedAt(10, 100, 10, 20), tunedAt(20, 200, 20, 40)}, 40, nil, "2 20@20 1.00, 3 40@20 2.00, 1 200@20 10.00"},
		"nearest":      {[]Entry{tunedAt(20, 50, 10)}, 22, nil, "2 10@20 1.00, 1 50@20 5.00"},
		"none at both": {[]Entry{tunedAt(16, 0, 10), tunedAt(200, 90, 0, 30)}, 57, nil, "3 17@57 1.00, 2 20@57 1.13, 1 52@57 3.00"},
		"safe":         {nil, 20, nil, ""},
	} {
		db, err := New(tc.entries...)
		if err != nil {
			t.Fatal(err)
		}
		f, w := family(), Workload{Fixed: int32s, Size: tc.size}
		c, err := db.Choose(f, facts, w, tc.feasible)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		fastest := ""
		for _, k := range c.Candidates(w, tc.feasible) {
			text := fmt.Sprintf("%s %s@%d %.2f", f.Value(k.Variant, "a"), strings.TrimSuffix(k.Time.String(), "ns"), k.Size, k.Slowdown)
			if k.Refused != nil {
				text += fmt.Sprintf(" (%v)", k.Refused)
			} else if fastest == "" {
				fastest = k.Variant.Label
			}
			found = append(found, text)
		}
		if got := strings.Join(found, ", "); got != tc.want || fastest != "" && fastest != c.Variant.Label {
			t.Errorf("%s: candidates %q, chosen %s, expected %q", name, got, c.Variant.Label, tc.want)
		}
	}
}
