package formats_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"coalesce/solvers/csg"
	"coalesce/solvers/csg/internal/formats"
	"coalesce/solvers/solve"
)

// checkRead reads whatever it is given: an error that begins with the file's
// name, or an instance that is whole and can be solved, or has no solution. At
// most 64 KiB of values are taken.
func checkRead(t *testing.T, name string, data []byte) {
	inst, err := formats.ReadFrom(bytes.NewReader(data), int64(len(data)), name, formats.ReadOptions{Limit: 1 << 16, Missing: "1"})
	if err != nil {
		if !strings.HasPrefix(err.Error(), name+":") {
			t.Errorf("%q: the error does not begin with the file: %v", data, err)
		}
		return
	}
	if err := inst.Check(); err != nil {
		t.Errorf("%q: %v", data, err)
	}
	if len(inst.Bytes()) > 1<<17 {
		t.Errorf("%q: %d bytes of values, the limit is 64 KiB", data, len(inst.Bytes()))
	}
	if inst.N > 8 {
		return
	}
	if _, err := csg.Reference(inst, csg.IDP); err != nil && !errors.Is(err, solve.ErrInfeasible) {
		t.Errorf("%q: %v", data, err)
	}
}

var seeds = map[string][]string{
	"a.csv": {
		"coalition,value\n1,5\n2,6\n1 2,12\n",
		"ann,5\nbob,6\n{ann|bob},-inf\n",
		"# x\n\"{1,2}\",1e3\n1;5\n",
		"a,-inf\n",
		"sep=;\nmask;value\n1;5\n#3;7\n",
		"ann,bob,value\n1,0,5\nTrue,1,6\n",
		"0\n3e1\n4\n5\n",
		"coalition,value\n\"['ann', 'bob']\",5\n#N/A,6\nann/bob+cleo,7\n",
	},
	"a.json": {
		`{"1": 5, "2": 6.5, "1,2": "-Infinity"}`,
		`{"agents": ["ann", "bob"], "values": {"bob": 6, "ann": null}}`,
		`{"n": 2, "values": {"[1, 2]": 6}}`,
		`{"1": -Infinity, "2": NaN}`,
		`[{"coalition": ["ann"], "value": 3}, {"coalition": "ann bob", "value": -Infinity}]`,
	},
	"a.npy": {
		string(formats.NPYFile(1, formats.Dict("<i4", "(4,)"), []int32{0, 1, 2, 3}, binary.LittleEndian)),
		string(formats.NPYFile(2, formats.Dict(">f8", "(2,)"), []float64{0, 1}, binary.BigEndian)),
		string(formats.NPYFile(3, formats.Dict("|u1", "(8L,)"), []uint8{0, 1, 2, 3, 4, 5, 6, 7}, binary.LittleEndian)),
		string(formats.NPYFile(1, formats.Dict("<i4", "(4,)"), []int32{0, math.MinInt32, math.MinInt32, 3}, binary.LittleEndian)) +
			string(formats.NPYFile(1, formats.Dict("|u1", "(1,)"), []uint8{2}, binary.LittleEndian)),
	},
}

func fuzz(f *testing.F, name string) {
	for _, s := range seeds[name] {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkRead(t, name, data) })
}

func FuzzReadCSV(f *testing.F)  { fuzz(f, "a.csv") }
func FuzzReadJSON(f *testing.F) { fuzz(f, "a.json") }
func FuzzReadNPY(f *testing.F)  { fuzz(f, "a.npy") }

// FuzzReadAny has no name to go by, and may be compressed.
func FuzzReadAny(f *testing.F) {
	for _, list := range seeds {
		for _, s := range list {
			f.Add([]byte(s))
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			z.Write([]byte(s))
			z.Close()
			f.Add(b.Bytes())
		}
	}
	f.Add([]byte("\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f\xe5\xa3"))
	f.Add([]byte("\x28\xb5\x2f\xfd\x04\x58\x29\x00\x001,5\n"))
	f.Fuzz(func(t *testing.T, data []byte) { checkRead(t, "a", data) })
}

// A fixed number of random edits of good files, in every run of the tests.
func TestReadEdited(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	pieces := []string{",", ";", "{", "}", "\"", "\n", ":", " ", "-", "e", "9", "40", "n", "(", "[", "\x00", "\xff", "99999999999999999999", ""}
	for name, list := range seeds {
		for _, seed := range list {
			for range 700 {
				text := seed
				for range 1 + rng.IntN(4) {
					at := rng.IntN(len(text) + 1)
					to := min(len(text), at+rng.IntN(4))
					text = text[:at] + pieces[rng.IntN(len(pieces))] + text[to:]
				}
				checkRead(t, name, []byte(text))
				checkRead(t, "a", []byte(text))
			}
		}
	}
}
