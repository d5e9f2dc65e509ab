// Replay searches recorded measurements in place of a device, and prints how many trials
// it takes until a variant within 3 % of the best is measured: the tuner's search, from
// nothing and with the winner of another size known, a random order, and the order of
// the record, which is exhaustive search. It runs anywhere, and docs/results/tuning.md holds what it
// prints:
//
//	go run ./bench/replay
//
// Every trial's samples are drawn, with replacement, from those recorded.
//
// With -hub it replays spaces of the autotuning community's benchmark hub, with the recorded times of compiling, checking and
// running as the clock, and prints the community's score: 0 is a random order, 1 the optimum at once.
//
//	go run ./bench/replay -hub FOLDER -seeds 20
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"coalesce/autotune/measure"
	"coalesce/autotune/search"
	"coalesce/autotune/trial"
	"coalesce/bench/result"
	"coalesce/generated/csg"
	"coalesce/runtime/device"
)

// near is the factor over the least time within which a variant counts as found.
const near = 1.03

func main() {
	dir := flag.String("results", "bench/results", "folder of the records")
	seeds := flag.Int("seeds", 200, "orders to try")
	hub := flag.String("hub", "", "folder of spaces of the benchmark hub to replay instead, `KERNEL/GPU_T4.json.gz` or KERNEL-GPU.txt.xz")
	kin := flag.Bool("kin", false, "with -hub: the last line is of searches that begin with the winners of the kernel's other GPUs")
	out := flag.String("out", "", "with -hub: folder to write tuning-replay.json to")
	commit := flag.String("commit", "", "with -out: what is replayed")
	export := flag.String("t4", "", "folder to write the records to instead, as T4 results")
	flag.Parse()
	err := error(nil)
	if *export != "" {
		var list []*record
		if list, err = records(*dir); err == nil {
			err = exportT4(*export, list)
		}
	} else if *hub != "" {
		f := result.Experiment[result.Replay]{Experiment: "replay", Device: "recorded GPUs", Commit: *commit, Command: fmt.Sprintf("go run ./bench/replay -hub FOLDER -seeds %d", *seeds)}
		if f.Rows, err = replayHub(os.Stdout, *hub, *seeds, *kin); err == nil && *out != "" {
			err = f.Write(*out, "tuning-replay")
		}
	} else {
		err = replayAll(os.Stdout, *dir, *seeds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

// A record has the measured times of a family's variants, with values of one type, at one size.
type record struct {
	file, device string
	value        string
	size         int
	family       *device.Family // of the variants recorded alone
	seconds      map[string][]float64
	best         float64 // least median
}

// records are those that have enough variants to search among.
func records(dir string) ([]*record, error) {
	const least = 20
	var list []*record
	for _, from := range []struct {
		file, row string
		family    *device.Family
	}{{"csg-sweep.json", "sweep", &csg.Splits}, {"csg-tiles.json", "tiles", &csg.Tiles}} {
		f, err := result.Load[result.Row](filepath.Join(dir, from.file))
		if err != nil {
			return nil, err
		}
		type workload struct {
			value string
			size  int
		}
		found := map[workload]*record{}
		for _, row := range f.Rows {
			if row.Name != from.row || len(row.Runs) == 0 {
				continue
			}
			v, err := variant(from.family, row.Variant)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", from.file, err)
			}
			of := workload{from.family.Value(&v, "value"), row.Agents}
			r := found[of]
			if r == nil {
				kept := *from.family
				kept.Variants = nil
				r = &record{file: from.file, device: f.Device, value: of.value, size: of.size, family: &kept, seconds: map[string][]float64{}, best: result.Median(row.Runs)}
				found[of] = r
				list = append(list, r)
			}
			if r.seconds[row.Variant] == nil {
				r.family.Variants = append(r.family.Variants, v)
			}
			r.seconds[row.Variant] = row.Runs
			r.best = min(r.best, result.Median(row.Runs))
		}
	}
	list = slices.DeleteFunc(list, func(r *record) bool { return len(r.family.Variants) < least })
	if len(list) == 0 {
		return nil, errors.New("no record has enough variants")
	}
	return list, nil
}

// variant is the variant of a label, also of one that this binary no longer has.
func variant(f *device.Family, label string) (device.Variant, error) {
	if v := f.Variant(label); v != nil {
		return *v, nil
	}
	v := device.Variant{Label: label, Values: make([]string, len(f.Params))}
	for part := range strings.SplitSeq(label, ",") {
		name, value, _ := strings.Cut(part, "=")
		at := slices.Index(f.Params, name)
		if at < 0 {
			return v, fmt.Errorf("%s: %s has no parameter %q", label, f.Name, name)
		}
		v.Values[at] = value
	}
	return v, nil
}

// A bench answers trials from a record.
type bench struct {
	*record
	rng      *rand.Rand
	clock    time.Time
	measured int // trials that timed a variant
	found    int // of them, until one was near the best; 0: not yet
}

// RunExperiment draws the samples of a trial; verifying costs nothing and succeeds.
func (b *bench) RunExperiment(ctx context.Context, a search.TrialRequest) (trial.Trial, error) {
	t := trial.Trial{Status: trial.OK, Variant: a.Variant.Label, Size: a.Size, Action: a.Action}
	if a.Action != trial.ActionMeasure {
		return t, ctx.Err()
	}
	runs, n := b.seconds[a.Variant.Label], 10
	if a.Brief {
		n = 5
	}
	b.measured++
	if b.found == 0 && result.Median(runs) <= near*b.best {
		b.found = b.measured
	}
	drawn := make([]float64, n)
	for k := range drawn {
		drawn[k] = 1e9 * runs[b.rng.IntN(len(runs))]
		t.Wall += int64(drawn[k])
	}
	if a.Bound > 0 && drawn[0] > float64(a.Bound) {
		drawn, t.Wall = drawn[:1], int64(drawn[0])
	}
	t.Cold = measure.Statistics(drawn, 1)
	b.clock = b.clock.Add(time.Duration(t.Wall))
	return t, ctx.Err()
}

// An outcome is of one search of a record.
type outcome struct {
	found  int     // trials until one was near the best
	regret float64 // time of the winner over the best, less 1
}

// searched is the tuner's search of a record, with variants that won elsewhere.
func searched(r *record, seed uint64, likely []string) (outcome, error) {
	b := &bench{record: r, rng: rand.New(rand.NewPCG(seed, 1))}
	o, err := search.Run(context.Background(), b, search.Plan{
		Family: r.family, Sizes: []int{r.size}, Likely: likely, Seed: seed, Now: func() time.Time { return b.clock },
	})
	if err != nil || len(o.Sizes) != 1 {
		return outcome{}, fmt.Errorf("%s, size %d: %d sizes decided, %w", r.file, r.size, len(o.Sizes), err)
	}
	return outcome{b.found, result.Median(r.seconds[o.Sizes[0].Winner.Label])/r.best - 1}, nil
}

// inOrder measures the variants in an order until one is near the best.
func inOrder(r *record, order []int) outcome {
	for k, i := range order {
		if result.Median(r.seconds[r.family.Variants[i].Label]) <= near*r.best {
			return outcome{found: k + 1}
		}
	}
	return outcome{}
}

// A searchOrder is how the variants of a record were tried, with an outcome for each seed.
type searchOrder struct {
	name     string
	outcomes []outcome
}

// compareOrders are the tuner's search and the orders that it is compared with.
func compareOrders(r *record, all []*record, seeds int) ([]searchOrder, error) {
	list := []searchOrder{{name: "search"}}
	var known []string
	for _, other := range all {
		if other.file == r.file && other.value == r.value && other.size != r.size {
			known = append(known, other.winner())
		}
	}
	if known != nil {
		list = append(list, searchOrder{name: "search, winner of another size known"})
	}
	for seed := range uint64(seeds) {
		for k := range list {
			var likely []string
			if k > 0 {
				likely = known
			}
			o, err := searched(r, seed, likely)
			if err != nil {
				return nil, err
			}
			list[k].outcomes = append(list[k].outcomes, o)
		}
	}
	random := searchOrder{name: "random order"}
	order := make([]int, len(r.family.Variants))
	for i := range order {
		order[i] = i
	}
	list = append(list, searchOrder{"the record's order", []outcome{inOrder(r, order)}})
	for seed := range uint64(seeds) {
		rand.New(rand.NewPCG(seed, 2)).Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
		random.outcomes = append(random.outcomes, inOrder(r, order))
	}
	return slices.Insert(list, len(list)-1, random), nil
}

// winner is the label with the least median.
func (r *record) winner() string {
	best := slices.MinFunc(r.family.Variants, func(a, b device.Variant) int {
		x, y := result.Median(r.seconds[a.Label]), result.Median(r.seconds[b.Label])
		if x < y {
			return -1
		}
		return 1
	})
	return best.Label
}

// quantile of the trials until one was near the best.
func (w *searchOrder) quantile(q float64) int {
	var list []int
	for _, o := range w.outcomes {
		list = append(list, o.found)
	}
	slices.Sort(list)
	return list[min(len(list)-1, int(q*float64(len(list))))]
}

// worst is the largest regret of a winner.
func (w *searchOrder) worst() float64 {
	x := 0.0
	for _, o := range w.outcomes {
		x = max(x, o.regret)
	}
	return x
}

func replayAll(out io.Writer, dir string, seeds int) error {
	list, err := records(dir)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "| record | values | size | variants | tried by | trials to within 3 %: median | nine of ten | winner's worst regret |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|")
	for _, r := range list {
		found, err := compareOrders(r, list, seeds)
		if err != nil {
			return err
		}
		for _, w := range found {
			regret := "-"
			if strings.HasPrefix(w.name, "search") {
				regret = fmt.Sprintf("%.1f %%", 100*w.worst())
			}
			_, err := fmt.Fprintf(out, "| %s, %s | %s | %d | %d | %s | %d | %d | %s |\n", r.file, r.device, r.value, r.size, len(r.family.Variants),
				w.name, w.quantile(0.5), w.quantile(0.9), regret)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
