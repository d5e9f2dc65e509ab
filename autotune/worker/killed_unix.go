//go:build unix

package worker

import (
	"errors"
	"os/exec"
	"syscall"
)

// wasKilled reports whether a process was ended by SIGKILL, which no process sends itself.
func wasKilled(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
