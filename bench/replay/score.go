package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"coalesce/autotune/search"
	"coalesce/autotune/trial"
	"coalesce/bench/result"
)

// peers are scores on spaces of the hub of Kernel Tuner 1.5.0's strategies in its simulation mode, eight seeds,
// with defaults.
var peers = map[string]map[string]float64{
	"convolution_milo-A100":   {"genetic_algorithm": 0.87, "adaptive_tabu_greywolf": 0.61, "simulated_annealing": 0.55, "random_sample": 0.08},
	"convolution_milo-A4000":  {"genetic_algorithm": 0.19, "adaptive_tabu_greywolf": 0.50, "simulated_annealing": 0.47, "random_sample": -0.12},
	"convolution_milo-MI250X": {"genetic_algorithm": 0.45, "adaptive_tabu_greywolf": 0.49, "simulated_annealing": -0.08, "random_sample": 0.50},
	"dedispersion_milo-A100":  {"genetic_algorithm": 0.60, "adaptive_tabu_greywolf": 0.66, "simulated_annealing": 0.34, "random_sample": -0.03},
	"dedispersion_milo-A6000": {"genetic_algorithm": 0.84, "adaptive_tabu_greywolf": 0.66, "simulated_annealing": 0.39, "random_sample": 0.19},
	"dedispersion_milo-W7800": {"genetic_algorithm": 0.88, "adaptive_tabu_greywolf": 0.84, "simulated_annealing": 0.72, "random_sample": -0.12},
}

// peerNames are the strategies in the order of printing.
var peerNames = []string{"adaptive_tabu_greywolf", "genetic_algorithm", "simulated_annealing", "random_sample"}

// A hubBench answers trials from a space, and ends the search when its clock is over.
type hubBench struct {
	clock
	early bool // hopeless configurations are stopped as the search asks
}

var errOver = errors.New("the replay is over")

// RunExperiment answers a trial. What does not compile or launch fails when it is verified, which costs its compilation.
func (b *hubBench) RunExperiment(_ context.Context, a search.TrialRequest) (trial.Trial, error) {
	i := b.at[a.Variant.Label]
	t := trial.Trial{Status: trial.OK, Variant: a.Variant.Label, Size: a.Size, Action: a.Action}
	switch {
	case b.expired():
		return t, errOver
	case a.Action != trial.ActionMeasure && b.rows[i].value > 0: // charged when it is measured
		return t, nil
	}
	before, bound := b.now, 0.0
	if b.early {
		bound = float64(a.Bound) / 1e6
	}
	took := b.charge(i, bound)
	t.Wall = int64(1e6 * (b.now - before))
	if took == 0 {
		t.Status = trial.Launch
		return t, nil
	}
	ns := int64(math.Round(1e6 * took))
	t.Hot = &trial.Sample{N: max(1, len(b.rows[i].runs)), Median: ns, Q1: ns, Q3: ns, Min: ns, Repeat: 1}
	return t, nil
}

// replay searches the space with one seed, with labels that won elsewhere.
func (s *space) replay(seed uint64, likely []string, early bool) (*hubBench, error) {
	b := &hubBench{clock{space: s, best: math.Inf(1)}, early}
	_, err := search.Run(context.Background(), b, search.Plan{
		Family: &s.family, Sizes: []int{1}, Likely: likely, Seed: seed, Alone: true,
		Now: func() time.Time { return time.Unix(0, int64(1e6*b.now)) },
	})
	if err != nil && !errors.Is(err, errOver) {
		return nil, fmt.Errorf("%s: %w", s.name(), err)
	}
	return b, nil
}

// scored is the search of a space with several seeds, as many at a time as there are cores.
func (s *space) scored(seeds int, likely []string, early bool) (result.Scored, error) {
	benches, errs := make([]*hubBench, seeds), make([]error, seeds)
	var wg sync.WaitGroup
	for part := range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := part; seed < seeds; seed += runtime.GOMAXPROCS(0) {
				benches[seed], errs[seed] = s.replay(uint64(seed), likely, early)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return result.Scored{}, err
	}
	o := result.Scored{Seeds: seeds}
	var scores []float64
	var trials []int
	for _, b := range benches {
		scores = append(scores, b.score())
		near := b.near
		if near == 0 {
			near = math.MaxInt
		} else {
			o.Within += 1 / float64(seeds)
		}
		trials = append(trials, near)
	}
	o.Score = sum(scores) / float64(seeds)
	squares := 0.0
	for _, x := range scores {
		squares += (x - o.Score) * (x - o.Score)
	}
	o.Error = math.Sqrt(squares / float64(max(1, seeds-1)) / float64(seeds))
	slices.Sort(trials)
	if middle := trials[len(trials)/2]; middle < math.MaxInt {
		o.Trials = middle
	}
	return o, nil
}

// replayHub prints the scores of all spaces below a folder, from nothing and with kin's winners, beside those of peers, and the mean
// as its last line: with kin's winners where kin asks for it, else from nothing. It returns what it prints.
func replayHub(out io.Writer, dir string, seeds int, kin bool) ([]result.Replay, error) {
	list, err := hubSpaces(dir)
	if err != nil {
		return nil, err
	}
	var rows []result.Replay
	for _, s := range list {
		row := result.Replay{Kernel: s.kernel, Device: s.device, Variants: len(s.rows), Seconds: s.cutoff / 1e3, Peers: peers[s.name()]}
		var likely []string
		for _, other := range list {
			if other.kernel == s.kernel && other != s {
				likely = append(likely, other.winner())
			}
		}
		if row.Nothing, err = s.scored(seeds, nil, false); err == nil {
			row.Early, err = s.scored(seeds, nil, true)
		}
		if err == nil && likely != nil {
			var withKin, early result.Scored
			if withKin, err = s.scored(seeds, likely, false); err == nil {
				early, err = s.scored(seeds, likely, true)
			}
			row.Kin, row.EarlyKin = &withKin, &early
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
		fmt.Fprintf(out, "%-26s %5d variants  nothing %s  early %s", s.name(), len(s.rows), scoreText(&row.Nothing), scoreText(&row.Early))
		if row.Kin != nil {
			fmt.Fprintf(out, "  kin %s  early %s", scoreText(row.Kin), scoreText(row.EarlyKin))
		}
		for _, name := range peerNames {
			if x, ok := row.Peers[name]; ok {
				fmt.Fprintf(out, "  %s %.2f", name, x)
			}
		}
		fmt.Fprintln(out)
	}
	n, total, variance := 0, 0.0, 0.0
	for _, r := range rows {
		x := &r.Nothing
		if kin {
			x = cmp.Or(r.Kin, x)
		}
		n, total, variance = n+1, total+x.Score, variance+x.Error*x.Error
	}
	_, err = fmt.Fprintf(out, "score %.3f ± %.3f over %d spaces\n", total/float64(n), math.Sqrt(variance)/float64(n), n)
	return rows, err
}

func scoreText(s *result.Scored) string {
	return fmt.Sprintf("%5.2f ± %.2f, %3.0f %% within 5 %%, after %4d", s.Score, s.Error, 100*s.Within, s.Trials)
}
