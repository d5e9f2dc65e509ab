//go:build linux && mpi

package mpi

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// Built reports whether this binary can load MPI.
const Built = true

func load(path string) (*library, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("load MPI: %w", err)
	}
	l := &library{}
	for name, function := range map[string]any{
		"init": &l.init, "library": &l.library, "most": &l.most, "broadcast": &l.broadcast, "reduce": &l.reduce, "gather": &l.gather,
		"send": &l.send, "receive": &l.receive, "agree": &l.agree, "probe": &l.probe, "wait": &l.wait, "message": &l.message, "abort": &l.abort, "exit": &l.exit,
	} {
		address, err := purego.Dlsym(handle, "coalesce_mpi_"+name)
		if err != nil {
			return nil, fmt.Errorf("load MPI: %s is not built by scripts/mpi: %w", path, err)
		}
		purego.RegisterFunc(function, address)
	}
	return l, nil
}
