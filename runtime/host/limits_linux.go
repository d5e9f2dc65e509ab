package host

import (
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// addressSpace is how many bytes this process may still map: the limits of its
// address space and data (setrlimit), less what it has mapped. ok is false where
// there is no limit.
func addressSpace() (left int64, ok bool) {
	left = math.MaxInt64
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text)) // in pages: all, resident, shared, code, 0, data
	for _, x := range []struct{ resource, field int }{{unix.RLIMIT_AS, 0}, {unix.RLIMIT_DATA, 5}} {
		var limit unix.Rlimit
		if unix.Getrlimit(x.resource, &limit) != nil || limit.Cur == unix.RLIM_INFINITY || limit.Cur > math.MaxInt64 || len(fields) <= x.field {
			continue
		}
		pages, err := strconv.ParseInt(fields[x.field], 10, 64)
		if err != nil {
			continue
		}
		// Go maps ahead of what it uses, which the data segment's count holds too.
		left, ok = min(left, max(1, int64(limit.Cur)-pages*int64(os.Getpagesize()))), true
	}
	return left, ok
}
