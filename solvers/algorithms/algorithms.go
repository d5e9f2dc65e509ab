// Package algorithms lets the algorithms of a problem, with the thresholds that bound
// them, be tuned and chosen as the variants of a family of kernels are: they stand in
// tuned.json by device class, a rule by the problem's shape predicts which is best, and
// measurements overrule the prediction.
package algorithms

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
	"coalesce/solvers/solve"
)

// An Algorithm is one way to solve a problem.
type Algorithm struct {
	Values  []string       // of the family's parameters, its name first
	Kernels *device.Family // that do the work: results are stale when the text of their safe points changes; nil: Go code
}

// NewFamily is the table of a problem's algorithms; the first is the safe one. The parameters
// are the algorithm's name and its thresholds.
func NewFamily(name string, params []string, list ...Algorithm) *device.Family {
	f := &device.Family{Name: name, Params: params}
	for k, a := range list {
		parts := make([]string, len(params))
		for i, p := range params {
			parts[i] = p + "=" + a.Values[i]
		}
		v := device.Variant{Label: strings.Join(parts, ","), Values: a.Values, Safe: k == 0}
		h := fnv.New64a()
		h.Write([]byte(v.Label)) // never fails
		v.Hash = h.Sum64()
		if a.Kernels != nil {
			v.Hash ^= textOf(a.Kernels)
		}
		f.Variants = append(f.Variants, v)
	}
	return f
}

// textOf is the hash of the text of a family's safe points. The family's own hash is no such: it covers
// headers too that only other families include.
func textOf(kernels *device.Family) (hash uint64) {
	for i := range kernels.Variants {
		if v := &kernels.Variants[i]; v.Safe {
			hash ^= v.Hash
		}
	}
	return hash
}

// A Solver has an instance on a device, and solves it any number of times.
type Solver struct {
	Solve func(context.Context) (*solve.Report, error)
	Close func() error
}

// A Problem is what the tuner needs to compare the algorithms of a problem, whose
// instances are of type I. Fields that a subject.Subject has a method for say the same.
type Problem[I any] struct {
	Family   *device.Family
	Fixed    []map[string]string
	Sizes    func(device.Facts) []int
	Unit     string // of sizes, where it is not that of the problem's kernels; "": it is
	Most     int    // largest size, where Unit is given
	Feasible func(v *device.Variant, f device.Facts, size int) error
	// Predicted is the algorithm that the shape of a workload speaks for, and why.
	Predicted func(fixed map[string]string, f device.Facts, size int) (v *device.Variant, why string)
	Small     []int // sizes of the instances that verify
	// Draw draws an instance of a kind, 0 to Kinds-1: the kinds are those that users have.
	Draw  func(fixed map[string]string, size, kind int, seed uint64) (I, error)
	Kinds int
	// Several is how many instances of a size a timed run solves, one after the other, of the kinds in
	// turn; nil: one of each. Sizes up to the largest of Small have at most two.
	Several func(size int) int
	// Reference is the value of an instance by the plainest algorithm.
	Reference func(I) (solve.Number, error)
	// Known is the largest value of an instance, where algorithms search without a proof, in place
	// of Reference: runs end with it, or at a limit of the problem's, which is then the time that
	// they took. nil: all algorithms prove their answers.
	Known func(I) solve.Number
	// Open begins to solve. The settings name no algorithm: what runs follows from their
	// tuning data, as it does for users.
	Open func(ctx context.Context, inst I, s solve.Settings) (Solver, error)
	Work func(I) float64 // basic operations
}

// NewSubject is the problem as the tuner knows it: a run is a whole solve, with its check.
func NewSubject[I any](p Problem[I]) subject.Subject { return contest[I]{p: p} }

// A contest is a subject whose variants are algorithms.
type contest[I any] struct {
	p      Problem[I]
	tuning *tuned.Database // of the variants that algorithms use; nil: the binary's
}

// WithDatabase are the subjects, those of algorithms with db to choose their kernels' variants from.
func WithDatabase(list []subject.Subject, db *tuned.Database) []subject.Subject {
	out := make([]subject.Subject, len(list))
	for k, s := range list {
		out[k] = s
		if a, ok := s.(interface {
			using(*tuned.Database) subject.Subject
		}); ok {
			out[k] = a.using(db)
		}
	}
	return out
}

func (c contest[I]) using(db *tuned.Database) subject.Subject {
	c.tuning = db
	return c
}

// Family returns the algorithms.
func (c contest[I]) Family() *device.Family { return c.p.Family }

// Workloads returns the workloads.
func (c contest[I]) Workloads() []map[string]string { return c.p.Fixed }

// Sizes returns the sizes to tune.
func (c contest[I]) Sizes(f device.Facts) []int { return c.p.Sizes(f) }

// SizeUnit says what a size is a number of, where the problem says so.
func (c contest[I]) SizeUnit() (unit string, most int) { return c.p.Unit, c.p.Most }

// Varied says that some instances suit an algorithm better than others.
func (c contest[I]) Varied() {}

// Feasible says why an algorithm does not run.
func (c contest[I]) Feasible(v *device.Variant, f device.Facts, size int) error {
	return c.p.Feasible(v, f, size)
}

// Workload is a workload with what its shape predicts.
func (c contest[I]) Workload(fixed map[string]string, f device.Facts, size int) (tuned.Workload, error) {
	return PredictedWorkload(fixed, size, func(n int) (*device.Variant, string) { return c.p.Predicted(fixed, f, n) }), nil
}

// PredictedWorkload describes a size for which a rule predicts the algorithm, and why. Measurements at
// another size count for this one where the rule names the same algorithm for both.
func PredictedWorkload(fixed map[string]string, size int, rule func(size int) (v *device.Variant, why string)) tuned.Workload {
	w := tuned.Workload{Fixed: fixed, Size: size}
	w.Prior.Variant, w.Prior.Why = rule(size)
	w.Comparable = func(_ *device.Variant, other int) error {
		if there, _ := rule(other); there.Values[0] != w.Prior.Variant.Values[0] {
			return fmt.Errorf("at size %d the problem's shape suits another algorithm", other)
		}
		return nil
	}
	return w
}

// PrefixReason is what a measured choice among the algorithms f puts before the reason of what it
// runs.
func PrefixReason(f *device.Family, c tuned.Choice, reason string) string {
	if c.Variant == nil || c.Level == tuned.Predicted {
		return reason
	}
	return fmt.Sprintf("algorithm %s: %s; %s", f.Value(c.Variant, "algorithm"), c.Reason(), reason)
}

// An instance is one to solve, and the value that its answers have to have.
type instance[I any] struct {
	of        I
	once      sync.Once
	value     solve.Number
	err       error
	reference func(I) (solve.Number, error) // nil: the first answer's value stands for the others'
	known     func(I) solve.Number          // of Problem
	timed     bool                          // may miss the known value
}

// A lot is the instances, of one size, that a run solves.
type lot[I any] struct {
	all  []*instance[I]
	size int
}

// Size is the size that was drawn.
func (x *lot[I]) Size() int { return x.size }

// checkAnswer holds an answer against what is known of the instance.
func (x *instance[I]) checkAnswer(r *solve.Report) error {
	if r == nil {
		return fmt.Errorf("%w: no answer", errWrong)
	}
	if x.known != nil {
		best := x.known(x.of)
		if r.Value != best && !(x.timed && r.Value.Float() < best.Float()) {
			return fmt.Errorf("%w: found the value %s, expected %s", errWrong, r.Value, best)
		}
		return r.CheckClaims()
	}
	x.once.Do(func() {
		if x.value = r.Value; x.reference != nil {
			x.value, x.err = x.reference(x.of)
		}
	})
	switch {
	case x.err != nil:
		return x.err
	case !r.Proven:
		return fmt.Errorf("%w: %s without a proof", errWrong, r.Value)
	case r.Value != x.value:
		return fmt.Errorf("%w: found the value %s, expected %s", errWrong, r.Value, x.value)
	}
	return r.CheckClaims()
}

// errWrong is wrapped by what Check finds.
var errWrong = errors.New("wrong answer of an algorithm")

// Cases are an instance of each kind, of the small sizes in turn.
func (c contest[I]) Cases(fixed map[string]string) ([]subject.Case, error) {
	var cases []subject.Case
	for k := range max(len(c.p.Small), c.p.Kinds) {
		size := c.p.Small[k%len(c.p.Small)]
		x, err := c.draw(fixed, size, k, uint64(size+k))
		if err != nil {
			return nil, err
		}
		x.reference, x.timed = c.p.Reference, false
		cases = append(cases, subject.Case{Name: fmt.Sprintf("%s, size %d, kind %d", c.p.Family.Name, size, k%c.p.Kinds), Instance: &lot[I]{[]*instance[I]{x}, size}})
	}
	return cases, nil
}

// Instance draws those that a timed run solves. Which kind comes first follows from the seed: where
// a run solves fewer than there are, the next instance begins with another.
func (c contest[I]) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	n := c.p.Kinds
	if c.p.Several != nil {
		n = c.p.Several(size)
	}
	if size <= slices.Max(c.p.Small) {
		n = min(n, 2)
	}
	first, _ := bits.Mul64(seed, uint64(c.p.Kinds))
	x := &lot[I]{size: size}
	for k := range n {
		one, err := c.draw(fixed, size, int(first)+k, seed+uint64(k)*apart)
		if err != nil {
			return nil, err
		}
		x.all = append(x.all, one)
	}
	return x, nil
}

// apart lies between the seeds of two instances of a run: an odd number, whose low bits differ.
const apart = 0xd1342543de82ef95

// draw draws one to time.
func (c contest[I]) draw(fixed map[string]string, size, kind int, seed uint64) (*instance[I], error) {
	of, err := c.p.Draw(fixed, size, kind%c.p.Kinds, seed)
	return &instance[I]{of: of, known: c.p.Known, timed: true}, err
}

// Open has solves choose an algorithm, as a user's pin would.
func (c contest[I]) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	db := c.tuning
	if db == nil {
		db = tuned.Shipped()
	}
	pin := tuned.Policy{Pinned: map[string]string{c.p.Family.Name: v.Label}}
	settings := solve.Settings{Devices: []device.Device{d}, Tuning: db.WithPolicy(pin)}
	return subject.Open(c.p.Family, v, func(x *lot[I]) (subject.Job, error) {
		j := &job[I]{}
		for _, one := range x.all {
			s, err := c.p.Open(context.Background(), one.of, settings)
			if err != nil {
				return nil, errors.Join(cannot(err), j.Close())
			}
			j.parts = append(j.parts, part[I]{x: one, solver: s})
			j.work += c.p.Work(one.of)
		}
		return j, nil
	})
}

// A job solves the instances of a lot.
type job[I any] struct {
	parts []part[I]
	work  float64
}

// A part of a job is one instance, its solver and the last answer.
type part[I any] struct {
	x      *instance[I]
	solver Solver
	report *solve.Report
}

// Reset forgets the answers. Solvers begin each solve from what the last left, as they do
// for users.
func (j *job[I]) Reset(device.Stream) error {
	for k := range j.parts {
		j.parts[k].report = nil
	}
	return nil
}

// Run solves all of them, on streams of the solvers' own, to the checked answers.
func (j *job[I]) Run(device.Stream) (err error) {
	for k := range j.parts {
		if j.parts[k].report, err = j.parts[k].solver.Solve(context.Background()); err != nil {
			return cannot(err)
		}
	}
	return nil
}

// cannot tells an algorithm that does not take the instance from one that failed.
func cannot(err error) error {
	if errors.Is(err, tuned.ErrRefused) {
		return fmt.Errorf("%w: %w", subject.ErrCannot, err)
	}
	return err
}

// Check holds the answers against the known values, the reference's, or the first of each instance.
func (j *job[I]) Check(device.Stream) error {
	for k := range j.parts {
		if err := j.parts[k].x.checkAnswer(j.parts[k].report); err != nil {
			return fmt.Errorf("instance %d of %d: %w", k+1, len(j.parts), err)
		}
	}
	return nil
}

// Work is the problem's.
func (j *job[I]) Work() float64 { return j.work }

// Close gives back what the solvers took.
func (j *job[I]) Close() (err error) {
	for _, p := range j.parts {
		err = errors.Join(err, p.solver.Close())
	}
	return err
}
