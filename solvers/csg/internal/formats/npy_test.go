package formats

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/formats/npy"
)

// NPYFile makes a file of a header and raw values.
func NPYFile(version byte, dict string, values any, order binary.ByteOrder) []byte {
	var b bytes.Buffer
	b.WriteString(npy.Magic)
	b.Write([]byte{version, 0})
	if version == 1 {
		binary.Write(&b, binary.LittleEndian, uint16(len(dict)))
	} else {
		binary.Write(&b, binary.LittleEndian, uint32(len(dict)))
	}
	b.WriteString(dict)
	binary.Write(&b, order, values)
	return b.Bytes()
}

func Dict(descr string, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }   \n", descr, shape)
}

func TestReadNPYTypes(t *testing.T) {
	tests := []struct {
		word   string
		values any
		want   string
	}{
		{"i1", []int8{0, -1, 2, -3}, "int32 0 -1 2 -3"},
		{"u1", []uint8{0, 1, 200, 3}, "int32 0 1 200 3"},
		{"b1", []bool{false, true, false, true}, "int32 0 1 0 1"},
		{"i2", []int16{0, -1, 2, -3000}, "int16 0 -1 2 -3000"},
		{"i2", []int16{0, -30000, 2, -3}, "int32 0 -30000 2 -3"},
		{"u2", []uint16{0, 1, 65535, 3}, "int32 0 1 65535 3"},
		{"i4", []int32{0, -1, 2, -3}, "int32 0 -1 2 -3"},
		{"i4", []int32{0, -1, 2, math.MaxInt32}, "int64 0 -1 2 2147483647"},
		{"u4", []uint32{0, 1, 4e9, 3}, "int64 0 1 4000000000 3"},
		{"u4", []uint32{0, 1, 4, 3}, "int32 0 1 4 3"},
		{"i8", []int64{0, -1, 2, -3}, "int32 0 -1 2 -3"},
		{"i8", []int64{0, -1, 1 << 40, -3}, "int64 0 -1 1099511627776 -3"},
		{"u8", []uint64{0, 1, 1 << 40, 3}, "int64 0 1 1099511627776 3"},
		{"f2", []uint16{0, 0x3c00, 0xc000, 0x3555}, "float32 0 1 -2 0.33325195"},
		{"f2", []uint16{0, 0x0001, 0x7bff, 0xfc00}, "float32 0 5.9604645e-08 65504 -inf"},
		{"f4", []float32{0, 1.5, -2.25, float32(math.Inf(-1))}, "float32 0 1.5 -2.25 -inf"},
		{"f8", []float64{0, 1.5, -2.25, 1e300}, "float64 0 1.5 -2.25 1e+300"},
	}
	for _, test := range tests {
		for version := byte(1); version <= 3; version++ {
			for mark, order := range map[string]binary.ByteOrder{"<": binary.LittleEndian, ">": binary.BigEndian} {
				data := NPYFile(version, Dict(mark+test.word, "(4,)"), test.values, order)
				for _, size := range []int64{int64(len(data)), -1} {
					inst, err := ReadFrom(bytes.NewReader(data), size, "a.npy", ReadOptions{})
					if err != nil {
						t.Errorf("%s%s version %d: %v", mark, test.word, version, err)
					} else if got := shown(inst); got != test.want {
						t.Errorf("%s%s version %d:\n got %s\nwant %s", mark, test.word, version, got, test.want)
					}
				}
			}
		}
	}
}

func TestReadNPYErrors(t *testing.T) {
	four := []int32{0, 1, 2, 3}
	little := binary.LittleEndian
	tests := []struct {
		data []byte
		want string
	}{
		{NPYFile(1, Dict("<i4", "(1152921504606846976,)"), four, little), "found 2^60 values: expected at most 2^40"},
		{NPYFile(1, Dict("<i4", "(1099511627776,)"), four, little), "found 16 bytes after the header, expected 4398046511104: 2^40 values"},
		{NPYFile(1, Dict("<i4", "(99999999999999999999999,)"), four, little), "expected a length"},
		{NPYFile(1, Dict("<i4", "(3,)"), four[:3], little), "found 3 values: expected a power of two"},
		{NPYFile(1, Dict("<i4", "(0,)"), four[:0], little), "found 0 values"},
		{NPYFile(1, Dict("<i4", "(2,)"), four, little), "found bytes after the last value, expected the end of the file"},
		{NPYFile(1, Dict("<i4", "(2, 2)"), four, little), "found an array of 2 dimensions"},
		{NPYFile(1, Dict("<i4", "()"), four[:1], little), "found an array of 0 dimensions"},
		{NPYFile(1, Dict("<c8", "(4,)"), four, little), `found type "<c8"`},
		{NPYFile(1, Dict("", "(4,)"), four, little), `found type ""`},
		{NPYFile(1, "{'descr': [('a', '<i4')], 'shape': (4,)}", four, little), "expected one numeric type in quotes"},
		{NPYFile(1, "{'shape': (4,)}", four, little), "expected both descr and shape"},
		{NPYFile(1, "{'descr': '<i4', 'shape': (4,), 'colour': 'red'}", four, little), "expected descr, fortran_order or shape"},
		{NPYFile(9, Dict("<i4", "(4,)"), four, little), "found version 9.0"},
		{NPYFile(1, Dict("<u8", "(2,)"), []uint64{0, 1 << 63}, little), "coalition 1 {1}: found a value outside"},
		{NPYFile(1, Dict("<f8", "(4,)"), []float64{0, 1, math.NaN(), 1}, little), "byte 87: coalition 2 {2}: found NaN, expected a number"},
		{NPYFile(1, Dict("<f8", "(4,)"), []float64{0, 1, 1, math.Inf(1)}, little), "coalition 3 {1, 2}: found +Inf"},
		{append([]byte(npy.Magic), 2, 0, 255, 255, 255, 255), "found a header of 4294967295 bytes"},
		{[]byte(npy.Magic), "expected \"\\x93NUMPY\" and a version"},
	}
	for _, test := range tests {
		_, err := ReadFrom(bytes.NewReader(test.data), int64(len(test.data)), "a.npy", ReadOptions{})
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "a.npy: ") {
			t.Errorf("got %v\nwant %s", err, test.want)
		}
	}
	if _, err := ReadFrom(strings.NewReader("hello, there"), 12, "a.npy", ReadOptions{}); err == nil {
		t.Error("a text file called .npy has no error")
	}
	// Of unknown size, memory grows with what arrives: 2^31 values are not there.
	data := NPYFile(1, Dict("<i4", "(2147483648,)"), four, little)
	_, err := ReadFrom(bytes.NewReader(data), -1, "a.npy", ReadOptions{})
	if err == nil || !strings.Contains(err.Error(), "found 4 values, expected 2^31: the file is truncated") {
		t.Errorf("a short stream: %v", err)
	}
}

func TestWriteNPY(t *testing.T) {
	for _, as := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		for n := range 4 {
			inst, err := draw.GenerateAs("normal", n, 2, as)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := WriteNPY(&b, inst); err != nil {
				t.Fatal(err)
			}
			if header := b.Len() - len(inst.Bytes()); header%64 != 0 {
				t.Errorf("%s: a header of %d bytes, want a multiple of 64", as, header)
			}
			got, err := ReadFrom(&b, int64(b.Len()), "a.npy", ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for mask := range inst.Len() {
				if got.ValueDecimals(mask) != inst.ValueDecimals(mask) {
					t.Errorf("%s: coalition %d became %s, was %s", as, mask, got.ValueDecimals(mask), inst.ValueDecimals(mask))
				}
			}
		}
	}
}
