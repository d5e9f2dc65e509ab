package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment"
	"coalesce/solvers/csg"
	"coalesce/solvers/qubo"
)

// explainFlags are the flags of `explain` and a problem.
type explainFlags struct {
	device  string
	threads int
	tuned   string
	size    int
	most    int // size that the problem allows
	family  string
	asked   map[string]*[]string // values of fixed parameters, by the parameter
	json    bool
}

func (a *app) explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Say which variant solve would run at a size, and why",
		RunE:  a.group("csg, assignment or qubo"),
		Args:  cobra.ArbitraryArgs,
	}
	cmd.AddCommand(
		a.explainProblemCommand("csg", "agents", csg.MaxAgents, csg.Subjects(), "value", "method"),
		a.explainProblemCommand("assignment", "rows and columns", assignment.MaxSide, assignment.Subjects(), "value", "range", "metric"),
		a.explainProblemCommand("qubo", "variables", 1<<16, qubo.Subjects(), "row", "weight"),
	)
	return cmd
}

// explainProblemCommand explains the choice among variants of one problem, whose sizes
// count what counted says, for each workload or those with some values of params.
func (a *app) explainProblemCommand(name, counted string, most int, subjects []subject.Subject, params ...string) *cobra.Command {
	s := explainFlags{most: most, asked: map[string]*[]string{}}
	cmd := &cobra.Command{
		Use:   name,
		Short: "Explain the choice among the variants of " + name,
		Long: `Print, for each family of kernels that runs on the device and each workload that
is tuned by itself, the variant that solve would choose at a size, what the choice
rests on, and the variants it was made among with their times, measured or
predicted. Nothing is run or measured.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.explain(cmd.Context(), &s, subjects) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	deviceFlags(f, &s.device, &s.threads)
	f.IntVar(&s.size, "size", 0, "number of "+counted)
	f.StringVar(&s.family, "family", "", "family to explain (default: all that run on the device)")
	for _, p := range params {
		s.asked[p] = f.StringSlice(p, nil, "explain workloads with these values of "+p+" only (default: all)")
	}
	f.StringVar(&s.tuned, "tuned", "", "choose among the winners in this file too (default: those of coalesce tune)")
	f.BoolVar(&s.json, "json", false, "print one JSON object a choice")
	return cmd
}

func (a *app) explain(ctx context.Context, s *explainFlags, subjects []subject.Subject) error {
	if s.threads < 0 {
		return usagef("--threads is %d, expected 1 or more", s.threads)
	}
	if s.size < 1 || s.size > s.most {
		return usagef("--size is %d, expected 1 to %d", s.size, s.most)
	}
	if err := a.handOver(s.device); err != nil {
		return err
	}
	db, err := await(ctx, func() (*tuned.Database, error) { return a.database(s.tuned) })
	if err != nil {
		return err
	}
	var facts device.Facts
	err = a.withDevice(s.device, s.threads, func(d device.Device) error {
		facts = d.Facts()
		return nil
	})
	if err != nil {
		return err
	}
	picked, err := pickFamilies(subjects, s.family, facts)
	if err != nil {
		return err
	}
	asked := map[string][]string{}
	for p, values := range s.asked {
		asked[p] = *values
	}
	n := 0
	for _, sub := range picked {
		for _, fixed := range pickFixed(sub.Fixed(), asked) {
			x := explained(db, sub, facts, fixed, s.size)
			if x == nil {
				continue
			}
			n++
			if err := a.tell(x, s.json); err != nil {
				return err
			}
		}
	}
	if n == 0 {
		return usagef("no workload of %s has the values asked for", first.Family().Name)
	}
	return nil
}

// An explanation is a choice, as explain prints it. Its members are those of the JSON
// object.
type explanation struct {
	Family     string            `json:"family"`
	Fixed      map[string]string `json:"fixed"` // the workload's parameters
	Size       int               `json:"size"`
	Device     string            `json:"device"`
	Level      string            `json:"level"`   // what the choice rests on; empty: no variant fits
	Variant    string            `json:"variant"` // label; empty: no variant fits
	Reason     string            `json:"reason"`
	Candidates []candidate       `json:"candidates"` // fastest first
}

type candidate struct {
	Variant  string  `json:"variant"`
	Seconds  float64 `json:"seconds"`  // measured or predicted; 0: not known
	Size     int     `json:"size"`     // that Seconds is for
	Slowdown float64 `json:"slowdown"` // over the fastest candidate
	Refused  string  `json:"refused"`  // why it does not take part; empty: it does
}

// explained is the choice that solve makes; nil where problems with these parameters
// take another workload, that of a type that suits them better.
func explained(db *tuned.Database, sub subject.Subject, facts device.Facts, fixed map[string]string, size int) *explanation {
	f := sub.Family()
	x := &explanation{Family: f.Name, Fixed: fixed, Size: size, Device: facts.String(), Candidates: []candidate{}}
	w := tuned.Workload{Fixed: fixed, Size: size}
	var err error
	if shape, ok := sub.(interface {
		Workload(map[string]string, device.Facts, int) (tuned.Workload, error)
	}); ok {
		w, err = shape.Workload(fixed, facts, size)
		if err == nil && !maps.Equal(w.Fixed, fixed) {
			return nil
		}
	}
	feasible := func(v *device.Variant) error { return sub.Feasible(v, facts, size) }
	var c tuned.Choice
	if err == nil {
		c, err = db.Choose(f, facts, w, feasible)
	}
	if err != nil {
		x.Reason = err.Error()
		return x
	}
	x.Level, x.Variant, x.Reason = c.Level, c.Variant.Label, c.Reason()
	for _, k := range c.Candidates(w, feasible) {
		one := candidate{Variant: k.Variant.Label, Seconds: k.Time.Seconds(), Size: k.Size, Slowdown: k.Slowdown}
		if k.Refused != nil {
			one.Refused = k.Refused.Error()
		}
		x.Candidates = append(x.Candidates, one)
	}
	return x
}

// tell prints an explanation: what was chosen, why, and the candidates.
func (a *app) tell(x *explanation, asJSON bool) error {
	if asJSON {
		return printJSON(a.out, x)
	}
	var work string
	for _, p := range slices.Sorted(maps.Keys(x.Fixed)) {
		work += " " + p + "=" + x.Fixed[p]
	}
	var head ui.Table
	head.Row("family", fmt.Sprintf("%s%s on %s, size %d", x.Family, work, x.Device, x.Size))
	if x.Variant != "" {
		head.Row("variant", x.Variant)
	}
	head.Row("reason", x.Reason)
	if err := head.Write(a.out); err != nil {
		return err
	}
	if len(x.Candidates) > 0 {
		var t ui.Table
		t.Right(1, 2, 3)
		t.Row("", "time", "at size", "slowdown", "variant")
		for _, k := range x.Candidates {
			mark, took, at, label := "", "-", "-", k.Variant
			if k.Variant == x.Variant {
				mark = "*"
			}
			if k.Seconds > 0 {
				took, at = ui.Duration(time.Duration(k.Seconds*float64(time.Second))), fmt.Sprint(k.Size)
			}
			if k.Refused != "" {
				label += " (not here: " + k.Refused + ")"
			}
			t.Row(mark, took, at, fmt.Sprintf("%.2f", k.Slowdown), label)
		}
		if err := t.Write(a.out); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(a.out)
	return err
}
