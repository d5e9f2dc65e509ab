package autotune

import (
	"context"
	"errors"
	"slices"
	"time"

	"coalesce/autotune/search"
	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// A Task is one family to tune within All.
type Task struct {
	Subject subject.Subject
	Fixed   []map[string]string // default Subject.Fixed
	Sizes   []int               // default Subject.Sizes
	Wanted  bool                // users asked for it: it goes first
}

// knownWeight is the part of the time of an untuned size that one with a valid winner
// gets: an incumbent and its neighbours are tried first, and little is to be won.
const knownWeight = 0.25

// All tunes several families within one budget: what users asked for first, then what
// is untuned, algorithms in the end, which run what their kernels' tuning found; each with a part of the time left by its number of untuned sizes and of
// variants. Options' Subject, Fixed and Sizes are ignored, Facts are required. ended is
// called after each family, with the error that it ended with. All goes on after
// ErrWrongVariant and returns the first other error; the database stands beside it.
func All(ctx context.Context, tasks []Task, o Options, ended func(Summary, error)) (*tuned.Database, error) {
	begin := time.Now()
	db := tuned.Merge(o.Database, nil)
	tasks = slices.Clone(tasks)
	if o.Refresh {
		tasks = slices.DeleteFunc(tasks, func(t Task) bool {
			return !slices.ContainsFunc(db.Entries(), func(e tuned.Entry) bool {
				return e.Family == t.Subject.Family().Name && e.Class == o.Facts.Class()
			})
		})
	}
	urgency := func(t *Task) int {
		untuned, _ := open(db, t, o.Facts)
		switch {
		case t.Wanted:
			return 0
		case t.Subject.Family().Target == "":
			return 3
		case untuned > 0:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(tasks, func(a, b Task) int { return urgency(&a) - urgency(&b) })
	weights := make([]float64, len(tasks))
	for i := range tasks {
		weights[i] = weight(db, &tasks[i], o.Facts)
	}
	var errs []error
	for i := range tasks {
		one := o
		one.Subject, one.Fixed, one.Sizes, one.Database = tasks[i].Subject, tasks[i].Fixed, tasks[i].Sizes, db
		if o.Budget > 0 {
			all := 0.0
			for _, w := range weights[i:] {
				all += w
			}
			one.Budget = time.Duration(float64(o.Budget-time.Since(begin)) * weights[i] / all)
			if one.Budget <= 0 {
				break
			}
		}
		now, sum, err := Tune(ctx, one)
		db = now
		ended(sum, err)
		if err != nil {
			errs = append(errs, err)
		}
		if err != nil && !errors.Is(err, ErrWrongVariant) || sum.Stopped == search.Interrupted {
			break
		}
	}
	return db, errors.Join(errs...)
}

// weight is a task's claim on the time: more for more variants, though not in
// proportion, because those that fall behind cost little.
func weight(db *tuned.Database, t *Task, facts device.Facts) float64 {
	untuned, known := open(db, t, facts)
	variants := min(200, 10+len(t.Subject.Family().Variants))
	return (float64(untuned) + knownWeight*float64(known) + 0.01) * float64(variants)
}

// open counts the sizes of a task without and with a winner that is valid here.
func open(db *tuned.Database, t *Task, facts device.Facts) (untuned, known int) {
	fixed, sizes := t.Fixed, t.Sizes
	if fixed == nil {
		fixed = t.Subject.Fixed()
	}
	if sizes == nil {
		sizes = t.Subject.Sizes(facts)
	}
	f := t.Subject.Family()
	for _, w := range fixed {
		for _, size := range sizes {
			e, ok := db.Lookup(f.Name, facts.Class(), tuned.Workload{Fixed: w, Size: size})
			if ok {
				_, ok = e.Result(e.Winner).Valid(f)
			}
			if ok {
				known++
			} else {
				untuned++
			}
		}
	}
	return untuned, known
}

// Here reports whether a family runs on a device: algorithms do where they have sizes to tune.
func Here(s subject.Subject, facts device.Facts) bool {
	switch s.Family().Target {
	case "":
		return len(s.Sizes(facts)) > 0
	case device.Host:
		return facts.Kind == device.Host
	}
	return facts.Kind != device.Host
}

// Untuned counts the sizes of a family's default workloads that have no winner for a
// device in db which this binary can use, and all of them.
func Untuned(db *tuned.Database, s subject.Subject, facts device.Facts) (untuned, all int) {
	n, known := open(db, &Task{Subject: s}, facts)
	return n, n + known
}
