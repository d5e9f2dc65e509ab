package host

import (
	"bufio"
	"os"
	"runtime"
	"strings"
)

// processorName is the processor's name as /proc/cpuinfo gives it, else the
// architecture Go was built for.
func processorName() string {
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
