//go:build cuda

package devices

import (
	"context"
	"fmt"

	"coalesce/runtime/bundle"
	"coalesce/runtime/device"
	"coalesce/runtime/driver"
)

// gpuKinds are the NVIDIA GPUs, running the images that the binary carries.
func gpuKinds() List {
	return List{{
		Name:  device.CUDA,
		Auto:  true,
		Count: driver.Count,
		Open: func(index int, o Options) (device.Device, error) {
			code, err := bundle.Open()
			if err != nil {
				return nil, err
			}
			if o.Points != nil {
				return driver.Open(index, o.Points.WithAdded(code), o.Say)
			}
			return driver.Open(index, code, o.Say)
		},
		Compiler: func(facts device.Facts, o Options) (Compile, error) {
			if o.Points == nil {
				return nil, nil
			}
			arch := fmt.Sprintf("%d%d", facts.Major, facts.Minor)
			return func(ctx context.Context, _ *device.Family, v *device.Variant) error {
				if !o.Points.Added(v.Hash) {
					return nil
				}
				_, _, err := o.Points.Compile(ctx, v.Hash, arch)
				return err
			}, nil
		},
	}}
}
