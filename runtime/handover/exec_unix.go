//go:build unix

package handover

import (
	"fmt"
	"syscall"
)

func replaceProcess(path string, argv, env []string) (int, bool, error) {
	return 0, false, fmt.Errorf("hand over to %s: %w", path, syscall.Exec(path, argv, env))
}
