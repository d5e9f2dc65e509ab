package main

/*
#include "shim.h"
*/
import "C"

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A job is a solve that somebody waits for.
type job struct {
	cancel context.CancelFunc
	done   chan struct{} // closed at its end
	err    error         // the three of them: read after done
	text   []byte
}

var (
	runningMu sync.Mutex
	running   = map[int64]*job{}
	latest    int64
)

// startJob begins a job. work returns the text of its answer, which may stand beside an error.
func startJob(handle *C.int64_t, work func(ctx context.Context, stop func()) ([]byte, error)) C.int32_t {
	if handle == nil {
		return C.COALESCE_INVALID
	}
	ctx, cancel := context.WithCancel(context.Background())
	j := &job{cancel: cancel, done: make(chan struct{})}
	runningMu.Lock()
	latest++
	id := latest
	running[id] = j
	runningMu.Unlock()
	*handle = C.int64_t(id)
	go func() {
		defer close(j.done)
		defer cancel()
		j.err = recoverPanic(func() (err error) {
			j.text, err = work(ctx, cancel)
			return err
		})
		j.text = answerText(j.text, j.err)
	}()
	return C.COALESCE_OK
}

// answerText is the text of an answer, or of the error: an infeasible instance may have an answer, with the proof.
func answerText(text []byte, err error) []byte {
	if err != nil && (text == nil || codeOf(err) != C.COALESCE_INFEASIBLE) {
		return errorLine(err)
	}
	return text
}

func jobOf(handle C.int64_t) *job {
	runningMu.Lock()
	defer runningMu.Unlock()
	return running[int64(handle)]
}

//export goWait
func goWait(handle C.int64_t, milliseconds C.int32_t) C.int32_t {
	j := jobOf(handle)
	if j == nil {
		return C.COALESCE_INVALID
	}
	late := time.NewTimer(time.Duration(milliseconds) * time.Millisecond)
	defer late.Stop()
	select {
	case <-j.done:
		return codeOf(j.err)
	case <-late.C:
		return C.COALESCE_RUNNING
	}
}

//export goCancel
func goCancel(handle C.int64_t) C.int32_t {
	j := jobOf(handle)
	if j == nil {
		return C.COALESCE_INVALID
	}
	j.cancel()
	return C.COALESCE_OK
}

//export goText
func goText(handle C.int64_t, buffer *C.char, size C.int64_t) C.int64_t {
	j := jobOf(handle)
	if j == nil {
		return -1
	}
	select {
	case <-j.done:
		return copyText(j.text, buffer, size)
	default:
		return -1
	}
}

//export goClose
func goClose(handle C.int64_t) C.int32_t {
	j := jobOf(handle)
	if j == nil {
		return C.COALESCE_INVALID
	}
	j.cancel()
	<-j.done
	runningMu.Lock()
	delete(running, int64(handle))
	runningMu.Unlock()
	return C.COALESCE_OK
}

// argumentError is an error of an argument.
func argumentError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errInvalid, fmt.Sprintf(format, args...))
}

// runOnGoThread runs work on a goroutine that Go made. A goroutine that C called is bound to its thread, so
// that each wait for other goroutines would switch threads.
func runOnGoThread(work func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- recoverPanic(work) }()
	return done
}
