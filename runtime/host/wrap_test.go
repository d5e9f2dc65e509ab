package host

import "testing"

// TestWrap lets a kernel's view of wrapped values be the values themselves.
func TestWrap(t *testing.T) {
	values := []int64{1, 2, 3}
	a := WrapSlice(values)
	seen := Slice[int64](a)
	if len(seen) != 3 || &seen[0] != &values[0] {
		t.Fatalf("a kernel sees %v", seen)
	}
	if len(Slice[int64](WrapSlice([]int64{}))) != 0 {
		t.Error("no values: a kernel sees some")
	}
	if err := a.Buffer.Free(); err != nil || values[2] != 3 {
		t.Errorf("free: %v, values %v", err, values)
	}
	if err := a.Buffer.Free(); err == nil {
		t.Error("freed twice without an error")
	}
}
