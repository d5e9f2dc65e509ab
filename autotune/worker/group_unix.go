//go:build unix

package worker

import (
	"errors"
	"os/exec"
	"syscall"
)

// setProcessGroup puts the worker in a process group of its own: ctrl-C reaches the tuner alone, and killGroup ends
// the worker's own children with it.
func setProcessGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

// killGroup ends the worker and its children.
func killGroup(cmd *exec.Cmd) {
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	cmd.Process.Kill()
}

// wasKilled reports whether a process was ended by SIGKILL, which no process sends itself.
func wasKilled(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
