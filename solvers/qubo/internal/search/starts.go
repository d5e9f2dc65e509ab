package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Starts are the parameters of massive multi-start (Lewis 2017); 0 and empty are its defaults, which
// docs/qubo.md has.
type Starts struct {
	Samples    int    // random solutions whose mean objective the screen is made of
	Iterations int    // of diversify, screen and search, after which it ends; 0: the other limits alone
	Batch      int    // iterations at once, the screen being updated after them
	Flips      int64  // of one ascent, at most; 0: as many as gain
	Lambda     string // of the screen mean + λ(max - mean): a number from 0 to below 1, or printed: max/mean
	Blend      string // one of BlendNames: what an iteration blends its last solution with
	Ascend     string // one of AscentNames: where solutions ascend
}

// Printed is the Lambda of the paper, max/mean.
const Printed = "printed"

// What an iteration of massive multi-start blends its last solution with, by coins: the best so far, the
// starting solution, or nothing.
const (
	BlendBest  = "best"
	BlendStart = "start"
	BlendNone  = "none"
)

// BlendNames are the values of Starts.Blend, the default first.
func BlendNames() []string { return []string{BlendBest, BlendStart, BlendNone} }

// Where solutions of massive multi-start ascend: where they are evaluated, or on a core of the host, as
// the paper divides the tasks (Figure 1).
const (
	ascendDevice = "device"
	AscendHost   = "host"
)

// AscentNames are the values of Starts.Ascend, the default first.
func AscentNames() []string { return []string{ascendDevice, AscendHost} }

// maxStarts is the largest number of samples, and of iterations at once: so many solutions
// are in a device's memory.
const maxStarts = 1 << 20

// Check is an error where a parameter is out of range, or where one is set and engine is not
// multistart, the only engine that has parameters of this kind.
func (s Starts) Check(engine string) error {
	for _, p := range []struct {
		name  string
		value int64
		limit int64
	}{{"samples", int64(s.Samples), maxStarts}, {"iterations", int64(s.Iterations), 1 << 62}, {"batch", int64(s.Batch), maxStarts}, {"flips of an ascent", s.Flips, 1 << 62}} {
		if p.value < 0 || p.value > p.limit {
			return fmt.Errorf("%s: found %d, expected 1 to %d", p.name, p.value, p.limit)
		}
	}
	if _, _, err := s.ParseLambda(); err != nil {
		return err
	}
	if s.Blend != "" && !slices.Contains(BlendNames(), s.Blend) {
		return fmt.Errorf("blend: found %q, expected one of %s", s.Blend, strings.Join(BlendNames(), ", "))
	}
	if s.Ascend != "" && !slices.Contains(AscentNames(), s.Ascend) {
		return fmt.Errorf("ascend: found %q, expected one of %s", s.Ascend, strings.Join(AscentNames(), ", "))
	}
	if s != (Starts{}) && engine != "multistart" {
		return fmt.Errorf("samples, iterations, batch, flips of an ascent, λ, blend and ascend: engine %s has none of them, expected multistart", engine)
	}
	return nil
}

// ParseLambda parses Lambda: λ, nil for the default, and whether the paper's λ is meant. The error
// names a λ that is neither a number nor "printed".
func (s Starts) ParseLambda() (lambda *float64, printed bool, err error) {
	switch s.Lambda {
	case "":
		return nil, false, nil
	case Printed:
		return nil, true, nil
	}
	x, err := strconv.ParseFloat(s.Lambda, 64)
	if err != nil || !(x >= 0 && x < 1) {
		return nil, false, fmt.Errorf("λ: found %q, expected a number from 0 to below 1, or %s", s.Lambda, Printed)
	}
	return &x, false, nil
}
