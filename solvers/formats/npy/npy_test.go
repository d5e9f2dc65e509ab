package npy

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"coalesce/solvers/formats"
)

func TestWriteAndRead(t *testing.T) {
	for _, c := range []struct {
		shape []int
		text  string
	}{{[]int{6}, "(6,)"}, {[]int{2, 3}, "(2, 3)"}, {nil, "()"}} {
		var b bytes.Buffer
		if err := Write(&b, "<u2", c.shape, []byte{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 255, 255}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "'shape': "+c.text) || (b.Len()-12)%64 != 0 {
			t.Errorf("%v: wrote %q", c.shape, b.String())
		}
		h, err := ReadHeader(&b)
		if err != nil || len(h.Shape) != len(c.shape) || h.Fortran || h.Length%64 != 0 {
			t.Errorf("%v: found %+v, %v", c.shape, h, err)
		}
		k, err := h.Kind()
		if err != nil || k.Size != 2 || k.Held != 4 || k.Native {
			t.Errorf("found %+v, %v", k, err)
		}
		values, err := k.Read(&b, 6, c.shape == nil)
		if want := []int32{1, 2, 3, 4, 5, 65535}; err != nil || !reflect.DeepEqual(values, want) {
			t.Errorf("found %v, %v", values, err)
		}
	}
}

func TestFortran(t *testing.T) {
	h, err := parseHeader("{'descr': '>f8', 'fortran_order': True, 'shape': (2, 3L), }")
	if err != nil || !h.Fortran || fmt.Sprint(h.Shape) != "[2 3]" {
		t.Errorf("found %+v, %v", h, err)
	}
	if k, err := h.Kind(); err != nil || k.Native || k.Held != 8 {
		t.Errorf("found %+v, %v", k, err)
	}
}

func TestErrors(t *testing.T) {
	read := func(descr string, bytesOf string, count uint64, known bool) error {
		k, err := Header{Descr: descr}.Kind()
		if err != nil {
			return err
		}
		_, err = k.Read(strings.NewReader(bytesOf), count, known)
		return err
	}
	var short *ShortError
	for _, known := range []bool{true, false} {
		for _, descr := range []string{"<i4", ">i4"} {
			if err := read(descr, "123456789", 4, known); !errors.As(err, &short) || short.Got != 2 {
				t.Errorf("%s: found %v", descr, err)
			}
		}
	}
	var outside *RangeError
	if err := read("|b1", "\x00\x01\x02", 3, true); !errors.As(err, &outside) || outside.Index != 2 {
		t.Errorf("found %v", err)
	}
	if err := read("<u8", "\x00\x00\x00\x00\x00\x00\x00\x80", 1, true); !errors.As(err, &outside) || outside.Index != 0 {
		t.Errorf("found %v", err)
	}
	for _, descr := range []string{"", "<", "<c8", "i", "<i16"} {
		if err := read(descr, "", 0, true); err == nil {
			t.Errorf("%q: no error", descr)
		}
	}
}

func TestReadArray(t *testing.T) {
	var file bytes.Buffer
	if err := Write(&file, "<u2", []int{2, 3}, []byte{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 255, 255}); err != nil {
		t.Fatal(err)
	}
	check := func(h Header) (uint64, string, error) {
		if len(h.Shape) != 2 {
			return 0, "", errors.New("not two dimensions")
		}
		return h.Shape[0] * h.Shape[1], fmt.Sprintf("%d x %d", h.Shape[0], h.Shape[1]), nil
	}
	whole := file.Bytes()
	for _, c := range []struct {
		data  []byte
		size  int64
		limit int64
		want  string
	}{
		{whole, int64(len(whole)), 0, "[1 2 3 4 5 65535]"},
		{whole, -1, 24, "[1 2 3 4 5 65535]"},
		{whole, -1, 23, "2 x 3 values of type <u2 take 24 B, more than the limit of 23 B"},
		{whole[:len(whole)-3], -1, 0, "found 4 values, expected 2 x 3: the file is truncated: unexpected EOF"},
		{whole[:len(whole)-3], int64(len(whole) - 3), 0, "found 9 bytes after the header, expected 12: 2 x 3 values of type <u2"},
		{append(bytes.Clone(whole), 0), -1, 0, "found bytes after the last value, expected the end of the file"},
		{append(bytes.Clone(whole), 0), int64(len(whole) + 1), 0, "found bytes after the last value, expected the end of the file"},
		{whole[:9], -1, 0, "npy header: found the end of the file"},
	} {
		r := bytes.NewReader(c.data)
		a, err := ReadArray(r, c.size, formats.NewBudget(c.limit), check)
		if err == nil {
			err = ExpectEnd(r)
		}
		got := fmt.Sprint(a.Values)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%d bytes, size %d, limit %d:\n got %s\nwant %s", len(c.data), c.size, c.limit, got, c.want)
		}
	}
	big := Header{Descr: "<f8"}
	if err := big.CheckSize(-1, Kind{Size: 8}, 1<<60, "2^60 values"); err == nil || !strings.Contains(err.Error(), "expected at most 2^62 bytes") {
		t.Error(err)
	}
}

func FuzzReadArray(f *testing.F) {
	for _, descr := range []string{"<i4", ">f8", "|b1", "<f2"} {
		var file bytes.Buffer
		if err := Write(&file, descr, []int{2}, make([]byte, 16)); err != nil {
			f.Fatal(err)
		}
		f.Add(file.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ReadArray(bytes.NewReader(data), -1, formats.NewBudget(1<<16), func(h Header) (uint64, string, error) {
			count := uint64(1)
			for _, d := range h.Shape {
				if d > 1<<20 {
					return 0, "", errors.New("too long")
				}
				if count *= d; count > 1<<20 {
					return 0, "", errors.New("too large")
				}
			}
			return count, "some", nil
		})
		if err == nil && uint64(reflect.ValueOf(a.Values).Len()) > 1<<14 {
			t.Errorf("%d values in 64 KiB", reflect.ValueOf(a.Values).Len())
		}
	})
}
