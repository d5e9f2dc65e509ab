//go:build !unix

package handover

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

func replaceProcess(path string, argv, env []string) (int, bool, error) {
	cmd := exec.Command(path, argv[1:]...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// An interrupt reaches the child too; the parent waits for its exit code.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, true, nil
	case errors.As(err, &exit):
		return exit.ExitCode(), true, nil
	}
	return 0, false, fmt.Errorf("hand over to %s: %w", path, err)
}
