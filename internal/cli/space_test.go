package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coalesce/autotune"
	"coalesce/autotune/trial"
	"coalesce/runtime/emulated/emulatedtest"
)

// tune --space tries variants that are not in the binary: their texts come from the kernel
// compiler, and workers compile them.
func TestTuneSpace(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles kernels")
	}
	emulatedtest.Open(t) // skips without a compiler
	folder := t.TempDir()
	gen := exec.Command("go", "run", "./gen", "--only", "assignment/check", "--space", "full", "--where", `value == "int64" && block == 256 && rows == 16`, "points", filepath.Join(folder, "points"))
	gen.Dir = filepath.Join("..", "..")
	if said, err := gen.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	// A worker is this binary again, under the command's name.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := filepath.Join(folder, "coalesce")
	text, err := os.ReadFile(self)
	if err := errors.Join(err, os.WriteFile(command, text, 0o755)); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(folder, "own.json")
	tuneWith := func(args ...string) (autotune.Summary, string) {
		t.Helper()
		cmd := exec.Command(command, append([]string{"tune", "assignment", "--family", "check", "--values", "int64", "--sizes", "4", "--device", "emulated", "--output", own, "--json"}, args...)...)
		var out, talk bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &talk
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, talk.String())
		}
		var sum autotune.Summary
		if err := json.Unmarshal(out.Bytes(), &sum); err != nil {
			t.Fatal(err)
		}
		return sum, talk.String()
	}
	sum, talk := tuneWith("--space", filepath.Join(folder, "points"))
	if !strings.Contains(talk, "beside the binary's") || sum.Failures != nil {
		t.Errorf("%s: failures %v", talk, sum.Failures)
	}
	measured := map[string]bool{}
	found, err := trial.Load(strings.TrimSuffix(own, ".json") + ".trials.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range found.Trials {
		if r.Action == trial.ActionMeasure && r.Status == trial.OK {
			measured[r.Variant] = true
		}
	}
	const more = "block=256,rows=16,flight=8,value=int64"
	if !measured[more] {
		t.Errorf("%s was not measured: %v", more, measured)
	}
	plain, _ := tuneWith("--budget", "500ms")
	if plain.Points >= sum.Points {
		t.Errorf("%d variants with the points, %d without", sum.Points, plain.Points)
	}
}
