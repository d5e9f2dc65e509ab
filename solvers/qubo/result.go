package qubo

import "encoding/json"

// A Result is the best that was found for an instance, and how.
type Result struct {
	Instance  string // where the instance came from
	Format    string
	Form      Form
	Sense     Sense
	N         int
	Pairs     int64
	Value     Amount // of Solution, from the instance's own coefficients
	Solution  Bits
	Bound     *Amount // no solution is better; nil: nothing is known
	Proven    bool    // Solution is optimal
	Proof     string  // why, one sentence
	Target    *float64
	Met       *float64 // seconds to the target from the start of the solve; nil: not met
	History   []Improvement
	Solutions []Solution // where several were asked for, best first
	Seconds   Seconds
	Device    string // "cuda:0", "host", …
	Variant   string // the engine and the label of its variant
	Reason    string // why that one, one sentence
	Seed      uint64
	Rules     Rules            // as they were given
	Used      map[string]Rules // by engine, the defaults filled in, for the largest component that was searched; nil: none, or by engines without rules
	Work      Work
	Reduced   int  // variables that the search was left with
	Parts     int  // components that they are in
	Exact     bool // the search's coefficients were not rounded
	Stopped   bool // ctx ended the solve
	Notes     []string

	objective int64
}

// An Improvement is a moment at which the best value rose (fell, when
// minimising).
type Improvement struct {
	Seconds float64 `json:"seconds"` // from the start of the solve
	Value   Amount  `json:"value"`
}

// Seconds are wall-clock times: Solve is from the coefficients in memory to the
// last improvement's verified solution or the limit, Verify the recomputation
// within it.
type Seconds struct {
	Read   float64 `json:"read"`
	Solve  float64 `json:"solve"`
	Verify float64 `json:"verify"`
}

// MarshalJSON writes the object of every solver, with the keys of a search.
func (r *Result) MarshalJSON() ([]byte, error) {
	type certificate struct {
		By     string `json:"by"`
		Exact  bool   `json:"exact"`
		Reason string `json:"reason"`
	}
	proof := certificate{By: "host", Exact: r.Exact, Reason: r.Proof}
	if !r.Proven {
		proof.Reason = "the value was recomputed from the instance's coefficients"
	}
	notes := r.Notes
	if notes == nil {
		notes = []string{}
	}
	several := r.Solutions
	if several == nil {
		several = []Solution{}
	}
	used := r.Used
	if used == nil {
		used = map[string]Rules{}
	}
	return json.Marshal(struct {
		Problem     string           `json:"problem"`
		Instance    string           `json:"instance"`
		Format      string           `json:"format"`
		Form        Form             `json:"form"`
		Sense       Sense            `json:"sense"`
		Size        []int64          `json:"size"`
		Value       Amount           `json:"value"`
		Bound       *Amount          `json:"bound"`
		Proven      bool             `json:"proven"`
		Solution    Bits             `json:"solution"`
		Seconds     Seconds          `json:"seconds"`
		Device      string           `json:"device"`
		Variant     string           `json:"variant"`
		Reason      string           `json:"reason"`
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
		Stopped     bool             `json:"interrupted"`
		Notes       []string         `json:"notes"`
	}{"qubo", r.Instance, r.Format, r.Form, r.Sense, []int64{int64(r.N), r.Pairs}, r.Value, r.Bound, r.Proven, r.Solution, r.Seconds,
		r.Device, r.Variant, r.Reason, proof, r.Seed, r.Rules, used, r.Work, r.Target, r.Met, r.History, several, []int{r.Reduced, r.Parts}, r.Stopped, notes})
}
