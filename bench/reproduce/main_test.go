package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coalesce/bench/paper"
	"coalesce/runtime/emulated"
	"coalesce/runtime/emulated/emulatedtest"
)

func TestParse(t *testing.T) {
	for _, args := range [][]string{{"gpu-csg", "--device", "emulated:1", "--small"}, {"--device", "emulated:1", "--small", "gpu-csg"}} {
		s, err := parseArgs(args)
		if err != nil || s.paper.Name != "gpu-csg" || s.deviceKind() != "emulated" || !s.small || s.out != filepath.Join(".build", "reproduce", "gpu-csg") {
			t.Errorf("%v: %+v, %v", args, s, err)
		}
	}
	for _, args := range [][]string{nil, {"nothing"}, {"report", "more"}, {"report", "--device"}} {
		if s, err := parseArgs(args); err == nil {
			t.Errorf("%v: %+v", args, s)
		}
	}
}

// Every paper is repeated at small sizes on a host, and where tests go deep on the emulated device,
// by the programs that repeat it in full, and a second time nothing is measured again.
func TestSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: building the programs of bench takes long")
	}
	t.Chdir("../..")
	s := settings{programs: t.TempDir(), commit: "test", small: true, budget: 1 << 40, device: "host"}
	kinds := []string{"host", "emulated"}
	if !emulatedtest.Thorough() {
		kinds = kinds[:1]
	} else if d, err := emulated.Open(emulated.Options{}); errors.Is(err, emulated.ErrNoCompiler) {
		kinds = kinds[:1]
		t.Logf("on a host alone: %v", err)
	} else if err == nil {
		d.Close()
	}
	for _, p := range paper.All() {
		s.paper.Steps = append(s.paper.Steps, p.Steps...)
	}
	if err := s.buildPrograms(t.Context(), os.Stderr); err != nil {
		t.Fatal(err)
	}
	for _, s.device = range kinds {
		for _, s.paper = range paper.All() {
			t.Run(s.device+" "+s.paper.Name, func(t *testing.T) {
				s.out = t.TempDir()
				var said strings.Builder
				if err := s.runPaper(t.Context(), &said); err != nil {
					t.Fatalf("%v\n%s", err, said.String())
				}
				page, err := os.ReadFile(filepath.Join(s.out, s.paper.Name+".md"))
				if err != nil || !strings.Contains(string(page), s.paper.Title) {
					t.Errorf("page %.200s, %v", page, err)
				}
				first := measuredRows(t, s.out)
				said.Reset()
				if err := s.runPaper(t.Context(), &said); err != nil {
					t.Fatalf("again: %v\n%s", err, said.String())
				}
				for name, text := range measuredRows(t, s.out) {
					if text != first[name] {
						t.Errorf("%s was measured again:\n%s", name, said.String())
					}
				}
			})
		}
	}
}

// measuredRows are the results by file.
func measuredRows(t *testing.T, folder string) map[string]string {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of results, %v", len(files), err)
	}
	all := map[string]string{}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, rows, _ := strings.Cut(string(text), `"rows"`) // the command before them says the budget
		all[path] = rows
	}
	return all
}
