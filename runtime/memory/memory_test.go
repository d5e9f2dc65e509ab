package memory

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMeminfo(t *testing.T) {
	total, free := parseMeminfo("MemTotal:  10 kB\nMemFree: 1 kB\nMemAvailable: 7 kB\nHugePages_Total: 0\nbad\nMemTotal: x kB\n")
	if total != 10240 || free != 7168 {
		t.Errorf("meminfo: %d, %d", total, free)
	}
	if got := fileCacheBytes("anon 5\ninactive_file 7\nactive_file 8\nfile 100\n"); got != 15 {
		t.Errorf("cached: %d", got)
	}
}

// What a line says of the free memory names the limit that leaves the least: the machine, a control group, the process's own
// limit.
func TestLeast(t *testing.T) {
	const gib = 1 << 30
	group := func(name, limit, used string) controlGroup {
		g := controlGroup{t.TempDir(), name, "used"}
		for file, text := range map[string]string{g.limit: limit, g.used: used, "memory.stat": "inactive_file 1073741824\n"} {
			if err := os.WriteFile(filepath.Join(g.folder, file), []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return g
	}
	outer, inner, none := group("memory.max", "5368709120", "4294967296"), group("memory.max", "4294967296", "2147483648"), group("memory.max", "max", "1")
	full := group("memory.limit_in_bytes", "1073741824", "3221225472")
	const machine = "MemTotal: 8388608 kB\nMemAvailable: 6291456 kB\n" // 8 and 6 GiB
	for _, c := range []struct {
		groups []controlGroup
		left   int64 // of the address space
		by     string
		total  int64
		want   string
	}{
		{nil, 0, "", 8 * gib, "this machine has 6 GiB of free memory"},
		{[]controlGroup{none}, 7 * gib, "`ulimit -v`", 8 * gib, "this machine has 6 GiB of free memory"},
		{[]controlGroup{outer}, 7 * gib, "`ulimit -v`", 5 * gib, "the control group's limit (" + outer.folder + "/memory.max) leaves 2 GiB"},
		{[]controlGroup{outer, inner}, 4 * gib, "`ulimit -v`", 4 * gib, "the control group's limit (" + outer.folder + "/memory.max) leaves 2 GiB"},
		{[]controlGroup{outer, full}, 0, "", gib, "the control group's limit (" + full.folder + "/memory.limit_in_bytes) leaves none"},
		{[]controlGroup{outer, inner}, gib, "`ulimit -v`", 4 * gib, "`ulimit -v` leaves 1 GiB"},
		{nil, 1, "`ulimit -d`", 8 * gib, "`ulimit -d` leaves none"},
	} {
		total, free := freeWithin(machine, c.groups)
		if free = free.atMost(c.left, c.by); total != c.total || free.String() != c.want {
			t.Errorf("found %d and %q, expected %d and %q", total, free, c.total, c.want)
		}
		err := free.CheckFits("9 agents", 16*gib)
		if err == nil || err.Error() != "9 agents take 16 GiB, "+c.want {
			t.Errorf("Fits: %v, expected %q", err, c.want)
		}
		if free.Bytes > 1 && free.CheckFits("9 agents", gib) != nil {
			t.Errorf("Fits: refused 1 GiB, and %s", free)
		}
	}
	if err := (Free{}).CheckFits("9 agents", 1e30); err != nil {
		t.Errorf("Fits where the memory is not known: %v", err)
	}
}

// TestLimits reads the limits of child processes that a shell limits.
func TestLimits(t *testing.T) {
	if os.Getenv("MEMORY_TEST_CHILD") != "" {
		os.Stdout.WriteString(FreeNow().String() + "\n")
		os.Exit(0)
	}
	if left, by := addressSpace(); left == 0 && by == "" {
		t.Skip("limits are not known on this system")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"-v", "-d"} {
		child := exec.Command("sh", "-c", "ulimit "+flag+" 3000000 && exec \"$0\" -test.run=TestLimits", self)
		child.Env = append(os.Environ(), "MEMORY_TEST_CHILD=1")
		said, err := child.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		if want := "`ulimit " + flag + "` leaves "; !strings.HasPrefix(string(said), want) {
			t.Errorf("ulimit %s: found %q, expected %q", flag, said, want)
		}
	}
}

func TestControlGroups(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                 nil,
		"0::/\n":                           {"/sys/fs/cgroup"},
		"0::/job/step\n":                   {"/sys/fs/cgroup/job/step", "/sys/fs/cgroup/job", "/sys/fs/cgroup"},
		"4:cpu,memory:/job\n3:pids:/job\n": {"/sys/fs/cgroup/memory/job", "/sys/fs/cgroup/memory"},
	} {
		var found []string
		for _, g := range controlGroups(text) {
			found = append(found, g.folder)
		}
		if !slices.Equal(found, want) {
			t.Errorf("%q: found %q, expected %q", text, found, want)
		}
	}
}
