package main

/*
#include "shim.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"coalesce/autotune/tuned"
	"coalesce/internal/jobs"
	"coalesce/runtime/device"
	"coalesce/runtime/devices"
)

//export goStart
func goStart(problem, options *C.char, list *C.coalesce_array, count C.int32_t, tell C.coalesce_progress, user unsafe.Pointer, handle *C.int64_t) C.int32_t {
	job := jobs.Job{Problem: C.GoString(problem), Options: []byte(C.GoString(options)), Arrays: map[string]any{}}
	failed := recoverPanic(func() error { return gather(job.Arrays, list, count) })
	return startJob(handle, func(ctx context.Context, stop func()) ([]byte, error) {
		if failed != nil {
			return nil, failed
		}
		job.Progress = progressCallback(tell, user, stop)
		return jobs.Solve(ctx, jobs.Resources{Open: openNamed, Tuning: openTuning}, job)
	})
}

//export goSolve
func goSolve(problem, options *C.char, list *C.coalesce_array, count C.int32_t, code *C.int32_t, buffer *C.char, size C.int64_t) C.int64_t {
	var text []byte
	// On this thread: small solves wait for no other goroutine, and a hand-over takes longer than some of them.
	err := recoverPanic(func() (err error) {
		job := jobs.Job{Problem: C.GoString(problem), Options: []byte(C.GoString(options)), Arrays: map[string]any{}}
		if err = gather(job.Arrays, list, count); err == nil {
			text, err = jobs.Solve(context.Background(), jobs.Resources{Open: openNamed, Tuning: openTuning}, job)
		}
		return err
	})
	setItem(code, 0, codeOf(err))
	return copyText(answerText(text, err), buffer, size)
}

// gather adds arrays of C by their names.
func gather(to map[string]any, list *C.coalesce_array, count C.int32_t) error {
	if count < 0 || count > 0 && list == nil {
		return argumentError("%d arrays, or no list of them", count)
	}
	for k, a := range unsafe.Slice(list, count) {
		numbers, err := numbersOf(a)
		if err != nil {
			return fmt.Errorf("array %d: %w", k, err)
		}
		to[C.GoString(a.name)] = numbers
	}
	return nil
}

// numbersOf are the numbers of an array, in place where they are aligned.
func numbersOf(a C.coalesce_array) (any, error) {
	if a.name == nil || a.length < 0 || a.length > math.MaxInt64/8 || a.length > 0 && a.data == nil {
		return nil, argumentError("found %d numbers, or no name or data, expected all of them", a.length)
	}
	v := view{data: a.data, rows: 1, cols: int(a.length)}
	switch a._type {
	case C.COALESCE_UINT8:
		v.over = 1
		return viewSlice[uint8](v), nil
	case C.COALESCE_INT32:
		v.over = 4
		return viewSlice[int32](v), nil
	case C.COALESCE_INT64:
		v.over = 8
		return viewSlice[int64](v), nil
	case C.COALESCE_FLOAT32:
		v.over = 4
		return viewSlice[float32](v), nil
	case C.COALESCE_FLOAT64:
		v.over = 8
		return viewSlice[float64](v), nil
	}
	return nil, argumentError("found the type %d, expected uint8, int32, int64, float32 or float64", a._type)
}

// openNamed opens a device by its name; auto is the first GPU, or the host.
func openNamed(name string, threads int) (device.Device, error) {
	n, err := devices.Parse(name)
	switch {
	case name == "" || err == nil && n.Kind == devices.Auto:
		if count, err := countGPUs(); err == nil && count > 0 {
			return openDevice(0, 0)
		}
		return openDevice(C.COALESCE_HOST, threads)
	case err != nil || !n.IsSingle() || n.Kind != device.Host && n.Kind != device.CUDA:
		return nil, argumentError("device: found %.40q, expected auto, host, cuda or cuda:INDEX", name)
	case n.Kind == device.Host:
		return openDevice(C.COALESCE_HOST, threads)
	case threads > 0:
		return nil, argumentError("threads: found %d with the device %s, expected a number for the host alone", threads, name)
	}
	index := 0
	if len(n.Indices) > 0 {
		index = n.Indices[0]
	}
	return openDevice(index, 0)
}

// openTuning is what variants are chosen from: a file over what the library carries, or without a path what coalesce_tuned said.
func openTuning(path string) (*tuned.Database, error) {
	if path == "" {
		return userWinners(), nil
	}
	own, err := tuned.Load(path)
	if err != nil {
		return nil, errors.Join(errInvalid, err)
	}
	return own.Over(tuned.Shipped()), nil
}
