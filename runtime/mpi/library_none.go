//go:build !linux || !mpi

package mpi

import "errors"

// Built reports whether this binary can load MPI.
const Built = false

func load(string) (*library, error) { return nil, errors.New("this binary has no MPI") }
