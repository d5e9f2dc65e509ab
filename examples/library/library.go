// Package library holds examples of programs that use the packages. They are tests,
// and docs/library.md shows their code, so the page cannot fall behind.
package library
