package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// A schema is the part of JSON Schema that the schemas in docs use.
type schema struct {
	Type       any               `json:"type"` // a name or a list of names
	Required   []string          `json:"required"`
	Properties map[string]schema `json:"properties"`
	Values     *schema           `json:"additionalProperties"`
	Items      *schema           `json:"items"`
	MinItems   int               `json:"minItems"`
	MaxItems   int               `json:"maxItems"`
	Enum       []any             `json:"enum"`
	Ref        string            `json:"$ref"`
	AnyOf      []schema          `json:"anyOf"`
	Defs       map[string]schema `json:"$defs"`

	strict bool // a member that an object with properties does not list is wrong
}

// check says where a value is not what the schema says.
func (s schema) check(at string, value any) []string { return s.checkIn(&s, at, value) }

// checkIn is check for a part of a root.
func (s *schema) checkIn(root *schema, at string, value any) (wrong []string) {
	if s.Ref != "" {
		def, ok := root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
		if !ok {
			return []string{fmt.Sprintf("%s: the schema has no %s", at, s.Ref)}
		}
		return def.checkIn(root, at, value)
	}
	for k := range s.AnyOf {
		found := s.AnyOf[k].checkIn(root, at, value)
		if len(found) == 0 {
			return nil
		}
		if wrong == nil || len(found) < len(wrong) { // those of the nearest
			wrong = found
		}
	}
	kinds := []any{s.Type}
	if list, ok := s.Type.([]any); ok {
		kinds = list
	}
	kind := map[bool]string{true: "null"}[value == nil]
	switch value := value.(type) {
	case string:
		kind = "string"
	case float64:
		kind = "number"
		if slices.Contains(kinds, any("integer")) && value == math.Trunc(value) {
			kind = "integer"
		}
	case bool:
		kind = "boolean"
	case []any:
		kind = "array"
	case map[string]any:
		kind = "object"
	}
	if s.Type != nil && !slices.Contains(kinds, any(kind)) {
		wrong = append(wrong, fmt.Sprintf("%s is a %s, expected %v", at, kind, s.Type))
	}
	if s.Enum != nil && !slices.Contains(s.Enum, value) {
		wrong = append(wrong, fmt.Sprintf("%s is %v, expected one of %v", at, value, s.Enum))
	}
	if object, ok := value.(map[string]any); ok {
		for _, name := range s.Required {
			if _, ok := object[name]; !ok {
				wrong = append(wrong, fmt.Sprintf("%s lacks %s", at, name))
			}
		}
		for name, v := range object {
			p, listed := s.Properties[name]
			switch {
			case listed:
				wrong = append(wrong, p.checkIn(root, at+"."+name, v)...)
			case s.Values != nil:
				wrong = append(wrong, s.Values.checkIn(root, at+"."+name, v)...)
			case root.strict && s.Properties != nil:
				wrong = append(wrong, fmt.Sprintf("%s has %s, which the schema does not list", at, name))
			}
		}
	}
	if list, ok := value.([]any); ok && s.Items != nil {
		if len(list) < s.MinItems || s.MaxItems > 0 && len(list) > s.MaxItems {
			wrong = append(wrong, fmt.Sprintf("%s has %d items, expected %d to %d", at, len(list), s.MinItems, s.MaxItems))
		}
		for k, v := range list {
			wrong = append(wrong, s.Items.checkIn(root, fmt.Sprintf("%s[%d]", at, k), v)...)
		}
	}
	return wrong
}

// readSchema reads a schema of docs.
func readSchema(name string) (s schema, err error) {
	text, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, &s)
}

// What solve prints with --json is what docs/result.schema.json says, for every problem,
// answers without a solution included.
func TestResultsFollowTheSchema(t *testing.T) {
	s, err := readSchema("result.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	s.strict = true
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("COALESCE_NO_HANDOVER", "1")
	dir := t.TempDir()
	file := func(name, text string) string {
		path := dir + "/" + name
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		command string
		code    int
	}{
		{"csg ../../examples/couriers.csv", 0},
		{"csg --distribution uniform --agents 5", 0},
		{"csg " + file("forbidden.csv", "1,-inf\n2,3\n1 2,-inf\n"), 1},
		{"csg " + file("graph.rud", "3 3\n1 2 5\n1 3 -2\n2 3 1\n"), 0},
		{"csg " + file("graph.coo", "0 1 0.5\n1 2 -2\n0 2 1\n") + " --algorithm anytime --time-limit 20ms", 0},
		{"csg " + file("two.csv", "1,0.1\n2,0.2\n1 2,0.3\n") + " --minimize --blocks 1-2 --together=1,2", 0},
		{"csg " + file("none.csv", "1,1\n2,2\n1 2,3\n") + " --blocks 3", 1},
		{"auction ../../examples/auction.txt", 0},
		{"auction ../../solvers/auction/testdata/unsold.json", 1},
		{"auction ../../examples/auction.txt --payments vcg", 0},
		{"auction ../../examples/auction.txt --payments core --proof", 0},
		{"assignment ../../examples/tasks.csv", 0},
		{"assignment --kind geom --rows 8 --cols 11 --type float32", 0},
		{"assignment ../../examples/tasks.csv --k-best 3 --duals", 0},
		{"assignment ../../examples/tasks.csv --bottleneck", 0},
		{"assignment --kind machol --rows 1500 --time-limit 30ms", 0},
		{"assignment " + file("hall.csv", "1,inf\n2,inf\n"), 1},
		{"assignment " + file("hall.csv", "1,inf\n2,inf\n") + " --bottleneck", 1},
		{"qubo " + file("two.txt", "1\n2 2\n1 1 3\n1 2 -5\n"), 0},
		{"qubo " + file("searched.txt", "1\n2 1\n1 2 -5\n") + " --time-limit 50ms --no-preprocessing", 0},
	} {
		var out, talk bytes.Buffer
		args := append([]string{"solve"}, append(strings.Fields(c.command), "--device", "host", "--json")...)
		if code := Main(args, nil, &out, &talk); code != c.code {
			t.Errorf("%s: exit code %d, expected %d: %s", c.command, code, c.code, talk.String())
			continue
		}
		var value any
		if err := json.Unmarshal(out.Bytes(), &value); err != nil {
			t.Errorf("%s: %v in %s", c.command, err, out.String())
			continue
		}
		for _, w := range s.check("the object", value) {
			t.Errorf("%s: %s", c.command, w)
		}
	}
	if wrong := s.check("x", map[string]any{"problem": "tsp", "value": true}); len(wrong) < 3 {
		t.Errorf("a wrong object passes: %v", wrong)
	}
	if wrong := s.check("x", map[string]any{"problem": "csg", "colour": 1}); !slices.Contains(wrong, "x has colour, which the schema does not list") {
		t.Errorf("an object with a member that the schema does not list passes: %v", wrong)
	}
}

// scriptSchema is "schema COMMAND": what the command before printed is JSON that
// docs/commands.schema.json describes, and every key of an object is listed there.
func scriptSchema(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: schema COMMAND")
	}
	s, err := readSchema("commands.schema.json")
	ts.Check(err)
	of, ok := s.Properties[args[0]]
	if !ok {
		ts.Fatalf("the schema has no command %s", args[0])
	}
	d := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	for count := 0; ; count++ {
		var value any
		if err := d.Decode(&value); errors.Is(err, io.EOF) && count > 0 {
			return
		} else {
			ts.Check(err)
		}
		wrong := of.check("the object", value)
		if object, ok := value.(map[string]any); ok {
			for key := range object {
				if _, listed := of.Properties[key]; !listed {
					wrong = append(wrong, "the schema lacks "+key)
				}
			}
		}
		if len(wrong) > 0 {
			ts.Fatalf("%s", strings.Join(wrong, "\n"))
		}
	}
}
