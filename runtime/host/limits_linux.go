package host

import (
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// reserve is what of a limited address space is left to Go itself, which maps heap in
// whole arenas of 64 MiB, some ahead of need, and ends the program where it cannot.
const reserve = 256 << 20

// addressSpace is how many bytes may still be asked of a limited address space: the
// process's limits on it and on data (setrlimit), less what is mapped, less the
// reserve and half of the rest: Go keeps the addresses of memory that was freed, and
// a slice that grows leaves its earlier ones behind. ok is false where there is no
// limit.
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
		room := int64(limit.Cur) - pages*int64(os.Getpagesize()) - reserve
		left, ok = min(left, max(1, room/2)), true
	}
	return left, ok
}
