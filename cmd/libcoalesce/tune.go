package main

/*
#include "shim.h"
*/
import "C"

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unsafe"

	"coalesce/autotune"
	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/autotune/worker"
	"coalesce/internal/problems"
	"coalesce/runtime/device"
	"coalesce/solvers/solve"
)

// What variants are chosen by; nil until it is first asked for.
var (
	winnersMu sync.Mutex
	chosenBy  *tuned.Database
)

// userWinners returns the user's own winners, if there is a readable file of them, laid over those that
// the library carries.
func userWinners() *tuned.Database {
	winnersMu.Lock()
	defer winnersMu.Unlock()
	if chosenBy != nil {
		return chosenBy
	}
	chosenBy = tuned.Shipped()
	if dir, err := os.UserConfigDir(); err == nil {
		if own, err := tuned.Load(filepath.Join(dir, "coalesce", "tuned.json")); err == nil {
			chosenBy = own.Over(chosenBy)
		}
	}
	return chosenBy
}

// chooseBy has later solves choose by a file.
func chooseBy(path string) error {
	db := tuned.Shipped()
	if path != "" {
		own, err := tuned.Load(path)
		if err != nil {
			return argumentError("%v", err)
		}
		db = own.Over(db)
	}
	winnersMu.Lock()
	defer winnersMu.Unlock()
	chosenBy = db
	return nil
}

//export goTuned
func goTuned(path *C.char) C.int32_t {
	return codeOf(recoverPanic(func() error { return chooseBy(C.GoString(path)) }))
}

// subjects are the families of a problem, or of all where it is empty.
func subjects(problem string) ([]subject.Subject, error) {
	all := problems.List()
	if problem == "" {
		return all.Subjects(), nil
	}
	for _, p := range all {
		if p.Name == problem {
			return p.Subjects, nil
		}
	}
	return nil, argumentError("problem: found %.40q, expected %s", problem, all.Names())
}

//export goTuneWorker
func goTuneWorker(index C.int32_t) C.int32_t {
	return codeOf(recoverPanic(func() error {
		d, err := openDevice(int(index), 0)
		if err != nil {
			return err
		}
		list, err := subjects("")
		if err != nil {
			return err
		}
		return worker.Serve(context.Background(), d, list, os.Stdin, os.Stdout)
	}))
}

//export goStartTune
func goStartTune(p *C.coalesce_tune, handle *C.int64_t) C.int32_t {
	return startJob(handle, func(ctx context.Context, stop func()) ([]byte, error) {
		if p == nil {
			return nil, argumentError("no struct")
		}
		if err := checkSize(p.size, unsafe.Sizeof(*p)); err != nil {
			return nil, err
		}
		budget := float64(p.budget)
		if !(budget > 0) || budget > math.MaxInt32 || p.arguments < 1 || p.worker == nil || p.output == nil {
			return nil, argumentError("tune: expected a budget of some seconds, a worker and a file")
		}
		var args []string
		for _, arg := range unsafe.Slice(p.worker, p.arguments) {
			args = append(args, C.GoString(arg))
		}
		d, err := openDevice(int(p.device), 0)
		if err != nil {
			return nil, err
		}
		tasks, err := tasks(C.GoString(p.problem), C.GoString(p.family), d.Facts())
		if err != nil {
			return nil, err
		}
		o := autotune.Options{
			Worker: func() *exec.Cmd { return exec.Command(args[0], args[1:]...) },
			Facts:  d.Facts(), Budget: time.Duration(budget * float64(time.Second)), Seed: uint64(p.seed),
		}
		began, tell := time.Now(), progressCallback(p.progress, p.user, stop)
		o.Progress = func(e autotune.Event) {
			if tell != nil {
				now := time.Since(began).Seconds()
				tell(solve.Incumbent{Seconds: now, Value: solve.NumberOf(e.BestTime.Seconds()), Share: min(1, now/budget)})
			}
		}
		return tuneInto(ctx, C.GoString(p.output), tasks, o)
	})
}

// tasks are the families that run on a device, of a name where that is not empty.
func tasks(problem, family string, facts device.Facts) ([]autotune.Task, error) {
	list, err := subjects(problem)
	if err != nil {
		return nil, err
	}
	var tasks []autotune.Task
	var names []string
	for _, s := range list {
		f := s.Family()
		if !autotune.RunsOn(s, facts) {
			continue
		}
		names = append(names, f.Name)
		if family == "" || f.Name == family || strings.HasSuffix(f.Name, "/"+family) {
			tasks = append(tasks, autotune.Task{Subject: s})
		}
	}
	if len(tasks) == 0 {
		return nil, argumentError("tune: found the family %.40q on %s, expected one of %v", family, facts, names)
	}
	return tasks, nil
}

// tuneInto tunes, saves the winners in a file beside those that it has, and makes later solves
// choose by the file.
func tuneInto(ctx context.Context, path string, tasks []autotune.Task, o autotune.Options) ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, argumentError("%v", err)
	}
	old, err := tuned.Load(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, argumentError("%v", err)
	}
	known, err := tuned.Embedded()
	if err != nil {
		return nil, err
	}
	sums := []autotune.Summary{}
	o.Database, o.Known = old, known
	o.Keep = func(db *tuned.Database) error { return autotune.SaveWinners(path, db, sums) }
	db, failed := autotune.TuneAll(ctx, tasks, o, func(sum autotune.Summary, _ error) { sums = append(sums, sum) })
	if failed != nil && !errors.Is(failed, autotune.ErrWrongVariant) && !errors.Is(failed, autotune.ErrNoneRan) { // which the summaries tell
		return nil, failed
	}
	if db.Len() > 0 {
		if err := errors.Join(o.Keep(db), chooseBy(path)); err != nil {
			return nil, err
		}
	}
	return json.Marshal(sums)
}
