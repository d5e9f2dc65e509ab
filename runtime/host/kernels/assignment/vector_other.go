//go:build !amd64

package assignment

func hasVectors() bool { return false }

// Vector is rest on this architecture, of which no vector registers are known.
func Vector[T Value](rest Filter[T]) Filter[T] { return rest }

func lowerVector[T Value](c []T, v []int64, scale float64, u int64) int { return 0 }
