package ranks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"coalesce/autotune"
	"coalesce/internal/ui"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/runtime/mpi"
)

// A Place identifies the device that a rank tunes.
type Place struct {
	Device string // a name that no other device has, on any host
	Class  string
}

// PlaceOf is the place of a device. GPUs are identified by their UUID, other devices by the host's
// name: a host has one of each kind.
func PlaceOf(f device.Facts) (Place, error) {
	host, err := os.Hostname()
	if f.Kind == device.CUDA && f.UUID != "" {
		return Place{f.UUID, f.Class()}, nil
	}
	return Place{host + " " + f.String(), f.Class()}, err
}

// TuningPart is the part of the work that a rank tunes, K/N. The devices of one class share the work of that
// class. Of several ranks on one device, which would disturb each other's measurements, the first
// alone tunes; the part of the others is empty. classes and devices are the numbers of classes and of
// devices.
func TuningPart(r collective.Ranks, own Place) (part string, classes, devices int, err error) {
	places, err := gather(r, own)
	if err != nil {
		return "", 0, 0, err
	}
	seen, alike := map[string]bool{}, map[string]int{}
	k := 0 // this rank's place in its class
	for rank, p := range places {
		if seen[p.Device] {
			continue
		}
		seen[p.Device] = true
		if alike[p.Class]++; rank == r.Rank() {
			k = alike[p.Class]
		}
	}
	if k > 0 {
		part = fmt.Sprintf("%d/%d", k, alike[own.Class])
	}
	return part, len(alike), len(seen), nil
}

// AnnouncePart returns the part of the work that this rank tunes, and prints a line about all ranks.
func AnnouncePart(w *mpi.World, talk io.Writer, f device.Facts) (part string, err error) {
	own, err := PlaceOf(f)
	if err != nil {
		return "", err
	}
	part, classes, devices, err := TuningPart(w, own)
	if err != nil {
		return "", err
	}
	line, err := Describe(w, nil, false)
	fmt.Fprintf(talk, "coalesce: %s: %s of %s\n", line, ui.Count(devices, "device"), classesOf(classes))
	return part, err
}

func classesOf(n int) string {
	if n == 1 {
		return "one class"
	}
	return fmt.Sprintf("%d classes", n)
}

// gather returns the values of all ranks, in their order, on every rank.
func gather[T any](r collective.Ranks, own T) ([]T, error) {
	text, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	texts, err := collective.GatherTexts(r, text)
	all := make([]T, len(texts))
	for k, text := range texts {
		err = errors.Join(err, json.Unmarshal(text, &all[k]))
	}
	return all, err
}

// A TuneResult is the result of one rank's tuning.
type TuneResult struct {
	Outcome
	Winners []byte             // what its file of winners holds then; empty: nothing
	Sums    []autotune.Summary // of the families
}

// Collect runs every rank's part, however long that takes, and calls take on rank 0 with the result of
// each rank, in their order.
func Collect(w *mpi.World, do func() TuneResult, take func(rank int, t TuneResult) error) error {
	if w.Rank() > 0 {
		text, err := json.Marshal(do())
		if err == nil {
			err = w.Send(text, 0, tagFree)
		}
		if err != nil {
			return err
		}
		return poll(func() (bool, error) { // until all are done
			_, from, err := w.Receive(tagNext)
			return from >= 0, err
		})
	}
	all := make([]TuneResult, w.Size())
	var errs []error
	var others sync.WaitGroup
	var failed error
	others.Go(func() {
		for came := 1; came < w.Size() && failed == nil; came++ {
			failed = poll(func() (bool, error) {
				text, from, err := w.Receive(tagFree)
				if err != nil || from < 0 {
					return false, err
				}
				return true, json.Unmarshal(text, &all[from])
			})
		}
	})
	all[0] = do()
	others.Wait()
	if failed != nil {
		return failed
	}
	for k, t := range all {
		errs = append(errs, take(k, t))
	}
	for to := 1; to < w.Size(); to++ {
		errs = append(errs, w.Send(nil, to, tagNext))
	}
	return errors.Join(errs...)
}
