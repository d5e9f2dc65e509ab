// Models measures models of binary variables: the family of kernels of their problem, and energies of binary sequences. models.py beside
// it has the race with rivals.
//
//	go run ./bench/models -device host -experiment labs -sizes 30,40,50 -limit 10s
//	go run -tags cuda ./bench/models -device cuda:0 -experiment verify
//	go run -tags cuda ./bench/models -device cuda:0 -experiment labs
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	"coalesce/runtime/device"
	solver "coalesce/solvers/model"
	"coalesce/solvers/model/problem"
	"coalesce/solvers/solve"
)

type bench struct {
	experiment.Bench[result.Binary]
	settings settings
}

// settings are the flags.
type settings struct {
	experiment.Settings
	experiment.Verification
	sizes experiment.List
	seeds int
	limit time.Duration
}

func experiments() []experiment.Experiment[*bench] {
	return []experiment.Experiment[*bench]{
		{Name: "verify", About: "every variant against the reference, on small instances; with -sample one of each kind", Run: (*bench).verifyVariants},
		{Name: "labs", About: "time to the best known energy of binary sequences, every seed", Run: (*bench).timeSequences},
	}
}

func main() {
	var s settings
	experiment.Register(&s.Settings, "Measures models of binary variables.", "labs", experiments())
	s.Verification.Register("label of a variant to verify, or of labs")
	s.sizes = experiment.List{"40", "50", "60", "66", "80", "100"}
	flag.Var(&s.sizes, "sizes", "comma-separated lengths of sequences")
	flag.IntVar(&s.seeds, "seeds", 3, "runs of a length, seeds 1 to this")
	flag.DurationVar(&s.limit, "limit", 10*time.Second, "time limit of a run")
	flag.Parse()
	if flag.NArg() > 0 || s.seeds < 1 {
		fmt.Fprintln(os.Stderr, "models: expected flags only, and seeds of 1 or more")
		os.Exit(2)
	}
	experiment.Main(&s.Settings, func(ctx context.Context, names []string) bool { return run(ctx, s, names) })
}

func run(ctx context.Context, s settings, names []string) bool {
	common, err := experiment.New[result.Binary](ctx, "models", s.Settings)
	if err != nil {
		fmt.Fprintln(os.Stderr, "models:", err)
		return false
	}
	defer common.Close()
	b := &bench{Bench: *common, settings: s}
	suffix := ""
	if b.Facts.Kind == device.Host {
		suffix = "-host"
	}
	return experiment.Run(&b.Bench, names, experiments(), func(e experiment.Experiment[*bench]) {
		b.RunExperiment(e.Name, suffix, func() error { return e.Run(b) })
	})
}

// verifyVariants runs variants on the small cases of their subjects, where the reference is the judge.
func (b *bench) verifyVariants() error {
	return experiment.Verify(&b.Bench, b.settings.Verification, solver.Subjects(), nil, func(v experiment.Verdict) result.Binary {
		return result.Binary{Name: v.Family.Name, Variant: v.Variant.Label, Timed: result.Timed{What: "verify", Count: v.Cases}, Attempt: result.Attempt{Seconds: v.Seconds}, Failed: v.Failed}
	})
}

// energies are those of the best sequences of 3, 4 and so on spins: to 66 the least (Packebusch and Mertens, "Low autocorrelation binary
// sequences", J. Phys. A 49, 2016), beyond the best known by Knauer (2004), as github.com/borkob/git_labs keeps them.
var energies = []float64{1, 2, 2, 7, 3, 8, 12, 13, 5, 10, 6, 19, 15, 24, 32, 25, 29, 26, 26, 39, 47, 36, 36, 45, 37, 50, 62, 59, 67, 64, 64, 65, 73, 82, 86, 87, 99, 108, 108, 101,
	109, 122, 118, 131, 135, 140, 136, 153, 153, 166, 170, 175, 171, 192, 188, 197, 205, 218, 226, 235, 207, 208, 240, 257, 241, 250, 274, 295, 275, 300, 308, 341, 329, 334, 358, 347,
	339, 352, 372, 377, 377, 430, 414, 439, 431, 448, 432, 453, 477, 498, 486, 499, 479, 520, 536, 545, 577, 578}

// sequence is the energy of a binary sequence of n spins, the sum of the squares of its autocorrelations, as a model of degree four.
func sequence(n int) *problem.Model {
	m := problem.New(problem.Minimize)
	for i := range n {
		m.AddSpin(fmt.Sprintf("s%d", i))
	}
	for k := 1; k < n; k++ {
		for i := range int32(n - k) {
			m.AddTerm(problem.DecimalOfInteger(1))
			for j := range i {
				m.AddTerm(problem.DecimalOfInteger(2), i, i+int32(k), j, j+int32(k))
			}
		}
	}
	return m
}

// timeSequences searches the best known energies within the limit. Runs has the processor's seconds.
func (b *bench) timeSequences() error {
	b.ResumeRows()
	for _, size := range b.settings.sizes {
		n, err := strconv.Atoi(size)
		if err != nil || n < 3 || n-3 >= len(energies) {
			return fmt.Errorf("found the length %q, expected 3 to %d", size, len(energies)+2)
		}
		m, target := sequence(n), energies[n-3]
		for seed := uint64(1); seed <= uint64(b.settings.seeds); seed++ {
			if b.OutOfTime() {
				return experiment.ErrLate
			}
			row := result.Binary{Instance: fmt.Sprintf("labs-%d", n), N: n, Seed: seed, Known: target, Attempt: result.Attempt{Limit: b.settings.limit.Seconds()}}
			began, before := time.Now(), experiment.ProcessorSeconds()
			r, err := solver.Solve(b.Ctx, m, solver.Options{Settings: solve.Settings{Devices: []device.Device{b.Dev}, TimeLimit: b.settings.limit, Seed: seed, Target: &target, Variant: b.settings.Variant}})
			row.Seconds, row.Runs = time.Since(began).Seconds(), []float64{experiment.ProcessorSeconds() - before}
			if err != nil {
				row.Failed = err.Error()
				b.AddRow(row)
				continue
			}
			row.Name, row.Variant, row.Flips, row.Value = r.Algorithm, r.Variant, r.Moves, r.Value.Float()
			if last := len(r.History) - 1; last >= 0 {
				row.Best = r.History[last].Seconds
			}
			if row.Success = r.Met != nil; row.Success {
				row.Met = *r.Met
			}
			fmt.Printf("%s seed %d: %g of %g, %.3f s, %.1f M moves a second\n", row.Instance, seed, row.Value, target, row.Seconds, float64(row.Flips)/row.Seconds/1e6)
			b.AddRow(row)
		}
	}
	return nil
}
