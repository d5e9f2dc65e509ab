package qubo

import (
	"encoding/json"
	"strconv"
)

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

// Work is what searches did.
type Work = work

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

// An Amount is a value: every digit of an integer, or a float64.
type Amount struct {
	whole bool
	i     int64
	f     float64
}

// Float is the amount, rounded where it is an integer beyond 2^53.
func (a Amount) Float() float64 {
	if a.whole {
		return float64(a.i)
	}
	return a.f
}

// String is the amount in digits.
func (a Amount) String() string {
	if a.whole {
		return strconv.FormatInt(a.i, 10)
	}
	return strconv.FormatFloat(a.f, 'g', -1, 64)
}

// MarshalJSON writes a number.
func (a Amount) MarshalJSON() ([]byte, error) {
	if a.whole {
		return strconv.AppendInt(nil, a.i, 10), nil
	}
	return json.Marshal(a.f)
}

// Bits are the values of n variables.
type Bits struct {
	words []uint64
	n     int
}

// At is variable i.
func (b Bits) At(i int) int { return int(bit(b.words, i)) }

// Len is the number of variables.
func (b Bits) Len() int { return b.n }

// Words are the bits, bit i%64 of word i/64 for variable i; not a copy.
func (b Bits) Words() []uint64 { return b.words }

// String is a digit a variable.
func (b Bits) String() string {
	text := make([]byte, b.n)
	for i := range text {
		text[i] = '0' + byte(bit(b.words, i))
	}
	return string(text)
}

// MarshalJSON writes the string.
func (b Bits) MarshalJSON() ([]byte, error) { return json.Marshal(b.String()) }

// ParseBits reads a string of 0 and 1, or of + and - for spins.
func ParseBits(text string) (Bits, bool) {
	b := Bits{make([]uint64, words(len(text))), len(text)}
	for i := range len(text) {
		switch text[i] {
		case '1', '+':
			b.words[i>>6] |= 1 << (i & 63)
		case '0', '-':
		default:
			return Bits{}, false
		}
	}
	return b, true
}

// amount is the value of x in the instance's own terms.
func (inst *Instance) amount(x []uint64) Amount {
	if inst.Int != nil {
		return Amount{whole: true, i: inst.ValueInt(x)}
	}
	return Amount{f: inst.Value(x)}
}

// amountOf is the value of a scaled objective.
func (inst *Instance) amountOf(p *normal, objective int64) Amount {
	if inst.Int == nil {
		return Amount{f: p.original(objective)}
	}
	if inst.Sense == Minimize {
		objective = -objective
	}
	return Amount{whole: true, i: p.constant + objective}
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
		Work        work             `json:"work"`
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
