package npy

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
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
