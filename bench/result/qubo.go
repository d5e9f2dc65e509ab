package result

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Binary is one contender on one binary quadratic program and one seed.
// Objectives are the instance's own, exact.
type Binary struct {
	Name     string    `json:"name"` // a family, an engine, or a rival
	Variant  string    `json:"variant,omitempty"`
	Devices  int       `json:"devices,omitempty"` // more than one
	Without  string    `json:"without,omitempty"` // the part of the engine that was left out
	Instance string    `json:"instance"`
	N        int       `json:"n,omitempty"`
	Missing  string    `json:"missing,omitempty"`   // why a rival could not be run: there is no instance
	NotGiven bool      `json:"not_given,omitempty"` // the instance is not there: nothing was run
	Seed     uint64    `json:"seed,omitempty"`
	Known    float64   `json:"known,omitempty"`  // best known objective
	Printed  Published `json:"printed,omitzero"` // the paper's
	ABS2     Published `json:"abs2,omitzero"`    // of submissions to QOBLIB
	Gurobi   Published `json:"gurobi,omitzero"`
	Attempt
	Bounded
	Multistart
	History []Improvement `json:"history,omitempty"`
	Timed
	Failed string `json:"failed,omitempty"`
}

// An Attempt is one search for a good solution, by its clock.
type Attempt struct {
	Value   float64 `json:"value,omitempty"`   // best found
	Success bool    `json:"success,omitempty"` // the best known objective was reached
	Met     float64 `json:"met,omitempty"`     // seconds to it, or 0
	Limit   float64 `json:"limit,omitempty"`   // seconds that the run was given
	Best    float64 `json:"best,omitempty"`    // seconds to Value
	Seconds float64 `json:"seconds,omitempty"` // of the whole run
	Flips   int64   `json:"flips,omitempty"`
}

// Bounded is what is known of the optimum after an attempt.
type Bounded struct {
	Bound     float64 `json:"bound,omitempty"` // no value is better
	BoundKind string  `json:"bound_kind,omitempty"`
	Proven    bool    `json:"proven,omitempty"`
}

// Multistart counts what massive multi-start did.
type Multistart struct {
	Lambda     *float64 `json:"lambda,omitempty"`
	Batch      int      `json:"batch,omitempty"`
	Iterations int      `json:"iterations,omitempty"`
	Searched   int      `json:"searched,omitempty"` // iterations that passed the screen
	Mean       float64  `json:"mean,omitempty"`     // of the samples
	Start      float64  `json:"start,omitempty"`    // of the first derivative's solution
	Sampling   float64  `json:"sampling_seconds,omitempty"`
}

// Timed is work of a known amount, done several times: Count searches make Work flips, Count solutions are evaluated, or
// Count cases are answered correctly.
type Timed struct {
	Count int       `json:"count,omitempty"`
	What  string    `json:"what,omitempty"` // values, gains, samples, flips; host: values on one core; verify, bounds
	Runs  []float64 `json:"runs,omitempty"` // seconds of every run
	Work  float64   `json:"work,omitempty"` // flips, or multiplications of a weight and a bit
}

// Published are a paper's numbers for an instance.
type Published struct {
	Value   float64 `json:"value,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

// An Improvement is a new best and when it was found.
type Improvement struct {
	Seconds float64 `json:"seconds"`
	Value   float64 `json:"value"`
}

// Succeeded reports that nothing went wrong.
func (b Binary) Succeeded() bool { return b.Failed == "" }

// Gap is how far below the best known objective a run ended, in percent of it.
func (b Binary) Gap() float64 {
	if b.Known == 0 {
		return 0
	}
	return 100 * (b.Known - b.Value) / b.Known
}

// A Summary is a contender's runs on an instance, the same part left out.
type Summary struct {
	Name, Instance string
	Without        string // the part that was left out
	Known          float64
	NotGiven       bool
	Runs, Hits     int // runs without an error; those that reached the best known
	Failed         int // runs with an error
	// Seconds to the best known, of the runs that reached it; the median of all
	// runs, those that did not counting as slower: +Inf where that is half of
	// them or more.
	Median, Mean, Worst float64
	Gap                 float64 // the worst run's, in percent of the best known
	Speed               float64 // flips a second
}

// Summarize sums up runs by instance and contender, in the order of their first.
func Summarize(rows []Binary) []Summary {
	type key struct{ instance, name, without string }
	var order []key
	by := map[key][]Binary{}
	for _, r := range rows {
		if r.Missing != "" {
			continue
		}
		k := key{r.Instance, r.Name, r.Without}
		if by[k] == nil {
			order = append(order, k)
		}
		by[k] = append(by[k], r)
	}
	var list []Summary
	for _, k := range order {
		first := by[k][0]
		s := Summary{Name: k.name, Instance: k.instance, Without: k.without, Known: first.Known, NotGiven: first.NotGiven}
		var met []float64
		flips, seconds := 0.0, 0.0
		for _, r := range by[k] {
			switch {
			case r.NotGiven:
				continue
			case r.Failed != "":
				s.Failed++
				continue
			}
			s.Runs++
			if r.Met > 0 {
				met = append(met, r.Met)
				s.Mean += r.Met
			}
			s.Gap, flips, seconds = max(s.Gap, r.Gap()), flips+float64(r.Flips), seconds+r.Seconds
		}
		s.Hits, s.Median = len(met), math.Inf(1)
		if s.Hits > 0 {
			s.Mean, s.Worst = s.Mean/float64(s.Hits), slices.Max(met)
		}
		if total := s.Runs + s.Failed; 2*s.Hits > total {
			slices.Sort(met)
			s.Median = met[(total-1)/2]
		}
		if seconds > 0 {
			s.Speed = flips / seconds
		}
		list = append(list, s)
	}
	return list
}

// InstanceClass is the class of an instance of the literature, by its name: bqp2500 of
// OR-Library, Palubeckis', the complete graph K2000, and of the G-set random
// graphs, tori, unions of planar graphs.
func InstanceClass(instance string) string {
	switch {
	case strings.HasPrefix(instance, "bqp"):
		return "bqp2500"
	case strings.HasPrefix(instance, "p"):
		return "Palubeckis"
	case strings.HasPrefix(instance, "WK"):
		return "K2000"
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(instance, "G"), "-")
	k, err := strconv.Atoi(number)
	if err != nil {
		return "others"
	}
	within := func(spans ...int) bool {
		for at := 0; at < len(spans); at += 2 {
			if spans[at] <= k && k <= spans[at+1] {
				return true
			}
		}
		return false
	}
	switch {
	case within(11, 13, 32, 34, 48, 50, 57, 57, 62, 62, 65, 67, 72, 81):
		return "G-set, tori"
	case within(14, 21, 35, 42, 51, 54, 58, 59, 63, 64):
		return "G-set, planar"
	}
	return "G-set, random"
}
