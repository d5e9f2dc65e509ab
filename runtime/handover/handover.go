// Package handover lets users type one name: the plain binary looks for a GPU,
// its driver and the CUDA binary beside itself and, where all are, runs that
// with the same arguments. It links nothing of CUDA, and looks at files and the
// environment only.
package handover

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Off is the environment variable that keeps the plain binary when it is set
// to anything but "" or "0". The CUDA binary is started with it set, so that
// no two binaries hand over to each other for ever.
const Off = "COALESCE_NO_HANDOVER"

// Env are the facts by which Run decides; SystemEnv reads them from the machine.
type Env struct {
	Executable string              // path of the running binary
	Suffix     string              // ".exe" on Windows
	Drivers    []string            // any of these existing means a driver
	Getenv     func(string) string //
	Exists     func(string) bool   // a file, device or folder is there
	Library    func() bool         // the loader will find the driver's library
	Visible    func() bool         // the driver has a GPU for this process
	Runnable   func(string) bool   // a regular file that may be executed
}

// wsl is the driver's library on Linux under Windows, where GPUs have no nodes in
// /dev; modprobe makes those when CUDA first asks for one.
const (
	wsl      = "/usr/lib/wsl/lib/libcuda.so.1"
	modprobe = "/usr/bin/nvidia-modprobe"
)

// SystemEnv describes this machine and process.
func SystemEnv() Env {
	e := Env{
		Drivers:  []string{"/dev/nvidiactl", "/proc/driver/nvidia/version", wsl},
		Getenv:   os.Getenv,
		Exists:   func(p string) bool { _, err := os.Stat(p); return err == nil },
		Library:  library,
		Visible:  gpuVisible,
		Runnable: runnable,
	}
	if runtime.GOOS == "windows" {
		e.Suffix = ".exe"
		e.Drivers = []string{filepath.Join(os.Getenv("SystemRoot"), "System32", "nvcuda.dll")}
	}
	if path, err := os.Executable(); err == nil {
		e.Executable = path
		if real, err := filepath.EvalSymlinks(path); err == nil {
			e.Executable = real
		}
	}
	return e
}

// library reports whether libcuda is where Linux's loader finds it. A container without access to
// the GPU shows the host's /proc/driver/nvidia but has no libcuda, without which the CUDA binary
// would not start.
func library() bool {
	const name = "libcuda.so.1"
	if runtime.GOOS != "linux" {
		return true
	}
	if cache, err := os.ReadFile("/etc/ld.so.cache"); err == nil && bytes.Contains(cache, []byte(name+"\x00")) {
		return true
	}
	dirs := append(filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")),
		"/lib64", "/usr/lib64", "/lib", "/usr/lib",
		"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu")
	for _, d := range dirs {
		if _, err := os.Stat(filepath.Join(d, name)); err == nil {
			return true
		}
	}
	return false
}

// gpuVisible looks for a GPU's device node and for the variable that hides GPUs.
// The driver's other files are there without a GPU too, in a container.
func gpuVisible() bool {
	if list, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set && hidesAllGPUs(list) {
		return false
	}
	if runtime.GOOS != "linux" {
		return true
	}
	for _, path := range []string{wsl, modprobe} {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	nodes, _ := filepath.Glob("/dev/nvidia[0-9]*")
	return len(nodes) > 0
}

// hidesAllGPUs reports whether CUDA_VISIBLE_DEVICES names no GPU. CUDA reads the list up to the first
// index of no GPU.
func hidesAllGPUs(list string) bool {
	first, _, _ := strings.Cut(list, ",")
	first = strings.TrimSpace(first)
	return first == "" || first == "-1"
}

func runnable(p string) bool {
	st, err := os.Stat(p)
	return err == nil && st.Mode().IsRegular() && (runtime.GOOS == "windows" || st.Mode()&0o111 != 0)
}

// TargetBinary returns the CUDA binary to hand over to, and otherwise "" and the
// reason in a few words.
func TargetBinary(e Env) (path, reason string) {
	if v := e.Getenv(Off); v != "" && v != "0" {
		return "", Off + " is set"
	}
	if e.Executable == "" {
		return "", "the path of this binary is not known"
	}
	driver := false
	for _, p := range e.Drivers {
		driver = driver || e.Exists(p)
	}
	if !driver {
		return "", "no NVIDIA driver on this machine"
	}
	if !e.Library() {
		return "", "the NVIDIA driver's libcuda.so.1 is not in the loader's path"
	}
	if !e.Visible() {
		return "", "the NVIDIA driver shows no GPU: no /dev/nvidia0, or CUDA_VISIBLE_DEVICES hides all"
	}
	path = filepath.Join(filepath.Dir(e.Executable), "coalesce-cuda"+e.Suffix)
	if path == e.Executable {
		return "", "this is the CUDA binary"
	}
	if !e.Runnable(path) {
		return "", e.missingBinary()
	}
	return path, ""
}

// missingBinary says that the CUDA binary is missing.
func (e Env) missingBinary() string {
	return "no coalesce-cuda" + e.Suffix + " beside " + filepath.Base(e.Executable)
}

// ErrAlone is wrapped by Run's error where a GPU is there, and no CUDA binary
// to hand over to.
var ErrAlone = errors.New("this binary uses no GPU")

// Run hands over when it can. Where the system can replace a process it does
// not return then; elsewhere it runs the CUDA binary as a child and returns
// its exit code with done = true. done = false means that the caller goes on:
// nothing to hand over to, or err says why it could not.
func Run(e Env, args []string) (code int, done bool, err error) {
	path, reason := TargetBinary(e)
	switch {
	case path == "" && reason == e.missingBinary():
		return 0, false, fmt.Errorf("%w: %s", ErrAlone, reason)
	case path == "":
		return 0, false, nil
	}
	argv := append([]string{path}, args...)
	return replaceProcess(path, argv, append(os.Environ(), Off+"=1"))
}

// ReplaceProcess has another binary do the command. Where the system can replace a process it
// returns with an error alone.
func ReplaceProcess(path string, args []string) error {
	_, _, err := replaceProcess(path, append([]string{path}, args...), append(os.Environ(), Off+"=1"))
	return err
}
