package model

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"coalesce/solvers/model/problem"
	"coalesce/solvers/solve"
)

// cqmFile is a file as dimod writes it: 3 a b - 2 a + 1.5, s a spin, with a + b + 2 n <= 4 and a + b == 1.
func cqmFile(method uint16) []byte {
	little := binary.LittleEndian
	float := func(b []byte, v ...float64) []byte {
		for _, x := range v {
			b = little.AppendUint64(b, math.Float64bits(x))
		}
		return b
	}
	section := func(letters string, width int, content []byte) []byte {
		for (len(letters)+width+len(content))%64 != 0 {
			content = append(content, ' ')
		}
		b := little.AppendUint32([]byte(letters), uint32(len(content)))
		if width == 8 {
			b = little.AppendUint32(b, 0)
		}
		return append(b, content...)
	}
	header := func(magic, text string) []byte {
		for (len(magic)+6+len(text))%64 != 63 {
			text += " "
		}
		return append(little.AppendUint32([]byte(magic+"\x02\x00"), uint32(len(text)+1)), text+"\n"...)
	}
	sum := func(offset float64, variables []uint32, linear []float64, pairs []byte) []byte {
		b := header("DIMODEXPR", fmt.Sprintf(`{"dtype": "float64", "itype": "int32", "shape": [%d, %d], "type": "ObjectiveView"}`, len(variables), len(pairs)/16))
		var index []byte
		for _, v := range variables {
			index = little.AppendUint32(index, v)
		}
		b = append(b, section("INDX", 4, index)...)
		b = append(b, section("OFFS", 4, float(nil, offset))...)
		b = append(b, section("LINB", 4, float(nil, linear...))...)
		return append(b, section("QUAD", 8, pairs)...)
	}
	kinds := float([]byte{0}, 0, 1)
	kinds = float(append(kinds, 0), 0, 1)
	kinds = float(append(kinds, 1), -1, 1)
	kinds = float(append(kinds, 2), 0, 3)
	var out bytes.Buffer
	out.Write(header("DIMODCQM", `{"num_variables": 4, "num_constraints": 2}`))
	z := zip.NewWriter(&out)
	z.SetOffset(int64(out.Len()))
	for _, part := range []struct {
		name string
		text []byte
	}{
		{"varinfo", section("VTYP", 4, kinds)},
		{"variable_labels.json", []byte(`["a", ["b", 1], 7, "n"]`)},
		{"objective", sum(1.5, []uint32{0, 1}, []float64{-2, 0}, float([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 3))},
		{`constraints/"most"/lhs`, sum(1, []uint32{0, 1, 3}, []float64{1, 1, 2}, nil)},
		{`constraints/"most"/rhs`, float(nil, 5)},
		{`constraints/"most"/sense`, []byte("<=")},
		{`constraints/0/lhs`, sum(0, []uint32{0, 1}, []float64{1, 1}, nil)},
		{`constraints/0/rhs`, float(nil, 1)},
		{`constraints/0/sense`, []byte("==")},
	} {
		w, _ := z.CreateHeader(&zip.FileHeader{Name: part.name, Method: method}) // a buffer takes all
		w.Write(part.text)
	}
	z.Close()
	return out.Bytes()
}

// A file of dimod is read and solved, packed or not; damaged ones get a line.
func TestReadCQM(t *testing.T) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		m, err := ReadFrom(bytes.NewReader(cqmFile(method)), "a.cqm", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Solve(t.Context(), m, Options{Settings: solve.Settings{TimeLimit: time.Minute}})
		if err != nil || r.Value != "-0.5" || r.Assignment["a"] != 1 || r.Assignment[`["b", 1]`] != 0 || len(r.Constraints) != 2 || r.Constraints[0].High != "4" || r.Constraints[1].Name != "0" {
			t.Errorf("found %+v, %v", r, err)
		}
	}
	whole := cqmFile(zip.Store)
	for _, c := range [][3]string{{"DIMODCQM\x02", "DIMODCQM\x03", "version 2"}, {"PK\x05\x06", "PK\x05\x07", "archive"}, {"INDX", "INDY", "checksum"}} {
		_, err := ReadFrom(strings.NewReader(strings.Replace(string(whole), c[0], c[1], 1)), "a.cqm", 0)
		if err == nil || !errors.Is(err, solve.ErrInput) || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("found %v, expected %s", err, c[2])
		}
	}
}

// Models of all formats, by their content: what is read is sound, and small ones solve with an answer that the check accepts.
func FuzzModel(f *testing.F) {
	for _, seed := range []string{
		"Minimize\n obj: - x - 2.5 y + 3 + [ 6 x * y ] / 2\nSubject To\n c: x + y + 2 n <= 4\nBounds\n 0 <= n <= 3\nBinaries\n x y\nGenerals\n n\nEnd\n",
		"NAME\nROWS\n N o\n L c\nCOLUMNS\n M 'MARKER' 'INTORG'\n x o -1 c 1\n y o 2.5 c 1\nRHS\n R c 1\nBOUNDS\n BV B x\n UP B y 3\nQUADOBJ\n x y 3\nENDATA\n",
		"EXAMPLE # name\nQBL\nmaximize\n2\n1\n2\n1 1 -4\n2 1 3\n0\n2\n1 -1\n2 2.5\n7\n2\n1 1 1\n1 2 1\n1e30\n-1e30\n0\n1\n0\n0\n0\n0\n0\n0\n0\n0\n0\n",
		`{"sense": "maximize", "variables": [{"name": "a"}, {"name": "s", "kind": "spin"}, {"name": "n", "kind": "integer", "low": 0, "high": 7}],
"objective": [[3, "a"], ["0.5", "a", "s", "n"], [2]], "constraints": [{"name": "w", "terms": [[2, "a"], [1, 2]], "low": null, "high": 6}]}`,
		string(cqmFile(zip.Store)), string(cqmFile(zip.Deflate)),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ReadFrom(bytes.NewReader(data), "a", 1<<20)
		if err != nil {
			return
		}
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		form, err := problem.NewForm(m)
		if err != nil || form.N > 12 {
			return
		}
		r, err := Solve(t.Context(), m, Options{Settings: solve.Settings{TimeLimit: time.Second}, Threads: 1})
		if err != nil && !errors.Is(err, solve.ErrInfeasible) {
			t.Fatal(err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Verify(m, text); err != nil || v.Err() != nil {
			t.Fatalf("%v, %v\n%s", err, v.Err(), text)
		}
	})
}
