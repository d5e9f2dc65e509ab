package search

import (
	"fmt"
	"strconv"
)

// Starts are the parameters of massive multi-start (Lewis 2017); 0 and empty are its defaults. So many samples, and so many
// iterations at once, are in a device's memory.
type Starts struct {
	// random solutions whose mean objective the screen is made of
	Samples int `option:"samples" only:"multistart" min:"1" max:"1048576" default:"1000"`
	// end after so many iterations of diversify, screen and search
	Iterations int `option:"iterations" only:"multistart" min:"1" default:"at another limit"`
	// iterations at once; the screen is updated after them
	Batch int `option:"batch" only:"multistart" min:"1" max:"1048576" default:"1, on a GPU one a multiprocessor"`
	// most flips of an ascent
	Flips int64 `option:"max_flips" only:"multistart" min:"1" default:"as many as gain"`
	// screen at mean + lambda (max - mean), a number from 0 to below 1, or printed for max / mean
	Lambda string `option:"screen" flag:"lambda" only:"multistart" default:"0.2"`
	// blend solutions with this one
	Blend string `option:"blend" only:"multistart" words:"BlendNames()" default:"best"`
	// place where solutions ascend
	Ascend string `option:"ascend" only:"multistart" words:"AscentNames()" default:"device"`
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

// Check is an error where a parameter is out of range, or where one is set and engine is not
// multistart, the only engine that has parameters of this kind.
func (s Starts) Check(engine string) error {
	if _, _, err := s.ParseLambda(); err != nil {
		return err
	}
	if s != (Starts{}) && engine != "multistart" {
		return fmt.Errorf("samples, iterations, batch, flips of an ascent, λ, blend and ascend: engine %s has none of them, expected multistart", engine)
	}
	return nil
}

// ParseLambda parses Lambda: λ, nil for the default, and whether the paper's λ is meant. The error
// names lambda where it is neither a number nor "printed".
func (s Starts) ParseLambda() (lambda *float64, printed bool, err error) {
	switch s.Lambda {
	case "":
		return nil, false, nil
	case Printed:
		return nil, true, nil
	}
	x, err := strconv.ParseFloat(s.Lambda, 64)
	if err != nil || !(x >= 0 && x < 1) {
		return nil, false, fmt.Errorf("lambda: found %q, expected a number from 0 to below 1, or %s", s.Lambda, Printed)
	}
	return &x, false, nil
}
