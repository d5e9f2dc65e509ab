package main

import (
	"testing"

	"coalesce/autotune/kernel/kerneltest"
)

// Every variant that the test samples answers as the reference does, and writes nothing past a buffer's end.
func TestVariants(t *testing.T) { kerneltest.Run(t, heated) }
