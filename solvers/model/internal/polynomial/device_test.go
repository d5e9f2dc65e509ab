package polynomial

import (
	"testing"

	"coalesce/autotune/kernel/kerneltest"
)

// Variants are followed by the host, step by step.
func TestVariants(t *testing.T) { kerneltest.Run(t, Subjects()...) }
