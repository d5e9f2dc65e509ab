// Package solve is the contract of the solvers of all problems: the settings they take
// (Settings), the state of a running solve (Incumbent), the parts that all answers
// have besides the solution (Report), and the way from an instance to a certified answer
// (Run). The problems' options embed Settings, their results a Report. The package imports no solver.
package solve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
)

// ErrInfeasible is wrapped by the errors of instances that have no solution at
// all. The result beside such an error carries the proof.
var ErrInfeasible = errors.New("no solution is feasible")

// ErrTimeLimit is the cause (context.Cause) of a context that Settings.TimeLimit ended.
var ErrTimeLimit = errors.New("the time limit is over")

// Settings are the options that all solvers share. The zero value, with a device, is of use.
type Settings struct {
	Devices []device.Device // where to solve; one device is a group of one
	Tuning  *tuned.Database // nil: the one embedded in the binary
	Log     func(string)    // called with each decision, a sentence; may be nil

	// solve with this algorithm
	Algorithm string `option:"algorithm" default:"the solver's choice"`
	// run this variant of the algorithm's kernels, by its label, in place of the fastest known
	Variant string `option:"variant" default:"the fastest known"`
	// end the solve of an instance after this time, with the best so far
	TimeLimit time.Duration `option:"time_limit" min:"0" default:"none"`
	// stop at this value or a better one
	Target *float64 `option:"target" default:"none"`
	// number that the random numbers of the searches depend on
	Seed uint64 `option:"seed"`

	// Start is a solution to begin with: problem.Bits of all variables, problem.Blocks, of graphs too, a problem.Allocation, or
	// *problem.Duals of the instance before its costs changed. Nil: none.
	Start Start

	// Ranks are the processes that solve an instance together, each with Devices of its
	// own: all of them call the solver, with the same instance and settings, and each gets
	// the answer. Nil: this process alone.
	Ranks collective.Ranks

	// Progress is called with each better solution and, now and then, with the work so far, one
	// call at a time; it must return quickly. It may be nil. Binary quadratic programs
	// report solutions, auctions solutions and bounds, coalition structures the share done, or
	// by prices values and bounds; assignments report the share of the rows that are matched,
	// on the host with a bound, on devices between launches.
	Progress func(Incumbent)
}

// Check returns an error, which wraps ErrInput, if a device is nil or the time limit below 0. Settings
// without devices pass: not every algorithm needs one.
func (s *Settings) Check() error {
	for k, d := range s.Devices {
		if d == nil {
			return InvalidInput(fmt.Sprintf("Devices[%d]", k), "found nil, expected a device")
		}
	}
	if s.TimeLimit < 0 {
		return InvalidInput("TimeLimit", "found %v, expected at least 0", s.TimeLimit)
	}
	return nil
}

// LeadDevice is the device that leads the others. Its errors are those of Check, or of settings without a device.
func (s *Settings) LeadDevice() (device.Device, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if len(s.Devices) == 0 {
		return nil, InvalidInput("Devices", "found none, expected a device to solve on")
	}
	return s.Devices[0], nil
}

// WeakestFacts are the facts that variants for all devices are chosen by: those of the device
// of the least compute capability and, of such, with the fewest multiprocessors; with
// the least that any has of free memory, and of shared memory and threads of a block.
func (s *Settings) WeakestFacts() device.Facts {
	var least device.Facts
	for k, d := range s.Devices {
		f := d.Facts()
		if k == 0 {
			least = f
			continue
		}
		a, b := f, least
		if cmp.Or(cmp.Compare(f.Major, least.Major), cmp.Compare(f.Minor, least.Minor), cmp.Compare(f.SMs, least.SMs)) >= 0 {
			a, b = least, f
		}
		a.Free, a.SharedPerBlock, a.ThreadsPerBlock = min(a.Free, b.Free), min(a.SharedPerBlock, b.SharedPerBlock), min(a.ThreadsPerBlock, b.ThreadsPerBlock)
		least = a
	}
	return least
}

// DeviceNames names the devices, separated by commas.
func (s *Settings) DeviceNames() string {
	names := make([]string, len(s.Devices))
	for k, d := range s.Devices {
		names[k] = d.Facts().String()
	}
	where := strings.Join(names, ",")
	if s.RankCount() > 1 {
		where = fmt.Sprintf("%s on each of %d ranks", where, s.RankCount())
	}
	return where
}

// RankCount is the number of processes that solve together, 1 without Ranks.
func (s *Settings) RankCount() int {
	if s.Ranks == nil {
		return 1
	}
	return s.Ranks.Size()
}

// Logf writes a sentence to the log.
func (s *Settings) Logf(format string, args ...any) {
	if s.Log != nil {
		s.Log(fmt.Sprintf(format, args...))
	}
}

// WithTimeLimit is ctx with the time limit on it. The caller calls cancel in the end.
func (s *Settings) WithTimeLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.TimeLimit > 0 {
		return context.WithTimeoutCause(ctx, s.TimeLimit, ErrTimeLimit)
	}
	return context.WithCancel(ctx)
}

// A VariantError is a variant that was named and is none of the algorithm that runs: it would have no effect.
type VariantError struct{ Variant, Algorithm string }

func (e *VariantError) Error() string {
	return fmt.Sprintf("Variant: found %.40q: algorithm %s runs, and has no such variant", e.Variant, e.Algorithm)
}

// Unwrap is ErrInput.
func (e *VariantError) Unwrap() error { return ErrInput }

// RefuseVariant returns a VariantError where the settings name a variant, for an algorithm without any.
func (s *Settings) RefuseVariant(algorithm string) error {
	if s.Variant == "" {
		return nil
	}
	return &VariantError{s.Variant, algorithm}
}

// Choose picks the variant of a family: the one that Variant names, else the one
// that the tuning data says for the workload (tuned.Database.Choose), which falls
// back on the family's safe point. feasible says why a variant cannot solve the
// instance on the device; it may be nil.
//
// Of several ranks the first chooses for all.
func (s *Settings) Choose(f *device.Family, facts device.Facts, w tuned.Workload, feasible func(*device.Variant) error) (tuned.Choice, error) {
	c, err := s.chooseAlone(f, facts, w, feasible)
	if s.RankCount() == 1 {
		return c, err
	}
	var name [512]byte // of rank 0's choice, empty where it has none
	if err == nil {
		copy(name[:], c.Variant.Label)
	}
	if failed := s.Ranks.Broadcast(name[:], 0); failed != nil || err != nil {
		return c, errors.Join(err, failed)
	}
	label := string(bytes.TrimRight(name[:], "\x00"))
	if label == c.Variant.Label {
		return c, nil
	}
	return tuned.VariantByLabel(f, label, w, feasible)
}

// ChooseAlgorithm is Choose for a table of algorithms (package algorithms), whose
// variants Variant does not name. w.Prior is what the problem's shape predicts, which
// measurements overrule.
func (s *Settings) ChooseAlgorithm(f *device.Family, facts device.Facts, w tuned.Workload, feasible func(*device.Variant) error) (tuned.Choice, error) {
	unnamed := *s
	unnamed.Variant = ""
	return unnamed.Choose(f, facts, w, feasible)
}

func (s *Settings) chooseAlone(f *device.Family, facts device.Facts, w tuned.Workload, feasible func(*device.Variant) error) (tuned.Choice, error) {
	if s.Variant != "" {
		c, err := tuned.VariantByLabel(f, s.Variant, w, feasible)
		return c, AsInputError(err)
	}
	db := s.Tuning
	if db == nil {
		db = tuned.Shipped()
	}
	return db.Choose(f, facts, w, feasible)
}
