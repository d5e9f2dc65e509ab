package solve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// A Report has the parts that all answers have besides the solution. Results embed it, and
// it is the head of the JSON object of every problem.
type Report struct {
	// problem that was solved
	Problem string `json:"problem"`
	// source of the instance, such as its file
	Instance string `json:"instance"`
	// counts of what the instance has, by name, such as agents, goods, variables or rows
	Size map[string]int `json:"size"`
	// value of the solution, recomputed from the instance
	Value Number `json:"value" none:"there is no solution, or none was found"`
	// value that no solution beats
	Bound Number `json:"bound" none:"nothing is known"`
	// most that the value may be from the optimum: |bound - value|, rounded up to a float64
	Gap *float64 `json:"gap" none:"nothing is known"`
	// whether the certificate proves the value within the gap of the optimum, or without a value that no solution is feasible
	Proven bool `json:"proven"`
	// wall-clock times of the steps
	Seconds Seconds `json:"seconds"`
	// device of the solve, such as cuda:0 or host; commas separate several
	Device string `json:"device"`
	// algorithm that found the solution
	Algorithm string `json:"algorithm"`
	// family of kernels, and the label of its variant
	Variant string `json:"variant"`
	// reason for the variant, one sentence
	Reason string `json:"reason"`
	// whether the caller, the user or the time limit ended the solve before it was done; the solution is then the best so far
	Stopped bool `json:"interrupted"`
	// value that ends the solve
	Target *float64 `json:"target,omitempty" none:"there is none"`
	// time to the target from the start of the solve
	Met *float64 `json:"time_to_target,omitempty" unit:"s" none:"it was not met"`
	// sentences on the instance and the solve
	Notes Notes `json:"notes"`
}

// MarkMet sets the time to the target of a solve that began then, where the value, of a problem that maximises, meets it.
func (r *Report) MarkMet(target *float64, began time.Time) {
	if target != nil && r.Value.Float() >= *target {
		met := time.Since(began).Seconds()
		r.Met = &met
	}
}

// Seconds are wall-clock times. A solver that does not separate two of them counts both as Solve.
type Seconds struct {
	// reading the instance
	Read float64 `json:"read" unit:"s"`
	// work on a device before the solve
	Prepare float64 `json:"prepare" unit:"s"`
	// the solve
	Solve float64 `json:"solve" unit:"s"`
	// the check of the answer
	Verify float64 `json:"verify" unit:"s"`
}

// Notes are sentences for the user; in JSON always a list.
//
// JSON: []string
type Notes []string

// MarshalJSON writes a list, empty where there are none.
func (n Notes) MarshalJSON() ([]byte, error) {
	if n == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]string(n))
}

// A Number is a value in decimals: every digit of an integer or of an exact
// decimal, the shortest digits that give the same float. "-inf" and "inf" are
// values; the empty string is no value.
//
// JSON: float64, string
type Number string

// Float is the nearest float64, NaN where there is no value.
func (n Number) Float() float64 {
	x, err := strconv.ParseFloat(string(n), 64)
	if n == "" || err != nil && !math.IsInf(x, 0) {
		return math.NaN()
	}
	return x
}

func (n Number) String() string { return string(n) }

// Negated is the number of the other sign, digit by digit; nothing, 0 and -inf stay.
func (n Number) Negated() Number {
	switch {
	case n == "" || n == "0" || n == "-inf":
		return n
	case n[0] == '-':
		return n[1:]
	}
	return "-" + n
}

// MarshalJSON writes a JSON number, null where there is no value, and strings for
// infinities, which JSON lacks.
func (n Number) MarshalJSON() ([]byte, error) {
	switch n {
	case "":
		return []byte("null"), nil
	case "-inf", "inf":
		return []byte(`"` + n + `"`), nil
	}
	return []byte(n), nil // the encoder checks it
}

// UnmarshalJSON reads the output of MarshalJSON, and decimals in a string, as auctions
// have.
func (n *Number) UnmarshalJSON(text []byte) error {
	var value any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return err
	}
	switch value := value.(type) {
	case nil:
		*n = ""
	case string:
		*n = Number(value)
	case json.Number:
		*n = Number(value)
	default:
		return fmt.Errorf("found %.20s, expected a number, a string of decimals or null", text)
	}
	return nil
}

// NumberOf writes a float64.
func NumberOf(x float64) Number {
	switch {
	case math.IsNaN(x):
		return ""
	case math.IsInf(x, -1):
		return "-inf"
	case math.IsInf(x, 1):
		return "inf"
	}
	if a := math.Abs(x); a == 0 || a >= 1e-6 && a < 1e21 {
		return Number(strconv.FormatFloat(x, 'f', -1, 64))
	}
	return Number(strconv.FormatFloat(x, 'g', -1, 64))
}
