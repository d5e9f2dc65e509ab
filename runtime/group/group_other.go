//go:build !unix

package group

import "os/exec"

// Lead does nothing where there are no groups of processes.
func Lead(*exec.Cmd) {}

// Kill ends a process.
func Kill(cmd *exec.Cmd) { cmd.Process.Kill() }
