package result

// An Auction is one way to solve one auction. Seconds begin with the auction in the host's
// memory and end with the checked answer.
type Auction struct {
	Name    string `json:"name"` // what is drawn, or the variant that is verified
	Variant string `json:"variant,omitempty"`
	Goods   int    `json:"goods,omitempty"`
	Bids    int    `json:"bids,omitempty"`
	Value   string `json:"value,omitempty"`
	Cases   int    `json:"cases,omitempty"` // that were right, where variants are verified
	Payments
	Failed string `json:"failed,omitempty"`
	Proof
	Companion
}

// Payments are the winners and VCG's payments of an auction, by tables.
type Payments struct {
	Winners int       `json:"winners,omitempty"` // for each of whom a payment is computed
	Solve   []float64 `json:"solve,omitempty"`   // seconds to the winners, of every run, in order
	Pay     []float64 `json:"pay,omitempty"`     // seconds from there to VCG's payments
	Passes  int       `json:"passes,omitempty"`  // over tables, of one run
	Bytes   float64   `json:"bytes,omitempty"`   // that these read and write by count
}

// A Proof is one solver's way to a proof, on the auction of a file.
type Proof struct {
	Instance string  `json:"instance,omitempty"`
	Known    string  `json:"known,omitempty"` // the best value known
	Threads  int     `json:"threads,omitempty"`
	Limit    float64 `json:"limit,omitempty"` // seconds
	Took     float64 `json:"took,omitempty"`  // seconds to the end
	CPU      float64 `json:"cpu,omitempty"`   // seconds of processors
	Bound    float64 `json:"bound,omitempty"`
	Proven   bool    `json:"proven,omitempty"`
	Nodes    int64   `json:"nodes,omitempty"`
	Primal   float64 `json:"primal,omitempty"`  // primal integral, seconds
	Reached  float64 `json:"reached,omitempty"` // seconds to the value
}

// A Companion is a device that works for branch and cut: it searches for allocations, and bounds nodes' children.
type Companion struct {
	Found    int     `json:"found,omitempty"` // allocations better than all before
	Last     float64 `json:"last,omitempty"`  // seconds to the last of them
	Flips    int64   `json:"flips,omitempty"`
	Bounded  int64   `json:"bounded,omitempty"` // nodes whose children it bounded
	Children int64   `json:"children,omitempty"`
}

// Succeeded reports that nothing went wrong.
func (a Auction) Succeeded() bool { return a.Failed == "" }
