package tuning

import (
	"fmt"
	"slices"
	"strings"

	"coalesce/autotune"
	"coalesce/autotune/subject"
	"coalesce/runtime/device"
)

// FindFamilies finds the named family, "csg/tiles" or "tiles" for short, or all for the
// device. Its errors are mistakes in the command line.
func FindFamilies(subjects []subject.Subject, name string, facts device.Facts) ([]subject.Subject, error) {
	var names []string
	var picked []subject.Subject
	for _, s := range subjects {
		f := s.Family()
		if !autotune.RunsOn(s, facts) {
			continue
		}
		if name == "" || name == f.Name || strings.HasSuffix(f.Name, "/"+name) {
			picked = append(picked, s)
		}
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("nothing of this problem is tuned on %s: expected a GPU or the emulated device", facts)
	}
	if len(picked) == 0 {
		return nil, fmt.Errorf("--family %q does not run on %s: expected %s", name, facts, strings.Join(names, " or "))
	}
	return picked, nil
}

// SelectWorkloads are the compile-time workloads of a family whose parameters are among those
// asked for; a parameter that a workload lacks, or nobody asked for, is free. Who asks
// means kernels: algorithms are left out then.
func SelectWorkloads(s subject.Subject, asked map[string][]string) []map[string]string {
	return slices.DeleteFunc(slices.Clone(s.Workloads()), func(fixed map[string]string) bool {
		for param, values := range asked {
			if len(values) > 0 && s.Family().Target == "" {
				return true
			}
			if have, ok := fixed[param]; ok && len(values) > 0 && !slices.Contains(values, have) {
				return true
			}
		}
		return false
	})
}
