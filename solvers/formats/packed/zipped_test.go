package packed

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coalesce/solvers/formats/npy"
)

// archive is a zip archive of files, each of whose texts is its name in capitals.
func archive(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			continue
		}
		if _, err := io.WriteString(w, strings.ToUpper(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The one file of an archive is read, from a stream and from a file; an archive of several is named.
func TestZipped(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  string // the file, or the error
	}{
		{[]string{"cost.csv"}, "cost.csv"},
		{[]string{"folder/", "folder/cost.csv", "__MACOSX/._cost.csv"}, "folder/cost.csv"},
		{[]string{"a.npy", "b.npy"}, "found a .npz archive of 2 arrays (a, b), expected one file"},
		{[]string{"a.csv", "b.npy"}, `found a zip archive of 2 files ("a.csv, b.npy"), expected one file`},
		{[]string{"[Content_Types].xml", "xl/workbook.xml"}, "found an Excel workbook (.xlsx), expected one file"},
		{[]string{"[Content_Types].xml", "word/document.xml"}, "found a Word document (.docx)"},
		{[]string{"mimetype", "content.xml"}, "found an OpenDocument file"},
		{[]string{"archive/data.pkl", "archive/data/0"}, "found a file of PyTorch"},
		{nil, "found a zip archive of 0 files"},
	} {
		data := archive(t, c.files...)
		path := filepath.Join(t.TempDir(), "a.zip")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for k, open := range []func() (*Stream, error){
			func() (*Stream, error) { return OpenFile(path, 0) },
			func() (*Stream, error) { return OpenLimited(bytes.NewReader(data), -1, path, 0) },
		} {
			s, err := open()
			if err != nil {
				if !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path) {
					t.Errorf("%v, %d: %v", c.files, k, err)
				}
				continue
			}
			text, err := io.ReadAll(s)
			if err != nil || string(text) != strings.ToUpper(c.want) || s.Name != filepath.Base(c.want) {
				t.Errorf("%v, %d: found %q of %s, %v", c.files, k, text, s.Name, err)
			}
			s.Close()
		}
	}
	whole := archive(t, "a.csv")
	for at := range len(whole) {
		if _, s, err := readAll(whole[:at], "a"); err == nil && s != nil && at > 4 {
			t.Errorf("%d of %d bytes: no error", at, len(whole))
		}
	}
	if s, err := OpenLimited(bytes.NewReader(whole), -1, "a", 3); err != nil {
		t.Error(err)
	} else if _, err := io.ReadAll(s); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a limit of 3 bytes: %v", err)
	}
}

// A sparse matrix of SciPy is its Matrix Market file; damaged ones are named.
func TestSparse(t *testing.T) {
	i4 := func(list ...int32) []byte {
		b, _ := binary.Append(nil, binary.LittleEndian, list)
		return b
	}
	type array struct {
		name, descr string
		shape       []int
		values      []byte
	}
	one := func(name, descr string, count int, values []byte) array {
		return array{name, descr, []int{count}, values}
	}
	format := func(text string) array { return array{"format", "|S3", []int{}, []byte(text)} }
	shape := one("shape", "<i4", 2, i4(2, 3))
	data := one("data", "<i4", 3, i4(7, -5, 9))
	starts, indices := one("indptr", "<i4", 3, i4(0, 1, 3)), one("indices", "<i4", 3, i4(2, 0, 1))
	want := "%%MatrixMarket matrix coordinate integer general\n2 3 3\n1 3 7\n2 1 -5\n2 2 9\n"
	for _, c := range []struct {
		arrays []array
		want   string
	}{
		{[]array{format("csr"), shape, data, starts, indices}, want},
		{[]array{format("csr"), shape, data, starts, indices, {"_is_array", "|b1", []int{}, []byte{1}}}, want},
		{[]array{format("csc"), one("shape", "<i4", 2, i4(3, 2)), data, starts, indices}, "%%MatrixMarket matrix coordinate integer general\n3 2 3\n3 1 7\n1 2 -5\n2 2 9\n"},
		{[]array{format("coo"), shape, data, one("row", "<i4", 3, i4(0, 1, 1)), one("col", "<i4", 3, i4(2, 0, 1))}, want},
		{[]array{format("bsr"), shape, data, starts, indices}, "another format"},
		{[]array{format("csr"), shape, data, one("indptr", "<i4", 3, i4(0, 4, 3)), indices}, "falls"},
		{[]array{format("csr"), one("shape", "<i4", 2, i4(3, 3)), data, starts, indices}, "indptr"},
		{[]array{format("csr"), shape, one("data", "<i4", 2, i4(1, 2)), starts, indices}, "2 values"},
	} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, a := range c.arrays {
			w, _ := z.Create(a.name + ".npy") // a buffer takes all
			if err := npy.Write(w, a.descr, a.shape, a.values); err != nil {
				t.Fatal(err)
			}
		}
		z.Close()
		s, err := OpenLimited(bytes.NewReader(b.Bytes()), -1, "a.npz", 0)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, expected %q", err, c.want)
			}
			continue
		}
		if text, err := io.ReadAll(s); err != nil || string(text) != c.want || s.Name != "matrix.mtx" {
			t.Errorf("found %q of %s, %v, expected %q", text, s.Name, err, c.want)
		}
		s.Close()
	}
}
