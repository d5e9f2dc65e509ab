// Package coalesce is the root of the module: it holds no code, only the lines that write generated/ from go.generate and
// templates/, and the declarations of options from the structs that hold them.
package coalesce

//go:generate go run ./gen
//go:generate go run ./gen/options
