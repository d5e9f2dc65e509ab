//go:build !unix

package ranks

import (
	"os"
	"syscall"
)

// Signals end a command with what it has, as ctrl-C does.
var Signals = []os.Signal{os.Interrupt, syscall.SIGTERM}
