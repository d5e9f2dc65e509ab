// Package memory computes how many bytes of memory this process may still take, and names the limit that binds.
package memory

import (
	"fmt"
	"math"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"coalesce/runtime/device"
)

// Free is the memory that this process may still take: the least of the machine's free memory, the allowance of the
// control groups and the rest of the process's own limits.
type Free struct {
	Bytes int64  // 0: not known; 1: none
	By    string // the limit that leaves the least, as a user knows the limit; empty: the machine has no more
}

// String says in a clause which limit leaves how much.
func (f Free) String() string { return f.leaves(device.Size(f.Bytes)) }

// leaves is String with the number of free bytes in words.
func (f Free) leaves(left string) string {
	switch {
	case f.Bytes <= 1 && f.By == "":
		return "this machine has no free memory"
	case f.Bytes <= 1:
		return f.By + " leaves none"
	case f.By == "":
		return "this machine has " + left + " of free memory"
	}
	return f.By + " leaves " + left
}

// CheckFits returns an error if what takes more than the free memory; the clause what ends with a plural, such as "9 agents".
func (f Free) CheckFits(what string, need float64) error {
	if f.Bytes > 0 && need > float64(f.Bytes) {
		takes, left := device.FormatByteSizes(need, f.Bytes)
		return fmt.Errorf("%s take %s, %s", what, takes, f.leaves(left))
	}
	return nil
}

// FreeNow is the free memory; the number of bytes is 0 where the system does not tell.
func FreeNow() Free {
	_, free := Read()
	return free
}

// Read reads the machine's memory in bytes and the free memory; both are 0 where the system does not tell.
func Read() (total int64, free Free) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, Free{}
	}
	groups, _ := os.ReadFile("/proc/self/cgroup")
	total, free = freeWithin(string(text), controlGroups(string(groups)))
	left, by := addressSpace()
	return total, free.atMost(left, by)
}

// freeWithin is the memory that the text of /proc/meminfo tells, and what is free of the memory within control groups.
func freeWithin(text string, groups []controlGroup) (total int64, free Free) {
	total, free.Bytes = parseMeminfo(text)
	for _, g := range groups {
		limit, ok := number(g.folder + "/" + g.limit)
		if !ok || limit <= 0 {
			continue
		}
		used, _ := number(g.folder + "/" + g.used)
		if stat, err := os.ReadFile(g.folder + "/memory.stat"); err == nil {
			used -= fileCacheBytes(string(stat))
		}
		total = min(total, limit)
		free = free.atMost(max(1, limit-used), "the control group's limit ("+g.folder+"/"+g.limit+")")
	}
	return total, free
}

// atMost is the smaller one of f and what another limit leaves; by is empty where there is no such limit.
func (f Free) atMost(left int64, by string) Free {
	if by != "" && left < f.Bytes {
		return Free{left, by}
	}
	return f
}

// CollectWithin has Go's collector keep garbage within the address space that the
// process's limits leave; without such a limit, or where GOMEMLIMIT is set, nothing
// changes. A program calls it once, when it starts.
func CollectWithin() {
	if left, by := addressSpace(); by != "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(left + left/2)
	}
}

// A controlGroup is a folder with the files of a group's memory limit and use.
type controlGroup struct{ folder, limit, used string }

// controlGroups are the groups that bound this process's memory: its own and
// those above it, of version 2 ("0::/a/b" in /proc/self/cgroup) or of version 1's
// memory controller ("5:memory:/a/b"). In a container the root of the mounted tree
// is the container's own group.
func controlGroups(text string) (list []controlGroup) {
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		root, limit, used := "/sys/fs/cgroup", "memory.max", "memory.current"
		if fields[0] != "0" || fields[1] != "" {
			if !slices.Contains(strings.Split(fields[1], ","), "memory") {
				continue
			}
			root, limit, used = "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
		}
		for at := path.Clean("/" + fields[2]); ; at = path.Dir(at) {
			list = append(list, controlGroup{path.Join(root, at), limit, used})
			if at == "/" {
				break
			}
		}
	}
	return list
}

// parseMeminfo reads MemTotal and MemAvailable, which the text gives in KiB.
func parseMeminfo(text string) (total, free int64) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		n, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/1024 {
			continue
		}
		switch fields[0] {
		case "MemTotal:":
			total = n * 1024
		case "MemAvailable:":
			free = n * 1024
		}
	}
	return total, free
}

// fileCacheBytes sums the entries of memory.stat that count file cache, in bytes: the kernel drops it when
// memory is short.
func fileCacheBytes(text string) (n int64) {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if key == "inactive_file" || key == "active_file" {
			if b, err := strconv.ParseInt(value, 10, 64); err == nil && b > 0 {
				n += b
			}
		}
	}
	return n
}

// number reads a file that holds one number; false for "max", and where the file cannot be read.
func number(path string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
