// Package kernels holds the commands about families of kernels: tune, explain, merge, compare, report, doctor, devices
// and bundle, and the hidden one that runs trials. The families are those of the problems that a program names, so that
// the command of another module has the same commands for its own (autotune/kernel/command).
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

// A Problem names families of kernels that are tuned together, and chosen by the same parameters.
type Problem struct {
	Name  string // first part of the families' names: "csg"
	Title string // of what is solved: "coalition structure generation"
	tuning.Unit
	Subjects []subject.Subject
	// Params are the parameters of workloads that users may ask for: --value of explain, --values of tune.
	Params []string
	// Families are the tables of all variants, also of kernels that nobody tunes; nil: those of Subjects.
	Families []*device.Family
}

// Problems are all problems of a program.
type Problems []Problem

// Subjects are the families of all problems.
func (all Problems) Subjects() (list []subject.Subject) {
	for _, p := range all {
		list = append(list, p.Subjects...)
	}
	return list
}

// families are the tables of all variants.
func (all Problems) families() (list []*device.Family) {
	for _, p := range all {
		list = append(list, p.Families...)
		for _, s := range p.Subjects {
			if p.Families == nil {
				list = append(list, s.Family())
			}
		}
	}
	return list
}

// names lists the problems for a message: "csg, auction or qubo".
func (all Problems) names() string {
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " or " + names[last]
	}
	return strings.Join(names, "")
}

// values are the values of a parameter in the problem's workloads.
func (p *Problem) values(param string) (list []string) {
	for _, s := range p.Subjects {
		for _, w := range s.Workloads() {
			if v, ok := w[param]; ok && !slices.Contains(list, v) {
				list = append(list, v)
			}
		}
	}
	return list
}

// An asked is the flags that ask for values of parameters, by parameter.
type asked map[string]*[]string

// register adds a flag for each parameter of a problem, whose name is the parameter's with an ending.
func (q asked) register(cmd *cobra.Command, p *Problem, ending string) {
	for _, param := range p.Params {
		q[param] = cmd.Flags().StringSlice(param+ending, nil, fmt.Sprintf("only workloads with these values of %s: %s (default: all)", param, strings.Join(p.values(param), ", ")))
	}
}

// values are those that the user asked for.
func (q asked) values() map[string][]string {
	all := map[string][]string{}
	for param, values := range q {
		all[param] = *values
	}
	return all
}

// given are the flags of tune that the user gave, as one would write them.
func (q asked) given() (flags []string) {
	for param, values := range q {
		if len(*values) > 0 {
			flags = append(flags, fmt.Sprintf("--%ss %s", param, strings.Join(*values, ",")))
		}
	}
	slices.Sort(flags)
	return flags
}

// Tune is the command that tunes, with one for each problem, and the hidden one that runs its trials.
func Tune(a *run.App, all Problems) []*cobra.Command {
	return []*cobra.Command{tuneCommand(a, all), workerCommand(a, all)}
}

// Others are the commands that tune nothing: devices, explain, bundle, merge, compare, report and doctor.
func Others(a *run.App, all Problems) []*cobra.Command {
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
		Damaged:  damaged(a),
		Subjects: all.Subjects(),
		Usage:    run.Usagef,
	}
	return append([]*cobra.Command{devicesCommand(a), explainCommand(a, all), bundleCommand(a, all)}, env.Commands()...)
}
