//go:build unix

package ranks

import (
	"os"
	"syscall"
)

// Signals end a command with what it has, as ctrl-C does. Open MPI's mpirun hands SIGUSR1 on to
// all ranks, which its ctrl-C kills; Slurm sends it before a job's time is over, where asked to.
var Signals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGUSR1}
