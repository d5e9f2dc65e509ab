// Package rules holds no code: its tests keep the rules of the whole
// repository that no compiler keeps, which room may import which, what may be
// called what, what generated files look like, that all modules are tested.
package rules
