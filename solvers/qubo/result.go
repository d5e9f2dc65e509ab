package qubo

import (
	"encoding/json"

	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// A Result is the best that was found for an instance, and how. Value is that of Solution, from the instance's own
// coefficients; of real ones it is their exact sum, rounded once. Where it is proven, Solution is optimal; of real coefficients
// to within 2^-50 of Value. Variant is the engine and the label of its variant.
type Result struct {
	solve.Report
	// file format of the instance
	Format string `json:"format"`
	// form of the instance's variables
	Form problem.Form `json:"form"`
	// direction of the objective
	Sense problem.Sense `json:"sense"`
	// method that the bound comes from
	BoundKind BoundKind `json:"bound_kind,omitempty" none:"no bound is known"`
	N         int       `json:"-"` // variables
	// best solution, a digit for each variable: 1 stands for 1, of spins for +1
	Solution problem.Bits `json:"solution"`
	// names of the variables
	Names []string `json:"names,omitempty" none:"they have none"`
	// values of the variables that the instance fixes, by their numbers
	Fixed map[int]int `json:"fixed" none:"it fixes none"`
	Proof string      `json:"-"` // why, or why not, one sentence
	Exact bool        `json:"-"` // the search's coefficients were not rounded
	Dual  []float64   `json:"-"` // proof of a semidefinite bound, a number for each variable that is not fixed, and one more where there are linear terms as spins; nil: the bound is of another kind
	// proof of a bound by frustration; nil unless it was asked for, and for other kinds of bounds
	Frustration *Frustration `json:"-"`
	// seed of the random numbers
	Seed uint64 `json:"seed"`
	// parameters of the searches, as they were given
	Rules Rules `json:"rules"`
	// parameters of the searches by engine, the defaults filled in, for the largest component that was searched
	Used map[string]Rules `json:"rules_used"`
	// work of the searches
	Work Work `json:"work"`
	// moments at which the best value improved
	History []Improvement `json:"history" none:"there was no search"`
	// several solutions, best first; empty where one was asked for
	Solutions []Solution `json:"solutions"`
	Reduced   int        `json:"-"` // variables that the search was left with
	Parts     int        `json:"-"` // components that they are in

	objective int64
}

// newResult is a result with the facts of its instance and its options, and no answer.
func newResult(inst *problem.Instance, o Options) *Result {
	report := solve.Report{Problem: "qubo", Instance: inst.Source, Size: map[string]int{"variables": inst.N, "pairs": int(inst.Pairs())}, Notes: inst.Notes}
	return &Result{Report: report, Format: inst.Format, Form: inst.Form, Sense: inst.Sense, N: inst.N, Names: inst.Names, Seed: o.Seed, Rules: o.Rules}
}

// An Improvement is a moment at which the best value rose (fell, when
// minimising).
type Improvement struct {
	Seconds float64        `json:"seconds" unit:"s"` // time from the start of the solve
	Value   problem.Amount `json:"value"`            // best value
}

// stored are the parts of a Result that JSON has as they are.
type stored Result

// A written is the JSON object of a Result.
type written struct {
	*stored
	// solution by the variables' names
	Assignment map[string]int `json:"assignment,omitempty" none:"variables have no names"`
	// findings of the check of the answer
	Certificate certificate `json:"certificate"`
	// number of variables that the search was left with, and of components that they are in
	Reduced [2]int `json:"reduced"`
}

// A certificate has the findings of the check of a solution.
type certificate struct {
	By     string `json:"by"`     // checker
	Exact  bool   `json:"exact"`  // whether the search's coefficients were not rounded
	Reason string `json:"reason"` // reason why the solution is proven optimal, or why not, one sentence
	// numbers that prove a semidefinite bound, one for each variable that is not fixed, and one more if there are linear terms as spins
	Dual []float64 `json:"dual,omitempty" none:"the bound is of another kind"`
	// sets of edges that prove a bound by frustration
	Frustration *Frustration `json:"frustration,omitempty" none:"the bound is of another kind, or its proof was not asked for"`
}

// MarshalJSON writes the object of docs/result.schema.json.
func (r *Result) MarshalJSON() ([]byte, error) {
	kept := stored(*r)
	if kept.Solutions == nil {
		kept.Solutions = []Solution{}
	}
	if kept.Used == nil {
		kept.Used = map[string]Rules{}
	}
	w := written{stored: &kept, Certificate: certificate{"host", r.Exact, r.Proof, r.Dual, r.Frustration}, Reduced: [2]int{r.Reduced, r.Parts}}
	if r.Names != nil {
		w.Assignment = make(map[string]int, r.N)
		for i, name := range r.Names {
			w.Assignment[name] = r.Solution.At(i)
		}
	}
	return json.Marshal(w)
}
