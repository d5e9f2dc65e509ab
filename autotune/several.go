package autotune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"coalesce/autotune/search"
	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// A Task is one family to tune within TuneAll.
type Task struct {
	Subject subject.Subject
	Fixed   []map[string]string // default Subject.Workloads
	Sizes   []int               // default those of Subject.Sizes at which solves choose a variant
	Wanted  bool                // users asked for it: it goes first
}

// knownWeight is the part of the time of an untuned size that one with a valid winner
// gets: an incumbent and its neighbours are tried first, and little is to be won.
const knownWeight = 0.25

// TuneAll tunes several families within one budget: first the users' requests, then untuned sizes, and
// algorithms last, because they run the winners of their kernels. A budget is shared by the sizes of
// all workloads (see budget). Options' Subject, Fixed and Sizes are ignored, Facts are required. ended
// is called for each family, with the error that it ended with. TuneAll goes on after ErrWrongVariant and
// ErrNoneRan, and returns the first other error, with the database beside it.
func TuneAll(ctx context.Context, tasks []Task, o Options, ended func(Summary, error)) (*tuned.Database, error) {
	db := tuned.Merge(o.Database, nil)
	tasks = slices.Clone(tasks)
	if o.Refresh {
		tasks = slices.DeleteFunc(tasks, func(t Task) bool {
			return !slices.ContainsFunc(db.Entries(), func(e tuned.Entry) bool {
				return e.Family == t.Subject.Family().Name && e.Class == o.Facts.Class()
			})
		})
	}
	have := tuned.Merge(o.Known, db)
	slices.SortStableFunc(tasks, func(a, b Task) int { return urgency(have, &a, o.Facts) - urgency(have, &b, o.Facts) })
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Budget > 0 && !o.Refresh {
		return tuneWithinBudget(ctx, tasks, o, ended)
	}
	begin := o.Now()
	var errs []error
	for i := range tasks {
		one := o
		one.Subject, one.Fixed, one.Sizes, one.Database = tasks[i].Subject, tasks[i].Fixed, tasks[i].Sizes, db
		if o.Budget > 0 {
			one.Budget = (o.Budget - o.Now().Sub(begin)) / time.Duration(len(tasks)-i)
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
		if err != nil && !isSummarised(err) || sum.Stopped == search.Interrupted {
			break
		}
	}
	return db, errors.Join(errs...)
}

// urgency orders tasks: what users asked for first, then what is untuned, algorithms last.
func urgency(have *tuned.Database, t *Task, facts device.Facts) int {
	untuned, _ := countOpenSizes(have, t, facts)
	switch {
	case t.Wanted:
		return 0
	case ofAlgorithms(t.Subject.Family()):
		return 3
	case untuned > 0:
		return 1
	}
	return 2
}

// alike is what the claim of every workload has beside its number of variants: those that
// fall behind cost little.
const alike = 10

// timeClaim is a workload's claim on the time at one size: the more, the more variants the
// device loads; 0 where they leave no choice.
func timeClaim(f *device.Family, facts device.Facts, fixed map[string]string) int {
	n := 0
	for i := range f.Variants {
		if v := &f.Variants[i]; f.CheckWorkload(v, fixed) == nil && facts.CheckLoadable(f, v) == nil {
			n++
		}
	}
	if n < 2 {
		return 0
	}
	return alike + n
}

// workloads are a task's.
func (t *Task) workloads() []map[string]string {
	if t.Fixed == nil {
		return t.Subject.Workloads()
	}
	return t.Fixed
}

// sizes are a workload's: those that were asked for, else those of the subject at which solves would choose
// a variant for such a workload.
func (t *Task) sizes(fixed map[string]string, facts device.Facts) []int {
	if t.Sizes != nil {
		return t.Sizes
	}
	return slices.DeleteFunc(slices.Clone(t.Subject.Sizes(facts)), func(size int) bool {
		_, chosen, err := DescribeWorkload(t.Subject, fixed, facts, size)
		return err == nil && !chosen
	})
}

// taskClaim is a task's claim on the time.
func taskClaim(db *tuned.Database, t *Task, facts device.Facts) (sum float64) {
	for _, w := range t.workloads() {
		one := Task{Subject: t.Subject, Fixed: []map[string]string{w}, Sizes: t.Sizes}
		untuned, known := countOpenSizes(db, &one, facts)
		sum += (float64(untuned) + knownWeight*float64(known)) * float64(timeClaim(t.Subject.Family(), facts, w))
	}
	return sum
}

// countOpenSizes counts the sizes of a task without and with a winner that is valid here, where there
// is a choice.
func countOpenSizes(db *tuned.Database, t *Task, facts device.Facts) (untuned, known int) {
	f := t.Subject.Family()
	for _, w := range t.workloads() {
		if timeClaim(f, facts, w) == 0 {
			continue
		}
		for _, size := range t.sizes(w, facts) {
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

// ParsePart reads K/N, the K-th of N parts, and returns k, from 0, and n.
func ParsePart(text string) (k, n int, err error) {
	first, second, _ := strings.Cut(text, "/")
	k, err = strconv.Atoi(first)
	n, failed := strconv.Atoi(second)
	if err != nil || failed != nil || k < 1 || n < k || n > 1<<16 {
		return 0, 0, fmt.Errorf("%q, expected K/N with K from 1 to N", text)
	}
	return k - 1, n, nil
}

// PartOfTasks is part k, from 0, of the workloads of tasks cut into n parts that claim about as
// much time each, for as many devices that tune at once. db has what is known.
func PartOfTasks(tasks []Task, db *tuned.Database, facts device.Facts, k, n int) []Task {
	type unit struct {
		Task
		of     int // index into tasks
		weight float64
	}
	var units []unit
	for i, t := range tasks {
		for _, w := range t.workloads() {
			one := t
			one.Fixed = []map[string]string{w}
			units = append(units, unit{one, i, taskClaim(db, &one, facts)})
		}
	}
	slices.SortStableFunc(units, func(a, b unit) int { return cmp.Compare(b.weight, a.weight) })
	sums, parts := make([]float64, n), make([][]map[string]string, len(tasks))
	for _, u := range units {
		at := 0
		for i := range sums {
			if sums[i] < sums[at] {
				at = i
			}
		}
		if sums[at] += u.weight; at == k {
			parts[u.of] = append(parts[u.of], u.Fixed...)
		}
	}
	var mine []Task
	for i, fixed := range parts {
		if t := tasks[i]; len(fixed) > 0 {
			t.Fixed = fixed
			mine = append(mine, t)
		}
	}
	return mine
}

// RunsOn reports whether a family runs on a device: algorithms do where they have sizes to tune.
func RunsOn(s subject.Subject, facts device.Facts) bool {
	switch s.Family().Target {
	case "":
		return len(s.Sizes(facts)) > 0
	case device.Host:
		return facts.Kind == device.Host
	}
	return facts.Kind != device.Host
}

// CountUntuned counts the sizes of a family's default workloads that have no winner for a
// device in db which this binary can use, and all of them.
func CountUntuned(db *tuned.Database, s subject.Subject, facts device.Facts) (untuned, all int) {
	n, known := countOpenSizes(db, &Task{Subject: s}, facts)
	return n, n + known
}
