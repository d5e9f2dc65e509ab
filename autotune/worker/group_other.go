//go:build !unix

package worker

import "os/exec"

// separate does nothing where there are no process groups.
func separate(*exec.Cmd) {}

// kill ends the worker.
func kill(cmd *exec.Cmd) { cmd.Process.Kill() }

// killed reports false: the system does not tell.
func killed(error) bool { return false }
