// Package rules holds no code. Its tests keep the rules of the whole repository
// that no compiler keeps: which package may import which, which names are banned,
// which links lead nowhere, and the form of generated files.
package rules
