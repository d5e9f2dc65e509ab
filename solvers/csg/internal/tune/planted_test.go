package tune

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"coalesce/autotune"
	"coalesce/autotune/subject"
	"coalesce/autotune/trial"
	"coalesce/autotune/tuned"
	"coalesce/autotune/worker"
	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
	"coalesce/templates"
)

// A plant is a bug put into the safe variant's text. old must be there once.
type plant struct{ name, old, new string }

var (
	right = plant{name: "none"}

	// Bugs whose answers are wrong.
	wrongPlants = []plant{
		// The first threads combine the warps' bests before all have left theirs.
		{"barrier", "__syncthreads();  // the only barrier of a batch", "// the only barrier of a batch"},
		// The last splitting is nobody's; shows where a block has threads to spare.
		{"last", "mine >= (u32)psi) mine = 0;", "mine >= (u32)psi - 1) mine = 0;"},
		// A round too few; sizes 6 and 7 have one round, as have all below 10.
		{"rounds", "rounds < LAMBDA ? rounds : LAMBDA", "rounds < LAMBDA && rounds > 1 ? rounds - 1 : rounds < LAMBDA ? rounds : LAMBDA"},
	}

	// Bugs that do not come to an answer.
	crashPlant = plant{"crash", "raise(into + c, x)", "raise((int*)8, x)"}
	hangPlant  = plant{"hang", "x < ALPHA && x < left; x += BETA)", "x < ALPHA && x < left; x += 0)"}
)

// planted is a family of copies of the safe int32 variant, one for each plant.
func planted(t *testing.T, plants ...plant) *device.Family {
	t.Helper()
	from := &gencsg.Splits
	i := slices.IndexFunc(from.Variants, func(v device.Variant) bool {
		return v.Safe && from.Value(&v, "value") == string(problem.Int32) && from.Value(&v, "method") == string(reference.DP)
	})
	if i < 0 {
		t.Fatal("csg/splits has no safe variant of int32")
	}
	safe := &from.Variants[i]
	file, text := emulatedtest.Text(t, from, safe)
	f := *from
	f.Params = append(slices.Clone(from.Params), "plant")
	f.Variants, f.Packs = nil, nil
	source := fstest.MapFS{}
	for k, p := range plants {
		v := *safe
		v.Safe = p == right
		v.Label += ",plant=" + p.name
		v.Symbol = "csg_planted_" + p.name
		v.Hash += uint64(k + 1)
		v.Values = append(slices.Clone(safe.Values), p.name)
		v.Pack = k
		copied := strings.ReplaceAll(text, safe.Symbol, v.Symbol)
		changes := []plant{{"hash", fmt.Sprintf("0x%016xull", safe.Hash), fmt.Sprintf("0x%016xull", v.Hash)}}
		if p != right {
			changes = append(changes, p)
		}
		for _, c := range changes {
			if n := strings.Count(copied, c.old); n != 1 {
				t.Fatalf("plant %s: %q is %d times in the safe variant, expected once", c.name, c.old, n)
			}
			copied = strings.Replace(copied, c.old, c.new, 1)
		}
		file := path.Join(path.Dir(file), v.Symbol+".cu")
		source[file] = &fstest.MapFile{Data: []byte(copied)}
		f.Variants = append(f.Variants, v)
		f.Packs = append(f.Packs, device.Pack{File: file, Hash: v.Hash})
	}
	f.Source = source
	return &f
}

// plantedSubject is the real subject on a planted family. The bindings load
// what they were generated for, so that the device has to look elsewhere.
type plantedSubject struct {
	familySubject
	most int // agents of a case, 0 for any
}

func (s plantedSubject) Cases(fixed map[string]string) ([]subject.Case, error) {
	cases, err := s.familySubject.Cases(fixed)
	return slices.DeleteFunc(cases, func(c subject.Case) bool { return s.most > 0 && c.Instance.Size() > s.most }), err
}

func (s plantedSubject) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	return s.familySubject.Open(elsewhere{d, s.family}, v)
}

type elsewhere struct {
	device.Device
	family *device.Family
}

func (e elsewhere) Load(_ *device.Family, v *device.Variant) (device.Module, error) {
	return e.Device.Load(e.family, v)
}

var plantedFixed = map[string]string{"value": "int32", "method": "dp", "profile": "off"}

// plantOf names the plant in a label of a planted family.
func plantOf(label string) string {
	_, name, _ := strings.Cut(label, ",plant=")
	return name
}

// wantRightWins holds a database and a summary of tuning a planted family:
// the right variant wins at every size, and is what Choose gives near them.
func wantRightWins(t *testing.T, f *device.Family, facts device.Facts, db *tuned.Database, sum autotune.Summary, sizes []int) {
	t.Helper()
	if len(sum.Winners) != len(sizes) {
		t.Errorf("%d winners, expected one for each of the sizes %v", len(sum.Winners), sizes)
	}
	for _, w := range sum.Winners {
		if plantOf(w.Variant) != right.name {
			t.Errorf("size %d: the planted variant %s won", w.Size, w.Variant)
		}
	}
	for size := 1; size <= 12; size++ {
		c, err := db.Choose(f, facts, tuned.Workload{Fixed: plantedFixed, Size: size}, nil)
		if err != nil {
			t.Errorf("choose for size %d: %v", size, err)
		} else if plantOf(c.Variant.Label) != right.name {
			t.Errorf("size %d: the planted variant %s is chosen (%s)", size, c.Variant.Label, c.Reason())
		} else if slices.Contains(sizes, size) && c.Level != "exact" {
			t.Errorf("size %d was tuned, and the choice is %s: %s", size, c.Level, c.Reason())
		}
	}
}

// statuses are the trials' ends by plant.
func statuses(failures []autotune.Failure) map[string]string {
	got := map[string]string{}
	for _, f := range failures {
		got[plantOf(f.Variant)] += string(f.Status) + " "
	}
	return got
}

func TestPlantedWrongVariantNeverWins(t *testing.T) {
	d := emulatedtest.Open(t)
	f := planted(t, append([]plant{right}, wrongPlants...)...)
	sizes := []int{6, 7}
	db, sum, err := autotune.Tune(t.Context(), autotune.Options{
		Subject: plantedSubject{familySubject: familySubject{f}}, Fixed: []map[string]string{plantedFixed}, Sizes: sizes,
		Device: d, Budget: 2 * time.Minute, Seed: 1, Noise: 100, // on a busy machine the only right variant scatters, too
	})
	if !errors.Is(err, autotune.ErrWrongVariant) {
		t.Errorf("Tune's error is %v, expected ErrWrongVariant", err)
	}
	if sum.Wrong != len(wrongPlants) {
		t.Errorf("%d wrong variants, expected %d: %+v", sum.Wrong, len(wrongPlants), sum.Failures)
	}
	got := statuses(sum.Failures)
	for _, p := range wrongPlants {
		if want := string(trial.Verify) + " "; got[p.name] != want {
			t.Errorf("plant %s failed with %q, expected %q, once: %+v", p.name, got[p.name], want, sum.Failures)
		}
	}
	if got[right.name] != "" {
		t.Errorf("the right variant failed: %+v", sum.Failures)
	}
	wantRightWins(t, f, d.Facts(), db, sum, sizes)
}

// TestPlantedCrashCostsOneTrial tunes in worker processes, this test's binary
// again: a variant that brings the device down and one that never ends.
func TestPlantedCrashCostsOneTrial(t *testing.T) {
	t.Parallel()
	const serving = "COALESCE_TEST_PLANTED_WORKER"
	f := planted(t, right, crashPlant, hangPlant)
	s := plantedSubject{familySubject{f}, 4}
	if os.Getenv(serving) != "" {
		d, err := emulated.Open(emulated.Options{Sanitize: true, Seed: 1, Files: templates.Files})
		if err == nil {
			err = worker.Serve(context.Background(), d, []subject.Subject{s}, os.Stdin, os.Stdout)
			d.Close()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}

	// Compile before the clock of a trial runs.
	d := emulatedtest.OpenWith(t, emulated.Options{Sanitize: true, Seed: 1, Files: templates.Files})
	defer d.Close()
	for i := range f.Variants {
		r, err := s.Open(d, &f.Variants[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}

	sizes := []int{4, 6}
	db, sum, err := autotune.Tune(t.Context(), autotune.Options{
		Subject: s, Fixed: []map[string]string{plantedFixed}, Sizes: sizes,
		Worker: func() *exec.Cmd {
			cmd := exec.Command(os.Args[0], "-test.run=^TestPlantedCrashCostsOneTrial$")
			cmd.Env = append(os.Environ(), serving+"=1")
			return cmd
		},
		Budget: 2 * time.Minute, Timeout: 4 * time.Second, Seed: 1, Noise: 100,
	})
	if err != nil {
		t.Errorf("Tune: %v", err)
	}
	got := statuses(sum.Failures)
	if got[crashPlant.name] != string(trial.Launch)+" " || got[hangPlant.name] != string(trial.Timeout)+" " || got[right.name] != "" {
		t.Errorf("failures %q, expected one %s of %s and one %s of %s: %+v",
			got, trial.Launch, crashPlant.name, trial.Timeout, hangPlant.name, sum.Failures)
	}
	for _, f := range sum.Failures {
		if plantOf(f.Variant) == crashPlant.name && !strings.Contains(f.Error, "AddressSanitizer") {
			t.Errorf("the crash's trial does not show the sanitizer's report: %s", f.Error)
		}
	}
	if sum.Workers != 3 {
		t.Errorf("%d workers, expected 3: the first, and one after each failure", sum.Workers)
	}
	wantRightWins(t, f, d.Facts(), db, sum, sizes)
}
