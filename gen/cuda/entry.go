package cuda

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An Entry is the signature of an entry point. Types are those of
// device.Param: "buffer", "uint64", "int64" or "float64".
type Entry struct {
	Name   string
	Params []Param
}

// A Param is one argument of an entry point.
type Param struct{ Name, Type string }

var (
	comment = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	entry   = regexp.MustCompile(`extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?([A-Za-z_]\w*)\s*\(([^)]*)\)\s*\{`)
	global  = regexp.MustCompile(`\b__global__\b`)
	param   = regexp.MustCompile(`^(.*[^\w])(\w+)$`)
	exports = regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`)
	pointer = regexp.MustCompile(`^(?:const )?[\w ]+\*(?: ?const)?(?: ?__restrict__)?$`)
)

// forbidden in a variant's text: what holds a word and is matched by an expression, with the reason.
var forbidden = []struct {
	word string
	text *regexp.Regexp
	why  string
}{
	{"__shared__", regexp.MustCompile(`\bextern\s+__shared__|\b__shared__[^;]*\[\s*\]`), "a shared array without a size, expected static ones only"},
	{"asm", regexp.MustCompile(`\b(asm|__asm__)\b`), "inline assembly, expected it behind a function of templates/cuda/*.cuh"},
}

// entries reads the entry points out of a variant's text, and checks the rules that hold for every
// text.
func entries(text, symbol string) ([]Entry, error) {
	// Comments become blanks on the same lines, so that errors name the right positions.
	code := comment.ReplaceAllStringFunc(text, func(c string) string {
		return strings.Repeat("\n", strings.Count(c, "\n"))
	})
	line := func(at int) int { return 1 + strings.Count(code[:at], "\n") }
	for _, f := range forbidden {
		if !strings.Contains(code, f.word) {
			continue
		}
		if at := f.text.FindStringIndex(code); at != nil {
			return nil, fmt.Errorf("line %d: %s", line(at[0]), f.why)
		}
	}
	if !strings.Contains(code, `#include "cuda/prelude.cuh"`) {
		return nil, fmt.Errorf("no #include \"cuda/prelude.cuh\", expected it first")
	}
	var out []Entry
	found := entry.FindAllStringSubmatchIndex(code, -1)
	if n := len(global.FindAllString(code, -1)); n != len(found) {
		return nil, fmt.Errorf("%d __global__ functions of which %d read as: extern \"C\" __global__ void __launch_bounds__(N) %s_name(…) {", n, len(found), symbol)
	}
	for _, m := range found {
		name, at := code[m[2]:m[3]], line(m[0])
		short, ok := strings.CutPrefix(name, symbol+"_")
		if !ok || !exports.MatchString(short) || short == "hash" || short == "close" || short == "has" || short == "resources" {
			return nil, fmt.Errorf("line %d: entry %s, expected %s_ and a lower-case name that is not hash, close, has or resources", at, name, symbol)
		}
		if slices.ContainsFunc(out, func(e Entry) bool { return e.Name == short }) {
			return nil, fmt.Errorf("line %d: entry %s again, expected each once", at, name)
		}
		e := Entry{Name: short}
		if list := strings.TrimSpace(code[m[4]:m[5]]); list != "" {
			for arg := range strings.SplitSeq(list, ",") {
				p, err := readParam(arg)
				if err != nil {
					return nil, fmt.Errorf("line %d: entry %s: %w", at, name, err)
				}
				e.Params = append(e.Params, p)
			}
		}
		out = append(out, e)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no entry point, expected extern \"C\" __global__ void %s_name(…)", symbol)
	}
	return out, nil
}

// readParam reads "unsigned long long c0": a type of 8 bytes and a name.
func readParam(text string) (Param, error) {
	words := strings.Join(strings.Fields(text), " ")
	m := param.FindStringSubmatch(words)
	if m == nil {
		return Param{}, fmt.Errorf("argument %q, expected a type and a name", words)
	}
	kind := strings.TrimSpace(strings.ReplaceAll(m[1], " *", "*"))
	p := Param{Name: m[2]}
	switch {
	case pointer.MatchString(kind):
		p.Type = "buffer"
	case kind == "unsigned long long":
		p.Type = "uint64"
	case kind == "long long":
		p.Type = "int64"
	case kind == "double":
		p.Type = "float64"
	default:
		return Param{}, fmt.Errorf("argument %s of type %s, expected a pointer, unsigned long long, long long or double (8 bytes each)", p.Name, kind)
	}
	return p, nil
}

// merge adds a variant's entries to the family's. An entry has one signature
// in all variants.
func merge(all, some []Entry) ([]Entry, error) {
	for _, e := range some {
		i := slices.IndexFunc(all, func(a Entry) bool { return a.Name == e.Name })
		if i < 0 {
			all = append(all, e)
			continue
		}
		if !slices.Equal(all[i].Params, e.Params) {
			return nil, fmt.Errorf("entry %s has the arguments %v, expected those of the variants before it, %v", e.Name, e.Params, all[i].Params)
		}
	}
	return all, nil
}
