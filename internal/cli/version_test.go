package cli

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

func TestStamp(t *testing.T) {
	for _, c := range []struct {
		linked, revision, modified, main string
		commit, version                  string
	}{
		{"", "", "", "(devel)", "unknown", "devel"},
		{"", "abc", "false", "", "abc", "devel"},
		{"", "abc", "true", "v1.2.3", "abc-dirty", "v1.2.3"},
		{"def", "abc", "true", "v1.2.3", "def", "v1.2.3"},
	} {
		v := version{Version: "devel", Commit: "unknown"}
		info := &debug.BuildInfo{Main: debug.Module{Version: c.main}}
		if c.revision != "" {
			info.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: c.revision}, {Key: "vcs.modified", Value: c.modified}}
		}
		v.stamp(info, c.linked)
		if v.Commit != c.commit || v.Version != c.version {
			t.Errorf("%+v gives commit %s, version %s", c, v.Commit, v.Version)
		}
	}
}

// The hash is that of the file that is embedded.
func TestTuningHash(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "autotune", "tuned", "tuned.json"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := readVersion()
	if want := fmt.Sprintf("%x", sha256.Sum256(text))[:12]; err != nil || v.Tuning != want {
		t.Errorf("tuning data %s, %v; want %s", v.Tuning, err, want)
	}
}
