package formats

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"coalesce/runtime/device"
)

// A Budget is the memory that reading may take, in bytes. A reader takes bytes from the budget
// before it allocates them, also when slices grow. A nil budget has no limit. Methods may be
// called from several goroutines.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget allows limit bytes; 0 allows any number.
func NewBudget(limit int64) *Budget {
	if limit <= 0 {
		return nil
	}
	return &Budget{limit: limit}
}

// arena is the number of bytes that Go's heap maps at a time.
const arena = 64 << 20

// Reserve takes bytes, or none and returns a MemoryError.
func (b *Budget) Reserve(bytes int64) error {
	if b == nil {
		return nil
	}
	for {
		used := b.used.Load()
		if bytes < 0 || bytes > b.limit-used {
			return &MemoryError{bytes, used, b.limit}
		}
		if b.used.CompareAndSwap(used, used+bytes) {
			return nil
		}
	}
}

// CheckFits reports whether the budget has rows times columns items of so many bytes each. It is false
// where the product exceeds 64 bits.
func (b *Budget) CheckFits(rows, columns uint64, size int) error {
	need := float64(rows) * float64(columns) * float64(size)
	switch {
	case b != nil && need > float64(b.Remaining()):
		return &MemoryError{most(need), b.used.Load(), b.limit}
	case need > 1<<62:
		return &MemoryError{most(need), 0, 1<<62 - 1}
	}
	return nil
}

// Release gives bytes back.
func (b *Budget) Release(bytes int64) {
	if b != nil {
		b.used.Add(-bytes)
	}
}

// Remaining is the number of bytes that may still be taken.
func (b *Budget) Remaining() int64 {
	if b == nil {
		return 1 << 62
	}
	return b.limit - b.used.Load()
}

// A MemoryError is a length that takes more memory than the limit leaves. Its
// text follows "take".
type MemoryError struct {
	Need  int64 // bytes asked for
	Used  int64 // bytes taken before
	Limit int64 // bytes that may be taken in all; 1: no memory is left
}

// MemoryShortage is the MemoryError of need bytes, where none were taken before.
func MemoryShortage(need float64, limit int64) *MemoryError {
	return &MemoryError{most(need), 0, limit}
}

// most is a number of bytes, or the largest that errors say.
func most(need float64) int64 { return int64(min(need, 1<<62)) }

// Error gives the bytes needed, the bytes left, and the limit that binds.
func (e *MemoryError) Error() string {
	need, left := device.FormatByteSizes(e.Need, e.Limit-e.Used)
	switch {
	case e.Limit-e.Used <= 1:
		return device.Size(e.Need) + ", and no memory is left"
	case e.Used == 0:
		return fmt.Sprintf("%s, more than the limit of %s", need, left)
	}
	return fmt.Sprintf("%s, more than the %s that are left of the limit of %s", need, left, device.Size(e.Limit))
}

// Grow makes room for more items behind those of a slice. It takes the memory of the new array from
// the budget, and gives that of the old array, which has to come from the budget too, back. Slices
// grow by half; where the budget has less, by the items that are needed and half of the rest. Before
// it allocates an array as large as an arena of Go's heap, Grow collects garbage: under a limit on
// the address space the addresses of earlier arrays are needed, and Go ends a program that has none
// left.
func Grow[T any](b *Budget, list []T, more int) ([]T, error) {
	need := len(list) + more
	if need <= cap(list) {
		return list, nil
	}
	var item T
	size := int64(unsafe.Sizeof(item))
	if int64(need) > 1<<62/max(1, size) {
		return list, &MemoryError{1 << 62, 0, 1<<62 - 1}
	}
	wide := max(need, cap(list)+cap(list)/2)
	if b.Reserve(int64(wide)*size) != nil {
		wide = need + int(max(0, b.Remaining()/size-int64(need))/2)
		if err := b.Reserve(int64(wide) * size); err != nil {
			return list, err
		}
	}
	if b != nil && int64(wide)*size >= arena {
		runtime.GC()
	}
	grown := make([]T, len(list), wide)
	copy(grown, list)
	b.Release(int64(cap(list)) * size)
	return grown, nil
}

// GrowAhead is Grow for need items, where so many more are likely to follow: it makes room for those too, unless they take
// more than a quarter of the remaining budget.
func GrowAhead[T any](b *Budget, list []T, need, follow int) ([]T, error) {
	var item T
	if len(list)+need <= cap(list) || int64(follow) > b.Remaining()/int64(4*max(1, unsafe.Sizeof(item))) {
		return Grow(b, list, need)
	}
	if grown, err := Grow(b, list, need+follow); err == nil {
		return grown, nil
	}
	return Grow(b, list, need)
}

// Append is append within a budget.
func Append[T any](b *Budget, list []T, items ...T) ([]T, error) {
	list, err := Grow(b, list, len(items))
	if err != nil {
		return list, err
	}
	return append(list, items...), nil
}
