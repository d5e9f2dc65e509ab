package formats

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/names"
)

// A table collects coalitions and values in the order of a file. Memory grows
// with the file, not with the number of its agents.
type table struct {
	file    string
	opts    ReadOptions
	agents  []string       // names declared, or tokens in order of appearance
	index   map[string]int // of agents
	lines   []int          // where an agent first appeared
	given   bool           // agents were declared, by the file or by the caller
	said    bool           // the file says that coalitions are agents
	masked  bool           // coalitions came by number: bit i-1 is agent i
	entries []entry
	float   bool // some value is not an integer
	memory  *formats.Budget
}

// An entry is one row.
type entry struct {
	mask  uint64
	line  int
	i     int64   // the value, when it is an integer
	f     float64 // the value
	whole bool    // i holds it
}

func newTable(file string, opts ReadOptions) *table {
	t := &table{file: file, opts: opts, index: map[string]int{}, memory: formats.NewBudget(opts.limit())}
	return t
}

func (t *table) errorf(line int, format string, args ...any) error {
	return formats.Errorf(t.file, line, format, args...)
}

// declare sets the agents' names before the first coalition.
func (t *table) declare(agents []string, line int) error {
	if len(agents) > problem.MaxAgents {
		return t.errorf(line, "found %d agents, expected at most %d", len(agents), problem.MaxAgents)
	}
	if len(t.entries) > 0 && len(t.agents) > 0 {
		return t.errorf(line, "found the agents' names after coalitions, expected them before")
	}
	t.agents, t.lines, t.given = nil, nil, true
	t.index = map[string]int{}
	for _, name := range agents {
		name = strings.TrimSpace(name)
		if _, ok := t.index[name]; ok || name == "" {
			return t.errorf(line, "found the agent %s twice or empty, expected different names", formats.Quote(name))
		}
		t.index[name] = len(t.agents)
		t.agents = append(t.agents, name)
		t.lines = append(t.lines, line)
	}
	return nil
}

// numberAgents declares agents 1..n.
func (t *table) numberAgents(n, line int) error {
	if n < 0 || n > problem.MaxAgents {
		return t.errorf(line, "found %d agents, expected 0 to %d", n, problem.MaxAgents)
	}
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i + 1)
	}
	return t.declare(names, line)
}

// add enters a row.
func (t *table) add(coalition, value string, line int) error {
	mask, err := t.coalition(coalition, line)
	if err != nil {
		return err
	}
	return t.enter(mask, value, line)
}

// enter enters a row whose coalition is known by its number.
func (t *table) enter(mask uint64, value string, line int) error {
	e, err := parseValue(value)
	if err != nil {
		return t.errorf(line, "%w", err)
	}
	e.mask, e.line = mask, line
	t.float = t.float || !e.whole
	if t.entries, err = formats.Append(t.memory, t.entries, e); err != nil {
		return t.errorf(line, "%d coalitions and more take %w", len(t.entries), err)
	}
	return nil
}

// parseValue reads a decimal, integers exactly. Its error unwraps to ErrValue.
func parseValue(s string) (entry, error) {
	s = strings.TrimSpace(s)
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return entry{i: i, f: float64(i), whole: true}, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 1) || strings.ContainsAny(s, "xX_") {
		return entry{}, fmt.Errorf("%w: found %s, expected a number, or -inf for a forbidden coalition", problem.ErrValue, formats.Quote(s))
	}
	return entry{f: f}, nil
}

// coalition reads a list of agents.
func (t *table) coalition(list string, line int) (uint64, error) {
	if strings.TrimSpace(list) == "∅" {
		return 0, nil
	}
	var known func(name string) bool
	if t.given {
		known = func(name string) bool { _, ok := t.index[name]; return ok }
	}
	agents, err := names.ParseList(list, known)
	if err != nil {
		return 0, t.errorf(line, "coalition: %w", err)
	}
	return t.coalitionOf(agents, list, line)
}

// coalitionOf is the coalition of agents, which the file writes so.
func (t *table) coalitionOf(agents []string, written string, line int) (uint64, error) {
	var mask uint64
	for _, agent := range agents {
		i, err := t.agent(agent, line)
		if err != nil {
			return 0, err
		}
		if mask>>i&1 != 0 {
			return 0, t.errorf(line, "found agent %s twice in the coalition %s, expected it once", formats.Quote(agent), formats.Quote(written))
		}
		mask |= 1 << i
	}
	return mask, nil
}

// asAuction is what errors say of few coalitions of many agents.
const asAuction = "; with few coalitions write an auction without free disposal, its goods the agents: docs/csg.md"

// agent finds an agent's bit, a new one when agents were not declared.
func (t *table) agent(word string, line int) (int, error) {
	if i, ok := t.index[word]; ok {
		return i, nil
	}
	if t.given {
		if k, err := strconv.Atoi(word); err == nil && k >= 1 && k <= len(t.agents) {
			return k - 1, nil
		}
		return 0, t.errorf(line, "found agent %s, expected one of %s", formats.Quote(word), bare(strings.Join(t.agents, ", ")))
	}
	if strings.ContainsAny(word, "{}[]()=\":") {
		return 0, t.errorf(line, "found agent %s, expected a number or a name", formats.Quote(word))
	}
	if len(t.agents) == problem.MaxAgents {
		return 0, t.errorf(line, "found a %dth agent, %s, expected at most %d%s", problem.MaxAgents+1, formats.Quote(word), problem.MaxAgents, asAuction)
	}
	t.index[word] = len(t.agents)
	t.agents = append(t.agents, word)
	t.lines = append(t.lines, line)
	return len(t.agents) - 1, nil
}

// bare is formats.Quote of a text, without the quotation marks.
func bare(text string) string {
	quoted := formats.Quote(text)
	return quoted[1 : len(quoted)-1]
}

// instance makes the instance of all rows.
func (t *table) instance() (*problem.Instance, error) {
	if len(t.entries) == 0 && !t.given {
		return nil, t.errorf(1, "found no coalition, expected rows such as \"1 3, 25\"")
	}
	inst := &problem.Instance{}
	if err := t.order(inst); err != nil {
		return nil, err
	}
	slices.SortStableFunc(t.entries, func(a, b entry) int { return cmp.Compare(a.mask, b.mask) })
	for i := 1; i < len(t.entries); i++ {
		if a, b := t.entries[i-1], t.entries[i]; a.mask == b.mask {
			return nil, t.errorf(b.line, "found coalition %s again, expected each once: it is on line %d", inst.Coalition(b.mask), a.line)
		}
	}
	missing, err := t.missing(inst)
	if err != nil {
		return nil, err
	}
	if err := t.fill(inst, missing); err != nil {
		return nil, err
	}
	if err := t.opts.setNames(inst, t.file); err != nil {
		return nil, err
	}
	if err := inst.Promote(); err != nil {
		var bad *problem.EntryError
		if errors.As(err, &bad) {
			i, ok := slices.BinarySearchFunc(t.entries, bad.Mask, func(e entry, m uint64) int { return cmp.Compare(e.mask, m) })
			if ok {
				return nil, fmt.Errorf("%s:%d: %w", t.file, t.entries[i].line, err)
			}
		}
		return nil, fmt.Errorf("%s: %w", t.file, err)
	}
	return inst, nil
}

// order sets N and Names. Words that were not declared and are all numbers are
// agents 1..N: their bits move to where the numbers say.
func (t *table) order(inst *problem.Instance) error {
	inst.N = len(t.agents)
	for _, e := range t.entries {
		switch n := bits.Len64(e.mask); {
		case !t.masked:
		case t.given && n > inst.N:
			return t.errorf(e.line, "found coalition number %d, expected at most 2^%d - 1: there are %s", e.mask, inst.N, formats.Count(inst.N, "agent"))
		default:
			inst.N = max(inst.N, n)
		}
	}
	if t.masked && !t.given {
		return nil
	}
	numbers, first := 0, -1
	move := make([]int, len(t.agents))
	for i, word := range t.agents {
		k, err := strconv.Atoi(word)
		if err != nil {
			first = i
			continue
		}
		numbers++
		move[i] = k - 1
	}
	if t.given {
		if numbers < inst.N {
			inst.Names = t.agents
			return nil
		}
		for i, k := range move {
			if k != i {
				inst.Names = t.agents
			}
		}
		return nil
	}
	switch {
	case numbers == 0:
		if inst.N > 0 {
			inst.Names = t.agents
		}
		return nil
	case numbers < len(t.agents):
		return t.errorf(t.lines[first], "found agent %s, expected a number: other agents are numbers", formats.Quote(t.agents[first]))
	}
	inst.N = 0
	seen := map[int]int{}
	for i, k := range move {
		if k < 0 || k >= problem.MaxAgents {
			return t.errorf(t.lines[i], "found agent %s, expected 1 to %d", t.agents[i], problem.MaxAgents)
		}
		if j, ok := seen[k]; ok {
			return t.errorf(t.lines[i], "found agent %s, expected it to be written as before: %s", t.agents[i], t.agents[j])
		}
		if strconv.Itoa(k+1) != t.agents[i] {
			return t.errorf(t.lines[i], "found agent %s, expected it to be written as %d", t.agents[i], k+1)
		}
		seen[k] = i
		inst.N = max(inst.N, k+1)
	}
	if single := !slices.ContainsFunc(t.entries, func(e entry) bool { return bits.OnesCount64(e.mask) != 1 }); single && !t.said && inst.N >= 3 &&
		len(t.entries) == inst.N && inst.N&(inst.N+1) == 0 {
		return t.errorf(t.entries[0].line, "found the coalitions 1 to %d, which could be agents or coalition numbers, expected a header that tells: coalition,value or mask,value", inst.N)
	}
	for e := range t.entries {
		var to uint64
		for i, k := range move {
			to |= t.entries[e].mask >> i & 1 << k
		}
		t.entries[e].mask = to
	}
	return nil
}

// missing is the value of coalitions without a row; a table that lacks some
// and has no such value is an error that names the first few.
func (t *table) missing(inst *problem.Instance) (entry, error) {
	rows := uint64(len(t.entries))
	if rows == 0 || t.entries[0].mask != 0 {
		rows++ // the empty coalition needs no row
	}
	absent := inst.Len() - rows
	if absent == 0 {
		return entry{whole: true}, nil
	}
	if t.opts.Missing != "" {
		e, err := parseValue(t.opts.Missing)
		if err != nil {
			return entry{}, fmt.Errorf("value of missing coalitions: %w", err)
		}
		if bytes := int64(inst.Len()) * 8; bytes > t.opts.limit() {
			return entry{}, fmt.Errorf("%s: found %d of the 2^%d coalitions of %d agents; to fill in the others takes %w%s", t.file, len(t.entries), inst.N, inst.N, formats.MemoryShortage(float64(bytes), t.opts.limit()), asAuction)
		}
		t.float = t.float || !e.whole
		return e, nil
	}
	var some []string
	next := uint64(1)
	at := 0
	for next < inst.Len() && len(some) < 3 {
		for at < len(t.entries) && t.entries[at].mask < next {
			at++
		}
		if at < len(t.entries) && t.entries[at].mask == next {
			next++
			continue
		}
		some = append(some, inst.Coalition(next))
		next++
	}
	more := ""
	if absent > uint64(len(some)) {
		more = fmt.Sprintf(" and %d more", absent-uint64(len(some)))
	}
	return entry{}, fmt.Errorf("%s: found no value for %s%s, expected all coalitions of %s; --missing VALUE sets one for those that are not there", t.file, strings.Join(some, ", "), more, formats.Count(inst.N, "agent"))
}

// fill makes the values.
func (t *table) fill(inst *problem.Instance, missing entry) error {
	if !t.float {
		values := make([]int64, inst.Len())
		for i := 1; i < len(values) && missing.i != 0; i++ {
			values[i] = missing.i
		}
		for _, e := range t.entries {
			values[e.mask] = e.i
		}
		setIntegers(inst, values)
		return nil
	}
	values := make([]float64, inst.Len())
	for i := 1; i < len(values) && missing.f != 0; i++ {
		values[i] = missing.f
	}
	for _, e := range t.entries {
		if e.whole && (e.i > 1<<53 || e.i < -1<<53) {
			return t.errorf(e.line, "%w: found the integer %d, expected at most 2^53 where other values are not integers", problem.ErrValue, e.i)
		}
		values[e.mask] = e.f
	}
	problem.SetValues(inst, values)
	return nil
}
