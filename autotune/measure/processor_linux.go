package measure

import (
	"time"

	"golang.org/x/sys/unix"
)

// ProcessorTime is the time that this process has computed, on all its threads; 0 where the system does not tell.
func ProcessorTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
