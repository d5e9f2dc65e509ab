package host

import (
	"bufio"
	"math"
	"os"
	"runtime"
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

// memory returns total and available bytes, zeros where the system does not
// tell. A control group's limit (version 2, as containers have) counts.
func memory() (total, free int64) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, 0
	}
	total, free = meminfo(string(text))
	limit, ok := number("/sys/fs/cgroup/memory.max")
	if !ok || limit <= 0 {
		return total, free
	}
	used, _ := number("/sys/fs/cgroup/memory.current")
	if stat, err := os.ReadFile("/sys/fs/cgroup/memory.stat"); err == nil {
		used -= cached(string(stat))
	}
	total = min(total, limit)
	return total, max(1, min(free, limit-used))
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

// cached sums what memory.stat counts as file cache, in bytes: the kernel
// drops it when asked for memory.
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

// number reads a file that holds one number; "max" is none.
func number(path string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
