// Package kernels holds the commands that open families of kernels: tune, explain, verify, devices and bundle, and the hidden one that runs
// trials; it lists those of package tuning beside them. The families are those of the problems that a program names, so that
// the program of another module has the same commands for its own (autotune/kernel/command).
package kernels

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coalesce/autotune/subject"
	"coalesce/internal/cli/run"
	"coalesce/internal/cli/tuning"
	"coalesce/runtime/device"
)

// paramFlags are the flags that select values of parameters, by parameter.
type paramFlags map[string]*[]string

// registerFlags adds a flag for each parameter of a problem, named after the parameter, with an ending.
func (q paramFlags) registerFlags(cmd *cobra.Command, p *subject.Problem, ending string) {
	for _, param := range p.Params {
		q[param] = cmd.Flags().StringSlice(param+ending, nil, fmt.Sprintf("only workloads with these values of %s: %s (default: all)", param, strings.Join(p.Values(param), ", ")))
	}
}

// requestedValues are those that the user asked for.
func (q paramFlags) requestedValues() map[string][]string {
	all := map[string][]string{}
	for param, values := range q {
		all[param] = *values
	}
	return all
}

// givenFlags are the flags of tune that the user gave, as one would write them.
func (q paramFlags) givenFlags() (flags []string) {
	for param, values := range q {
		if len(*values) > 0 {
			flags = append(flags, fmt.Sprintf("--%ss %s", param, strings.Join(*values, ",")))
		}
	}
	slices.Sort(flags)
	return flags
}

// TuneCommands is the command that tunes, with one for each problem, and the hidden one that runs its trials.
func TuneCommands(a *run.App, all subject.Problems) []*cobra.Command {
	return []*cobra.Command{tuneCommand(a, all), workerCommand(a, all)}
}

// OtherCommands are the commands that tune nothing: devices, explain, bundle, merge, compare, report and doctor.
func OtherCommands(a *run.App, all subject.Problems) []*cobra.Command {
	env := tuning.Env{
		Program: a.Name(),
		Out:     a.Out,
		Device: func(name string, threads int, work func(device.Device) error) error {
			if err := a.HandOver(name); err != nil {
				return err
			}
			return a.WithDevice(name, threads, work)
		},
		Path:     a.DatabasePath,
		Damaged:  warnOfDamage(a),
		Subjects: all.Subjects(),
		Usage:    run.Usagef,
	}
	return append([]*cobra.Command{devicesCommand(a), explainCommand(a, all), bundleCommand(a, all)}, env.Commands()...)
}
