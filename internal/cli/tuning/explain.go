package tuning

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
)

// explainFlags are the flags of `explain`.
type explainFlags struct {
	device  string
	threads int
	size    int
	family  string
	tuned   string
}

func (e Env) explainCommand() *cobra.Command {
	var s explainFlags
	cmd := &cobra.Command{
		Use:   "explain PROBLEM",
		Short: "Say which variants would run at a size, and why",
		Long: `Say, for every family of a problem on a device and every workload, which variant
is chosen at a size, on which level and why, and the times of the candidates at the
nearest size that was tuned here. Nothing is measured.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return e.explain(args[0], &s) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	where(f, &s.device, &s.threads)
	f.IntVar(&s.size, "size", 0, "size of the instance: agents, rows or variables")
	f.StringVar(&s.family, "family", "", "family to explain (default: all of the problem)")
	f.StringVar(&s.tuned, "tuned", "", "winners of this file (default: the user's own)")
	return cmd
}

// where adds the flags that name a device.
func where(f *pflag.FlagSet, name *string, threads *int) {
	f.StringVar(name, "device", "auto", "where to compute: auto, host, emulated, cuda or cuda:INDEX")
	f.IntVar(threads, "threads", 0, "cores that the host device uses (default: all)")
}

func (e Env) explain(problem string, s *explainFlags) error {
	if s.size < 1 {
		return e.Usage("--size is %d, expected 1 or more", s.size)
	}
	db, err := e.Database(s.tuned)
	if err != nil {
		return err
	}
	all, err := e.own(s.tuned)
	if err != nil {
		return err
	}
	return e.Device(s.device, s.threads, func(d device.Device) error {
		facts := d.Facts()
		found := 0
		for _, sub := range e.here(problem, facts) {
			name := sub.Family().Name
			if s.family != "" && s.family != name && !strings.HasSuffix(name, "/"+s.family) {
				continue
			}
			for _, w := range sub.Fixed() {
				found++
				if err := e.one(db, all, sub, facts, w, s.size); err != nil {
					return err
				}
			}
		}
		if found == 0 {
			return e.Usage("%q has no family %s on %s: expected csg, assignment or qubo", problem, s.family, facts)
		}
		return nil
	})
}

// one explains the choice for a workload.
func (e Env) one(db, all *tuned.Database, sub subject.Subject, facts device.Facts, w map[string]string, size int) error {
	f := sub.Family()
	fmt.Fprintf(e.Out, "%s %s size %d\n", f.Name, fixed(w), size)
	feasible := func(v *device.Variant) error { return sub.Feasible(v, facts, size) }
	c, err := db.Choose(f, facts, tuned.Workload{Fixed: w, Size: size}, feasible)
	if err != nil {
		_, err = fmt.Fprintf(e.Out, "  none: %v\n", err)
		return err
	}
	fmt.Fprintf(e.Out, "  level    %s\n  variant  %s\n  reason   %s\n", c.Level, c.Variant.Label, c.Reason())
	near := nearest(all, f, facts, w, size)
	if near == nil {
		_, err = fmt.Fprintf(e.Out, "  no size of this workload was tuned on this class of device\n")
		return err
	}
	var t ui.Table
	t.Row("  candidate", "at size", "time", "state")
	for _, r := range near.Results {
		state := "valid"
		if _, ok := r.Valid(f); !ok {
			state = "stale: another text, or gone"
		} else if err := feasible(f.Variant(r.Variant)); err != nil {
			state = "cannot run: " + err.Error()
		}
		t.Row("  "+r.Variant, fmt.Sprint(near.Size), ui.Duration(time.Duration(r.Nanos)), state)
	}
	return t.Write(e.Out)
}

// nearest is the entry of a workload here whose size is the nearest by ratio, the larger
// on a tie; nil for none.
func nearest(db *tuned.Database, f *device.Family, facts device.Facts, w map[string]string, size int) *tuned.Entry {
	var list []tuned.Entry
	for _, e := range db.Entries() {
		if e.Family == f.Name && e.Class == facts.Class() && maps.Equal(e.Fixed, w) && e.Size > 0 {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return nil
	}
	far := func(e tuned.Entry) float64 { return math.Abs(math.Log(float64(e.Size) / float64(size))) }
	best := slices.MinFunc(list, func(a, b tuned.Entry) int {
		return cmp.Or(cmp.Compare(far(a), far(b)), cmp.Compare(b.Size, a.Size))
	})
	return &best
}
