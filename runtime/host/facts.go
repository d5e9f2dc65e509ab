package host

import (
	"bufio"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// processor is the processor's name as /proc/cpuinfo gives it, else the
// architecture Go was built for.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		if name := cpuName(string(text)); name != "" {
			return name
		}
	}
	return runtime.GOARCH + " processor"
}

// cpuName finds the model in the text of /proc/cpuinfo; arm64 kernels write
// none.
func cpuName(text string) string {
	s := bufio.NewScanner(strings.NewReader(text))
	for s.Scan() {
		key, value, ok := strings.Cut(s.Text(), ":")
		if !ok {
			continue
		}
		switch strings.TrimSpace(key) {
		case "model name", "Model", "cpu model":
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}

// memory returns the total and the available bytes, zeros where the system does not tell: the
// least of what the machine has, of what this process's control groups allow, and of its own
// limits.
func memory() (total, free int64) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, 0
	}
	total, free = meminfo(string(text))
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for _, g := range controlGroups(string(groups)) {
		limit, ok := number(g.folder + "/" + g.limit)
		if !ok || limit <= 0 {
			continue
		}
		used, _ := number(g.folder + "/" + g.used)
		if stat, err := os.ReadFile(g.folder + "/memory.stat"); err == nil {
			used -= cached(string(stat))
		}
		total = min(total, limit)
		free = min(free, max(1, limit-used))
	}
	if left, ok := addressSpace(); ok {
		free = min(free, left)
	}
	return total, free
}

// CollectWithin has Go's collector keep garbage within the address space that the
// process's limits leave; without such a limit, or where GOMEMLIMIT is set, nothing
// changes. A program calls it once, when it starts.
func CollectWithin() {
	if left, ok := addressSpace(); ok && os.Getenv("GOMEMLIMIT") == "" {
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

// meminfo reads MemTotal and MemAvailable, which the text gives in KiB.
func meminfo(text string) (total, free int64) {
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

// cached sums the entries of memory.stat that count file cache, in bytes: the kernel drops it when
// memory is short.
func cached(text string) (n int64) {
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
