// Package rules holds no code: its tests keep the rules that no compiler keeps: imports between
// rooms, names, the form of generated files, tests in all modules.
package rules
