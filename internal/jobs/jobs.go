// Package jobs solves what other languages ask for: a problem by its name, options as a JSON object, and arrays. The answer
// is the JSON object of docs/result.schema.json. Command libcoalesce passes on what C gives it; package doors writes
// the options of a job as the keywords of Python, as a JSON Schema and as tables of the documentation.
package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/internal/placement"
	"coalesce/runtime/device"
	"coalesce/solvers/option"
	"coalesce/solvers/solve"
)

// A Job is one solve that is asked for.
type Job struct {
	Problem  string                // one of Problems
	Options  []byte                // a JSON object; empty: no options
	Arrays   map[string]any        // by name: []int32, []int64, []float32, []float64, or []byte for a text
	Progress func(solve.Incumbent) // may be nil
}

// Resources are what jobs run on.
type Resources struct {
	Open   func(name string, threads int) (device.Device, error) // opens a device, which stays open
	Tuning func(path string) (*tuned.Database, error)            // what variants are chosen from; an empty path is the user's own
}

// A problem is one that jobs solve.
type problem struct {
	name     string
	families func() []subject.Subject
	request  func() request
}

// A request is a job's options and its instance.
type request interface {
	// options are those of the instance and of the solver, without placement.Placement's.
	options() option.List
	// settings are the settings of all solvers, which run needs.
	settings() *solve.Settings
	// run makes an instance of the arrays and solves it. A result may stand beside an error.
	run(ctx context.Context, a arrays) (result any, err error)
}

// problems are all problems of jobs.
func problems() []problem {
	return []problem{quboProblem(), csgProblem(), auctionProblem(), transportProblem(), modelProblem()}
}

// Problems are the names of the problems that jobs solve.
func Problems() (names []string) {
	for _, p := range problems() {
		names = append(names, p.name)
	}
	return names
}

func named(name string) (problem, error) {
	for _, p := range problems() {
		if p.name == name {
			return p, nil
		}
	}
	return problem{}, solve.InvalidInput("problem", "found %.40q, expected one of %v", name, Problems())
}

// Options are the options of a problem's jobs: those of the solver, then those of placement.Placement.
func Options(name string) (option.List, error) {
	p, err := named(name)
	if err != nil {
		return nil, err
	}
	return slices.Concat(p.request().options(), new(placement.Placement).Fields()), nil
}

// Solve runs a job on resources. The text of an answer may stand beside the error of an instance that has no solution.
// Errors of options and arrays wrap solve.ErrInput, others are the solver's.
func Solve(ctx context.Context, r Resources, job Job) ([]byte, error) {
	p, err := named(job.Problem)
	if err != nil {
		return nil, err
	}
	var place placement.Placement
	q := p.request()
	if err := slices.Concat(q.options(), place.Fields()).Decode(job.Options); err != nil {
		return nil, solve.AsInputError(err)
	}
	s := q.settings()
	if err := r.Apply(&place, p.families, s); err != nil {
		return nil, err
	}
	s.Progress = job.Progress
	result, failed := q.run(ctx, arrays(job.Arrays))
	if result == nil {
		return nil, failed
	}
	var text []byte
	if own, ok := result.(json.Marshaler); ok {
		text, err = own.MarshalJSON() // json.Marshal would read the text of a result once more
	} else {
		text, err = json.Marshal(result)
	}
	if failed == nil {
		failed = err
	}
	return text, failed
}

// Apply opens what a placement says for settings, whose solver has kernels of some families.
func (r Resources) Apply(place *placement.Placement, families func() []subject.Subject, s *solve.Settings) error {
	var known []subject.Subject
	if len(place.Pin) > 0 { // nothing else asks for them, and there are many
		known = families()
	}
	policy, err := place.Policy(known)
	if err != nil {
		return solve.AsInputError(err)
	}
	d, err := r.Open(place.Device, place.Threads)
	if err != nil {
		return err
	}
	db, err := r.Tuning(place.Tuned)
	if err != nil {
		return err
	}
	s.Devices, s.Tuning = []device.Device{d}, db.WithPolicy(policy)
	return nil
}

// resultOrNil is a result that run returns: nil where the pointer is nil.
func resultOrNil[R any](r *R, err error) (any, error) {
	if r == nil {
		return nil, err
	}
	return r, err
}

// arrays are the arrays of a job, by name.
type arrays map[string]any

// typedArray is the array of a name, which has to have a type.
func typedArray[T any](a arrays, name string) ([]T, error) {
	found, ok := a[name]
	if !ok {
		return nil, solve.InvalidInput(name, "found no array, expected one of %T", *new(T))
	}
	list, ok := found.([]T)
	if !ok {
		return nil, solve.InvalidInput(name, "found an array of the type %T, expected []%T", found, *new(T))
	}
	return list, nil
}

// unknownType is the error of an array of another type than those that a problem takes.
func unknownType(name string, found any, expected string) error {
	if found == nil {
		return solve.InvalidInput(name, "found no array, expected one of %s", expected)
	}
	return solve.InvalidInput(name, "found an array of the type %s, expected one of %s", fmt.Sprintf("%T", found), expected)
}
