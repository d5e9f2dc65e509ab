package csg

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"coalesce/internal/cli/atomicfile"
	"coalesce/internal/cli/run"
	"coalesce/internal/ui"
	"coalesce/runtime/memory"
	"coalesce/solvers/csg/anytime"
)

// GenerateCommand is `generate csg`.
func GenerateCommand(a *run.App) *cobra.Command {
	w := drawing{weights: anytime.Weights()[0], density: 1, seed: 1}
	var output string
	cmd := &cobra.Command{
		Use:   "csg --agents N [--weights NAME] [--density SHARE] --output FILE.rud",
		Short: "Write a graph whose agents form coalitions",
		Long:  aboutDrawing,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmp.Or(run.CheckPlain(output), w.check(output)); err != nil {
				return run.AsUsage(err)
			}
			if err := w.fits(a.Free()); err != nil {
				return err
			}
			g, err := run.Await(cmd.Context(), w.draw)
			if err != nil {
				return err
			}
			return atomicfile.Write(cmd.Context(), output, g.Write)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&output, "output", "o", "", "the file to write")
	run.AddOptions(f, w.Fields())
	return cmd
}

// A drawing is the flags that say which graph to draw.
type drawing struct {
	// weights of its edges
	weights string `option:"weights" words:"anytime.Weights()"`
	// its agents
	agents int `option:"agents" min:"1"`
	// share of all pairs of agents that have an edge
	density float64 `option:"density" min:"0" max:"1"`
	// its seed
	seed uint64 `option:"seed"`
}

// aboutDrawing describes them.
const aboutDrawing = `Draw a weighted graph and write it as rudy. A coalition is worth the weights of the
edges among its members. The weights are

  normal   of mean 0 and deviation 10, rounded to three decimals
  laplace  of mean 0 and scale 10, rounded to three decimals
  uniform  integers from -100 to 100
  sign     -1 or 1
  planted  integers, 1 to 100 within hidden groups and below 0 between them, with
           the sign of one edge in ten turned`

// check is a mistake in them or in the file to write.
func (w *drawing) check(output string) error {
	if output == "" {
		return errors.New("expected --output FILE")
	}
	if format := anytime.FormatOf(output); format != "rudy" && (format != "" || strings.HasSuffix(output, ".npy")) {
		return fmt.Errorf("--output is %s: graphs are written as rudy, .rud", output)
	}
	if w.agents == 0 {
		return errors.New("expected --agents N")
	}
	return nil
}

// fits returns an error if the graph exceeds the free memory.
func (w *drawing) fits(free memory.Free) error {
	return free.CheckFits("the pairs of "+ui.Count(w.agents, "agent"), 24*w.density*float64(w.agents)*float64(w.agents))
}

// draw draws the graph.
func (w *drawing) draw() (*anytime.Instance, error) {
	return anytime.Draw(w.weights, w.agents, w.density, w.seed)
}
