package kernels

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coalesce/autotune"
	"coalesce/autotune/report"
	"coalesce/autotune/search"
	"coalesce/autotune/subject"
	"coalesce/autotune/t4"
	"coalesce/autotune/trial"
	"coalesce/autotune/tuned"
	"coalesce/autotune/worker"
	"coalesce/internal/cli/effect"
	"coalesce/internal/cli/ranks"
	"coalesce/internal/cli/run"
	"coalesce/internal/cli/tuning"
	"coalesce/internal/placement"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/runtime/devices"
	"coalesce/runtime/memory"
	"coalesce/solvers/algorithms"
	"coalesce/solvers/formats"
)

// tuneFlags are the flags of `tune` and of `tune` and a problem.
type tuneFlags struct {
	placement.Placement
	family   string
	budget   time.Duration
	noise    string
	limit    float64 // noise, as a part of 1
	sizes    []int
	problem  *subject.Problem // whose families are tuned; nil: those of all
	asked    paramFlags
	strategy string
	part     string
	seed     uint64
	trials   string
	output   string
	refresh  bool
	asNew    bool
	between  bool
	space    string
	points   string // folder of what space names; empty: none
	from     string
	fromT4   string
	json     bool

	given *pflag.FlagSet
}

func tuneCommand(a *run.App, all subject.Problems) *cobra.Command {
	var s tuneFlags
	unknown := run.GroupAction(all.Names() + ", or nothing for all of them")
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "Measure the variants of the kernels and keep the fastest",
		Long: `Tune every family that runs on the device within one budget, untuned sizes first; with
a problem, only its families. Under a launcher of MPI the ranks share the work, by
classes of devices (docs/cluster.md).
` + tuneLong,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknown(cmd, args)
			}
			return tune(cmd.Context(), a, &s, all.Subjects())
		},
		Args: cobra.ArbitraryArgs,
	}
	s.flags(a, cmd)
	for k := range all {
		cmd.AddCommand(tuneProblemCommand(a, &all[k]))
	}
	return cmd
}

// maxWinners is the largest file of winners that a rank hands to rank 0, in bytes.
const maxWinners = 64 << 20

// tuneLong tells how tuning goes.
const tuneLong = `
Tune verifies every variant of a family against the sequential reference, measures
the correct ones, and keeps the winners, from which solve chooses.

A trial runs in a child process: a variant that crashes or hangs costs one trial.
Tune writes trials to a file as they end, and keeps a winner when its size is
decided. Give the same command again within a day to go on after any interruption.
A variant that answers wrongly never wins, and the exit code is 3; it is 1 if every
variant of a family failed.`

// tuneProblemCommand tunes the families of one problem.
func tuneProblemCommand(a *run.App, p *subject.Problem) *cobra.Command {
	s := &tuneFlags{problem: p, asked: paramFlags{}}
	cmd := &cobra.Command{
		Use:   p.Name,
		Short: "Tune the kernels of " + p.Title + " on a device",
		Long:  "Tune the kernels of " + p.Title + " on a device.\n" + tuneLong,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return tune(cmd.Context(), a, s, p.Subjects) },
	}
	s.flags(a, cmd)
	f := cmd.Flags()
	f.StringVar(&s.family, "family", "", "family to tune (default: all that run on the device)")
	f.IntSliceVar(&s.sizes, "sizes", nil, "numbers of "+p.Names(p.Subjects)+" to tune for (default: those that suit the device)")
	s.asked.registerFlags(cmd, p, "s")
	return cmd
}

// flags are those that all tuning has.
func (s *tuneFlags) flags(a *run.App, cmd *cobra.Command) {
	f := cmd.Flags()
	s.given = f
	f.SortFlags = false
	run.AddPlacement(f, &s.Placement, "device", "threads")
	f.DurationVar(&s.budget, "budget", 10*time.Minute, "time to spend; 0 for no limit")
	f.StringVar(&s.noise, "noise", fmt.Sprintf("%g%%", 100*search.NoiseLimit), "scatter of samples in per cent, such as 5 or 5%, above which a size gets no winner; also the share of the cores that other processes may take, and twice the loss that rounds must rule out")
	f.BoolVar(&s.refresh, "refresh", false, "verify and measure again only what --output holds")
	f.BoolVar(&s.asNew, "as-new", false, "ignore the winners that the binary carries for this class of device")
	f.BoolVar(&s.between, "between", false, "tune only the sizes halfway between two tuned ones where the winner changes")
	f.StringVar(&s.from, "from", "", "tune only what solve --record-untuned wrote to this file")
	f.StringVar(&s.fromT4, "from-t4", "", "begin with the fastest configurations of this file of results in T4 form, of any tuner, where they fit a family")
	f.StringVar(&s.space, "space", "", "full: try every point of --family's space, from a checkout of the sources, compiled on demand; or a folder of go run ./gen points")
	f.StringVar(&s.strategy, "strategy", search.Halving, "halving, or exhaustive to measure every variant at every size")
	f.StringVar(&s.part, "part", "", "K/N: tune the K-th of N parts of about equal work, with N devices at once")
	f.Uint64Var(&s.seed, "seed", 1, "seed of the order of trying and of the instances")
	f.StringVar(&s.trials, "trials", "", "append every trial to this file, a JSON object a line (default: beside --output, as .trials.jsonl)")
	f.StringVar(&s.output, "output", "", "keep the winners in this file (default: "+a.UserDatabase()+" in the user's configuration folder)")
	f.BoolVar(&s.json, "json", false, "print the summary of each family as JSON")
}

// unit is that of the problem's sizes.
func (s *tuneFlags) unit() subject.Unit {
	if s.problem == nil {
		return subject.Unit{}
	}
	return s.problem.Unit
}

// tune tunes on this process's device; ranks share the work.
func tune(ctx context.Context, a *run.App, s *tuneFlags, subjects []subject.Subject) error {
	facts, err := tuneDevice(ctx, a, s, subjects)
	if err == nil && s.output == "" {
		s.output, err = a.DatabasePath()
	}
	if err == nil && s.trials == "" {
		s.trials = strings.TrimSuffix(s.output, ".json") + ".trials.jsonl"
	}
	if err != nil {
		return err
	}
	if a.Team == nil {
		return tuneHere(ctx, a, s, subjects, facts, nil)
	}
	if s.part != "" {
		return run.Usagef("--part is %s: ranks share the work among themselves", s.part)
	}
	if s.part, err = ranks.AnnouncePart(a.Team, a.Err, facts); err != nil {
		return err
	}
	s.trials += strings.TrimPrefix(fmt.Sprintf(".%d", a.Team.Rank()), ".0")
	worst := run.ExitOK
	err = ranks.Collect(a.Team, func() (t ranks.TuneResult) {
		if s.part == "" {
			return t
		}
		var text, talk bytes.Buffer
		out := a.Out
		a.Out = bufio.NewWriter(&text)
		err := tuneHere(ctx, a, s, subjects, facts, &t.Sums)
		err = errors.Join(err, a.Out.Flush())
		if a.Out = out; a.Team.Rank() > 0 {
			a.Err = &talk
		}
		t.Code = a.Exit(ctx, err)
		if t.Winners, err = formats.ReadFile(s.output, maxWinners); errors.Is(err, os.ErrNotExist) {
			err = nil // nothing was found
		}
		t.Code = max(t.Code, a.Exit(ctx, err))
		t.Text, t.Talk = text.Bytes(), talk.String()
		return t
	}, func(rank int, t ranks.TuneResult) error {
		worst = max(worst, t.Code)
		return tuning.MergeRank(s.output, rank, t.Winners, t.Sums, a.Out, t.Text, a.Err, t.Talk)
	})
	if err == nil && worst != run.ExitOK {
		err = run.ExitError(worst) // which was told
	}
	return err
}

// tuneHere tunes the part that the flags name, on one device, and keeps the summaries
// where they are asked for.
func tuneHere(ctx context.Context, a *run.App, s *tuneFlags, subjects []subject.Subject, facts device.Facts, kept *[]autotune.Summary) error {
	known, err := tuned.Embedded()
	if err != nil {
		return err
	}
	without := ""
	if s.asNew {
		known, without = known.WithoutClass(facts.Class()), facts.Class()
	}
	tasks, err := run.Await(ctx, func() ([]autotune.Task, error) { return s.tasks(a, subjects, facts) })
	if err != nil || len(tasks) == 0 {
		return err
	}
	old, err := run.Await(ctx, func() (*tuned.Database, error) { return tuning.EarlierWinners(s.output, s.refresh) })
	if err == nil && s.between {
		tasks = tuning.CrossoverSizes(a.PrintNotice, tasks, tuned.Merge(known, old), facts)
	}
	if err == nil && s.part != "" {
		if tasks, err = tuning.SelectPart(s.part, tasks, known, facts); err != nil {
			return run.AsUsage(err)
		}
	}
	if err != nil || len(tasks) == 0 {
		return err
	}
	begin, err := run.Await(ctx, func() (*t4.Results, error) { return tuning.ReadT4(s.fromT4, tasks) })
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start trials: %w", err)
	}
	compile, err := compiler(a, facts)
	if err != nil {
		return err
	}
	p := a.Progress()
	defer p.Close()
	p.SetLimit(s.budget)
	p.Set("tuning on %s", facts)
	var sums []autotune.Summary
	db, failed := autotune.TuneAll(ctx, tasks, autotune.Options{
		Worker: func() *exec.Cmd {
			return exec.Command(self, "tune-worker", "--device", facts.String(), "--threads", strconv.Itoa(s.Threads), "--tuned", s.output, "--without", without, "--space", s.points)
		},
		Compile:   compile,
		Compilers: compilers(),
		Facts:     facts,
		Database:  old,
		Known:     known,
		Begin:     begin,
		Trials:    s.trials,
		Damaged:   warnOfDamage(a),
		Keep:      func(db *tuned.Database) error { return autotune.SaveWinners(s.output, db, sums) },
		Refresh:   s.refresh,
		Budget:    s.budget,
		Noise:     s.limit,
		Strategy:  s.strategy,
		Seed:      s.seed,
		Progress:  func(e autotune.Event) { p.Set("%s", tuning.ProgressLine(e)) },
	}, func(sum autotune.Summary, _ error) { sums = append(sums, sum) })
	p.Close()
	if kept != nil {
		*kept = sums
	}
	if a.Points != nil {
		tuning.Advise(a.PrintNotice, a.Points, sums, subjects)
	}
	return saveWinners(a, s.output, db, sums, s.json, failed)
}

// compiler compiles what trials on a device load; nil where there is nothing to compile.
func compiler(a *run.App, facts device.Facts) (devices.Compile, error) {
	k := a.Devices.Kind(facts.Kind)
	if k == nil || k.Compiler == nil {
		return nil, nil
	}
	return k.Compiler(facts, devices.Options{Points: a.Points})
}

// compilerBytes is the memory that nvcc takes for the largest variants.
const compilerBytes = 2 << 30

// compilers is how many compilers may run beside a trial: on all cores but the one on which the trial runs, within half of the free memory.
func compilers() int {
	n := runtime.GOMAXPROCS(0) - 1
	if free := memory.FreeNow().Bytes; free > 0 {
		n = min(n, int(free/2/compilerBytes))
	}
	return max(1, n)
}

// warnOfDamage prints a notice about each line of trials that is left out.
func warnOfDamage(a *run.App) func(trial.DamagedLine) {
	return func(d trial.DamagedLine) { a.PrintNotice(fmt.Sprint(d)) }
}

// tasks are the families that the flags select and the device runs, or the workloads of --from;
// none, with a notice, where that file has none for the device.
func (s *tuneFlags) tasks(a *run.App, subjects []subject.Subject, facts device.Facts) ([]autotune.Task, error) {
	picked, err := tuning.FindFamilies(subjects, s.family, facts)
	if err != nil {
		return nil, run.AsUsage(err)
	}
	if s.between && (s.refresh || len(s.sizes) > 0) {
		return nil, run.Usagef("--between finds the sizes, expected it without --refresh and --sizes")
	}
	if s.from != "" {
		if s.refresh || s.between || len(s.sizes) > 0 || len(s.asked.givenFlags()) > 0 {
			return nil, run.Usagef("--from names what is tuned, expected it without --refresh, --between and --sizes, and without parameters")
		}
		tasks, others, err := tuning.ReadTasks(s.from, picked, facts)
		if err == nil && len(tasks)+others == 0 {
			a.PrintNotice(s.from + " holds nothing to tune")
		} else if err == nil && others > 0 {
			a.PrintNotice(fmt.Sprintf("%s of %s left out: for other devices than %s", ui.Count(others, "workload"), s.from, facts.Class()))
		}
		return tasks, err
	}
	var tasks []autotune.Task
	var names []string
	beyond := subject.Unit{}
	for _, sub := range picked {
		names = append(names, sub.Family().Name)
		sizes := s.unit().SupportedSizes(sub, s.sizes)
		if len(sizes) == 0 && len(s.sizes) > 0 {
			beyond = s.unit().ForSubject(sub)
			continue
		}
		fixed := tuning.SelectWorkloads(sub, s.asked.requestedValues())
		if len(fixed) > 0 {
			tasks = append(tasks, autotune.Task{Subject: sub, Fixed: fixed, Sizes: sizes})
		}
	}
	if len(tasks) == 0 && beyond.Most > 0 {
		return nil, run.Usagef("--sizes has %d, expected 1 to %d %s", s.sizes[0], beyond.Most, beyond.Name)
	}
	if len(tasks) == 0 {
		return nil, run.Usagef("%s has no variants for %s", strings.Join(names, ", "), strings.Join(s.asked.givenFlags(), " "))
	}
	if !s.refresh && !s.between && len(s.sizes) == 0 && !slices.ContainsFunc(tasks, func(t autotune.Task) bool { return len(t.Subject.Sizes(facts)) > 0 }) {
		return nil, run.Usagef("%s: no sizes to tune on %s are declared, expected --sizes after the problem's name", strings.Join(names, ", "), facts)
	}
	return tasks, nil
}

// saveWinners keeps the winners and prints the summaries, which stand also where
// they could not be kept. failed is the error that tuning ended with.
func saveWinners(a *run.App, path string, db *tuned.Database, sums []autotune.Summary, asJSON bool, failed error) error {
	var unkept error
	if slices.ContainsFunc(sums, func(s autotune.Summary) bool { return len(s.Winners)+s.Wrong > 0 }) {
		if unkept = autotune.SaveWinners(path, db, sums); unkept == nil {
			a.PrintNotice("winners kept in " + path)
		}
	}
	if errors.Is(failed, autotune.ErrWrongVariant) {
		failed = run.AsCheck(failed)
	} else if failed != nil && !errors.Is(failed, autotune.ErrNoneRan) {
		return errors.Join(unkept, failed)
	}
	print := report.WriteText
	if asJSON {
		print = report.JSON
	}
	tuning.ReportUndecided(a.PrintNotice, sums)
	errs := []error{unkept, failed}
	for i := range sums {
		if i > 0 && !asJSON {
			fmt.Fprintln(a.Out)
		}
		errs = append(errs, print(a.Out, &sums[i]))
	}
	return errors.Join(errs...)
}

// tuneDevice reads the facts of the device that trials will run on, which
// also shows that it can be opened.
func tuneDevice(ctx context.Context, a *run.App, s *tuneFlags, subjects []subject.Subject) (facts device.Facts, err error) {
	if err := effect.CheckFlags(s.given, []effect.Rule{run.ThreadsRule(s.Device)}); err != nil {
		return facts, run.AsUsage(err)
	}
	if s.strategy != search.Halving && s.strategy != search.Exhaustive {
		return facts, run.Usagef("--strategy is %q, expected %s or %s", s.strategy, search.Halving, search.Exhaustive)
	}
	if s.budget < 0 {
		return facts, run.Usagef("--budget is %s, expected 0 or more", s.budget)
	}
	if s.limit, err = perCent(s.noise); err != nil {
		return facts, run.Usagef("--noise is %s, %w", s.noise, err)
	}
	slices.Sort(s.sizes)
	s.sizes = slices.Compact(s.sizes)
	for _, size := range s.sizes {
		if most := s.unit().Largest(subjects); size < 1 || size > most {
			return facts, run.Usagef("--sizes has %d, expected 1 to %d", size, most)
		}
	}
	if err = a.HandOver(s.Device); err == nil {
		err = extend(ctx, a, s, subjects)
	}
	if err == nil {
		err = a.WithDevice(s.Device, s.Threads, func(d device.Device) error {
			facts = d.Facts()
			return nil
		})
	}
	return facts, err
}

// perCent reads a number of per cent, more than 0 and at most 100, as a part of 1. A number below 1 has to have its
// sign: without, 0.05 might be meant as a part.
func perCent(text string) (part float64, err error) {
	number, signed := strings.CutSuffix(strings.TrimSpace(text), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	switch {
	case err != nil || !(x > 0 && x <= 100):
		return 0, errors.New("expected per cent, more than 0 and at most 100, such as 5 or 5%")
	case x < 1 && !signed:
		return 0, fmt.Errorf("expected per cent: %s%% or %g%%", number, 100*x)
	}
	return x / 100, nil
}

// extend adds the points of --space, if any, to their family.
func extend(ctx context.Context, a *run.App, s *tuneFlags, subjects []subject.Subject) (err error) {
	if s.points = s.space; s.space == "" {
		return nil
	}
	if s.space == tuning.SpaceFull {
		picked, err := tuning.FindFamilies(subjects, s.family, device.Facts{Kind: device.CUDA})
		if err != nil {
			return run.AsUsage(err)
		}
		if s.family == "" || len(picked) != 1 {
			return run.Usagef("--space full renders one family, expected its name with --family")
		}
		if s.points, err = tuning.RenderSpace(ctx, picked[0].Family()); err != nil {
			return err
		}
	}
	if a.Points, err = tuning.ExtendFamily(s.points, subjects); err == nil {
		a.PrintNotice(fmt.Sprintf("%s has %s beside the binary's, compiled when they are tried", a.Points.Family(), ui.Count(a.Points.Len(), "variant")))
	}
	return err
}

// workerCommand is how tune starts itself for trials.
func workerCommand(a *run.App, all subject.Problems) *cobra.Command {
	var path, without, points string
	var p placement.Placement
	cmd := &cobra.Command{
		Use:    "tune-worker",
		Short:  "Run trials that the tuner asks for on standard input",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			db, err := winnersSoFar(a, path, without)
			if err != nil {
				return err
			}
			list := algorithms.WithDatabase(all.Subjects(), db)
			if points != "" {
				if a.Points, err = tuning.ExtendFamily(points, list); err != nil {
					return err
				}
			}
			return a.WithDevice(p.Device, p.Threads, func(d device.Device) error {
				return worker.Serve(cmd.Context(), d, list, a.In, a.Raw)
			})
		},
	}
	run.AddPlacement(cmd.Flags(), &p, "device", "threads")
	cmd.Flags().StringVar(&points, "space", "", "folder of go run ./gen points, whose variants are tried too")
	cmd.Flags().StringVar(&path, "tuned", "", "winners that algorithms' kernels are chosen from, beside the binary's")
	cmd.Flags().StringVar(&without, "without", "", "class of devices whose winners in the binary are left out")
	return cmd
}

// winnersSoFar are those of a running tune's file, which may not exist yet, over the binary's but for one class of device.
func winnersSoFar(a *run.App, path, without string) (*tuned.Database, error) {
	db, err := tuned.Shipped(), error(nil)
	if without != "" {
		db, err = tuned.Embedded()
	}
	if err == nil {
		db, err = a.WithBundledTuning(db)
	}
	if err == nil {
		db, err = tuning.WinnersOver(path, db.WithoutClass(without))
	}
	return db, err
}
