package assignment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"coalesce/runtime/host"
)

// Files that SciPy, NumPy and others write are read, or refused with the name of their kind.
func TestFilesOfOthers(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	for _, c := range []struct {
		file string
		want string // the least cost, or a part of the error
	}{
		{"c01_symmetric_array.mtx", "0"},
		{"skew_array.mtx", "-14.5"},
		{"c02_unsigned.mtx", "3"},
		{"c03_pattern.mtx", "3"},
		{"c07_matrix.npz", "0"},
		{"sparse.npz", "14"},
		{"c08_list.json", "found JSON, expected costs, in one of the formats npy, csv"},
		{"c09_flow.min", "3"},
	} {
		inst, err := Read(filepath.Join("testdata", "files", c.file), ReadOptions{})
		if err != nil {
			if !strings.Contains(err.Error(), c.file+": "+c.want) {
				t.Errorf("%s: %v, expected %s", c.file, err, c.want)
			}
			continue
		}
		r, err := Solve(t.Context(), inst, on(Options{}, d))
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
		} else if r.Value.String() != c.want {
			t.Errorf("%s: %s, expected %s", c.file, r.Value.String(), c.want)
		}
	}
}

// Integers up to 2^64-1, or down to -2^63, are solved for what the text says, in each of its formats.
func TestTextOfLargeIntegers(t *testing.T) {
	d := host.Open(0)
	defer d.Close()
	rng := rand.New(rand.NewPCG(12, 13))
	for n := range 240 {
		side, signed := 1+rng.IntN(4), n%3 == 0
		costs := make([]string, side*side)
		for k := range costs {
			x := rng.Uint64() >> (rng.IntN(8) * rng.IntN(8))
			switch near := uint64(rng.IntN(3)); {
			case signed && near == 0:
				costs[k] = strconv.FormatInt(int64(x), 10)
			case signed:
				costs[k] = strconv.FormatInt(math.MaxInt64-int64(near-1), 10)
			case near == 0:
				costs[k] = strconv.FormatUint(x, 10)
			default:
				costs[k] = strconv.FormatUint(math.MaxUint64-(near-1), 10)
			}
		}
		sparse, edges := make([]string, 0, side*side), make([]string, 0, side*side)
		for i := range side {
			for j := range side {
				sparse = append(sparse, fmt.Sprint(i, " ", j, " ", costs[i*side+j]))
				edges = append(edges, fmt.Sprint(i+1, " ", j+1, " ", costs[i*side+j]))
			}
		}
		arcs := fmt.Sprintf("p asn %d %d\n", 2*side, side*side)
		for i := range side {
			arcs += fmt.Sprintf("n %d\n", i+1)
		}
		for i := range side {
			for j := range side {
				arcs += fmt.Sprintf("a %d %d %s\n", i+1, side+j+1, costs[i*side+j])
			}
		}
		var rows, columns strings.Builder
		for i := range side {
			rows.WriteString(strings.Join(costs[i*side:(i+1)*side], ",") + "\n")
			for j := range side {
				columns.WriteString(costs[j*side+i] + "\n")
			}
		}
		for format, text := range map[string]string{
			"csv":     rows.String(),
			"orlib":   fmt.Sprintln(side) + strings.Join(costs, " "),
			"triples": strings.Join(sparse, "\n"),
			"assignp": fmt.Sprintln(side) + strings.Join(edges, "\n"),
			"asn":     arcs,
			"mtx":     fmt.Sprintf("%%%%MatrixMarket matrix array integer general\n%d %d\n%s", side, side, columns.String()),
			"pairs":   fmt.Sprintf("%%%%MatrixMarket matrix coordinate unsigned-integer general\n%d %d %d\n%s\n", side, side, side*side, strings.Join(edges, "\n")),
		} {
			o := ReadOptions{Format: format, Header: "no", Index: "no", Maximize: n%2 == 0}
			if format == "pairs" {
				o.Format = "mtx"
			}
			if format != "csv" && format != "triples" {
				o.Header, o.Index = "", ""
			}
			inst, err := ReadFrom(strings.NewReader(text), -1, "costs", o)
			if err != nil {
				t.Fatalf("%s: %v\n%s", format, err, text)
			}
			for k, c := range costs {
				if got := inst.CostDecimals(k/side, k%side); got != c {
					t.Fatalf("%s: read %s, expected %s\n%s", format, got, c, text)
				}
			}
			r, err := Solve(t.Context(), inst, on(Options{}, d))
			if err != nil {
				t.Fatalf("%s: %v\n%s", format, err, text)
			}
			isOptimal(t, format+"\n"+text, inst, r.Column, r, nil)
			if *r.Report.Gap != 0 || t.Failed() {
				t.Fatalf("%s: gap %v\n%s", format, *r.Report.Gap, text)
			}
		}
	}
}
