// Package library holds examples of another program's use of the packages. They
// are tests, so that docs/library.md, which shows them, cannot fall behind: the
// code there is the code here.
package library
