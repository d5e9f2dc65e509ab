package result

// A Replay is the tuner's search on one recorded search space, with several seeds.
type Replay struct {
	Kernel   string  `json:"kernel"`
	Device   string  `json:"device"`
	Variants int     `json:"variants"`
	Seconds  float64 `json:"seconds"`       // the cutoff
	Nothing  Scored  `json:"nothing"`       // from nothing
	Early    Scored  `json:"early"`         // from nothing, what is hopeless is stopped early
	Kin      *Scored `json:"kin,omitempty"` // with the winners of the kernel's other devices
	EarlyKin *Scored `json:"early_kin,omitempty"`
	// Peers are scores of others on the same record, by strategy.
	Peers map[string]float64 `json:"peers,omitempty"`
}

// Scored is a score over seeds.
type Scored struct {
	Seeds  int     `json:"seeds"`
	Score  float64 `json:"score"`  // 0 of a random order, 1 of the optimum at once
	Error  float64 `json:"error"`  // standard
	Within float64 `json:"within"` // part of the seeds that came within 5 % of the optimum by the cutoff
	Trials int     `json:"trials"` // until then, in the median; 0 where most did not
}

// Succeeded reports that nothing went wrong.
func (r Replay) Succeeded() bool { return true }
