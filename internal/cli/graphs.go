package cli

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"coalesce/internal/cli/run"
	"coalesce/internal/cli/structures"
	"coalesce/internal/cli/whole"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/anytime"
	"coalesce/solvers/solve"
)

// readGraph reads FILE, which may be standard input, as a graph.
func readGraph(a *run.App, s *structures.Search, path string) (*anytime.Instance, error) {
	if path == run.Dash {
		return s.Read(a.In, run.StandardInput, a.Free().Bytes)
	}
	return s.Read(nil, path, a.Free().Bytes)
}

// solveGraph searches a graph or a distribution, and prints.
func solveGraph(ctx context.Context, a *run.App, s *csgFlags, session *csg.Session, path string, g *anytime.Instance, read time.Duration) error {
	switch {
	case a.Single():
		return a.Alone("a search is one process's", func() error { return solveGraph(ctx, a, s, session, path, g, read) })
	case s.Device != "auto" && s.Device != "host":
		return run.Usagef("--device is %s: the search runs on a host", s.Device)
	}
	if err := s.CheckEffects(s.effects(path, searchWay)); err != nil {
		return err
	}
	p := a.Progress()
	defer p.Close()
	o := s.search.Options(session.Settings, s.seed)
	o.Progress = func(now solve.Incumbent) { p.Set("searching %s: %s", ui.Count(g.N, "agent"), now) }
	var r *anytime.Result
	err := a.WithDevices("host", s.Threads, func(host []device.Device) (err error) { // the session's device may be a GPU
		o.Devices = host
		r, err = anytime.Solve(ctx, g, o)
		return err
	})
	if err != nil {
		return err
	}
	r.Seconds.Read = read.Seconds()
	if p.Close(); s.JSON {
		return run.PrintJSON(a.Out, r)
	}
	return structures.WriteFound(a.Out, r, r.Device)
}

// verdictOfGraph checks a result against a graph, or against the graph's table if that was solved.
func verdictOfGraph(a *run.App, s *structures.Search, result []byte, path string) (*solve.Verdict, error) {
	if err := s.Check(); err != nil {
		return nil, run.AsUsage(err)
	}
	g, err := readGraph(a, s, path)
	if err != nil {
		return nil, err
	}
	if anytime.IsResult(result) {
		return anytime.Verify(g, result)
	}
	inst, err := structures.Table(context.Background(), g, a.Free())
	if err != nil {
		return nil, err
	}
	return csg.Verify(inst, result)
}

func generateCSGCommand(a *run.App) *cobra.Command {
	var w structures.Drawing
	var output string
	cmd := &cobra.Command{
		Use:   "csg --agents N [--weights NAME] [--density SHARE] --output FILE.rud",
		Short: "Write a graph whose agents form coalitions",
		Long:  structures.AboutDrawing,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmp.Or(run.CheckPlain(output), w.Check(output)); err != nil {
				return run.AsUsage(err)
			}
			if err := w.Fits(a.Free()); err != nil {
				return err
			}
			g, err := run.Await(cmd.Context(), w.Draw)
			if err != nil {
				return err
			}
			return whole.Write(cmd.Context(), output, g.Write)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&output, "output", "o", "", "the file to write")
	w.Register(f)
	return cmd
}
