package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"coalesce/internal/cli/run"
	"coalesce/runtime/memory"
)

// An answered instance is what solve printed of a file.
type answered struct {
	flags  []string
	path   string
	result map[string]any // numbers as json.Number
}

// answerOf solves a text with `solve PROBLEM FILE --json` and flags; read are those
// flags that `verify` takes too.
func answerOf(t *testing.T, command, name, text string, code int, read ...string) answered {
	t.Helper()
	x := answered{flags: read, path: filepath.Join(t.TempDir(), name)}
	if err := os.WriteFile(x.path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(command)
	args := slices.Concat([]string{"solve", words[0], x.path, "--device", "host", "--json"}, words[1:], read)
	var out, talk bytes.Buffer
	if got := Main(args, nil, &out, &talk); got != code {
		t.Fatalf("%v: exit code %d, expected %d: %s", args, got, code, talk.String())
	}
	x.result = decoded(t, out.Bytes())
	return x
}

func decoded(t *testing.T, text []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var x map[string]any
	if err := d.Decode(&x); err != nil {
		t.Fatal(err)
	}
	return x
}

// verify runs `verify` on the answer, from standard input, and returns the exit code,
// the JSON object and the talk.
func (x *answered) verify(t *testing.T) (int, map[string]any, string) {
	t.Helper()
	text, err := json.Marshal(x.result)
	if err != nil {
		t.Fatal(err)
	}
	var out, talk bytes.Buffer
	code := Main(append([]string{"verify", "-", x.path, "--json"}, x.flags...), bytes.NewReader(text), &out, &talk)
	if out.Len() == 0 {
		return code, nil, talk.String()
	}
	return code, decoded(t, out.Bytes()), talk.String()
}

// with is the answer with another value at a path of keys and indices.
func (x answered) with(t *testing.T, at string, value any) answered {
	t.Helper()
	text, err := json.Marshal(x.result)
	if err != nil {
		t.Fatal(err)
	}
	x.result = decoded(t, text)
	var node any = x.result
	keys := strings.Split(at, ".")
	for k, key := range keys {
		last := k == len(keys)-1
		switch parent := node.(type) {
		case map[string]any:
			if _, ok := parent[key]; !ok {
				t.Fatalf("the answer has no %s", at)
			}
			if last {
				parent[key] = value
			}
			node = parent[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(parent) {
				t.Fatalf("the answer has no %s", at)
			}
			if last {
				parent[i] = value
			}
			node = parent[i]
		default:
			t.Fatalf("the answer has no %s", at)
		}
	}
	return x
}

// at is the value at a path.
func (x *answered) at(path string) any {
	var node any = x.result
	for key := range strings.SplitSeq(path, ".") {
		switch parent := node.(type) {
		case map[string]any:
			node = parent[key]
		case []any:
			i, _ := strconv.Atoi(key)
			node = parent[i]
		}
	}
	return node
}

// near are the numbers one step from a number: of an integer below 2^53 one more and
// one less, of others the neighbouring float64. Decimals in a string stay there.
func near(t *testing.T, value any) []any {
	t.Helper()
	switch value := value.(type) {
	case json.Number:
		if i, err := strconv.ParseInt(string(value), 10, 64); err == nil && -1<<53 < i && i < 1<<53 {
			return []any{i + 1, i - 1}
		}
		f, err := value.Float64()
		if err != nil {
			t.Fatal(err)
		}
		return []any{math.Nextafter(f, math.Inf(1)), math.Nextafter(f, math.Inf(-1))}
	case string:
		var list []any
		for _, x := range near(t, json.Number(value)) {
			list = append(list, fmt.Sprint(x))
		}
		return list
	}
	t.Fatalf("%v is no number", value)
	return nil
}

// Each certificate is taken apart: what is stated is changed in one place by one step,
// and verify refuses it.
func TestVerifyRefusesEachChange(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("COALESCE_NO_HANDOVER", "1")
	const matrix = "7,3,9,4\n2,8,6,5\n5,1,4,7\n"
	const tenths = "0.1,0.7,1e18\n0.3,0.2,1e17\n1e16,0.9,0.6\n"
	csgNumbers := []string{"value", "bound", "gap", "certificate.sum", "certificate.claimed", "certificate.tolerance", "size.agents", "certificate.blocks.0.value", "certificate.blocks.0.coalition"}
	duals := func(rows, cols int) []string {
		list := []string{"value", "bound", "gap", "matched", "size.rows", "certificate.primal", "certificate.dual", "certificate.gap", "certificate.scale", "certificate.pairs", "certificate.rounded"}
		for i := range rows {
			list = append(list, fmt.Sprintf("duals.u.%d", i), fmt.Sprintf("solution.%d", i))
		}
		for j := range cols {
			list = append(list, fmt.Sprintf("duals.v.%d", j))
		}
		return list
	}
	rankingNumbers := []string{"best.0.value", "best.1.value", "best.3.value", "best.0.solution.0", "best.1.solution.1", "best.3.solution.2"}
	worstNumbers := []string{"value", "bound", "gap", "matched", "size.rows", "solution.0", "certificate.members.0", "certificate.partners.0"}
	type change struct {
		at    string
		value any
	}
	none := func(at ...string) (list []change) {
		for _, key := range at {
			list = append(list, change{key, nil})
		}
		return list
	}
	for _, c := range []struct {
		name    string
		answer  answered
		numbers []string // changed by a step up, and by one down
		changes []change // besides those
	}{
		{"csg of integers", answerOf(t, "csg", "c.csv", "1,3\n2,4\n3,5\n1 2,9\n1 3,8\n2 3,9\n1 2 3,13\n", 0), csgNumbers,
			append(none("value", "bound", "gap", "solution"), change{"solution.0.0", 3}, change{"solution.1", []int{}}, change{"solution.0", []int{1, 2, 3}}, change{"solution.0", []int{1, 2, 65}},
				change{"type", "int64"}, change{"certificate.partition", false}, change{"bound", "inf"}, change{"value", "-inf"})},
		{"csg of floats", answerOf(t, "csg", "c.csv", "1,0.1\n2,0.2\n3,0.3\n1 2,0.4\n1 3,1e9\n2 3,1e-9\n1 2 3,-0.7\n", 0), csgNumbers,
			append(none("value", "bound", "gap"), change{"solution.0", []int{1, 3, 2}}, change{"solution.1.0", 1})},
		{"csg without a solution", answerOf(t, "csg", "c.csv", "1,-inf\n2,3\n1 2,-inf\n", 1), []string{"size.agents", "certificate.blocks.1.value", "certificate.blocks.0.coalition"},
			[]change{{"certificate.sum", "3"}, {"certificate.claimed", "3"}, {"certificate.blocks.0.value", "3"}, {"certificate.partition", false}, {"proven", false}, {"value", 3}, {"bound", 3}, {"gap", 0}, {"solution", [][]int{{1}, {2}}}, {"solution", [][]int{{1, 2}}}}},
		{"auction", answerOf(t, "auction", "a.txt", "goods 3\nbids 5\ndummy 1\n0 10.25 0 1 #\n1 6.5 0 #\n2 7 1 2 #\n3 4.125 2 3 #\n4 1 1 3 #\n", 0),
			[]string{"value", "bound", "gap", "size.bids", "size.items", "solution.0", "solution.1", "certificate.sum", "certificate.accepted.0.price", "certificate.accepted.0.bid"},
			append(none("value", "bound", "gap", "solution"), change{"solution", []int{0}}, change{"solution", []int{0, 3, 3}}, change{"solution", []int{0, 3, 2}}, change{"solution.0", 9}, change{"certificate.disjoint", false})},
		{"auction without a solution", answerOf(t, "auction", "a.json", `{"goods":["x","y"],"free_disposal": false,"bids":[{"price":3,"goods":["x"]}]}`, 1), []string{"size.goods", "size.bids", "size.items", "proof.won.0", "proof.parts.0.bids.0"},
			append(none("proof"), change{"proven", false}, change{"value", "3"}, change{"value", 0}, change{"bound", "3"}, change{"gap", 0}, change{"solution", []int{0}}, change{"solution", []int{}}, change{"proof.parts", []int{}})},
		{"qubo of integers", answerOf(t, "qubo", "q.txt", "1\n4 5\n1 1 3\n2 2 1\n1 2 -5\n3 3 2\n4 4 7\n", 0),
			[]string{"value", "bound", "gap", "size.variables", "size.pairs"},
			append(none("value", "bound", "gap", "solution"), change{"solution", "0011"}, change{"solution", "1111"}, change{"solution", "1001"}, change{"solution", "1010"}, change{"solution", "101"},
				change{"sense", "minimize"}, change{"form", "ising"}, change{"fixed", map[string]int{"0": 0}}, change{"fixed", map[string]int{"9": 0}}, change{"certificate.exact", false})},
		{"qubo of floats, several", answerOf(t, "qubo --solutions 2", "q.txt", "1\n3 3\n1 1 0.3\n2 2 0.1\n3 3 -0.2\n", 0, "--fix", "2=0"),
			[]string{"value", "bound", "gap", "solutions.1.value", "fixed.2"},
			[]change{{"solution", "010"}, {"solution", "100"}, {"solution", "111"}, {"solutions.1.solution", "000"}, {"fixed", map[string]int{}}}},
		{"assignment of integers", answerOf(t, "assignment --duals", "m.csv", matrix, 0, "--header", "no", "--index", "no"), duals(3, 4),
			append(none("value", "bound", "gap", "solution", "certificate"), change{"sense", "maximize"}, change{"type", "int64"}, change{"certificate.exact", false})},
		{"assignment with names", answerOf(t, "assignment --duals", "m.csv", "who,a,b\nann,1,2\nbob,2,9\n", 0), duals(2, 2), append(none("row_names"), change{"row_names.1", "bill"}, change{"col_names.0", "A"})},
		{"assignment of rounded floats", answerOf(t, "assignment --duals", "m.csv", tenths, 0, "--maximize", "--header", "no", "--index", "no"), duals(3, 3), none("value", "bound", "gap")},
		{"assignment with a limit", answerOf(t, "assignment --duals", "m.csv", matrix, 0, "--limit", "3", "--header", "no", "--index", "no"), duals(3, 4), none("value", "bound", "gap")},
		{"assignment without a solution", answerOf(t, "assignment", "m.csv", "1,inf\n2,inf\n", 1, "--header", "no", "--index", "no"), []string{"certificate.hall.members.0", "certificate.hall.members.1", "certificate.hall.partners.0"},
			append(none("certificate"), change{"proven", false}, change{"value", 3}, change{"bound", 3}, change{"gap", 0}, change{"solution", []int{0, 1}}, change{"certificate.hall.side", "columns"}, change{"certificate.hall.members", []int{0}})},
		{"ranking of integers", answerOf(t, "assignment --duals --k-best 4", "m.csv", matrix, 0, "--header", "no", "--index", "no"), append(duals(3, 4), rankingNumbers...),
			append(none("value", "best"), change{"best", []int{}}, change{"best.1", json.RawMessage(`{"value": 7, "solution": [1, 0, 2]}`)}, change{"best.0.solution", []int{1, 0, 2}}, change{"best.2.solution", []int{1, 0}}, change{"best.3.solution", []int{1, 1, 2}}, change{"best.3", json.RawMessage(`{"value": 7, "solution": [1, 3, 0]}`)}, change{"solution", []int{1, 3, 2}})},
		{"ranking of floats, maximised", answerOf(t, "assignment --duals --k-best 4", "m.csv", tenths, 0, "--maximize", "--header", "no", "--index", "no"), append(duals(3, 3), rankingNumbers...), none("value", "best")},
		{"ranking with a limit", answerOf(t, "assignment --duals --k-best 4", "m.csv", matrix, 0, "--limit", "3", "--header", "no", "--index", "no"), append(duals(3, 4), rankingNumbers...), none("value", "best")},
		{"worst pair of integers", answerOf(t, "assignment --bottleneck", "m.csv", matrix, 0, "--header", "no", "--index", "no"), worstNumbers,
			append(none("value", "bound", "gap", "solution", "certificate", "objective"), change{"objective", "sum"}, change{"sense", "maximize"}, change{"type", "int64"}, change{"certificate.side", "columns"}, change{"certificate.members", []int{}},
				change{"certificate.members", []int{0}}, change{"certificate.partners", []int{0, 1, 2, 3}}, change{"solution", []int{0, 1, 2}}, change{"solution", []int{1, 0, 0}}, change{"solution", []int{1, 0, -1}})},
		{"worst pair of floats, maximised", answerOf(t, "assignment --bottleneck", "m.csv", tenths, 0, "--maximize", "--header", "no", "--index", "no"), worstNumbers, none("value", "bound", "gap", "certificate")},
		{"worst pair without a solution", answerOf(t, "assignment --bottleneck", "m.csv", "1,inf\n2,inf\n", 1, "--header", "no", "--index", "no"), []string{"certificate.hall.members.0", "certificate.hall.partners.0"},
			append(none("certificate"), change{"proven", false}, change{"value", 3}, change{"solution", []int{0, 1}})},
	} {
		if code, verdict, talk := c.answer.verify(t); code != run.ExitOK || verdict["proven"] != true || len(verdict["failures"].([]any)) != 0 {
			t.Errorf("%s: exit code %d, %v, %s", c.name, code, verdict, talk)
			continue
		}
		changes := c.changes
		for _, at := range c.numbers {
			for _, value := range near(t, c.answer.at(at)) {
				changes = append(changes, change{at, value})
			}
		}
		for _, x := range changes {
			changed := c.answer.with(t, x.at, x.value)
			code, verdict, talk := changed.verify(t)
			if code != run.ExitCheck || verdict["proven"] != false || len(verdict["failures"].([]any)) == 0 || !strings.Contains(talk, "check failed: standard input: ") {
				t.Errorf("%s, %s changed from %v to %v: exit code %d, %v, %q", c.name, x.at, c.answer.at(x.at), x.value, code, verdict, talk)
			}
		}
	}
}

// What is no answer, no instance or no command line ends with its own exit code.
// Listed coalitions through the command: every constraint, tables and graphs, and answers that verify checks or refutes.
func TestListedCoalitions(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("COALESCE_NO_HANDOVER", "1")
	many := "coalition,value\n"
	for i := range 50 {
		many += fmt.Sprintf("r%d,-1\n", i)
	}
	const graph = "5 6\n1 2 3\n2 3 2\n3 4 -4\n4 5 6\n1 5 1\n2 4 5\n"
	for _, c := range []struct {
		command, name, text string
		read                []string
		value               string
		structure           string
	}{
		{"csg", "many.csv", many + "r0 r49,0.5\n", []string{"--missing=-inf"}, "-47.5", ""},
		{"csg --minimize", "table.csv", "1,3\n2,4\n1 2,9\n", nil, "7", "[[1],[2]]"},
		{"csg --minimize", "forbidden.csv", "1,3\n2,4\n1 2,9\n3,-inf\n1 3,-2.5\n", []string{"--missing=-inf"}, "1.5", "[[1,3],[2]]"},
		{"csg --minimize --algorithm price", "prices.csv", "1,3\n2,4\n1 2,9\n3,8\n1 3,-2.5\n2 3,1.25\n1 2 3,2\n", nil, "1.5", "[[1,3],[2]]"},
		{"csg --algorithm branch --blocks 1", "table.csv", "1,30\n2,40\n1 2,9\n", nil, "9", "[[1,2]]"},
		{"csg --separate=ann,cy --sizes=2-", "names.json", `{"agents": ["ann","bob","cy","di"], "values": {"ann bob": 1, "ann cy": 9, "bob di": 0.5, "cy di": 2, "ann di": 1, "bob cy": 2}}`, []string{"--missing=-inf"}, "3", ""},
		{"csg --connected --sizes=1-2", "graph.rud", graph, nil, "9", "[[1,2],[3],[4,5]]"},
		{"csg --connected --blocks 2", "graph.rud", graph, nil, "15", "[[1,2,4,5],[3]]"},
		{"csg --connected --minimize", "graph.rud", graph, nil, "-4", "[[1],[2],[3,4],[5]]"},
	} {
		x := answerOf(t, c.command, c.name, c.text, run.ExitOK, c.read...)
		structure, _ := json.Marshal(x.result["solution"])
		if found := fmt.Sprint(x.result["value"]); found != c.value || x.result["proven"] != true || c.structure != "" && string(structure) != c.structure {
			t.Errorf("%s: found %s, %v, proven %v, expected %s, %s", c.command, structure, found, x.result["proven"], c.value, c.structure)
		}
		if code, verdict, talk := x.verify(t); code != run.ExitOK || verdict["bound_checked"] != true {
			t.Errorf("%s: found the exit code %d, %v: %s", c.command, code, verdict, talk)
		}
		x.result["value"], x.result["bound"] = json.Number("100"), json.Number("100")
		if code, _, _ := x.verify(t); code != run.ExitCheck {
			t.Errorf("%s: found the exit code %d of another value, expected %d", c.command, code, run.ExitCheck)
		}
	}
	none := answerOf(t, "csg", "many.csv", many+"r0 r50,1\nr0 r51,1\n", run.ExitFailed, "--missing=-inf", "--algorithm=branch")
	none.flags = none.flags[:1]
	if code, verdict, talk := none.verify(t); none.result["proven"] != true || code != run.ExitOK || verdict["bound_checked"] != true {
		t.Errorf("found %v, the exit code %d, %v: %s", none.result["proven"], code, verdict, talk)
	}
}

func TestVerifyCommand(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("COALESCE_NO_HANDOVER", "1")
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	solve := func(name string, args ...string) string {
		path := filepath.Join(dir, name)
		var out, talk bytes.Buffer
		if code := Main(slices.Concat([]string{"solve"}, args, []string{"--device", "host", "--json", "--output", path}), nil, &out, &talk); code != run.ExitOK {
			t.Fatalf("%v: exit code %d: %s", args, code, talk.String())
		}
		return path
	}
	matrix := file("m.csv", "7,3,9\n2,8,6\n5,1,4\n")
	plain := solve("plain.json", "assignment", matrix)
	proof := solve("proof.json", "assignment", matrix, "--duals")
	most := solve("most.json", "assignment", matrix, "--duals", "--maximize")
	ranking := solve("ranking.json", "assignment", matrix, "--k-best", "3", "--duals")
	worst := solve("worst.json", "assignment", matrix, "--bottleneck")
	points := file("points.txt", "0 0\n3 4\n")
	distances := solve("distances.json", "assignment", "--points", points+","+points, "--metric", "manhattan", "--duals")
	auction := solve("auction.json", "auction", "../../examples/auction.txt")
	text, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	twice := file("twice.json", string(text)+string(text))
	for _, c := range []struct {
		args  []string
		stdin string
		code  int
		want  string // in both outputs
	}{
		{[]string{plain, matrix}, "", run.ExitOK, "bound not checked: the result carries no proof\nthe answer of"},
		{[]string{proof, matrix}, "", run.ExitOK, "bound: proof carried: duals that bound 9 costs"},
		{[]string{plain, matrix, "--duals", proof}, "", run.ExitOK, "holds, and is proven"},
		{[]string{plain, matrix, "--duals", most}, "", run.ExitCheck, "the duals are no proof: check failed: row 0, column 1: found duals -3 and 11"},
		{[]string{most, matrix, "--maximize"}, "", run.ExitOK, "holds, and is proven"},
		{[]string{most, matrix}, "", run.ExitCheck, "the result's sense is maximize, the instance's minimize (--maximize says so)"},
		{[]string{plain, "-"}, "7,3,9\n2,8,6\n5,1,4\n", run.ExitOK, "value: 9, as recomputed"},
		{[]string{plain, "-"}, "7,3,9\n2,8,6\n5,1,5\n", run.ExitCheck, "the stated value is 9, recomputed from the instance it is 10"},
		{[]string{"-", matrix}, string(text), run.ExitOK, "the answer of standard input holds"},
		{[]string{plain, matrix, "--limit", "1"}, "", run.ExitOK, "value: 9"},
		{[]string{distances, "--points", points + "," + points, "--metric", "manhattan"}, "", run.ExitOK, "holds, and is proven"},
		{[]string{distances, "--points", points + "," + points}, "", run.ExitCheck, "expected them to add up to at most the cost 5"},
		{[]string{ranking, matrix}, "", run.ExitOK, "ranking of 3: each is a matching of the stated value, no two are the same, and the best stand first; that no other belongs among them was not checked\nbound: proof carried: duals that bound 9 costs"},
		{[]string{worst, matrix}, "", run.ExitOK, "bound: proof carried: 3 of the rows have together 2 partners at better costs\nthe answer of"},
		{[]string{worst, matrix, "--duals", proof}, "", run.ExitFailed, "expected neither a limit nor duals"},
		{[]string{worst, matrix, "--limit", "3"}, "", run.ExitFailed, "expected neither a limit nor duals"},
		{[]string{auction, "../../examples/auction.txt"}, "", run.ExitOK, "no good is sold twice"},
		{[]string{plain, "../../examples/tasks.csv"}, "", run.ExitCheck, `the result's size is {"columns":3,"rows":3}`},

		{[]string{auction, matrix}, "", run.ExitFailed, "m.csv:1: found"},
		{[]string{matrix, matrix}, "", run.ExitFailed, "m.csv: expected the JSON object of an answer"},
		{[]string{twice, matrix}, "", run.ExitFailed, "found more than one JSON object"},
		{[]string{"-", matrix}, "{}", run.ExitFailed, "standard input: found no problem in the JSON object"},
		{[]string{"-", matrix}, "[1]", run.ExitFailed, "standard input: expected the JSON object of an answer"},
		{[]string{"-", matrix}, strings.Replace(string(text), "\"proven\"", "\"prove\"", 1), run.ExitFailed, "found no proven in the JSON object"},
		{[]string{"-", matrix}, strings.Replace(string(text), "{", `{"Value": 3, `, 1), run.ExitFailed, `found the key "Value" in the JSON object`},
		{[]string{"-", matrix}, strings.Replace(string(text), `"assignment"`, "7", 1), run.ExitFailed, "found the problem 7, expected a string"},
		{[]string{"-", matrix}, strings.Replace(string(text), `"assignment"`, `"tsp"`, 1), run.ExitFailed, `found an answer of the problem "tsp"`},
		{[]string{"-", matrix}, strings.Replace(string(text), "[1,0,2]", `"0101"`, 1), run.ExitFailed, "result: found a JSON string as solution, expected a list"},
		{[]string{"-", matrix}, strings.Repeat(" ", 1<<20+1), run.ExitFailed, "standard input: found more than 1 MiB, expected at most that: reading takes 8 times as much, and `ulimit -v` leaves 7.8 KiB"},
		{[]string{plain, matrix, "--duals", matrix}, "", run.ExitFailed, "the duals:1: "},
		{[]string{plain, filepath.Join(dir, "none.csv")}, "", run.ExitFailed, "none.csv: no such file"},

		{nil, "", run.ExitUsage, "expected a RESULT and an INSTANCE"},
		{[]string{plain}, "", run.ExitUsage, "expected an INSTANCE after the RESULT"},
		{[]string{"-", "-"}, "", run.ExitUsage, "standard input can be read once"},
		{[]string{plain, matrix, matrix}, "", run.ExitUsage, "at most 2 arg"},
		{[]string{plain, matrix, "--points", "a,b"}, "", run.ExitUsage, "--points is for answers of assignment, instead of an INSTANCE"},
		{[]string{auction, "--points", "a,b"}, "", run.ExitUsage, "--points is for answers of assignment"},
		{[]string{plain, matrix, "--format", "pdf"}, "", run.ExitUsage, `--format is "pdf"`},
		{[]string{plain, matrix, "--header", "maybe"}, "", run.ExitUsage, "--header"},
	} {
		var out, talk bytes.Buffer
		var code int
		if strings.Contains(c.want, "`ulimit -v`") { // a bound on memory
			a := &run.App{In: strings.NewReader(c.stdin), Out: bufio.NewWriter(&out), Raw: &out, Err: &talk, Free: func() memory.Free { return memory.Free{Bytes: 8000, By: "`ulimit -v`"} }}
			root := rootCommand(a)
			root.SetArgs(append([]string{"verify"}, c.args...))
			code = a.Exit(t.Context(), root.ExecuteContext(t.Context()))
		} else {
			code = Main(append([]string{"verify"}, c.args...), strings.NewReader(c.stdin), &out, &talk)
		}
		if code != c.code || !strings.Contains(out.String()+talk.String(), c.want) {
			t.Errorf("%v: exit code %d, %q, %q, expected %d and %q", c.args, code, out.String(), talk.String(), c.code, c.want)
		}
	}
}
