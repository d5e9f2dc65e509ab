package qubo

import (
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// A setup is what opening an engine depends on besides the problem.
type setup struct {
	variant  string          // the label of a variant; empty: the fastest known
	database *tuned.Database // nil: the one embedded in the binary
	others   []device.Device // more devices, of the same kind as the first
	without  []string        // names of parts that are left out
	rules    Rules           // as the user gave them
}

// An opened engine is ready to search one problem.
type opened struct {
	search
	label  string           // the variant's; empty: there is none
	reason string           // why that variant
	used   map[string]Rules // of each engine that searches, the defaults filled in
	close  func() error
}
