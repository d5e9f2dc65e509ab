package search

import (
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// A Setup is what opening an engine depends on besides the problem.
type Setup struct {
	Variant  string          // the label of a variant; empty: the fastest known
	Database *tuned.Database // nil: the one embedded in the binary
	Others   []device.Device // more devices, of the same kind as the first
	Without  []string        // names of parts that are left out
	Rules    Rules           // as the user gave them
}

// An Opened engine is ready to search one problem.
type Opened struct {
	Searcher
	Label  string           // the variant's; empty: there is none
	Reason string           // why that variant
	Used   map[string]Rules // of each engine that searches, the defaults filled in
	Close  func() error
}
