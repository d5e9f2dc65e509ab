// Command libcoalesce is the library behind the Python package: the public solvers
// below the C interface that coalesce.h describes, to be built with
// -buildmode=c-shared. shim.c holds the C functions, the other files what they call:
// job.go runs solves that are waited for, numbers.go reads arrays, and each problem has
// a file.
package main

/*
#include "shim.h"
*/
import "C"

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"
	"unsafe"

	"coalesce/runtime/device"
	"coalesce/runtime/devices"
	assignmentproblem "coalesce/solvers/assignment/problem"
	"coalesce/solvers/auction"
	auctionproblem "coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
	csgproblem "coalesce/solvers/csg/problem"
	quboproblem "coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

func main() { runtime.KeepAlive(slack) }

// slack is memory that is never touched. The garbage collector runs after as much new memory as there was at its last run, with this after
// 16 MB at least: of 4, the least else, it takes a third of the time of small jobs.
var slack = make([]byte, 16<<20)

// errInvalid is wrapped by the errors of arguments that cannot be used.
var errInvalid = errors.New("invalid argument")

// codeOf is the code of an error; nil is OK. An answer that a check refuted comes first: it is ours,
// whatever else is said of it. What no sentinel tells is taken for ours too.
func codeOf(err error) C.int32_t {
	kinds := []struct {
		code C.int32_t
		of   []error
	}{
		{C.COALESCE_INTERNAL, []error{csgproblem.ErrCheck, assignmentproblem.ErrCheck, quboproblem.ErrCheck, device.ErrLost}},
		{C.COALESCE_INFEASIBLE, []error{solve.ErrInfeasible}},
		{C.COALESCE_COST, []error{assignmentproblem.ErrCost, csgproblem.ErrValue, quboproblem.ErrCoefficient}},
		{C.COALESCE_CANCELLED, []error{context.Canceled, context.DeadlineExceeded, auction.ErrUnsold}},
		{C.COALESCE_MEMORY, []error{device.ErrMemory}},
		{C.COALESCE_INVALID, []error{errInvalid, solve.ErrInput, csg.ErrCheckpoint, auctionproblem.ErrSize, auctionproblem.ErrItems}},
	}
	if err == nil {
		return C.COALESCE_OK
	}
	for _, k := range kinds {
		if slices.ContainsFunc(k.of, func(kind error) bool { return errors.Is(err, kind) }) {
			return k.code
		}
	}
	var file *fs.PathError
	if errors.As(err, &file) { // a checkpoint that is there, or a folder that is not
		return C.COALESCE_INVALID
	}
	return C.COALESCE_INTERNAL
}

// recoverPanic runs work and returns a panic as an error.
func recoverPanic(work func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return work()
}

// A processor is the host's device with cached facts: reading the free memory takes longer than a
// small solve.
type processor struct {
	device.Device
	mu    sync.Mutex
	facts device.Facts
	read  time.Time
}

// Facts are at most a second old.
func (p *processor) Facts() device.Facts {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.read) > time.Second {
		p.facts, p.read = p.Device.Facts(), now
	}
	return p.facts
}

// Devices are opened when they are first used, and stay open with the kernels that were
// loaded: index -1 is the host, of so many threads, or of all cores where these are 0.
var (
	openedMu sync.Mutex
	opened   = map[[2]int]device.Device{}
)

func openDevice(index, threads int) (device.Device, error) {
	openedMu.Lock()
	defer openedMu.Unlock()
	key := [2]int{index, threads}
	if d := opened[key]; d != nil {
		return d, nil
	}
	name := device.Host
	if index != C.COALESCE_HOST {
		name = fmt.Sprintf("%s:%d", device.CUDA, index)
		switch n, err := countGPUs(); {
		case err != nil:
			return nil, fmt.Errorf("%w: device %s: %w", errInvalid, name, err)
		case index < 0 || index >= n:
			return nil, fmt.Errorf("%w: device %s: found %d GPUs", errInvalid, name, n)
		}
	}
	found, err := devices.Open(name, devices.Options{Threads: threads})
	if err != nil {
		return nil, err
	}
	var d device.Device = device.Cache(found[0])
	if index == C.COALESCE_HOST {
		d = &processor{Device: d}
	}
	opened[key] = d
	return d, nil
}

// countGPUs is how many GPUs there are; none in a build without CUDA.
func countGPUs() (int, error) {
	if k := devices.Kinds().Kind(device.CUDA); k != nil {
		return k.Count()
	}
	return 0, nil
}

// solveSettings are those of all solvers.
func solveSettings(index C.int32_t, seconds C.double, algorithm *C.char) (solve.Settings, error) {
	var s solve.Settings
	limit := float64(seconds)
	if math.IsNaN(limit) || limit < 0 || limit > math.MaxInt64/float64(time.Second)/2 {
		return s, fmt.Errorf("%w: time limit: found %v seconds, expected 0 or more", errInvalid, limit)
	}
	d, err := openDevice(int(index), 0)
	s.Devices, s.Tuning = []device.Device{d}, userWinners()
	s.TimeLimit = time.Duration(limit * float64(time.Second))
	if limit > 0 {
		s.TimeLimit = max(s.TimeLimit, 1)
	}
	if algorithm != nil {
		if s.Algorithm = C.GoString(algorithm); s.Algorithm == "" {
			return s, argumentError("algorithm: found no letters, expected a name, or none at all")
		}
	}
	return s, err
}

// progressCallback returns a function that passes incumbents to a C function. Where that returns another
// number than 0 the solve ends.
func progressCallback(f C.coalesce_progress, user unsafe.Pointer, stop func()) func(solve.Incumbent) {
	if f == nil {
		return nil
	}
	return func(i solve.Incumbent) {
		if C.coalesce_tell(f, user, C.double(i.Seconds), C.double(i.Value.Float()), C.double(i.Bound.Float()), C.double(i.Share)) != 0 {
			stop()
		}
	}
}

// checkSize compares the size of a struct that the caller passed with this library's.
func checkSize(found C.uint32_t, expected uintptr) error {
	if uintptr(found) < expected {
		return fmt.Errorf("%w: a struct of %d bytes: expected %d, as this version's header has", errInvalid, found, expected)
	}
	return nil
}

// copyText copies text to a buffer of C, as far as there is room, and returns its length.
func copyText(text []byte, buffer *C.char, size C.int64_t) C.int64_t {
	if buffer != nil && size > 0 {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(buffer)), size), text)
	}
	return C.int64_t(len(text))
}

//export goDevices
func goDevices(buffer *C.char, size C.int64_t) C.int64_t {
	var text []byte
	err := recoverPanic(func() error {
		found := []device.Facts{}
		n, err := countGPUs()
		if err != nil {
			n = 0 // no driver: no GPUs
		}
		for index := C.COALESCE_HOST; index < n; index++ {
			d, err := openDevice(index, 0)
			if err != nil {
				return err
			}
			found = append(found, d.Facts())
		}
		text, err = json.Marshal(found)
		return err
	})
	if err != nil {
		return -C.int64_t(codeOf(err))
	}
	return copyText(text, buffer, size)
}

// errorLine is an error's text in one line, bounded.
func errorLine(err error) []byte {
	const limit = 4000
	text := bytes.ReplaceAll([]byte(err.Error()), []byte("\n"), []byte("; "))
	return text[:min(len(text), limit)]
}
