package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sharedHeader is what the body below includes.
const sharedHeader = `#pragma once
// Go: Sides
constexpr u32 SIDES = 2;
`

const sharedBody = `#include "cuda/variant.cuh"
#include "toy/sides.cuh"
namespace VARIANT {
// Go: Stage
enum Stage { START, DONE };
// Go: Control
struct Control {
    u32 stage;
    i64 least[SIDES];  // by turns
};
extern "C" __global__ void ENTRY(run)(param::value* f) {
}
}
`

// shared generates a family of two variants and returns its Go. The body is the one above with old
// replaced by new, in the header if it has old.
func shared(t *testing.T, old, new string) (layout, talk string, code int) {
	t.Helper()
	dir := root(t)
	text, header := strings.Replace(sharedBody, old, new, 1), strings.Replace(sharedHeader, old, new, 1)
	if old != "" && text == sharedBody && header == sharedHeader {
		t.Fatalf("the body has no %q", old)
	}
	manifest := filepath.Join(dir, "go.generate")
	before, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	write(t, manifest, string(before)+"space toy/shared (\n\tk 1 2\n\tvalue int32\n\tbody shared\n\tbody first \"k == 1\"\n\tbody second \"k == 2\"\n)\n")
	text, second, _ := strings.Cut(text, "SECOND\n")
	write(t, filepath.Join(dir, "templates/toy/shared/shared.cuh"), text)
	write(t, filepath.Join(dir, "templates/toy/shared/first.cuh"), strings.Replace(second, "MIDDLE, ", "", 1))
	write(t, filepath.Join(dir, "templates/toy/shared/second.cuh"), second)
	write(t, filepath.Join(dir, "templates/toy/sides.cuh"), header)
	code, _, talk = gen(t, dir, "--only", "toy/shared")
	found, err := os.ReadFile(filepath.Join(dir, "generated/toy/shared_layout.go"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(found), talk, code
}

// TestGoFollowsStructs: a struct of a body that changes, changes in Go.
func TestGoFollowsStructs(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		want           []string
	}{
		{"as it is", "", "", []string{"SharedStageDone  = 1", "SharedControlSize = 24", "_     [4]byte", "Least [2]int64 // by turns", "unsafe.Offsetof(SharedControl{}.Least)-8]"}},
		{"a field before", "u32 stage;", "u32 stage, turn;", []string{"SharedControlSize = 24", "Stage, Turn uint32", "unsafe.Offsetof(SharedControl{}.Turn)-4]"}},
		{"a longer array", "least[SIDES]", "least[SIDES + 1]", []string{"SharedControlSize = 32", "Least [3]int64"}},
		{"a smaller type", "i64 least", "u32 least", []string{"SharedControlSize = 12", "Least [2]uint32", "unsafe.Offsetof(SharedControl{}.Least)-4]"}},
		{"a constant of a header", "SIDES = 2", "SIDES = 4", []string{"const SharedSides = 4", "SharedControlSize = 40", "Least [4]int64"}},
		{"an enumerator between", "START, DONE", "START, GROW_ALONE, DONE", []string{"SharedStageGrowAlone = 1", "SharedStageDone      = 2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, talk, code := shared(t, c.old, c.new)
			if code != 0 {
				t.Fatal(talk)
			}
			for _, want := range c.want {
				if !strings.Contains(found, want) {
					t.Errorf("no %q in\n%s", want, found)
				}
			}
		})
	}
}

// TestLayoutsRefuse: what Go cannot follow is an error at the body's line.
func TestLayoutsRefuse(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"duplicate", "// Go: Control", "// Go: Stage", "templates/toy/shared/shared.cuh:6: mark Stage again, the first is at templates/toy/shared/shared.cuh:4"},
		{"duplicate in a header", "// Go: Stage", "// Go: Sides", "templates/toy/shared/shared.cuh:4: mark Sides again, the first is at templates/toy/sides.cuh:2"},
		{"unknown value of a header", "SIDES = 2", "SIDES = MANY", "templates/toy/sides.cuh:3: mark Sides: SIDES: value \"MANY\": MANY is unknown"},
		{"unknown type", "u32 stage;", "Place stage;", "templates/toy/shared/shared.cuh:8: mark Control: type Place of stage is unknown"},
		{"variants differ", "extern \"C\" __global__ void ENTRY(run)(param::value* f) {\n}\n}\n", "extern \"C\" __global__ void ENTRY(run)(param::value* f) {\n}\n}\nSECOND\n// Go: Late\nenum Late { EARLY, MIDDLE, LATE };\n", "LateLate is 2 by enum Late, expected 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, talk, code := shared(t, c.old, c.new)
			if code == 0 || found != "" || !strings.Contains(talk, c.want) {
				t.Errorf("exit code %d, wrote %q, said\n%s\nwant %s", code, found, talk, c.want)
			}
		})
	}
}
