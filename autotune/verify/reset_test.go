package verify_test

import (
	"errors"
	"testing"

	"coalesce/autotune/internal/fake"
	"coalesce/autotune/verify"
	"coalesce/runtime/device"
)

// A kernel that writes nothing in its second run is found, because outputs are poisoned
// before each run.
func TestSkippedWriteIsFound(t *testing.T) {
	sub := &fake.Subject{Plants: []string{"skipped"}}
	d := &fake.Device{F: device.Facts{Kind: device.Host}}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	var wrong *verify.Failure
	if _, err := verify.Variant(t.Context(), d, s, sub, &sub.Family().Variants[0], 0); !errors.As(err, &wrong) || wrong.Run != 2 {
		t.Errorf("error %v, want a wrong answer of run 2", err)
	}
}
