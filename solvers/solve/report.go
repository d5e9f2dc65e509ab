package solve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// A Report has the parts that all answers have besides the solution. Results embed it, and
// it is the head of the JSON object of every problem.
type Report struct {
	Problem   string         `json:"problem"`  // "csg", "auction", "qubo" or "assignment"
	Instance  string         `json:"instance"` // where the instance came from
	Size      map[string]int `json:"size"`     // counts by name: {"agents": 24}
	Value     Number         `json:"value"`    // of the solution, recomputed from the instance
	Bound     Number         `json:"bound"`    // no solution is better; empty: nothing is known
	Gap       *float64       `json:"gap"`      // most that Value may be from the optimum; nil: not known
	Proven    bool           `json:"proven"`   // the certificate proves Value within Gap of the optimum
	Seconds   Seconds        `json:"seconds"`
	Device    string         `json:"device"` // "cuda:0", "cuda:0,cuda:1", "host", …
	Algorithm string         `json:"algorithm"`
	Variant   string         `json:"variant"`     // the family and the label of its variant
	Reason    string         `json:"reason"`      // why that variant, one sentence
	Stopped   bool           `json:"interrupted"` // the caller, the user or the time limit ended the solve before it was done (Stop)
	Notes     Notes          `json:"notes"`       // of the instance and of the solver
}

// Seconds are wall-clock times: Prepare is the work on a device before the solve,
// Verify the check of the answer. A solver that does not separate two of them
// counts both as Solve.
type Seconds struct {
	Read    float64 `json:"read"`
	Prepare float64 `json:"prepare"`
	Solve   float64 `json:"solve"`
	Verify  float64 `json:"verify"`
}

// Notes are sentences for the user; in JSON always a list.
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

// MarshalJSON writes a JSON number, null where there is no value, and strings for
// infinities, which JSON lacks.
func (n Number) MarshalJSON() ([]byte, error) {
	switch n {
	case "":
		return []byte("null"), nil
	case "-inf", "inf":
		return json.Marshal(string(n))
	}
	return json.Marshal(json.Number(n))
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
