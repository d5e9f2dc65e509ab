package kernels

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"coalesce/autotune/subject"
	"coalesce/internal/cli/run"
	"coalesce/runtime/device"
)

// crashing is a family of which some variants take the device with them.
type crashing struct {
	subject.Subject
	opened *[]string
}

func (crashing) Family() *device.Family {
	f := &device.Family{Name: "toy/k", Target: device.Host, Params: []string{"a"}}
	for _, a := range []string{"1", "2", "3"} {
		f.Variants = append(f.Variants, device.Variant{Label: "a=" + a, Values: []string{a}})
	}
	return f
}

func (crashing) Cases(map[string]string) ([]subject.Case, error) { return nil, nil }

func (c crashing) Open(_ device.Device, v *device.Variant) (subject.Runner, error) {
	*c.opened = append(*c.opened, v.Label)
	if v.Label == "a=2" {
		return nil, fmt.Errorf("load %s: %w", v.Label, device.ErrLost)
	}
	return nil, errors.New("answers wrongly")
}

// streams is a host that has streams and nothing else.
type streams struct{ device.Device }

func (streams) Facts() device.Facts               { return device.Facts{Kind: device.Host} }
func (streams) NewStream() (device.Stream, error) { return closed{}, nil }

type closed struct{ device.Stream }

func (closed) Close() error { return nil }

// A variant that crashes loses the device, and the next one goes on with another: each variant runs once.
func TestVerifyGoesOn(t *testing.T) {
	var out strings.Builder
	var opened []string
	a := &run.App{Out: bufio.NewWriter(&out)}
	v := &verification{a: a, limit: time.Minute}
	list := []subject.Subject{crashing{opened: &opened}}
	if err := v.families(t.Context(), list, streams{}); !errors.Is(err, device.ErrLost) || !v.progressed() {
		t.Errorf("the first device: %v", err)
	}
	if err := v.families(t.Context(), list, streams{}); err == nil || !strings.Contains(err.Error(), "3 variants wrong") {
		t.Errorf("the second device: %v", err)
	}
	if got := fmt.Sprint(opened); got != "[a=1 a=2 a=3]" {
		t.Errorf("ran %s, expected each once", got)
	}
	a.Out.Flush()
	if !strings.Contains(out.String(), "toy/k: 0 variants right") {
		t.Error(out.String())
	}
}

// endless never loads.
type endless struct{ crashing }

func (endless) Open(device.Device, *device.Variant) (subject.Runner, error) { select {} }

// A variant that does not end is named, and ends the command: nothing stops its kernel.
func TestVerifyDoesNotHang(t *testing.T) {
	var out, said strings.Builder
	a := &run.App{Out: bufio.NewWriter(&out), Err: &said}
	code := 0
	v := &verification{a: a, limit: time.Millisecond, exit: func(c int) { code = c }}
	if err := v.families(t.Context(), []subject.Subject{endless{}}, streams{}); err != nil || code != run.ExitCheck {
		t.Errorf("exit code %d, %v", code, err)
	}
	if out.String() != "toy/k a=1: its cases did not end within 1ms\n" || !strings.Contains(said.String(), "does not end") {
		t.Errorf("printed %q and %q", out.String(), said.String())
	}
}
