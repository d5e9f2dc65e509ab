package jobs

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/solve"
)

// onHost are resources with the host alone.
func onHost(t *testing.T) Resources {
	return Resources{
		Open: func(name string, threads int) (device.Device, error) {
			if name != "host" && name != "" {
				return nil, solve.InvalidInput("device", "found %q, expected host", name)
			}
			d := host.Open(max(1, threads))
			t.Cleanup(func() { d.Close() })
			return d, nil
		},
		Tuning: func(string) (*tuned.Database, error) { return tuned.Shipped(), nil },
	}
}

// alone are rows of agents alone, worth 0, from and to such numbers.
func alone(from, to int) (rows string) {
	for i := from; i <= to; i++ {
		rows += fmt.Sprintf("%d,0\n", i)
	}
	return rows
}

// twoBids is an auction of one good, which bid 0 wants for 3 and bid 1 for 4.
var twoBids = []byte("goods 1\nbids 2\ndummy 0\n0 3 0 #\n1 4 0 #\n")

func TestSolve(t *testing.T) {
	i, j := []int32{0, 1, 0}, []int32{0, 1, 1}
	for _, c := range []struct {
		job   Job
		value string
	}{
		{Job{Problem: "qubo", Options: []byte(`{"variables": 2}`), Arrays: map[string]any{"i": i, "j": j, "coefficients": []int64{-3, -2, 4}}}, "-3"},
		{Job{Problem: "qubo", Options: []byte(`{"variables": 2, "maximize": true, "threads": 1}`), Arrays: map[string]any{"i": i, "j": j, "coefficients": []float64{0.5, 0.25, 1}}}, "1.75"},
		{Job{Problem: "qubo", Options: []byte(`{"variables": 2, "ising": true}`), Arrays: map[string]any{"i": i, "j": j, "coefficients": []int64{1, 1, 2}}}, "-2"},
		{Job{Problem: "qubo", Options: []byte(`{"variables": 2, "fix": ["0=1"]}`), Arrays: map[string]any{"i": i, "j": j, "coefficients": []int64{-3, -2, 4}}}, "-3"},
		{Job{Problem: "qubo", Options: []byte(`{"variables": 2, "fix": ["0=0"]}`), Arrays: map[string]any{"i": i, "j": j, "coefficients": []int64{-3, -2, 4}}}, "-2"},
		{Job{Problem: "qubo", Options: []byte(`{"variables": 2, "start": "10", "target": -3}`), Arrays: map[string]any{"i": i, "j": j, "coefficients": []int64{-3, -2, 4}}}, "-3"},
		{Job{Problem: "qubo", Arrays: map[string]any{"i": []int32{}, "j": []int32{}, "coefficients": []int64{}}}, "0"},
		{Job{Problem: "csg", Arrays: map[string]any{"values": []int32{0, 3, 4, 9}}}, "9"},
		{Job{Problem: "csg", Arrays: map[string]any{"text": []byte("1 50,0.1\n2,0.25\n1,3\n50,-4\n" + alone(3, 49))}}, "0.35"},
		{Job{Problem: "csg", Options: []byte(`{"minimize": true, "blocks": "1-2", "start": "[[1], [2]]"}`), Arrays: map[string]any{"values": []int32{0, 3, 4, 9}}}, "7"},
		{Job{Problem: "csg", Options: []byte(`{"minimize": true, "target": 7.5}`), Arrays: map[string]any{"values": []float32{0, 3, 4, 9}}}, "7"},
		{Job{Problem: "csg", Options: []byte(`{"together": ["1 2"], "target": 2}`), Arrays: map[string]any{"values": []float64{0, 3, 4, 2.5}}}, "2.5"},
		{Job{Problem: "csg", Options: []byte(`{"sizes": "1"}`), Arrays: map[string]any{"values": []float64{0, 3, 4, 9}}}, "7"},
		{Job{Problem: "auction", Options: []byte(`{"payments": "vcg"}`), Arrays: map[string]any{"text": []byte("goods 3\nbids 3\ndummy 0\n0 4.5 0 1 #\n1 3 1 2 #\n2 2 2 #\n")}}, `"6.5"`},
		{Job{Problem: "csg", Options: []byte(`{"start": "[[1, 2]]", "target": 2}`), Arrays: map[string]any{"values": []int32{0, 1, 1, 3}}}, "3"},
		{Job{Problem: "auction", Options: []byte(`{"start": "1", "target": 3, "algorithm": "branch"}`), Arrays: map[string]any{"text": twoBids}}, `"4"`},
		{Job{Problem: "transport", Options: []byte(`{"rows": 2}`), Arrays: map[string]any{"costs": []int32{1, 5, 2, 3}, "supply": []int64{3, 2}, "capacity": []int64{4, 1}}}, "8"},
	} {
		text, err := Solve(t.Context(), onHost(t), c.job)
		if err != nil {
			t.Errorf("%s %s: %v", c.job.Problem, c.job.Options, err)
			continue
		}
		var answer struct {
			Value json.RawMessage `json:"value"`
		}
		if err := json.Unmarshal(text, &answer); err != nil || string(answer.Value) != c.value {
			t.Errorf("%s %s: found the value %s (%v), expected %s", c.job.Problem, c.job.Options, answer.Value, err, c.value)
		}
	}
}

// What a job is asked wrongly is an ErrInput that names it, and no solve begins.
func TestSolveRefuses(t *testing.T) {
	terms := map[string]any{"i": []int32{0}, "j": []int32{1}, "coefficients": []int64{1}}
	for _, c := range []struct {
		job  Job
		want string
	}{
		{Job{Problem: "tsp"}, "problem: found"},
		{Job{Problem: "qubo", Options: []byte(`{"variable": 2}`)}, "variable"},
		{Job{Problem: "qubo", Options: []byte(`{"variables": 1}`), Arrays: terms}, "found the variables 0 and 1"},
		{Job{Problem: "qubo", Options: []byte(`{"variables": 2}`)}, "i: found no array"},
		{Job{Problem: "qubo", Options: []byte(`{"variables": 2}`), Arrays: map[string]any{"i": []int32{0}, "j": []int32{1}, "coefficients": []int32{1}}}, "coefficients: found an array of the type []int32"},
		{Job{Problem: "qubo", Options: []byte(`{"variables": 2}`), Arrays: map[string]any{"i": []int32{0}, "j": []int32{1}, "coefficients": []int64{1, 2}}}, "expected as many of each"},
		{Job{Problem: "qubo", Options: []byte(`{"variables": 2, "pin": ["x"]}`), Arrays: terms}, `pin: found "x", expected FAMILY:LABEL`},
		{Job{Problem: "qubo", Options: []byte(`{"variables": 2, "fix": ["2=1"]}`), Arrays: terms}, `Fix: found "2=1", expected a variable from 0 to 1, = and 0 or 1`},
		{Job{Problem: "qubo", Options: []byte(`{"variables": 2, "start": "012"}`), Arrays: terms}, `start: found "012", expected 2 digits 0 or 1`},
		{Job{Problem: "qubo", Options: []byte(`{"variables": 2, "device": "tpu"}`), Arrays: terms}, "device"},
		{Job{Problem: "csg", Arrays: map[string]any{"values": []int32{0, 1, 2}}}, "values: found 3 numbers"},
		{Job{Problem: "csg", Options: []byte(`{"resume": true}`), Arrays: map[string]any{"values": []int32{0, 1}}}, "Resume: found no checkpoint"},
		{Job{Problem: "csg", Options: []byte(`{"blocks": "0"}`), Arrays: map[string]any{"values": []int32{0, 1}}}, "blocks"},
		{Job{Problem: "csg", Options: []byte(`{"missing": "1"}`), Arrays: map[string]any{"text": []byte("1 2,3\n")}}, "expected -inf or 0"},
		{Job{Problem: "csg", Options: []byte(`{"payoff": "shapley"}`), Arrays: map[string]any{"text": []byte("1 2,3\n")}}, "Payoff"},
		{Job{Problem: "csg", Options: []byte(`{"payoff": "power"}`), Arrays: map[string]any{"values": []int32{0, 1}}}, "payoff"},
		{Job{Problem: "csg", Options: []byte(`{"sizes": "0"}`), Arrays: map[string]any{"values": []int32{0, 1}}}, "sizes"},
		{Job{Problem: "csg", Options: []byte(`{"start": "1 1"}`), Arrays: map[string]any{"values": []int32{0, 1, 1, 3}}}, `start:1: found agent "1" again`},
		{Job{Problem: "csg", Options: []byte(`{"start": "[[1]]"}`), Arrays: map[string]any{"values": []int32{0, 1, 1, 3}}}, "start: found agent 2 in no block"},
		{Job{Problem: "auction", Options: []byte(`{"start": "9"}`), Arrays: map[string]any{"text": twoBids}}, "start:1: found bid 9, which the auction lacks"},
		{Job{Problem: "auction", Options: []byte(`{"start": "0 1"}`), Arrays: map[string]any{"text": twoBids}}, "start: good 0 is sold twice, to bid 0 and bid 1"},
		{Job{Problem: "transport", Options: []byte(`{"rows": 2}`), Arrays: map[string]any{"costs": []int32{1, 5}, "supply": []int64{3, 2}, "capacity": []int64{4, 1}}}, "I32: found 2 costs, expected 4"},
		{Job{Problem: "transport", Options: []byte(`{"rows": 1}`), Arrays: map[string]any{"costs": []int32{1, 5}, "supply": []int64{-3}, "capacity": []int64{4, 1}}}, "Supply[0]: found -3"},
		{Job{Problem: "auction", Options: []byte(`{"payments": "second"}`)}, `payments: found "second", expected one of`},
		{Job{Problem: "auction", Arrays: map[string]any{"text": []byte("goods 1\nbids 1\n")}}, "bids:"},
	} {
		if _, err := Solve(t.Context(), onHost(t), c.job); !errors.Is(err, solve.ErrInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: found the error %v, expected %q", c.job.Problem, c.job.Options, err, c.want)
		}
	}
}

// Every problem has the options of placement and of all solvers, each once.
func TestOptions(t *testing.T) {
	for _, name := range Problems() {
		list, err := Options(name)
		if err != nil {
			t.Fatal(err)
		}
		names := list.Names()
		slices.Sort(names)
		for _, want := range []string{"algorithm", "device", "frozen", "pin", "threads", "time_limit", "tuned", "variant"} {
			if !slices.Contains(names, want) {
				t.Errorf("%s: found no option %s", name, want)
			}
		}
		if len(slices.Compact(names)) != len(list) {
			t.Errorf("%s: an option stands twice in %v", name, names)
		}
	}
}
