// Tuning measures how good choices are: those by the binary's own data on a device,
// those by files that coalesce tune left, and the safe variants, each
// beside the best of all variants that can run, measured again in interleaved rounds.
// Workloads and sizes are drawn by a seed, for which the commit's parent serves, so that
// nobody picks them:
//
//	coalesce tune --budget 5m --output 5m.json
//	go run -tags cuda ./bench/tuning -device cuda:0 -seed $(git rev-parse HEAD^) -experiment workloads -files 5m.json
//	go run -tags cuda ./bench/tuning -device cuda:0 -seed $(git rev-parse HEAD^) -experiment sizes -files 5m.json,20m.json
//	go run -tags cuda ./bench/tuning -device cuda:0 -experiment agree -files a.json,b.json
//
// A row is written as soon as it is measured, and -resume goes on where a run ended.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"coalesce/autotune"
	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/bench/experiment"
	"coalesce/bench/result"
	"coalesce/internal/problems"
	"coalesce/solvers/algorithms"
)

type bench struct {
	experiment.Bench[result.Choice]
	settings settings
	shipped  []tuned.Entry     // of the binary's data
	subjects []subject.Subject // that run on the device
	sources  []source
}

// A source chooses.
type source struct {
	name string
	db   *tuned.Database // over the binary's
	own  *tuned.Database // a file's entries alone; nil for the binary's data
}

// settings are the flags.
type settings struct {
	experiment.Settings
	seed    string
	files   experiment.List
	without string
	rounds  int
	each    time.Duration
	part    string // "K/N", or empty for all workloads
	largest float64
}

func experiments() []experiment.Experiment[*bench] {
	return []experiment.Experiment[*bench]{
		{Name: "workloads", About: "20 workloads over all problems, each at a size that no data has", Run: func(b *bench) error { return b.measureDrawn(20) }},
		{Name: "sizes", About: "40 sizes that no data has, drawn in the same way", Run: func(b *bench) error { return b.measureDrawn(40) }},
		{Name: "agree", About: "winners of two files where these differ: the second's regret beside the first's", Run: (*bench).compareWinners},
	}
}

func main() {
	var s settings
	experiment.Register(&s.Settings, "Measures choices of variants.", "workloads", experiments())
	flag.StringVar(&s.seed, "seed", "", "of workloads and sizes, any text")
	flag.Var(&s.files, "files", "comma-separated files of winners, which choose beside the binary's own data")
	flag.StringVar(&s.without, "without", "", "text in the classes of devices whose entries the binary's data are used without, such as H100, to measure that class as a new one")
	flag.IntVar(&s.rounds, "rounds", 8, "interleaved measurements of each candidate, on two instances by turns; of an algorithm each on an instance of its own")
	flag.DurationVar(&s.each, "each", 100*time.Millisecond, "time for each variant at first, and for each candidate of a round")
	flag.StringVar(&s.part, "part", "", "K/N, to measure the K-th of N parts of the workloads, where N devices measure at once")
	flag.Float64Var(&s.largest, "largest", 1, "share of a family's largest tuned size to draw up to")
	flag.Parse()
	if flag.NArg() > 0 || s.rounds < 2 || s.each <= 0 || !(s.largest > 0) {
		fmt.Fprintln(os.Stderr, "tuning: expected flags only, 2 rounds or more, a time and a share above 0")
		os.Exit(2)
	}
	experiment.Main(&s.Settings, func(ctx context.Context, names []string) bool { return run(ctx, s, names) })
}

func run(ctx context.Context, s settings, names []string) bool {
	common, err := experiment.New[result.Choice](ctx, "tuning", s.Settings)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tuning:", err)
		return false
	}
	defer common.Close()
	b := &bench{Bench: *common, settings: s}
	shipped, err := tuned.Embedded()
	if err != nil {
		b.ReportError(err)
		return false
	}
	shipped = shipped.WithoutClass(s.without)
	b.shipped = shipped.Entries()
	b.sources = []source{{"shipped", shipped, nil}}
	for _, path := range s.files {
		own, err := tuned.Load(path)
		if err != nil {
			b.ReportError(err)
			return false
		}
		b.sources = append(b.sources, source{filepath.Base(path), own.Over(shipped), own})
	}
	all := tunedSubjects()
	for _, sub := range algorithms.WithDatabase(all, b.sources[len(b.sources)-1].db) {
		if autotune.RunsOn(sub, b.Facts) {
			b.subjects = append(b.subjects, sub)
		}
	}
	return experiment.Run(&b.Bench, names, experiments(), func(e experiment.Experiment[*bench]) {
		b.RunExperiment(e.Name, "", func() error {
			b.ResumeRows()
			return e.Run(b)
		})
		fmt.Print(summaryLines(b.File.Rows))
	})
}

// tunedSubjects are all that is tuned.
func tunedSubjects() []subject.Subject {
	return problems.List().Subjects()
}
