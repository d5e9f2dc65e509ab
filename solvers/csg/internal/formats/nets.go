package formats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strings"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/formats"
)

// arrow separates the pattern of a rule from its value.
var arrow = strings.NewReplacer("→", "->", "∧", " ", "&", " ", ",", " ")

// isNet reports whether the first line that is no comment is a rule.
func isNet(head []byte) bool {
	for line := range strings.Lines(string(head)) {
		if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) != "" {
			return strings.Contains(arrow.Replace(line), "->")
		}
	}
	return false
}

// readNet reads a marginal contribution net (Ieong and Shoham, 2005): rules such as "ann & !bob -> 2.5", a line each. A coalition is worth the values of all rules whose agents it
// has, without those behind "!", "~" or "¬". The table of all coalitions follows from the rules exactly, and is rounded once where values have decimals.
func readNet(r io.Reader, name string, opts ReadOptions) (*problem.Instance, *problem.Listing, error) {
	form := opts.Form
	opts.Form = Full // the most agents are those of a table
	t := newTable(name, opts)
	t.said = true
	if opts.Names != nil {
		if err := t.declare(opts.Names, 1); err != nil {
			return nil, nil, err
		}
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	line := 0
	for lines.Scan() {
		line++
		text, _, _ := strings.Cut(lines.Text(), "#")
		if pattern, _, _ := strings.Cut(strings.NewReplacer("→", "->", "∧", "&", "&&", "&").Replace(text), "->"); strings.Contains(pattern, "&") {
			for side := range strings.SplitSeq(pattern, "&") {
				if strings.TrimSpace(side) == "" {
					return nil, nil, t.errorf(line, "found & without an agent on each side, expected a rule such as ann & !bob -> 2.5")
				}
			}
		}
		if text = arrow.Replace(text); strings.TrimSpace(text) == "" {
			continue
		}
		if err := t.rule(text, line); err != nil {
			return nil, nil, err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, nil, t.errorf(line+1, "found a line of more than %d bytes", maxLine)
	case err != nil:
		return nil, nil, fmt.Errorf("read %s: %w", name, err)
	}
	inst := &problem.Instance{}
	if err := t.order(inst); err != nil {
		return nil, nil, err
	}
	if bytes := int64(8) << inst.N; bytes > opts.limit() {
		return nil, nil, fmt.Errorf("%s: the table of %s takes %w", name, formats.Count(inst.N, "agent"), formats.MemoryShortage(float64(bytes), opts.limit()))
	}
	if err := t.expand(inst); err != nil {
		return nil, nil, err
	}
	if err := opts.setNames(inst, name); err != nil {
		return nil, nil, err
	}
	if err := inst.Promote(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	inst.Notes = append([]string{fmt.Sprintf("read as a marginal contribution net: %s", formats.Count(len(t.entries)/2, "rule"))}, inst.Notes...)
	return listingOf(inst, form, name)
}

// rule enters a rule as two rows: of the agents that it wants, and of those that it does not.
func (t *table) rule(text string, line int) error {
	pattern, value, ok := strings.Cut(text, "->")
	if !ok {
		return t.errorf(line, "found no arrow, expected a rule such as ann & !bob -> 2.5")
	}
	var rows [2]coalition // wanted, and not
	for _, word := range strings.Fields(pattern) {
		without := strings.TrimLeft(word, "!~¬")
		side := 0
		if without != word {
			side = 1
		}
		if without == "" {
			return t.errorf(line, "found %s, expected an agent behind it", formats.Quote(word))
		}
		i, err := t.agent(without, line)
		if err != nil {
			return err
		}
		if rows[0].mask>>i&1 == 1 || rows[1].mask>>i&1 == 1 {
			return t.errorf(line, "found agent %s again, expected each once in a rule", formats.Quote(without))
		}
		rows[side].mask |= 1 << i
	}
	if rows[0].mask == 0 {
		return t.errorf(line, "found no agent that has to be a member, expected one: the empty coalition is worth 0")
	}
	if err := t.enter(rows[0], value, line); err != nil {
		return err
	}
	last := &t.entries[len(t.entries)-1]
	if last.digits == noDecimal {
		return t.errorf(line, "%w: found the value %v, expected a decimal of at most 18 digits", problem.ErrValue, formats.Quote(strings.TrimSpace(value)))
	}
	return t.enter(rows[1], "0", line)
}

// expand makes the table of the rules. A rule that does not want agents is one for each set of
// these, with a sign; then every coalition is worth what all of its parts have.
func (t *table) expand(inst *problem.Instance) error {
	scale := 0
	if len(t.entries) == 0 {
		return t.errorf(1, "found no rule, expected such as ann & !bob -> 2.5")
	}
	for i := range t.entries {
		scale = max(scale, t.entries[i].fewestDigits())
	}
	values := make([]int64, inst.Len())
	sum := 0.0
	for i := 0; i < len(t.entries); i += 2 {
		wanted, not := &t.entries[i], t.entries[i+1].mask
		value, ok := wanted.units(scale)
		if sum += math.Abs(float64(value)); !ok || sum > 1<<60 {
			return t.errorf(wanted.line, "%w: found values whose sum takes more than 60 bits in units of 10^-%d", problem.ErrValue, scale)
		}
		for part := not; ; part = (part - 1) & not {
			if bits.OnesCount64(part)%2 == 0 {
				values[wanted.mask|part] += value
			} else {
				values[wanted.mask|part] -= value
			}
			if part == 0 {
				break
			}
		}
	}
	for i := range inst.N {
		for mask := range values {
			if mask>>i&1 == 1 {
				values[mask] += values[mask^1<<i]
			}
		}
	}
	if scale == 0 {
		setIntegers(inst, values)
		return nil
	}
	most := 0.0
	reals := make([]float64, len(values))
	for mask, v := range values {
		reals[mask] = float64(v) / math.Pow10(scale)
		most = max(most, math.Abs(reals[mask]))
	}
	problem.SetValues(inst, reals)
	inst.SetPlaces(scale, most)
	return nil
}
