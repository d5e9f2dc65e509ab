package memory

import (
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// reserve is the part of a limited address space, in bytes, that is left to Go itself. Go maps its
// heap in whole arenas of 64 MiB, some before they are needed, and ends the program where it
// cannot map one.
const reserve = 256 << 20

// addressSpace is the number of bytes that may still be allocated under the process's limits on
// its address space and on data (setrlimit): the limit less the mapped bytes and the reserve, and
// half of that, because Go keeps the addresses of freed memory, and a slice that grows leaves its
// earlier copies behind. by is the limit that leaves the least, empty where no limit is set.
func addressSpace() (left int64, by string) {
	left = math.MaxInt64
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, ""
	}
	fields := strings.Fields(string(text)) // in pages: all, resident, shared, code, 0, data
	for _, x := range []struct {
		resource, field int
		by              string
	}{{unix.RLIMIT_AS, 0, "`ulimit -v`"}, {unix.RLIMIT_DATA, 5, "`ulimit -d`"}} {
		var limit unix.Rlimit
		if unix.Getrlimit(x.resource, &limit) != nil || limit.Cur == unix.RLIM_INFINITY || limit.Cur > math.MaxInt64 || len(fields) <= x.field {
			continue
		}
		pages, err := strconv.ParseInt(fields[x.field], 10, 64)
		if err != nil {
			continue
		}
		room := int64(limit.Cur) - pages*int64(os.Getpagesize()) - reserve
		if room = max(1, room/2); room < left {
			left, by = room, x.by
		}
	}
	return left, by
}
