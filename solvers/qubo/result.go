package qubo

import (
	"encoding/json"

	"coalesce/solvers/solve"
)

// A Result is the best that was found for an instance, and how. Value is that of Solution, from the instance's own
// coefficients; of real ones it is their exact sum, rounded once. Where it is proven, Solution is optimal; of real coefficients
// to within 2^-50 of Value. Variant is the engine and the label of its variant.
type Result struct {
	solve.Report
	Format    string
	Form      Form
	Sense     Sense
	N         int // variables
	Solution  Bits
	Names     []string // of the variables; nil where they are 0, 1, 2 and so on
	Proof     string   // why, or why not, one sentence
	Target    *float64
	Met       *float64 // seconds to the target from the start of the solve; nil: not met
	History   []Improvement
	Solutions []Solution // where several were asked for, best first
	Seed      uint64
	Rules     Rules            // as they were given
	Used      map[string]Rules // by engine, the defaults filled in, for the largest component that was searched; nil: none, or by engines without rules
	Work      Work
	Reduced   int         // variables that the search was left with
	Parts     int         // components that they are in
	Exact     bool        // the search's coefficients were not rounded
	Fixed     map[int]int // by variable, those that the instance fixes

	objective int64
}

// newResult is a result with the facts of its instance and its options, and no answer.
func newResult(inst *Instance, o Options) *Result {
	report := solve.Report{Problem: "qubo", Instance: inst.Source, Size: map[string]int{"variables": inst.N, "pairs": int(inst.Pairs())}, Notes: inst.Notes}
	return &Result{Report: report, Format: inst.Format, Form: inst.Form, Sense: inst.Sense, N: inst.N, Names: inst.Names, Target: o.Target, Seed: o.Seed, Rules: o.Rules}
}

// An Improvement is a moment at which the best value rose (fell, when
// minimising).
type Improvement struct {
	Seconds float64 `json:"seconds"` // from the start of the solve
	Value   Amount  `json:"value"`
}

// MarshalJSON writes the report of every problem with what searches add.
func (r *Result) MarshalJSON() ([]byte, error) {
	type certificate struct {
		By     string `json:"by"`
		Exact  bool   `json:"exact"`
		Reason string `json:"reason"`
	}
	proof := certificate{By: "host", Exact: r.Exact, Reason: r.Proof}
	several := r.Solutions
	if several == nil {
		several = []Solution{}
	}
	var assignment map[string]int
	if r.Names != nil {
		assignment = make(map[string]int, r.N)
		for i, name := range r.Names {
			assignment[name] = r.Solution.At(i)
		}
	}
	used := r.Used
	if used == nil {
		used = map[string]Rules{}
	}
	return json.Marshal(struct {
		solve.Report
		Format      string           `json:"format"`
		Form        Form             `json:"form"`
		Sense       Sense            `json:"sense"`
		Solution    Bits             `json:"solution"`
		Names       []string         `json:"names,omitempty"`
		Assignment  map[string]int   `json:"assignment,omitempty"` // the solution, by name
		Fixed       map[int]int      `json:"fixed"`                // by variable, those that the instance fixes
		Certificate certificate      `json:"certificate"`
		Seed        uint64           `json:"seed"`
		Rules       Rules            `json:"rules"`
		Used        map[string]Rules `json:"rules_used"`
		Work        Work             `json:"work"`
		Target      *float64         `json:"target"`
		Met         *float64         `json:"time_to_target"`
		History     []Improvement    `json:"history"`
		Solutions   []Solution       `json:"solutions"`
		Reduced     []int            `json:"reduced"`
	}{r.Report, r.Format, r.Form, r.Sense, r.Solution, r.Names, assignment, r.Fixed, proof, r.Seed, r.Rules, used, r.Work, r.Target, r.Met,
		r.History, several, []int{r.Reduced, r.Parts}})
}
