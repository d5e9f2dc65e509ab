// Package variants chooses the variant that solves an instance: the families of kernels of a kind of
// device, their methods, the needs of their variants, and the variant expected to be the fastest.
package variants

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// Families are the kernel families for a kind of device, the solver's choice first.
func Families(kind string) []*device.Family {
	if kind == device.Host {
		return []*device.Family{&gencsg.Hosttiles}
	}
	return []*device.Family{&gencsg.Tiles, &gencsg.Splits}
}

// Methods are the methods that a family's kernels have, the default first.
func Methods(f *device.Family) []reference.Method {
	if f == &gencsg.Splits {
		return []reference.Method{reference.DP, reference.IDP}
	}
	return []reference.Method{reference.Apart}
}

// FamilyFor returns the family and the method that solve on a kind of device. A label decides
// first, then a method, and otherwise the solver chooses. A nil family stands for a host's dynamic
// program by levels, which has the methods reference.DP and IDP.
func FamilyFor(kind string, asked reference.Method, label string) (*device.Family, reference.Method, error) {
	all := Families(kind)
	for _, f := range all {
		if v := f.Variant(label); v != nil {
			m := MethodOf(f.Value(v, "method"))
			if asked != "" && asked != m {
				return nil, "", &solve.VariantError{Variant: label, Algorithm: string(asked)}
			}
			return f, m, nil
		}
	}
	if asked == "" {
		return all[0], Methods(all[0])[0], nil
	}
	for _, f := range all {
		if slices.Contains(Methods(f), asked) {
			return f, asked, nil
		}
	}
	if kind == device.Host && (asked == reference.DP || asked == reference.IDP) && label == "" {
		return nil, asked, nil
	}
	if err := reference.CheckMethod(asked); err != nil {
		return nil, "", solve.InvalidInput("Algorithm", "%w", err)
	}
	return nil, "", solve.InvalidInput("Algorithm", "found %s, which does not run on a %s device, where %s", asked, kind, names(all))
}

// names lists families with their methods.
func names(all []*device.Family) string {
	var list []string
	for _, f := range all {
		list = append(list, fmt.Sprintf("%s has %v", f.Name, Methods(f)))
	}
	return strings.Join(list, ", ")
}

// MethodOf returns the method that a parameter names. Families without that parameter use Apart.
func MethodOf(name string) reference.Method { return cmp.Or(reference.Method(name), reference.Apart) }

// FixedParams returns the parameters that a workload prescribes: variants with other values cannot solve
// it.
func FixedParams(f *device.Family, value problem.Value, method reference.Method) map[string]string {
	if f != &gencsg.Splits {
		return map[string]string{"value": string(value)}
	}
	return map[string]string{"value": string(value), "method": string(method), "profile": "off"}
}
