// Package coalesce is the root of the module: it holds no code, only the line
// that writes generated/ from go.generate and templates/.
package coalesce

//go:generate go run ./gen
