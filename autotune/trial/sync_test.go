package trial

import (
	"errors"
	"slices"
	"testing"
)

// A disk notes what is asked of it.
type disk struct {
	calls []string
	full  error // of Sync
}

func (d *disk) Write(b []byte) (int, error) {
	d.calls = append(d.calls, "write")
	return len(b), nil
}

func (d *disk) Sync() error {
	d.calls = append(d.calls, "sync")
	return d.full
}

func (d *disk) Close() error { return nil }

// A trial is on the disk when Append returns, each for itself, and Append says where it
// could not be brought there: a power cut takes no trial that was told of.
func TestAppendWaitsForTheDisk(t *testing.T) {
	d := &disk{}
	f := File{d}
	for range 2 {
		if err := f.Append(&Trial{}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"write", "sync", "write", "sync"}; !slices.Equal(d.calls, want) {
		t.Errorf("calls %v, expected %v", d.calls, want)
	}
	d.full = errors.New("disk full")
	if err := f.Append(&Trial{}); !errors.Is(err, d.full) {
		t.Errorf("Append: %v, expected the disk's error", err)
	}
}
