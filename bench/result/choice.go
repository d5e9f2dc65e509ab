package result

// A Choice is the variant chosen for one workload at one size, beside the best.
// Seconds are medians of interleaved rounds, the sum over two instances; of an algorithm the geometric mean
// over an instance a round.
type Choice struct {
	Family   string            `json:"family"`
	Fixed    map[string]string `json:"fixed"`
	Size     int               `json:"size"`
	Variants int               `json:"variants"`          // that run, each timed before the rounds
	Best     string            `json:"best,omitempty"`    // variant
	Seconds  float64           `json:"seconds,omitempty"` // the best's
	Noise    float64           `json:"noise"`             // between the best and itself, timed twice in each round
	Chosen   []MeasuredChoice  `json:"chosen,omitempty"`
	Failed   string            `json:"failed,omitempty"`
}

// MeasuredChoice is one choice.
type MeasuredChoice struct {
	By      string  `json:"by"`    // "shipped", "safe", or a file of winners
	Level   string  `json:"level"` // that the choice rests on
	Variant string  `json:"variant"`
	Seconds float64 `json:"seconds"`
	Regret  float64 `json:"regret"`          // over the best's seconds, 0 for none
	Noise   float64 `json:"noise,omitempty"` // two standard errors of the regret, where instances differ in what suits them
}

// Succeeded reports that nothing went wrong.
func (c Choice) Succeeded() bool { return c.Failed == "" }
