package packed

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
