package autotune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"coalesce/autotune/search"
	"coalesce/autotune/trial"
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// A budget is shared among families by time: next comes a size of the family whose trials took least, in this
// run and in those that it goes on from. Families whose trials take long leave the others their time, and one
// size of each family comes before two of any. Within a family the middle size of the first workload comes
// first, then that of the second workload, and so on; when all workloads have had one size, the second sizes
// follow. A size waits until all others are decided if its winner for this class of device was measured beside
// another variant and beside the fast ones of the nearest size. Whatever the budget, the decided sizes are
// spread over all families, and two runs decide nearly the same sizes. A size has a part of the time in
// proportion to its claim, those that are not their family's next counting half; once begun it is decided, also
// where the decision takes longer. When all are decided, the rest of the time goes to workloads whose search
// was cut short.

// laterWeight is the part of a size's claim that counts while another size of its family comes first.
const laterWeight = 0.5

// kernelsFirst is how much more time each family of kernels has than one of algorithms: a choice among
// algorithms is worth little before their kernels are tuned.
const kernelsFirst = 10 * time.Second

// changeAfter is by how much less time algorithms must have had than kernels, or kernels than algorithms, to
// come next after the others: algorithms begin with a new worker, which knows the winners of kernels.
const changeAfter = 5 * time.Second

// leastPart is the least time that a search is repeated for: to repeat its trials takes some too.
const leastPart = time.Second

// A Key is one size of a workload.
type Key struct {
	Fixed map[string]string `json:"fixed"`
	Size  int               `json:"size"`
}

// A budgetedWorkload shares a budget with other workloads.
type budgetedWorkload struct {
	Task
	of     int       // its task's place
	order  []int     // sizes, in the order in which they are decided
	claims []float64 // by order
	known  []bool    // by order: a winner is known and was compared
	done   []bool    // by order: an earlier run, from which this one goes on, decided the size
	open   []Key     // not decided for lack of time, or not yet
	cut    bool      // a search of it was cut short
	sums   []Summary // of its searches
	whole  bool      // the last of sums is of all sizes
}

// A budgetedRun is a run of TuneAll within a budget.
type budgetedRun struct {
	Options
	db    *tuned.Database
	units []*budgetedWorkload
	end   time.Time
	spent time.Duration // by searches that decided a size
	count int           // of those
}

// tuneWithinBudget tunes tasks within a budget.
func tuneWithinBudget(ctx context.Context, tasks []Task, o Options, ended func(Summary, error)) (db *tuned.Database, err error) {
	s := &budgetedRun{Options: o, db: tuned.Merge(o.Database, nil), end: o.Now().Add(o.Budget)}
	if s.shared, err = openResources(&o); err != nil {
		return s.db, err
	}
	defer func() { err = errors.Join(err, s.shared.close()) }()
	s.units = units(tasks, tuned.Merge(o.Known, s.db), o.Facts)
	if rest := slices.DeleteFunc(slices.Clone(s.units), s.finished); len(rest) > 0 {
		s.units = rest // the run before was cut short, and this one goes on
	}
	s.goOn()
	failed := s.all(ctx)
	for i := range tasks {
		if sum, ok := s.summary(i); ok {
			err := sum.err()
			ended(sum, err)
			failed = errors.Join(failed, err)
		}
	}
	return s.db, failed
}

// units are the workloads of tasks that leave a choice, or all where none does.
func units(tasks []Task, have *tuned.Database, facts device.Facts) []*budgetedWorkload {
	var all, some []*budgetedWorkload
	for i := range tasks {
		for _, w := range tasks[i].workloads() {
			u := &budgetedWorkload{Task: tasks[i], of: i}
			u.Fixed = []map[string]string{w}
			if u.Sizes = u.sizes(w, facts); len(u.Sizes) == 0 {
				continue
			}
			u.order = search.SizeOrder(u.Sizes)
			u.done = make([]bool, len(u.order))
			for _, size := range u.order {
				one := Task{Subject: u.Subject, Fixed: u.Fixed, Sizes: []int{size}}
				_, known := countOpenSizes(have, &one, facts)
				u.known = append(u.known, known > 0 && compared(have, &one, facts))
				u.claims = append(u.claims, max(1, taskClaim(have, &one, facts)))
			}
			all = append(all, u)
			if timeClaim(u.Subject.Family(), facts, w) > 0 {
				some = append(some, u)
			}
		}
	}
	if some == nil {
		return all
	}
	return some
}

// compared reports whether the winner at a task's one size was measured beside another variant and beside
// all that were fast at the nearest size, or beside many, or no other can run.
func compared(db *tuned.Database, t *Task, facts device.Facts) bool {
	f, w := t.Subject.Family(), tuned.Workload{Fixed: t.Fixed[0], Size: t.Sizes[0]}
	runs := func(v *device.Variant) bool {
		return f.CheckWorkload(v, w.Fixed) == nil && facts.CheckLoadable(f, v) == nil && t.Subject.Feasible(v, facts, w.Size) == nil
	}
	e, _ := db.Lookup(f.Name, facts.Class(), w)
	if len(e.Results) < 2 {
		n := 0
		for i := range f.Variants {
			if runs(&f.Variants[i]) {
				n++
			}
		}
		return n < 2
	}
	promising, err := db.PromisingVariants(f, facts, w)
	return err != nil || len(e.Results) >= tuned.Kept ||
		!slices.ContainsFunc(promising, func(label string) bool { return runs(f.Variant(label)) })
}

// goOn notes which sizes an earlier run decided, from which this one goes on.
func (s *budgetedRun) goOn() {
	pasts := map[string]pastTrials{} // by family
	for _, u := range s.units {
		f := u.Subject.Family()
		p, ok := pasts[f.Name]
		if !ok {
			p = unfinishedTrials(s.shared.records, f.Name, s.Facts, s.Seed, s.Now())
			pasts[f.Name] = p
		}
		for at, size := range u.order {
			e, ok := s.entry(u, size)
			if u.done[at] = ok && p.includesEntry(&e) && !s.lacked(u, size); u.done[at] {
				u.cut = true
			} else {
				u.open = append(u.open, Key{u.Fixed[0], size})
			}
		}
	}
}

// lacked reports whether a variant that would run at a unit's size failed lately for lack of memory.
func (s *budgetedRun) lacked(u *budgetedWorkload, size int) bool {
	f, now := u.Subject.Family(), s.Now()
	return slices.ContainsFunc(s.shared.lacked, func(t trial.Trial) bool {
		return s.here(&t, f, now) && maps.Equal(t.Fixed, u.Fixed[0]) && f.Variant(t.Variant) != nil &&
			(t.Action == trial.ActionVerify || t.Size <= size)
	})
}

// here reports whether a trial is of a family on this card lately.
func (s *budgetedRun) here(t *trial.Trial, f *device.Family, now time.Time) bool {
	return t.Family == f.Name && t.Class == s.Facts.Class() && t.UUID == s.Facts.UUID && t.Driver == s.Facts.Driver && now.Sub(t.Time) <= resumeWithin
}

// entry is what is kept of a unit's size; false where nothing is whose winner is in this binary.
func (s *budgetedRun) entry(u *budgetedWorkload, size int) (tuned.Entry, bool) {
	f := u.Subject.Family()
	e, ok := s.db.Lookup(f.Name, s.Facts.Class(), tuned.Workload{Fixed: u.Fixed[0], Size: size})
	if ok {
		_, ok = e.Result(e.Winner).Valid(f)
	}
	return e, ok
}

// finished reports whether a search of all of a unit's sizes came to its end lately.
func (s *budgetedRun) finished(u *budgetedWorkload) bool {
	f, now := u.Subject.Family(), s.Now()
	done := false
	for i := range s.shared.records {
		t := &s.shared.records[i]
		if s.here(t, f, now) && maps.Equal(t.Fixed, u.Fixed[0]) {
			done = t.Action == trial.ActionDone
		}
	}
	return done && !slices.ContainsFunc(u.order, func(size int) bool {
		e, ok := s.entry(u, size)
		return !ok || now.Sub(e.Time) > resumeWithin
	})
}

// A step of a sharing decides one size of a unit.
type step struct {
	*budgetedWorkload
	at int // place of the size in the unit's order
}

// steps are the sizes of all units, those of a family in the order in which they are decided.
func (s *budgetedRun) steps() (steps []step) {
	for at, left := 0, true; left; at++ {
		left = false
		for _, u := range s.units {
			if at >= len(u.order) {
				continue
			}
			if left = true; !u.done[at] {
				steps = append(steps, step{u, at})
			}
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return falseFirst(a.waits(), b.waits()) })
	return steps
}

// heads are the places in steps of what each family decides next, leaving out those that wait for others.
func heads(steps []step) (list []int) {
	seen := map[string]bool{}
	for i, one := range steps {
		if name := one.Subject.Family().Name; one.waits() == steps[0].waits() && !seen[name] {
			seen[name] = true
			list = append(list, i)
		}
	}
	return list
}

// nextStep is the place in steps of the one that comes next: of the family that took least. algorithms says that
// the last one was of algorithms.
func nextStep(steps []step, took map[string]time.Duration, algorithms bool) int {
	behind := func(i int) time.Duration {
		f := steps[i].Subject.Family()
		t := took[f.Name]
		if ofAlgorithms(f) {
			t += kernelsFirst
		}
		if ofAlgorithms(f) != algorithms {
			t += changeAfter
		}
		return t
	}
	return slices.MinFunc(heads(steps), func(a, b int) int { return cmp.Compare(behind(a), behind(b)) })
}

// took is how long trials took on this card lately, by family.
func (s *budgetedRun) took() map[string]time.Duration {
	sum := map[string]time.Duration{}
	class, now := s.Facts.Class(), s.Now()
	for i := range s.shared.records {
		if t := &s.shared.records[i]; t.Class == class && t.UUID == s.Facts.UUID && now.Sub(t.Time) <= resumeWithin {
			sum[t.Family] += time.Duration(t.Wall)
		}
	}
	return sum
}

// waits reports whether the size has a winner that was compared, so that others go first.
func (s step) waits() bool { return s.known[s.at] }

// falseFirst compares two answers.
func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// ofAlgorithms reports whether a family's variants are algorithms, not kernels.
func ofAlgorithms(f *device.Family) bool { return f.Target == "" }

// all decides sizes, and then searches on where searches were cut short.
func (s *budgetedRun) all(ctx context.Context) error {
	algorithms := false
	stale := false // the worker does not know all winners of kernels
	for steps := s.steps(); len(steps) > 0; {
		i := nextStep(steps, s.took(), algorithms)
		one, firsts, sum := steps[i], heads(steps), 0.0
		for k, other := range steps {
			claim := other.claims[other.at]
			if !slices.Contains(firsts, k) {
				claim *= laterWeight
			}
			sum += claim
		}
		steps = slices.Delete(steps, i, i+1)
		if algorithms = ofAlgorithms(one.Subject.Family()); !algorithms {
			stale = true
		} else if stale && s.shared.client != nil {
			s.shared.client.Close() // the next worker reads them
			stale = false
		}
		if stop, err := s.search(ctx, one.budgetedWorkload, one.at+1, one.claims[one.at]/sum); stop {
			return err
		}
	}
	for _, cut := range []bool{false, true} { // the end of a search that is through costs little
		left := 0.0
		var list []*budgetedWorkload
		for _, u := range s.units {
			if u.cut == cut {
				list = append(list, u)
				left += u.weight()
			}
		}
		screened := s.screened()
		slices.SortStableFunc(list, func(a, b *budgetedWorkload) int { return cmp.Compare(screened[a], screened[b]) })
		for _, u := range list {
			mine := u.weight()
			if time.Duration(mine/left*float64(s.end.Sub(s.Now()))) < leastPart {
				left -= mine
				continue
			}
			if stop, err := s.search(ctx, u, 0, mine/left); stop {
				return err
			}
			left -= mine
		}
	}
	return nil
}

// screened is the part of each unit's variants that were tried, by this run and those that it goes on
// from.
func (s *budgetedRun) screened() map[*budgetedWorkload]float64 {
	type variant struct{ workload, label string }
	tried, n := map[variant]bool{}, map[string]int{}
	for i := range s.shared.records {
		t := &s.shared.records[i]
		v := variant{t.Family + fmt.Sprint(t.Fixed), t.Variant}
		if t.Phase == search.PhaseScreen && !tried[v] {
			tried[v] = true
			n[v.workload]++
		}
	}
	out := map[*budgetedWorkload]float64{}
	for _, u := range s.units {
		f := u.Subject.Family()
		out[u] = float64(n[f.Name+fmt.Sprint(u.Fixed[0])]) / float64(max(1, timeClaim(f, s.Facts, u.Fixed[0])))
	}
	return out
}

// weight is the claim of all sizes.
func (u *budgetedWorkload) weight() float64 {
	sum := 0.0
	for _, c := range u.claims {
		sum += c
	}
	return sum
}

// search gives a unit a part of the time left, for the size of a turn or, with turn 0, for all. It
// reports whether the run ends.
func (s *budgetedRun) search(ctx context.Context, u *budgetedWorkload, turn int, part float64) (stop bool, err error) {
	left := s.end.Sub(s.Now())
	if left <= 0 {
		return true, nil
	}
	o := s.Options
	o.Subject, o.Fixed, o.Sizes, o.Database = u.Subject, u.Fixed, u.Sizes, s.db
	o.Budget, o.turn, o.end = max(1, time.Duration(part*float64(left))), turn, s.end
	begin := s.Now()
	db, sum, err := Tune(ctx, o)
	s.db, u.whole = db, turn == 0
	u.sums = append(u.sums, sum)
	cut := sum.Stopped != search.Done
	if turn == 0 {
		u.cut = cut
	}
	u.cut = u.cut || cut
	for _, size := range u.order {
		if turn > 0 && size != u.order[turn-1] {
			continue
		}
		won := slices.ContainsFunc(sum.Winners, func(w Winner) bool { return w.Size == size })
		if turn > 0 && won {
			s.spent, s.count = s.spent+s.Now().Sub(begin), s.count+1
		}
		if won || !cut { // or nothing can run there
			u.open = slices.DeleteFunc(u.open, func(k Key) bool { return k.Size == size })
		}
	}
	if isSummarised(err) {
		err = nil
	}
	return err != nil || sum.Stopped == search.Interrupted, err
}

// isSummarised reports whether the summary has a line for an error. The tune then goes on with other families.
func isSummarised(err error) bool {
	return errors.Is(err, ErrWrongVariant) || errors.Is(err, ErrNoneRan)
}
