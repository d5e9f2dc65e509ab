package tuning

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"coalesce/autotune"
	"coalesce/autotune/subject"
	"coalesce/autotune/trial"
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
	"coalesce/solvers/formats"
)

// OpenRecorder opens a file of untuned workloads, and returns a function that appends what a variant was guessed for. The
// function tells say that a guess could not be recorded.
func OpenRecorder(path string, say func(string)) (func(tuned.UnmeasuredChoice), error) {
	r, err := openUntuned(path)
	if err != nil {
		return nil, err
	}
	return func(g tuned.UnmeasuredChoice) {
		if err := r.add(g); err != nil {
			say(fmt.Sprintf("an untuned workload was not recorded: %v", err))
		}
	}, nil
}

// maxUntuned is the largest file of untuned workloads that is read, in bytes: ten thousand of them.
const maxUntuned = 1 << 22

// untunedSchema is what every line of a file of untuned workloads begins with; the number
// is the major version.
const untunedSchema = "untuned/1"

// An untuned is one line of such a file.
type untuned struct {
	Schema string `json:"schema"`
	tuned.UnmeasuredChoice
}

// same reports whether two are of one workload; what the guess rested on does not count.
func (u *untuned) same(v *untuned) bool {
	return u.Family == v.Family && u.Class == v.Class && u.Size == v.Size && maps.Equal(u.Fixed, v.Fixed)
}

// An untunedFile is open for appending what is not in it yet.
type untunedFile struct {
	mutex sync.Mutex
	path  string
	known []untuned
}

// openUntuned reads what the file holds, and makes it where there is none.
func openUntuned(path string) (*untunedFile, error) {
	if err := trial.CheckRegularFile(path); err != nil {
		return nil, fmt.Errorf("--record-untuned: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	known, err := readUntuned(path)
	return &untunedFile{path: path, known: known}, err
}

func (r *untunedFile) add(g tuned.UnmeasuredChoice) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	u := untuned{untunedSchema, g}
	if slices.ContainsFunc(r.known, func(k untuned) bool { return k.same(&u) }) {
		return nil
	}
	line, err := json.Marshal(u)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(r.path, os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n')) // one write: lines of several processes do not mix
	r.known = append(r.known, u)
	return errors.Join(err, f.Close())
}

func readUntuned(path string) ([]untuned, error) {
	data, err := formats.ReadFile(path, maxUntuned)
	if err != nil {
		return nil, err
	}
	var list []untuned
	for n, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var u untuned
		if err := json.Unmarshal(line, &u); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n+1, err)
		}
		if major, _, _ := strings.Cut(u.Schema, "."); major != untunedSchema {
			return nil, fmt.Errorf("%s:%d: \"schema\" is %q, expected %q", path, n+1, u.Schema, untunedSchema)
		}
		if !slices.ContainsFunc(list, func(k untuned) bool { return k.same(&u) }) {
			list = append(list, u)
		}
	}
	return list, nil
}

// ReadTasks are the tasks that a file of untuned workloads holds for a device, one for each
// workload with all its sizes, and how many of its lines are for other devices.
func ReadTasks(path string, families []subject.Subject, facts device.Facts) (tasks []autotune.Task, others int, err error) {
	list, err := readUntuned(path)
	if err != nil {
		return nil, 0, err
	}
	for _, u := range list {
		if u.Class != facts.Class() {
			others++
			continue
		}
		at := slices.IndexFunc(families, func(s subject.Subject) bool { return s.Family().Name == u.Family })
		if at < 0 {
			return nil, 0, fmt.Errorf("%s: family %q is not among those that are tuned here", path, u.Family)
		}
		s := families[at]
		if !slices.ContainsFunc(s.Workloads(), func(w map[string]string) bool { return maps.Equal(w, u.Fixed) }) {
			return nil, 0, fmt.Errorf("%s: %s has no workload %s", path, u.Family, formatWorkload(u.Fixed))
		}
		k := slices.IndexFunc(tasks, func(t autotune.Task) bool {
			return t.Subject.Family().Name == u.Family && maps.Equal(t.Fixed[0], u.Fixed)
		})
		if k < 0 {
			tasks = append(tasks, autotune.Task{Subject: s, Fixed: []map[string]string{u.Fixed}, Wanted: true})
			k = len(tasks) - 1
		}
		tasks[k].Sizes = append(tasks[k].Sizes, u.Size)
	}
	for k := range tasks {
		slices.Sort(tasks[k].Sizes)
	}
	return tasks, others, nil
}
