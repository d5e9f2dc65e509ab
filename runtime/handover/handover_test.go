package handover

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestTarget(t *testing.T) {
	dir := filepath.FromSlash("/opt/bin")
	base := Env{
		Executable: filepath.Join(dir, "coalesce"),
		Drivers:    []string{"/a", "/b"},
		Getenv:     func(string) string { return "" },
		Exists:     func(p string) bool { return p == "/b" },
		Library:    func() bool { return true },
		Visible:    func() bool { return true },
		Runnable:   func(p string) bool { return p == filepath.Join(dir, "coalesce-cuda") },
	}
	tests := []struct {
		name   string
		change func(*Env)
		want   string
		reason string
	}{
		{"both there", func(e *Env) {}, filepath.Join(dir, "coalesce-cuda"), ""},
		{"off is 0", func(e *Env) { e.Getenv = func(string) string { return "0" } }, filepath.Join(dir, "coalesce-cuda"), ""},
		{"off", func(e *Env) { e.Getenv = func(string) string { return "1" } }, "", Off},
		{"no driver", func(e *Env) { e.Exists = func(string) bool { return false } }, "", "driver"},
		{"no library", func(e *Env) { e.Library = func() bool { return false } }, "", "libcuda"},
		{"no GPU", func(e *Env) { e.Visible = func() bool { return false } }, "", "shows no GPU"},
		{"no binary", func(e *Env) { e.Runnable = func(string) bool { return false } }, "", "beside coalesce"},
		{"itself", func(e *Env) { e.Executable = filepath.Join(dir, "coalesce-cuda") }, "", "CUDA binary"},
		{"unknown path", func(e *Env) { e.Executable = "" }, "", "not known"},
		{"windows name", func(e *Env) {
			e.Suffix = ".exe"
			e.Runnable = func(p string) bool { return strings.HasSuffix(p, ".exe") }
		},
			filepath.Join(dir, "coalesce-cuda.exe"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := base
			tt.change(&e)
			got, reason := TargetBinary(e)
			if got != tt.want || !strings.Contains(reason, tt.reason) || (got == "") == (reason == "") {
				t.Errorf("Target = %q, %q; want %q and a reason with %q", got, reason, tt.want, tt.reason)
			}
		})
	}
}

// TestAlone: a GPU without the CUDA binary is said, no GPU is not.
func TestAlone(t *testing.T) {
	e := Env{
		Executable: filepath.FromSlash("/opt/bin/coalesce"),
		Drivers:    []string{"/a"},
		Getenv:     func(string) string { return "" },
		Exists:     func(string) bool { return true },
		Library:    func() bool { return true },
		Visible:    func() bool { return true },
		Runnable:   func(string) bool { return false },
	}
	_, done, err := Run(e, nil)
	if done || !errors.Is(err, ErrAlone) || !strings.Contains(err.Error(), "no coalesce-cuda beside coalesce") {
		t.Errorf("with a GPU: %v, %v", done, err)
	}
	e.Visible = func() bool { return false }
	if _, done, err := Run(e, nil); done || err != nil {
		t.Errorf("without a GPU: %v, %v", done, err)
	}
}

func TestHidden(t *testing.T) {
	for list, want := range map[string]bool{"": true, "-1": true, "-1,0": true, " ": true, "0": false, "1,0": false, "GPU-8932f937": false} {
		if got := hidesAllGPUs(list); got != want {
			t.Errorf("CUDA_VISIBLE_DEVICES=%q hides all: %v, want %v", list, got, want)
		}
	}
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	if gpuVisible() {
		t.Error("a GPU is visible where the environment hides all")
	}
}

// TestRun starts this test binary again, which hands over to a script: its
// arguments, its exit code and the variable that stops a loop must arrive.
func TestRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the other binary is a shell script here, which Windows cannot run")
	}
	if dir := os.Getenv("HANDOVER_TEST_DIR"); dir != "" {
		e := SystemEnv()
		e.Executable = filepath.Join(dir, "coalesce")
		e.Drivers = []string{dir}
		e.Library = func() bool { return true }
		e.Visible = func() bool { return true }
		_, done, err := Run(e, []string{"solve", "a b"})
		t.Fatalf("Run came back: %v, %v", done, err)
	}
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$#|$1|$2|$" + Off + "\"\nexit 3\n"
	if err := os.WriteFile(filepath.Join(dir, "coalesce-cuda"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestRun$")
	cmd.Env = append(os.Environ(), "HANDOVER_TEST_DIR="+dir, Off+"=")
	out, _ := cmd.CombinedOutput()
	if got, want := strings.TrimSpace(string(out)), "2|solve|a b|1"; got != want || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("handed over: %q, exit %d; want %q, exit 3", got, cmd.ProcessState.ExitCode(), want)
	}
}
