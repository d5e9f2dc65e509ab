package csg

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A Result is the answer to an instance, and how it came about.
type Result struct {
	Instance   string    // where the instance came from
	N          int       // agents
	Value      float64   // the structure's value
	Exact      string    // the same in decimals: every digit of integers
	Structure  Structure // its blocks
	Proven     bool      // the method proves that no structure is worth more
	Splittings float64   // evaluated
	Device     string    // "cuda:0", "host", …
	Variant    string    // the label of the kernel's variant
	Reason     string    // why that variant, one sentence
	Method     Method
	Seconds    Seconds
	// Certificate is set by Certify.
	Certificate Certificate
	Notes       []string // of the instance and of the solver
	Names       []string // of the agents, nil when they have none
	Type        Value
}

// Seconds are wall-clock times.
type Seconds struct {
	Read   float64 `json:"read"`
	Solve  float64 `json:"solve"`
	Verify float64 `json:"verify"`
}

// NewResult is a result that knows its instance and nothing else.
func NewResult(inst *Instance) *Result {
	return &Result{Instance: inst.Source, N: inst.N, Names: inst.Names, Type: inst.Type, Notes: inst.Notes}
}

// Certify checks the result's structure against the total its solver claims,
// in decimals, and keeps the certificate. Value and Exact become those of the
// recomputed sum. Every method of this package evaluates all that an optimum
// needs, so that a total which checks is proven; of floats, up to the
// certificate's tolerance. Its errors wrap ErrCheck.
func (r *Result) Certify(inst *Instance, claimed string) error {
	r.Structure.Sort()
	c, err := Check(inst, r.Structure, claimed)
	r.Certificate = c
	if err != nil {
		return err
	}
	r.Exact, r.Proven = c.Sum, true
	r.Value, err = strconv.ParseFloat(c.Sum, 64)
	return err
}

// BlockValues are the values of the structure's blocks, in decimals.
func (r *Result) BlockValues() []string {
	values := make([]string, len(r.Certificate.Blocks))
	for i, b := range r.Certificate.Blocks {
		values[i] = b.Value
	}
	return values
}

// String is the structure with its values, one block a line, and the total.
func (r *Result) String() string {
	var b strings.Builder
	for _, block := range r.Certificate.Blocks {
		fmt.Fprintf(&b, "{%s}\t%s\n", strings.Join(block.Agents, ", "), block.Value)
	}
	fmt.Fprintf(&b, "total\t%s\n", r.Exact)
	return b.String()
}

// MarshalJSON writes the object that every problem's --json shares. Values are
// numbers, or the string "-inf" where no structure is allowed.
func (r *Result) MarshalJSON() ([]byte, error) {
	value := any(json.Number(r.Exact))
	if r.Exact == "-inf" || r.Exact == "" {
		value = r.Exact
	}
	var bound any
	if r.Proven {
		bound = value
	}
	out := struct {
		Problem     string      `json:"problem"`
		Instance    string      `json:"instance"`
		Size        int         `json:"size"`
		Value       any         `json:"value"`
		Bound       any         `json:"bound"`
		Proven      bool        `json:"proven"`
		Solution    [][]int     `json:"solution"`
		Agents      []string    `json:"agents,omitempty"`
		Type        Value       `json:"type"`
		Method      Method      `json:"method,omitempty"`
		Splittings  float64     `json:"splittings"`
		Seconds     Seconds     `json:"seconds"`
		Device      string      `json:"device"`
		Variant     string      `json:"variant"`
		Reason      string      `json:"reason"`
		Certificate Certificate `json:"certificate"`
		Notes       []string    `json:"notes,omitempty"`
	}{
		"csg", r.Instance, r.N, value, bound, r.Proven, r.Structure.Lists(), r.Names, r.Type, r.Method, r.Splittings,
		r.Seconds, r.Device, r.Variant, r.Reason, r.Certificate, r.Notes,
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return text, nil
}
