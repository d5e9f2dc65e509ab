package result

import "encoding/json"

// A Solve is one contender on one assignment instance. Seconds run from the
// call, the costs resident and the workspace taken, to the matching and duals
// on the host and the certificate checked; of rivals, which return no
// certificate, to the matching.
type Solve struct {
	Name     string    `json:"name"`              // a family, a method of the host, or a rival
	Variant  string    `json:"variant,omitempty"` // of a family
	Kind     string    `json:"kind"`              // of Draw
	Rows     int       `json:"rows"`
	Cols     int       `json:"cols"`
	Range    int64     `json:"range,omitempty"`
	Value    string    `json:"value"`
	Noise    string    `json:"noise,omitempty"` // permuted, shift, jitter
	Seed     uint64    `json:"seed"`
	Matrices int       `json:"matrices,omitempty"` // of a batch
	Devices  int       `json:"devices,omitempty"`  // more than one
	Optimum  string    `json:"optimum"`
	Printed  string    `json:"printed,omitempty"` // the optimum that is known of the instance
	Runs     []float64 `json:"seconds"`
	Checks   []float64 `json:"check_seconds,omitempty"` // of them, for the certificate
	// Counts are the solver's own, of one run.
	Counts json.RawMessage `json:"counts,omitempty"`
	Failed string          `json:"failed,omitempty"`
}

// Succeeded reports that nothing went wrong.
func (s Solve) Succeeded() bool { return s.Failed == "" }

// Median of the runs, in seconds; 0 when there are none.
func (s Solve) Median() float64 { return Median(s.Runs) }
