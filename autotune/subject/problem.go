package subject

import (
	"math"
	"slices"
	"strings"

	"coalesce/runtime/device"
)

// A Problem names families of kernels that are tuned together, and chosen by the same parameters.
type Problem struct {
	Name  string // first part of the families' names: "csg"
	Title string // of what is solved: "coalition structure generation"
	Unit
	Subjects []Subject
	// Params are the parameters of workloads that users may ask for: --value of explain, --values of tune.
	Params []string
	// Families are the tables of all variants, also of kernels that nobody tunes; nil: those of Subjects.
	Families []*device.Family
}

// Problems are all problems of a program.
type Problems []Problem

// Subjects are the families of all problems.
func (all Problems) Subjects() (list []Subject) {
	for _, p := range all {
		list = append(list, p.Subjects...)
	}
	return list
}

// Families are the tables of all variants.
func (all Problems) Families() (list []*device.Family) {
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

// Names lists the problems for a message: "csg, auction or qubo".
func (all Problems) Names() string {
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " or " + names[last]
	}
	return strings.Join(names, "")
}

// Values are the values of a parameter in the problem's workloads.
func (p *Problem) Values(param string) (list []string) {
	for _, s := range p.Subjects {
		for _, w := range s.Workloads() {
			if v, ok := w[param]; ok && !slices.Contains(list, v) {
				list = append(list, v)
			}
		}
	}
	return list
}

// ByName groups families by the problem that their names begin with.
func ByName(subjects []Subject) Problems {
	var all Problems
	for _, s := range subjects {
		name, _, _ := strings.Cut(s.Family().Name, "/")
		at := slices.IndexFunc(all, func(p Problem) bool { return p.Name == name })
		if at < 0 {
			at, all = len(all), append(all, Problem{Name: name, Title: name, Unit: Unit{Name: "elements", Most: math.MaxInt32}.ForSubject(s)})
		}
		all[at].Subjects = append(all[at].Subjects, s)
		for _, w := range s.Workloads() {
			for param := range w {
				if !slices.Contains(all[at].Params, param) {
					all[at].Params = append(all[at].Params, param)
				}
			}
		}
		slices.Sort(all[at].Params)
	}
	return all
}
