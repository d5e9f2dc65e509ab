package emulatedtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated"
	"coalesce/runtime/emulated/emulatedtest"
)

// child, in the environment, says that a test is run by another one, which looks at its end.
const child = "COALESCE_TEST_CHILD"

// run runs one test of this binary in a process of its own.
func run(t *testing.T, test string, environment, arguments []string) (string, error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, append(arguments, "-test.run=^"+test+"$")...)
	cmd.Env = append(append(os.Environ(), child+"=1"), environment...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestDepth is run by TestVariablesAreSeen.
func TestDepth(t *testing.T) {
	if os.Getenv(child) == "" {
		t.Skip("it is for TestVariablesAreSeen to run")
	}
	if emulatedtest.EveryVariant() && !emulatedtest.Thorough() {
		t.Error("every variant is not thorough")
	}
	f := device.Family{Params: []string{"a", "b"}}
	for _, value := range []string{"1", "1", "2"} {
		f.Variants = append(f.Variants, device.Variant{Values: []string{value, "0"}})
	}
	want := 2
	if emulatedtest.EveryVariant() {
		want = 3
	}
	if n := len(emulatedtest.Variants(&f)); n != want {
		t.Errorf("%d variants, want %d", n, want)
	}
}

// TestVariablesAreSeen looks at the log by which go test decides whether a result in its cache is of the same
// environment, and at values that there are not.
func TestVariablesAreSeen(t *testing.T) {
	for _, value := range []string{"", "pairs", "every"} {
		log := filepath.Join(t.TempDir(), "log")
		if out, err := run(t, "TestDepth", []string{"COALESCE_VARIANTS=" + value}, []string{"-test.testlogfile=" + log}); err != nil {
			t.Errorf("%q: %v\n%s", value, err, out)
		}
		if text, err := os.ReadFile(log); err != nil || !strings.Contains(string(text), "getenv COALESCE_VARIANTS\n") {
			t.Errorf("%q: the log of the environment is %q, %v", value, text, err)
		}
	}
	for _, test := range []string{"TestDepth", "TestPastTheEnd"} {
		out, err := run(t, test, []string{"COALESCE_VARIANTS=nonsense"}, nil)
		if err == nil || !strings.Contains(out, `COALESCE_VARIANTS is "nonsense", expected pairs, every or nothing`) {
			t.Errorf("%s with an unknown value: %v\n%s", test, err, out)
		}
	}
}

// past is a kernel of which each thread writes one element, the last one past the end of y.
const past = `#include "cuda/prelude.cuh"
extern "C" __global__ void __launch_bounds__(64) k_fill(int* y, int* x, unsigned long long n) {
    if (threadIdx.x <= n) y[threadIdx.x] = 7;
}
extern "C" __device__ unsigned long long k_hash = 0x12ull;
`

// TestPastTheEnd is run by TestOverrunFailsATest. Its kernel is wrong; it does not look at what the kernel wrote.
func TestPastTheEnd(t *testing.T) {
	if os.Getenv(child) == "" {
		t.Skip("it is for TestOverrunFailsATest to run")
	}
	f := device.Family{
		Name: "toy/fill", Target: device.CUDA,
		Entries:  []device.Entry{{Name: "fill", Params: []device.Param{{Name: "y", Type: "buffer"}, {Name: "x", Type: "buffer"}, {Name: "n", Type: "uint64"}}}},
		Variants: []device.Variant{{Label: "k", Symbol: "k", Hash: 0x12}},
		Source:   fstest.MapFS{"k/pack_000.cu": {Data: []byte("#include \"k.cu\"\n")}, "k/k.cu": {Data: []byte(past)}},
		Packs:    []device.Pack{{File: "k/pack_000.cu"}},
	}
	d := emulatedtest.OpenWith(t, emulated.Options{Files: fstest.MapFS{"cuda/prelude.cuh": {Data: []byte("#pragma once\n")}}})
	defer d.Close()
	m, err := d.Load(&f, &f.Variants[0])
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("fill")
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	x, err := d.Alloc(40)
	if err != nil {
		t.Fatal(err)
	}
	y, err := d.Alloc(40)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Launch(k, device.Grid{Blocks: 1, Threads: 64}, device.Ptr(y), device.Ptr(x), device.U64(10)); err != nil {
		t.Fatal(err)
	}
	if os.Getenv(child) == "free" {
		if err := y.Free(); err != nil {
			t.Fatal(err)
		}
	}
}

// A kernel that writes one element past the end of its buffer fails the test that ran it, though no one looked at the buffer: when
// the buffer is freed, and where it is not.
func TestOverrunFailsATest(t *testing.T) {
	d := emulatedtest.Open(t) // or there is no compiler
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"free", "leave"} {
		out, err := run(t, "TestPastTheEnd", []string{"COALESCE_VARIANTS=", child + "=" + how}, nil)
		if want := "a kernel wrote past an end of a buffer: found bytes changed from 0 to 4 behind y of fill in toy/fill, a buffer of 40 bytes, expected none"; err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v, want %q\n%s", how, err, want, out)
		}
	}
}
