package problem

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
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

// Begin sets the solution to begin with from text: a digit 0 or 1 for each
// variable (a sign for each spin), or the JSON object of a result. name is what errors call
// it.
func (inst *Instance) Begin(text []byte, name string) error {
	digits := string(bytes.Join(bytes.Fields(text), nil))
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		var result struct {
			Solution string `json:"solution"`
		}
		if err := json.Unmarshal(text, &result); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		digits = result.Solution
	}
	shown := digits
	if len(shown) > 40 {
		shown = shown[:40] + "…"
	}
	x, ok := ParseBits(digits)
	if !ok || x.Len() != inst.N {
		return fmt.Errorf("%s: found %q, expected %d digits 0 or 1, or a result's JSON object", name, shown, inst.N)
	}
	inst.Hint = x.Words()
	return nil
}
