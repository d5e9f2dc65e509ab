package csg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"coalesce/internal/cli/run"
	"coalesce/internal/ui"
	"coalesce/runtime/memory"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/anytime"
	"coalesce/solvers/solve"
)

// TableAgents is the most agents of a graph that becomes a table unless the search is
// asked for: tables of so many take less than a second.
const TableAgents = 24

// A Search is the flags of `solve csg` that say what a graph is and when its search ends.
type Search struct {
	Format string
	target string
}

// Register adds the flags.
func (s *Search) Register(f *pflag.FlagSet) {
	f.StringVar(&s.Format, "format", "",
		"FILE is a graph, in the format "+strings.Join(anytime.Formats(), ", ")+" (default: told by its name)")
	f.StringVar(&s.target, "target", "", "end a search at this value or a better one")
}

// Check returns an error if the flags are wrong.
func (s *Search) Check() error {
	switch x, err := strconv.ParseFloat(s.target, 64); {
	case s.target != "" && (err != nil || math.IsNaN(x) || math.IsInf(x, 0)):
		return fmt.Errorf("--target is %q, expected a number", s.target)
	case s.Format != "" && !slices.Contains(anytime.Formats(), s.Format):
		return fmt.Errorf("--format is %q, expected one of %s", s.Format, strings.Join(anytime.Formats(), ", "))
	}
	return nil
}

// Graph reports whether a FILE is a graph.
func (s *Search) Graph(path string) bool { return s.Format != "" || anytime.FormatOf(path) != "" }

// Read reads a graph from a file, or from in where that is not nil. Memory is the most bytes
// that it may take.
func (s *Search) Read(in io.Reader, path string, memory int64) (*anytime.Instance, error) {
	o := anytime.ReadOptions{Format: s.Format, Memory: memory}
	if in != nil {
		return anytime.ReadFrom(in, path, o)
	}
	return anytime.Read(path, o)
}

// Searches reports whether the search solves so many agents, in place of a table of all coalitions: if
// the flags ask for the search, or the agents are more than TableAgents.
func Searches(algorithm string, agents, table int) bool {
	return algorithm == anytime.Algorithm || algorithm == "" && agents > table
}

// MostAgents is the most agents of a distribution.
func MostAgents(algorithm string) int {
	if Searches(algorithm, anytime.MostDrawn, csg.MaxAgents) {
		return anytime.MostDrawn
	}
	return csg.MaxAgents
}

// Options are the settings of a search.
func (s *Search) Options(settings solve.Settings, seed uint64) anytime.Options {
	o := anytime.Options{Settings: settings, Seed: seed}
	if target, err := strconv.ParseFloat(s.target, 64); err == nil {
		o.Target = &target
	}
	return o
}

// Table is the table of all coalitions of a graph, or an error if it exceeds the free memory.
func Table(ctx context.Context, g *anytime.Instance, free memory.Free) (*csg.Instance, error) {
	if err := free.CheckFits("the values and the table of "+ui.Count(g.N, "agent"), 2*float64(csg.Footprint(g.N, csg.Int64))); err != nil {
		return nil, fmt.Errorf("%w: --algorithm %s needs none", err, anytime.Algorithm)
	}
	return g.Table(ctx)
}

// WriteFound writes the answer of a search for people; device is the device's name.
func WriteFound(out io.Writer, r *anytime.Result, device string) error {
	blocks := make([]csg.Block, len(r.Certificate.Blocks))
	for k, b := range r.Certificate.Blocks {
		blocks[k] = csg.Block{Agents: b.Agents, Value: b.Value}
	}
	n := r.Size["agents"]
	if err := writeBlocks(out, blocks, r.Value, n); err != nil {
		return err
	}
	last := r.History[len(r.History)-1]
	what, did := "", ui.Count(int(r.Work.Parts), "part")+" solved"
	if edges, ok := r.Size["edges"]; ok {
		what = ui.Count(edges, "edge") + ", "
		did = ui.Count(int(r.Work.Runs), "annealing") + " and " + ui.Count(int(r.Work.Coalitions), "extracted coalition")
	}
	r.Notes = append(slices.Clip(r.Notes), fmt.Sprintf("the best after %s, of %s, seed %d", ui.Seconds(last.Seconds), did, r.Seed))
	return run.Answer{
		Report:   &r.Report,
		Instance: fmt.Sprintf("%s (%s, %s%s)", r.Instance, ui.Count(n, "agent"), what, r.Type),
		Checked:  fmt.Sprintf("the blocks are a partition and their values add up to %s", r.Certificate.Sum),
		Name:     device,
	}.Write(out)
}

// WriteResult writes the answer of a table for people; verified is the text about the reference's
// answer, empty without --verify.
func WriteResult(out io.Writer, r *csg.Result, device, verified string) error {
	n := r.Size["agents"]
	if err := writeBlocks(out, r.Certificate.Blocks, r.Value, n); err != nil {
		return err
	}
	return run.Answer{
		Report:   &r.Report,
		Instance: fmt.Sprintf("%s (%s, %s)", r.Instance, ui.Count(n, "agent"), r.Type),
		Checked:  fmt.Sprintf("the blocks are a partition and their values add up to %s", r.Certificate.Sum),
		Verified: verified, Splittings: r.Splittings, Name: device,
	}.Write(out)
}

func writeBlocks(out io.Writer, list []csg.Block, total solve.Number, agents int) error {
	var blocks ui.Table
	blocks.AlignRight(0)
	blocks.Row("value", "block")
	for _, b := range list {
		blocks.Row(b.Value, "{"+strings.Join(b.Agents, ", ")+"}")
	}
	blocks.Row(total.String(), fmt.Sprintf("total, %s of %s", ui.Count(len(list), "block"), ui.Count(agents, "agent")))
	if err := blocks.Write(out); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out)
	return err
}

// A Drawing is the flags that say which graph to draw.
type Drawing struct {
	weights string
	agents  int
	density float64
	seed    uint64
}

// Register adds the flags.
func (w *Drawing) Register(f *pflag.FlagSet) {
	f.StringVar(&w.weights, "weights", anytime.Weights()[0], "what its edges weigh: "+strings.Join(anytime.Weights(), ", "))
	f.IntVar(&w.agents, "agents", 0, "its agents")
	f.Float64Var(&w.density, "density", 1, "the share of all pairs of agents that have an edge")
	f.Uint64Var(&w.seed, "seed", 1, "its seed")
}

// AboutDrawing describes them.
const AboutDrawing = `Draw a weighted graph and write it as rudy. A coalition is worth the weights of the
edges among its members. The weights are

  normal   of mean 0 and deviation 10, rounded to three decimals
  laplace  of mean 0 and scale 10, rounded to three decimals
  uniform  integers from -100 to 100
  sign     -1 or 1
  planted  integers, 1 to 100 within hidden groups and below 0 between them, with
           the sign of one edge in ten turned`

// Check is a mistake in them or in the file to write.
func (w *Drawing) Check(output string) error {
	if output == "" {
		return errors.New("expected --output FILE")
	}
	if format := anytime.FormatOf(output); format != "rudy" && (format != "" || strings.HasSuffix(output, ".npy")) {
		return fmt.Errorf("--output is %s: graphs are written as rudy, .rud", output)
	}
	if w.agents < 1 {
		return fmt.Errorf("--agents is %d, expected 1 or more", w.agents)
	}
	if !(w.density >= 0 && w.density <= 1) {
		return fmt.Errorf("--density is %v, expected 0 to 1", w.density)
	}
	if !slices.Contains(anytime.Weights(), w.weights) {
		return fmt.Errorf("--weights is %q, expected one of %s", w.weights, strings.Join(anytime.Weights(), ", "))
	}
	return nil
}

// Fits returns an error if the graph exceeds the free memory.
func (w *Drawing) Fits(free memory.Free) error {
	return free.CheckFits("the pairs of "+ui.Count(w.agents, "agent"), 24*w.density*float64(w.agents)*float64(w.agents))
}

// Draw draws the graph.
func (w *Drawing) Draw() (*anytime.Instance, error) {
	return anytime.Draw(w.weights, w.agents, w.density, w.seed)
}
