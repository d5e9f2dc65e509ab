package result

// A Mistake is what a tool did with a kernel that has one mistake, or none.
type Mistake struct {
	Mistake string  `json:"mistake"` // empty: the kernel is right
	Tool    string  `json:"tool"`    // "go test", "verify", "tune", or Kernel Tuner with a backend
	Noticed bool    `json:"noticed"` // the tool says that something is wrong
	Kept    int     `json:"kept"`    // variants that it measured and accepts
	Of      int     `json:"of"`      // variants
	Exit    int     `json:"exit"`    // exit code; 128 and the signal where one ended the process
	Ended   bool    `json:"ended"`   // by itself; else it was killed at the limit
	Seconds float64 `json:"seconds"`
	Message string  `json:"message,omitempty"` // the line that names the mistake, or the last one
	Failed  string  `json:"failed,omitempty"`  // why there is no result
	// Of kernels without a mistake: the lines that an author writes.
	Lines map[string]int `json:"lines,omitempty"`
}

// Right reports that the tool ran.
func (m Mistake) Right() bool { return m.Failed == "" }
