package formats

import (
	"reflect"
	"strings"
	"testing"

	"coalesce/solvers/csg/problem"
)

// Lines, lists and results say the same blocks; wrong ones name the file and the line.
func TestParseBlocks(t *testing.T) {
	want := problem.Blocks{{3, 1}, {2}, {4}}
	for _, text := range []string{
		"3 1\n2\n4\n", "3,1\n\n2\n4", "{3, 1}\n{2}\n{4}\n", "cy ann\nbob\n4\n",
		"[[3, 1], [2], [4]]", `{"problem": "csg", "solution": [[3, 1], [2], [4]]}`, "{\n \"value\": 1,\n \"solution\": [[3,1],[2],[4]]}\n",
	} {
		if got, err := ParseBlocks([]byte(text), "f", 4, []string{"ann", "bob", "cy", "dee"}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: found %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"1 2\n3\n":                         "f:2: found agent 4 in no block, expected each of 1 to 4 once",
		"1 2\n3 4\n2\n":                    `f:3: found agent "2" again, after line 1`,
		"1 2\n3 x\n":                       `f:2: found agent "x", expected a number from 1 to 4`,
		"1 2 3 5\n":                        `f:1: found agent "5"`,
		"0 1 2 3 4\n":                      `f:1: found agent "0"`,
		"":                                 "f: found agent 1 in no block",
		"[[1, 2],\n [3 4]]":                "f:2: ",
		"[[1, 2], [3, 3]]":                 "f: found agent 3 in block 2",
		"[[1, 2, 3, 4], []]":               "f: found an empty block",
		`{"solution": null}`:               "f: found agent 1 in no block",
		"{\"solution\":\n [[1], [\"2\"]]}": "f:2: ",
	} {
		if got, err := ParseBlocks([]byte(text), "f", 4, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: found %v, %v, expected %s", text, got, err, want)
		}
	}
	if got, err := ParseBlocks(nil, "f", 0, nil); err != nil || len(got) != 0 {
		t.Errorf("no agents: %v, %v", got, err)
	}
	if s := want.Structure(); !reflect.DeepEqual(s, problem.Structure{5, 2, 8}) {
		t.Errorf("found the structure %v", s)
	}
}

// Any text is blocks of all agents, or an error of the file.
func FuzzParseBlocks(f *testing.F) {
	for _, text := range []string{"3 1\n2\n4\n", "{ann, bob}\ncy\n4", "[[3, 1], [2], [4]]", `{"solution": [[1, 2, 3, 4]]}`, "[[1,", "1 1\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		blocks, err := ParseBlocks(text, "f", 4, []string{"ann", "bob", "cy", "dee"})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("the error %q does not begin with the file", err)
			}
			return
		}
		if _, err := blocks.Labels(4); err != nil {
			t.Errorf("found %v: %v", blocks, err)
		}
	})
}
