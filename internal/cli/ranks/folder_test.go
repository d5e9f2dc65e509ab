package ranks

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An answer that its folder does not take, since another program removed the folder, goes to standard output, and no further
// instance is solved.
func TestFolderVanishes(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "results")
	var out bytes.Buffer
	job := Job{Folder: Folder(folder), Out: bufio.NewWriter(&out), Talk: io.Discard, Lines: true}
	solved := 0
	err := job.Run(t.Context(), []string{"a", "b", "c"}, func(path string) Outcome {
		if solved++; solved == 2 {
			if err := os.RemoveAll(folder); err != nil {
				t.Error(err)
			}
		}
		return Outcome{Text: []byte("answer of " + path + "\n")}
	}, func(string, int) {})
	if err == nil || solved != 2 || out.String() != "answer of b\n" {
		t.Errorf("%d solved, %v, standard output %q, expected the answer of b there", solved, err, out.String())
	}
	for _, want := range []string{"1 of 3 files were not solved", "the answer of b is on standard output: write " + filepath.Join(folder, "b.json")} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}
