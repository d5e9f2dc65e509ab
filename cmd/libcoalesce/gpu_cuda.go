//go:build cuda

package main

import (
	"coalesce/runtime/bundle"
	"coalesce/runtime/device"
	"coalesce/runtime/driver"
)

func countGPUs() (int, error) { return driver.Count() }

func openGPU(index int) (device.Device, error) { return driver.Open(index, bundle.Image) }
