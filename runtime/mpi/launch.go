// Package mpi joins the processes that a launcher of MPI has started: Open MPI's or
// MPICH's, or Slurm's for either. A World moves bytes between the memories of processes:
// broadcasts, reductions, gathers, and messages.
//
// The program links no MPI. It loads a small library by its path, which scripts/mpi builds from
// shim/shim.c with the implementation's own mpicc. Loading needs the C library's loader, so that
// only binaries of the build tag mpi can; others say what to build (Built).
//
// All calls are made by one thread (MPI_THREAD_FUNNELED). No call blocks inside MPI: operations are
// started and then polled, at growing intervals, until they are done or World.Limit is over.
package mpi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Environment variables. Library names the library of shim/shim.c, or is "off": then
// processes do not join. Limit is how long a process waits for others, as 90s or 10m.
const (
	LibraryVariable = "COALESCE_MPI"
	LimitVariable   = "COALESCE_MPI_LIMIT"
)

// DefaultLimit is how long a process waits for others where LimitVariable is not set, JoinLimit
// how long for their joining: where one has died before, not every launcher ends the others.
const (
	DefaultLimit = 10 * time.Minute
	JoinLimit    = time.Minute
)

// A Launch is the part of a process's environment that its launcher has set.
type Launch struct {
	Launcher string // "Open MPI", "MPICH" or "Slurm"
	Size     int    // processes that were started
	Rank     int    // of this one, as the launcher counts
	library  string // name of the library for it
}

// Launched reads the environment. A size below 2 means that no other processes are
// there, or that COALESCE_MPI is off.
func Launched(getenv func(string) string) Launch {
	number := func(name string) int {
		n, err := strconv.Atoi(getenv(name))
		if err != nil {
			return 0
		}
		return n
	}
	const openmpi, mpich = "coalesce-openmpi.so", "coalesce-mpich.so"
	open, hydra := number("OMPI_COMM_WORLD_SIZE"), number("PMI_SIZE")
	tasks, task := number("SLURM_STEP_NUM_TASKS"), number("SLURM_PROCID")
	switch {
	case getenv(LibraryVariable) == "off":
		return Launch{}
	case open > 0:
		return Launch{"Open MPI", open, number("OMPI_COMM_WORLD_RANK"), openmpi}
	case tasks > 0 && getenv("PMIX_RANK") != "":
		return Launch{"Slurm", tasks, task, openmpi}
	case hydra > 0 && tasks == 0:
		return Launch{"MPICH", hydra, number("PMI_RANK"), mpich}
	case tasks > 0 && getenv("SLURM_PROCID") != "":
		return Launch{"Slurm", tasks, task, mpich}
	}
	return Launch{}
}

// path is where the library lies: where COALESCE_MPI says, else beside the executable.
func (l Launch) path() (string, error) {
	if named := os.Getenv(LibraryVariable); named != "" {
		return named, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	path := filepath.Join(filepath.Dir(self), l.library)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s has started %d processes, and %s is missing: build it with scripts/mpi --shim MPICC, or name it in %s", l.Launcher, l.Size, path, LibraryVariable)
	}
	return path, nil
}

// Alone returns err, the error of a process that could not join. Ranks other than the first wait a
// moment before, in which the launcher ends them if rank 0 fails for the same reason: the reason is
// then printed once.
func (l Launch) Alone(err error) error {
	if err != nil && l.Rank > 0 {
		time.Sleep(grace)
	}
	return err
}

// limit is how long a process waits for others.
func limit() (time.Duration, error) {
	text := os.Getenv(LimitVariable)
	if text == "" {
		return DefaultLimit, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s is %q, expected a time such as 90s or 10m", LimitVariable, text)
	}
	return d, nil
}

// ErrLate is wrapped by the errors of operations whose other processes did not come in
// time.
var ErrLate = errors.New("the other ranks did not come")
