package search

import "coalesce/solvers/solve"

// A Setup is everything that opening an engine depends on besides the problem. Several devices are
// of one kind.
type Setup struct {
	solve.Settings
	Without []string // names of parts that are left out
	Rules   Rules    // as the user gave them
	Starts  Starts   // of massive multi-start, as the user gave them
}

// An OpenedEngine is ready to search one problem.
type OpenedEngine struct {
	Islands
	Label  string           // the variant's; empty: there is none
	Reason string           // why that variant
	Used   map[string]Rules // of each engine that searches, the defaults filled in
	Close  func() error
}
