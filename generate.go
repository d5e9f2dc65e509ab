// Package coalesce is the root of the module: it holds no code, only the lines that write generated/ from go.generate and
// templates/, the declarations of options from the structs that hold them, and what Python and the documentation say of them.
package coalesce

//go:generate go run ./gen
//go:generate go run ./gen/options
//go:generate go run ./internal/doors
