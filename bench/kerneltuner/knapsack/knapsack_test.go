package main

import (
	"testing"

	"coalesce/autotune/kernel/kerneltest"
)

func TestVariants(t *testing.T) { kerneltest.Run(t, passes) }
