package result

// A Binary is one contender on one binary quadratic program and one seed.
// Objectives are the instance's own, exact.
type Binary struct {
	Name     string  `json:"name"` // a family, an engine, or a peer
	Variant  string  `json:"variant,omitempty"`
	Instance string  `json:"instance"`
	N        int     `json:"n,omitempty"`
	NotGiven bool    `json:"not_given,omitempty"` // the instance is not there: nothing was run
	Seed     uint64  `json:"seed,omitempty"`
	Known    float64 `json:"known,omitempty"`   // best known objective
	Printed  Printed `json:"printed,omitzero"`  // the paper's
	Value    float64 `json:"value,omitempty"`   // best found
	Met      float64 `json:"met,omitempty"`     // seconds to the best known objective, or 0
	Best     float64 `json:"best,omitempty"`    // seconds to Value
	Seconds  float64 `json:"seconds,omitempty"` // of the whole run
	Flips    int64   `json:"flips,omitempty"`

	// Of massive multi-start.
	Lambda     *float64 `json:"lambda,omitempty"`
	Batch      int      `json:"batch,omitempty"`
	Iterations int      `json:"iterations,omitempty"`
	Searched   int      `json:"searched,omitempty"` // iterations that passed the screen
	Mean       float64  `json:"mean,omitempty"`     // of the samples
	Start      float64  `json:"start,omitempty"`    // of the first derivative's solution
	Sampling   float64  `json:"sampling_seconds,omitempty"`

	History []Improvement `json:"history,omitempty"`

	// Of qubo/evaluate: seconds of every run for Count solutions.
	Count int       `json:"count,omitempty"`
	What  string    `json:"what,omitempty"` // values, gains, samples, or host: one core
	Runs  []float64 `json:"runs,omitempty"`
	Work  float64   `json:"work,omitempty"` // multiplications of a weight and a bit

	Failed string `json:"failed,omitempty"`
}

// Printed is what a paper says of an instance.
type Printed struct {
	Value   float64 `json:"value,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

// An Improvement is a new best and when it was found.
type Improvement struct {
	Seconds float64 `json:"seconds"`
	Value   float64 `json:"value"`
}

// Gap is how far below the best known objective a run ended, in percent of it.
func (b Binary) Gap() float64 {
	if b.Known == 0 {
		return 0
	}
	return 100 * (b.Known - b.Value) / b.Known
}
