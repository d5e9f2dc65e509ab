package assignment

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"coalesce/internal/cli/effect"
	"coalesce/internal/ui"
	"coalesce/runtime/collective"
	"coalesce/runtime/memory"
	"coalesce/solvers/assignment"
	"coalesce/solvers/assignment/problem"
)

// A drawing is the flags that say which instance to draw.
type drawing struct {
	assignment.Drawing
}

// newDrawing has the defaults of the command.
func newDrawing() drawing {
	return drawing{assignment.Drawing{Seed: 1 << 40, Type: problem.Int32}}
}

// effectRules say what these flags have an effect on; source is where the costs come from.
func (w *drawing) effectRules(source string) []effect.Rule {
	drawn := w.Kind != ""
	random := assignment.DependsOnSeed(w.Kind) || w.Permuted || w.Shift > 0 || w.Jitter || w.Density > 0
	return []effect.Rule{
		{Flags: "rows cols range seed type rank permuted shift jitter density keep-points", For: "--kind", Found: effect.UnlessRequested(drawn, source)},
		{Flags: "rank", For: "--kind lowrank", Found: effect.UnlessRequested(w.Kind == "lowrank", source)},
		{Flags: "range", For: "kinds with an R", Found: effect.UnlessRequested(assignment.DependsOnRange(w.Kind), source)},
		{Flags: "seed", For: "kinds that are drawn at random", Found: effect.UnlessRequested(random, source)},
	}
}

// check returns an error if the flags are wrong.
func (w *drawing) check() error {
	w.Cols = cmp.Or(w.Cols, w.Rows)
	if w.Kind == "" || w.Rows == 0 {
		return errors.New("expected --kind NAME --rows N")
	}
	return nil
}

// draw draws the instance, or returns an error if this machine lacks the memory. Each of several ranks
// draws its own rows alone, if the kind allows that.
func (w *drawing) draw(free memory.Free, own collective.Ranks) (*problem.Instance, error) {
	share := 1.0
	if own = w.rowsByRank(own); own != nil {
		share = 1 / float64(own.Size())
	}
	if w.Density > 0 {
		share = w.Density
	}
	need := share * float64(w.Rows) * float64(w.Cols) * float64(w.Type.Size())
	if w.Points {
		need = 0
	}
	need += (16 + 8*float64(w.Rank)) * (float64(w.Rows) + float64(w.Cols)) // points, starts of the rows of a sparse matrix, and factors
	if err := free.CheckFits(fmt.Sprintf("%d x %d costs of type %s", w.Rows, w.Cols, w.Type), need); err != nil {
		return nil, err
	}
	if own != nil {
		low, high := assignment.OwnRows(w.Rows, own)
		return assignment.DrawRows(w.Drawing, low, high)
	}
	return assignment.Draw(w.Drawing)
}

// rowsByRank returns ranks if each of them can draw its rows alone, else nil.
func (w *drawing) rowsByRank(own collective.Ranks) collective.Ranks {
	if w.Points || w.Density > 0 || w.Rows > w.Cols {
		return nil
	}
	return own
}

// describeKinds describes the instances that can be drawn.
func describeKinds() string {
	var b strings.Builder
	for _, name := range assignment.Kinds() {
		fmt.Fprintf(&b, "  %-18s%s\n", name, ui.Wrap(assignment.DescribeKind(name), 58, "\n"+strings.Repeat(" ", 20)))
	}
	return strings.TrimRight(b.String(), "\n")
}

// checkOutput returns an error if the ending of a file's name stands for another format than the one
// that the costs need.
func (w *drawing) checkOutput(path string) error {
	ending := ".npy"
	if w.Density > 0 {
		ending = ".mtx"
	}
	if found := strings.ToLower(filepath.Ext(path)); found != ending && slices.Contains([]string{".npy", ".mtx", ".csv", ".asn"}, found) {
		return fmt.Errorf("--output is %s: these costs are written as %s", path, ending)
	}
	return nil
}

// writeCosts writes dense costs as .npy and sparse costs as Matrix Market.
func writeCosts(w io.Writer, inst *problem.Instance) error {
	if inst.Sparse != nil {
		return assignment.WriteMarket(w, inst)
	}
	return assignment.WriteNPY(w, inst)
}
