package device

// A Value is a type of numbers that instances hold and kernels read. The words
// are those of go.generate's parameter `value`.
type Value string

// The types that kernels exist for.
const (
	Int16   Value = "int16"
	Int32   Value = "int32"
	Int64   Value = "int64"
	Float32 Value = "float32"
	Float64 Value = "float64"
)

// Size is the number of bytes of one number, 0 for an unknown type.
func (v Value) Size() int {
	switch v {
	case Int16:
		return 2
	case Int32, Float32:
		return 4
	case Int64, Float64:
		return 8
	}
	return 0
}

// Integer reports whether numbers of the type are integers, so that sums are exact.
func (v Value) Integer() bool { return v == Int16 || v == Int32 || v == Int64 }

// A Number is the Go side of a Value.
type Number interface {
	int16 | int32 | int64 | float32 | float64
}
