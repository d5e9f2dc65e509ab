package checkpoint

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coalesce/solvers/csg/problem"
)

var id = Identity{Agents: 4, Type: problem.Int32, Values: Digest([]byte("values"))}

// written is a checkpoint of levels 0 to 2 of tiles of 2 bits, level 1 in two records.
func written(t *testing.T) (path string, ends []int64) {
	path = filepath.Join(t.TempDir(), "run.checkpoint")
	c, err := Create(path, id)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		Record
		last bool
	}{{Record{2, 0, 0, 1}, true}, {Record{2, 1, 0, 1}, false}, {Record{2, 1, 1, 1}, true}, {Record{2, 2, 0, 1}, true}} {
		if err := c.Append(r.Record, bytes.Repeat([]byte{byte(10*r.Level) + byte(r.First)}, 16), r.last); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, info.Size())
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return path, ends
}

// Cut off at any byte, also of the head, a checkpoint has its whole levels, and can be appended to.
func TestCutAnywhere(t *testing.T) {
	path, ends := written(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := range len(whole) {
		if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Open(path, id, func(Record, []byte) error { return nil })
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		levels := 0
		for _, level := range []int64{ends[0], ends[2]} {
			if int64(size) >= level {
				levels++
			}
		}
		again := [][]Record{{{2, 0, 0, 1}, {2, 1, 0, 2}, {2, 2, 0, 1}}, {{2, 1, 0, 2}, {2, 2, 0, 1}}, {{2, 2, 0, 1}}}[levels]
		for _, r := range again {
			if err := c.Append(r, make([]byte, 16*r.Count), true); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		var seen []int
		c, err = Open(path, id, func(r Record, _ []byte) error { seen = append(seen, r.Level); return nil })
		if err != nil {
			t.Fatalf("%d bytes, and the rest appended: %v", size, err)
		}
		if seen[0] != 0 || seen[len(seen)-1] != 2 {
			t.Fatalf("%d bytes, and the rest appended: found levels %v", size, seen)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Any byte that is altered is noticed, or takes the levels from there on with it.
func TestAlteredAnywhere(t *testing.T) {
	path, _ := written(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		bad := bytes.Clone(whole)
		bad[at] ^= 0x40
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Open(path, id, func(r Record, payload []byte) error {
			if want := bytes.Repeat([]byte{byte(10*r.Level) + byte(r.First)}, 16); !bytes.Equal(payload, want) {
				t.Fatalf("byte %d altered: found the payload %v", at, payload)
			}
			return nil
		})
		if err == nil {
			c.Close()
			t.Fatalf("byte %d altered: no error", at)
		}
		if !errors.Is(err, ErrRefused) {
			t.Fatalf("byte %d altered: found %v", at, err)
		}
	}
}

func TestRefused(t *testing.T) {
	path, _ := written(t)
	if _, err := Create(path, id); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("a file that is there: found %v", err)
	}
	for _, c := range []struct {
		want string
		id   Identity
	}{
		{"found 5 agents of type int32, expected 6 of type int32", Identity{5, id.Type, id.Values}},
		{"expected 5 of type float32", Identity{4, problem.Float32, id.Values}},
		{"another instance", Identity{4, id.Type, Digest(nil)}},
	} {
		if _, err := Open(path, c.id, nil); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("found %v, expected %q", err, c.want)
		}
	}
	short := []byte("notes")
	if err := os.WriteFile(path, short, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, id, nil); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "found no head of a checkpoint") {
		t.Errorf("a short file that is no checkpoint: found %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(short) {
		t.Errorf("a short file that is no checkpoint was changed to %q, %v", now, err)
	}
	if _, err := Create(filepath.Join(t.TempDir(), "x"), Identity{40, problem.Float64, id.Values}); err == nil {
		t.Skip("the system does not tell the disk's room, or has 8 TiB")
	} else if !strings.Contains(err.Error(), "room") {
		t.Errorf("8 TiB: found %v", err)
	}
}
