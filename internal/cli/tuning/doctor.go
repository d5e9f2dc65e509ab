package tuning

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coalesce/autotune"
	"coalesce/autotune/measure"
	"coalesce/autotune/roofline"
	"coalesce/autotune/search"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
)

func (e Env) doctorCommand() *cobra.Command {
	var name, db string
	var threads int
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check whether a device is fit for measuring, and list its untuned families",
		Long: `Report what may disturb measurements on a device (other processes, ECC, MIG, a power
cap, moving clocks), how much the same work scatters on it now, and which families
have sizes without a winner, with the command that tunes them. The command changes
nothing.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.Device(name, threads, func(d device.Device) error { return e.diagnose(cmd.Context(), d, db) })
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&name, "device", "auto", "device to look at: auto, host, emulated, cuda or cuda:INDEX")
	f.IntVar(&threads, "threads", 0, "cores that the host device uses (default: all)")
	f.StringVar(&db, "tuned", "", "winners of this file (default: the user's own)")
	return cmd
}

func (e Env) diagnose(ctx context.Context, d device.Device, named string) error {
	facts := d.Facts()
	var t ui.Table
	t.Row("device", fmt.Sprintf("%s (%s)", facts, facts.Name))
	t.Row("driver", cmp.Or(facts.Driver, "-"))
	var others *measure.OtherLoad
	switch facts.Kind {
	case device.CUDA:
		gpu(ctx, &t, facts)
	case device.Host:
		others = new(measure.OtherLoad)
	}
	var s timingScatter
	taken, err := others.RunUndisturbed(facts.SMs, 1, 0, func() (err error) {
		s, err = steadiness(d)
		return err
	})
	if err != nil {
		return err
	}
	switch s.others = taken; {
	case others == nil:
	case others.Available():
		t.Row("other processes", fmt.Sprintf("take %.0f %% of the cores", 100*taken))
	default:
		t.Row("other processes", "not known")
	}
	t.Row("clock spread", fmt.Sprintf("%.1f %% between tenths of a second", 100*s.spread))
	t.Row("noise floor", fmt.Sprintf("%.1f %% (median deviation of %d fills of %s)", 100*s.noise, s.n, device.Size(fillBytes)))
	t.Row("ceiling", ceiling(roofline.FindPeak(d)))
	t.Row("fit to tune", s.verdict())
	if err := t.Write(e.Out); err != nil {
		return err
	}
	db, err := e.ownEntries(named)
	if err != nil {
		return err
	}
	var rows ui.Table
	rows.Row("family", "untuned", "command")
	for _, sub := range e.subjectsOn("", facts) {
		untuned, all := autotune.CountUntuned(db, sub, facts)
		command := "-"
		if untuned > 0 {
			problem, family, _ := strings.Cut(sub.Family().Name, "/")
			command = fmt.Sprintf("%s tune %s --family %s --device %s", e.Program, problem, family, facts)
		}
		rows.Row(sub.Family().Name, fmt.Sprintf("%d of %d sizes", untuned, all), command)
	}
	fmt.Fprintln(e.Out)
	return rows.Write(e.Out)
}

// ceiling writes a device's peaks, with which the report compares runs.
func ceiling(p roofline.Peak) string {
	if p.Bandwidth == 0 {
		return "not known"
	}
	return fmt.Sprintf("%.3g GB/s of memory, %.3g G operations of float32 a second, %.3g of float64, %.3g of int32",
		p.Bandwidth/1e9, p.Operations(device.Float32)/1e9, p.Operations(device.Float64)/1e9, p.Operations(device.Int32)/1e9)
}

// gpu asks the driver's own tool, which may be absent, for what the runtime does not know.
func gpu(ctx context.Context, t *ui.Table, facts device.Facts) {
	ask := func(query ...string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		args := append([]string{"--id=" + facts.UUID, "--format=csv,noheader"}, query...)
		out, err := exec.CommandContext(ctx, "nvidia-smi", args...).Output()
		return strings.TrimSpace(string(out)), err
	}
	for _, row := range [][2]string{
		{"ECC", "ecc.mode.current"}, {"MIG", "mig.mode.current"}, {"power cap", "power.limit"}, {"most power", "power.max_limit"},
		{"clock", "clocks.sm"}, {"most clock", "clocks.max.sm"}, {"temperature °C", "temperature.gpu"},
	} {
		answer, err := ask("--query-gpu=" + row[1])
		if err != nil {
			t.Row(row[0], "not known: nvidia-smi: "+ui.OneLine(err))
			continue
		}
		t.Row(row[0], ui.EscapeControl(answer))
	}
	answer, err := ask("--query-compute-apps=pid,process_name")
	switch {
	case err != nil:
		answer = "not known: nvidia-smi: " + ui.OneLine(err)
	case answer == "":
		answer = "none"
	}
	t.Row("other processes", ui.EscapeControl(strings.ReplaceAll(answer, "\n", "; ")))
}

// timingScatter is how the same work scatters on a device.
type timingScatter struct {
	n      int
	noise  float64 // relative median deviation of all
	spread float64 // relative distance of the slowest tenth of a second's median from the fastest's
	others float64 // part of a host's cores that other processes took meanwhile
}

// verdict says whether a tune would crown winners now.
func (s *timingScatter) verdict() string {
	switch limit := search.NoiseLimit; {
	case s.others > limit:
		return fmt.Sprintf("no: other processes take more than the %.0f %% above which tune crowns no winner; end what else computes", 100*limit)
	case s.noise > limit:
		return fmt.Sprintf("no: most samples would scatter by more than the %.0f %% above which tune crowns no winner; end what else computes", 100*limit)
	case s.spread > limit:
		return fmt.Sprintf("hardly: the same work took up to %.0f %% longer at times, and samples of such times are discarded", 100*s.spread)
	}
	return "yes"
}

// fillBytes are filled in each run: the same work each time.
const fillBytes = 16 << 20

// steadiness fills memory for two seconds.
func steadiness(d device.Device) (out timingScatter, err error) {
	buf, err := d.Alloc(fillBytes)
	if err != nil {
		return out, err
	}
	defer buf.Free()
	s, err := d.NewStream()
	if err != nil {
		return out, err
	}
	defer s.Close()
	var all, medians []float64
	for begin := time.Now(); time.Since(begin) < 2*time.Second; {
		var part []float64
		for tenth := time.Now(); time.Since(tenth) < 100*time.Millisecond; {
			from, err := s.Record()
			if err != nil {
				return out, err
			}
			if err := s.Fill(buf, 0, fillBytes, 1); err != nil {
				return out, err
			}
			to, err := s.Record()
			if err != nil {
				return out, err
			}
			if err := s.Sync(); err != nil {
				return out, err
			}
			took, err := to.Since(from)
			if err != nil {
				return out, err
			}
			part = append(part, math.Max(1, float64(took)))
		}
		all = append(all, part...)
		medians = append(medians, float64(measure.Statistics(part, 1).Median))
	}
	least := slices.Min(medians)
	stat := measure.Statistics(all, 1)
	return timingScatter{n: len(all), noise: stat.Noise(), spread: slices.Max(medians)/least - 1}, nil
}
