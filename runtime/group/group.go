// Package group runs a process as the leader of a group of its own: ctrl-C does not reach it, and killing it takes the processes
// that it started with it, as nvcc starts cicc and ptxas.
package group

import (
	"context"
	"os/exec"
)

// Command is exec.CommandContext for the leader of a group. The end of ctx kills the group.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	Lead(cmd)
	cmd.Cancel = func() error {
		Kill(cmd)
		return nil
	}
	return cmd
}
