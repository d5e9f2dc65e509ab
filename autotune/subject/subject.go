// Package subject has the interfaces between solvers and the tuner. A solver gives the tuner a family,
// instances to run it on, and a reference to check it against; the tuner knows no more of a solver.
//
// Package autotune/kernel makes a subject of a declaration of buffers and launches. The families of this module implement
// Subject themselves: the tuner times a run of the engine, which owns the kernel's buffers and launches, as users run it.
package subject

import (
	"errors"
	"fmt"

	"coalesce/runtime/device"
)

// A Subject is one family that can be tuned.
type Subject interface {
	Family() *device.Family
	// Workloads lists the workloads: parameters that the problem decides, such as {"value": "int32"}, and
	// properties of instances, such as {"range": "wide"}. Variants are compared within one workload
	// only.
	Workloads() []map[string]string
	// Sizes are the default sizes to tune on this device, ascending.
	Sizes(f device.Facts) []int
	// Feasible reports why a variant cannot run at a size on a device.
	Feasible(v *device.Variant, f device.Facts, size int) error
	// Cases are the small instances a variant must answer correctly before it
	// is timed: ties, negative values, extremes, the ends of the range.
	Cases(fixed map[string]string) ([]Case, error)
	// Instance makes a random instance to time.
	Instance(fixed map[string]string, size int, seed uint64) (Instance, error)
	// Open loads a variant.
	Open(d device.Device, v *device.Variant) (Runner, error)
}

// A UnitCounted subject counts its sizes in a unit of its own, where other families of its problem
// count in another, or takes larger sizes than they do.
type UnitCounted interface {
	// SizeUnit is the unit of sizes, in the plural, and the largest size that users may ask about.
	SizeUnit() (unit string, most int)
}

// A Declared subject is made of a declaration, which may have mistakes.
type Declared interface {
	// CheckDeclaration says what the declaration lacks.
	CheckDeclaration() error
}

// Check returns an error for each fault of the declarations: a missing field, a family that is declared twice.
func Check(list []Subject) error {
	names := map[string]bool{}
	for _, s := range list {
		if d, ok := s.(Declared); ok {
			if err := d.CheckDeclaration(); err != nil {
				return err
			}
		}
		name := s.Family().Name
		if names[name] {
			return fmt.Errorf("the family %s twice, expected each once", name)
		}
		names[name] = true
	}
	return nil
}

// A VaryingSubject subject has times that depend on the instance, or on a run's own chance, as whole
// solves have: each round of the final times another instance, and variants are compared round by
// round.
type VaryingSubject interface{ Varied() }

// A CaseDrawer is a subject whose instances to be timed have more work than it takes to verify a variant.
type CaseDrawer interface {
	// DrawCase makes a random instance as Subject.Instance does, with the work of a case.
	DrawCase(fixed map[string]string, size int, seed uint64) (Instance, error)
}

// ErrCannot is wrapped by errors of runners and jobs whose variant cannot run the instance, as its
// shape told before.
var ErrCannot = errors.New("not for this instance")

// An Instance is a problem of a subject; only the subject looks inside.
type Instance interface{ Size() int }

// A Case is a named instance for verification.
type Case struct {
	Name     string
	Instance Instance
}

// A Runner is a loaded variant.
type Runner interface {
	// Prepare takes device memory for an instance.
	Prepare(inst Instance) (Job, error)
	Close() error
}

// A Job is a variant bound to an instance.
type Job interface {
	// Reset brings the inputs back, whatever a run did to them, and poisons every output and
	// scratch buffer.
	Reset(s device.Stream) error
	// Run enqueues the whole launch sequence that is timed.
	Run(s device.Stream) error
	// Check downloads the outputs and compares them with the reference.
	Check(s device.Stream) error
	// Work is the number of basic operations a run does (for csg, splittings
	// evaluated), to report a rate.
	Work() float64
	Close() error
}

// A Counted job knows what a run needs of a device at the least, which the report compares with the device's peaks.
type Counted interface{ Demand() Demand }

// A Demand is what a run needs at the least. Zero means not known.
type Demand struct {
	Bytes      float64      // moved between device memory and processors
	Operations float64      // additions and multiplications
	Arithmetic device.Value // their type
}

// Sequential is implemented by subjects whose runs compute on one thread of a host.
type Sequential interface{ Sequential() }

// Open is a Runner of a family's variant that has nothing to close: prepare takes what an
// instance, of the subject's own type, needs.
func Open[I Instance](f *device.Family, v *device.Variant, prepare func(I) (Job, error)) (Runner, error) {
	if f.Variant(v.Label) == nil {
		return nil, fmt.Errorf("%s has no variant %s", f.Name, v.Label)
	}
	return opened[I]{f, prepare}, nil
}

type opened[I Instance] struct {
	family  *device.Family
	prepare func(I) (Job, error)
}

func (r opened[I]) Prepare(inst Instance) (Job, error) {
	own, ok := inst.(I)
	if !ok {
		return nil, fmt.Errorf("prepare %s: an instance of another subject", r.family.Name)
	}
	return r.prepare(own)
}

func (opened[I]) Close() error { return nil }
