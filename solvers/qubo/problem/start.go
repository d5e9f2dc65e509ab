package problem

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"coalesce/solvers/formats"
)

// Fix fixes variable i.
func (inst *Instance) Fix(i int, one bool) {
	if inst.Fixed == nil {
		inst.Fixed = slices.Repeat([]int8{-1}, inst.N)
	}
	inst.Fixed[i] = 0
	if one {
		inst.Fixed[i] = 1
	}
}

// Variable finds a variable by its name, or by its number from 0; false where there is none. Where a name is a whole number,
// names alone are taken.
func (inst *Instance) Variable(word string) (int, bool) {
	if i := slices.Index(inst.Names, word); i >= 0 {
		return i, true
	}
	numbered := func(name string) bool { _, err := strconv.Atoi(name); return err == nil }
	i, err := strconv.Atoi(word)
	if err != nil || i < 0 || i >= inst.N || slices.ContainsFunc(inst.Names, numbered) {
		return 0, false
	}
	return i, true
}

// Fixing returns the instance with more variables fixed, each by a text such as 7=0, or north=0 where variables have names.
func (inst *Instance) Fixing(pairs []string) (*Instance, error) {
	if len(pairs) == 0 {
		return inst, nil
	}
	out := *inst
	out.Fixed = slices.Clone(inst.Fixed)
	given := map[int]string{}
	for _, pair := range pairs {
		if inst.N == 0 {
			return nil, fmt.Errorf("found %q, and no variables to fix", pair)
		}
		at := strings.LastIndexByte(pair, '=')
		name, value := pair[:max(at, 0)], pair[at+1:]
		i, ok := inst.Variable(name)
		if !ok || value != "0" && value != "1" {
			return nil, fmt.Errorf("found %q, expected a variable %s, = and 0 or 1", pair, inst.variables())
		}
		if before, ok := given[i]; ok && before != value {
			return nil, fmt.Errorf("found %q after %s=%s, expected one value for a variable", pair, name, before)
		}
		given[i] = value
		out.Fix(i, value == "1")
	}
	return &out, nil
}

// variables says, in an error, which names variables have: some of them, and whether their numbers are taken too.
func (inst *Instance) variables() string {
	numbers := fmt.Sprintf("from 0 to %d", inst.N-1)
	if inst.Names == nil {
		return numbers
	}
	some := inst.Names[:min(len(inst.Names), 5)]
	list := "of " + strings.Join(some, ", ")
	if len(some) < len(inst.Names) {
		list += ", …"
	}
	if _, ok := inst.Variable("0"); ok {
		list += ", or a number " + numbers
	}
	return list
}

// ParseStart reads a solution of n variables to begin with: a digit 0 or 1 for each variable (a sign for each spin), or the
// JSON object of a result. name is what errors call the text.
func ParseStart(text []byte, name string, n int) (Bits, error) {
	digits := string(bytes.Join(bytes.Fields(text), nil))
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		var result struct {
			Solution string `json:"solution"`
		}
		if err := formats.UnmarshalJSON(text, name, &result); err != nil {
			return Bits{}, err
		}
		digits = result.Solution
	}
	shown := digits
	if len(shown) > 40 {
		shown = shown[:40] + "…"
	}
	x, ok := ParseBits(digits)
	if !ok || x.Len() != n {
		return Bits{}, fmt.Errorf("%s: found %q, expected %d digits 0 or 1, or a result's JSON object", name, shown, n)
	}
	return x, nil
}
