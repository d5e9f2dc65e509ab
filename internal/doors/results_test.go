package main

import (
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coalesce/gen/declared"
)

// A struct that declares a member wrongly gets an error with the field's place; a right one becomes a member.
func TestMembers(t *testing.T) {
	for field, want := range map[string]string{
		"A int `json:\"a\"`":                                  "found no comment",
		"// text\n\tA int":                                    "found no name in JSON",
		"// text\n\tA *int `json:\"a\"`":                      "found no tag none",
		"// text\n\tA []int `json:\"a,omitempty\"`":           "found no tag none",
		"// text\n\tA chan int `json:\"a\"`":                  "found the type chan int",
		"// text\n\tA Secret `json:\"a\"`":                    "found a MarshalJSON of Secret",
		"// text\n\tA int `json:\"a,omitempty\" unit:\"s\"`":  "integer: text, in seconds; left out where it is 0",
		"// text\n\tA *int `json:\"a\" none:\"it rains\"`":    "integer: text; null where it rains",
		"// text\n\tA Colour `json:\"a\"`":                    "red, green: text",
		"// text\n\tA Lists `json:\"a\"`":                     "array: array: integer: text",
		"A int `json:\"-\"`\n\t// text\n\tB []T `json:\"a\"`": "array: object: text",
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"go.mod": "module coalesce\n\ngo 1.26\n",
			"solvers/s.go": "package solvers\n\ntype Result struct {\n\t" + field + "\n}\n\ntype T struct{}\n\ntype Colour string\n\nconst (\n\tRed Colour = \"red\"\n\tGreen Colour = \"green\"\n)\n\n" +
				"type Secret []int\n\nfunc (Secret) MarshalJSON() ([]byte, error) { return nil, nil }\n\n// Lists are lists.\n//\n// JSON: [][]int\ntype Lists []int\n",
		} {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		found, err := declared.Load(dir, nil, "./solvers")
		if err != nil {
			t.Fatal(err)
		}
		r := &resultReader{found, map[*types.TypeName]*object{}, map[string]*object{}}
		list, err := r.members(found.Packages[0].Types.Scope().Lookup("Result").Type().Underlying().(*types.Struct))
		got := ""
		if err == nil && len(list) == 1 {
			got = list[0].shape.describe() + ": " + list[0].sentence(list[0].nullForm())
		} else if err != nil && strings.Contains(err.Error(), "s.go:") {
			got = err.Error()
		}
		if !strings.Contains(got, want) || err == nil && got != want {
			t.Errorf("%s: found %q (%v), expected %q", field, got, err, want)
		}
	}
}

// A reason for a lack that no door has, and a lack without a reason, are errors.
func TestLacks(t *testing.T) {
	kept := lacks
	defer func() { lacks = kept }()
	lacks = append(slices.Clone(kept[1:]), lack{byCommand, "qubo", "colour", "", ""})
	_, err := lackTable()
	for _, want := range []string{"the command qubo ising: found no reason", "the command qubo colour: found a reason"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found the error %v, expected %q", err, want)
		}
	}
}
