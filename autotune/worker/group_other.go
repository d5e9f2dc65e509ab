//go:build !unix

package worker

import "os/exec"

// setProcessGroup does nothing where there are no process groups.
func setProcessGroup(*exec.Cmd) {}

// killGroup ends the worker.
func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }

// wasKilled reports false: the system does not tell.
func wasKilled(error) bool { return false }
