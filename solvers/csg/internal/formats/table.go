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
	"coalesce/solvers/formats/text"
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
	wide    [][]uint64 // members of coalitions beyond agent 64, a bit each
	float   bool       // some value is not an integer
	memory  *formats.Budget
}

// A coalition is a set of agents: those of the first 64 as bits, others in the table's list wide by this number less 1; 0: there are none.
type coalition struct {
	mask uint64
	wide int32
}

// An entry is one row.
type entry struct {
	coalition
	digits uint8 // of a decimal behind its point, whose digits i holds; noDecimal: i does not hold the value
	line   int
	i      int64   // the value, when it is a decimal
	f      float64 // the value
}

// noDecimal is entry.digits of minus infinity and of values with more than 18 digits.
const noDecimal = math.MaxUint8

// whole reports whether the value is an integer.
func (e *entry) whole() bool { return e.digits == 0 }

func newTable(file string, opts ReadOptions) *table {
	t := &table{file: file, opts: opts, index: map[string]int{}, memory: formats.NewBudget(opts.limit())}
	return t
}

// mostAgents is the most agents that the file may have.
func (t *table) mostAgents() int {
	if t.opts.Form == Full {
		return problem.MaxAgents
	}
	return problem.MaxListed
}

func (t *table) errorf(line int, format string, args ...any) error {
	return formats.Errorf(t.file, line, format, args...)
}

// declare sets the agents' names before the first coalition.
func (t *table) declare(agents []string, line int) error {
	if len(agents) > t.mostAgents() {
		return t.errorf(line, "found %d agents, expected at most %d", len(agents), t.mostAgents())
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
	if n < 0 || n > t.mostAgents() {
		return t.errorf(line, "found %d agents, expected 0 to %d", n, t.mostAgents())
	}
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i + 1)
	}
	return t.declare(names, line)
}

// add enters a row.
func (t *table) add(list, value string, line int) error {
	members, err := t.coalition(list, line)
	if err != nil {
		return err
	}
	return t.enter(members, value, line)
}

// enter enters a row whose coalition is known.
func (t *table) enter(members coalition, value string, line int) error {
	e, err := parseValue(value)
	if err != nil {
		return t.errorf(line, "%w", err)
	}
	e.coalition, e.line = members, line
	t.float = t.float || !e.whole()
	if t.entries, err = formats.Append(t.memory, t.entries, e); err != nil {
		return t.errorf(line, "%d coalitions and more take %w", len(t.entries), err)
	}
	return nil
}

// parseValue reads a decimal, integers exactly. Its error unwraps to ErrValue.
func parseValue(s string) (entry, error) {
	s = strings.TrimSpace(s)
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return entry{i: i, f: float64(i)}, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 1) || strings.ContainsAny(s, "xX_") {
		return entry{}, fmt.Errorf("%w: found %s, expected a number, or -inf for a forbidden coalition", problem.ErrValue, formats.Quote(s))
	}
	e := entry{f: f, digits: noDecimal}
	if i, digits, ok := text.Decimal([]byte(s)); ok {
		e.i, e.digits = i, max(1, uint8(digits)) // a decimal that is written with a point stays one
		if digits == 0 {
			if i > math.MaxInt64/10 || i < math.MinInt64/10 {
				e.i, e.digits = 0, noDecimal
			} else {
				e.i *= 10
			}
		}
	}
	return e, nil
}

// coalition reads a list of agents.
func (t *table) coalition(list string, line int) (coalition, error) {
	if strings.TrimSpace(list) == "∅" {
		return coalition{}, nil
	}
	var known func(name string) bool
	if t.given {
		known = func(name string) bool { _, ok := t.index[name]; return ok }
	}
	agents, err := names.ParseList(list, known)
	if err != nil {
		return coalition{}, t.errorf(line, "coalition: %w", err)
	}
	return t.coalitionOf(agents, list, line)
}

// coalitionOf is the coalition of agents, which the file writes so.
func (t *table) coalitionOf(agents []string, written string, line int) (coalition, error) {
	var c coalition
	for _, agent := range agents {
		i, err := t.agent(agent, line)
		if err != nil {
			return c, err
		}
		known, err := t.include(&c, i)
		if err != nil {
			return c, t.errorf(line, "coalitions take %w", err)
		}
		if known {
			return c, t.errorf(line, "found agent %s twice in the coalition %s, expected it once", formats.Quote(agent), formats.Quote(written))
		}
	}
	return c, nil
}

// include makes agent i, from 0, a member of a coalition, and reports whether it was one.
func (t *table) include(c *coalition, i int) (known bool, err error) {
	if i < 64 {
		known = c.mask>>i&1 != 0
		c.mask |= 1 << i
		return known, nil
	}
	if c.wide == 0 {
		if t.wide, err = formats.Append(t.memory, t.wide, nil); err != nil {
			return false, err
		}
		c.wide = int32(len(t.wide))
	}
	more := &t.wide[c.wide-1]
	for len(*more) <= i/64-1 {
		if *more, err = formats.Append(t.memory, *more, 0); err != nil {
			return false, err
		}
	}
	word := &(*more)[i/64-1]
	known = *word>>(i%64)&1 != 0
	*word |= 1 << (i % 64)
	return known, nil
}

// members are the agents of a coalition, from 0, ascending.
func (t *table) members(c coalition) (agents []int) {
	words := []uint64{c.mask}
	if c.wide > 0 {
		words = append(words, t.wide[c.wide-1]...)
	}
	for k, w := range words {
		for ; w != 0; w &= w - 1 {
			agents = append(agents, 64*k+bits.TrailingZeros64(w))
		}
	}
	return agents
}

// asListed is what errors say of few coalitions of many agents.
const asListed = "; a file of few coalitions needs no table of all where --missing is -inf, or 0 and no agent alone is worth less: docs/csg.md"

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
	if most := t.mostAgents(); len(t.agents) == most {
		return 0, t.errorf(line, "found a %dth agent, %s, expected at most %d", most+1, formats.Quote(word), most)
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

// game makes the table of all coalitions, or the listing of the few that rows have.
func (t *table) game() (*problem.Instance, *problem.Listing, error) {
	if len(t.entries) == 0 && !t.given {
		return nil, nil, t.errorf(1, "found no coalition, expected rows such as \"1 3, 25\"")
	}
	inst := &problem.Instance{}
	if err := t.order(inst); err != nil {
		return nil, nil, err
	}
	if t.isListing(inst.N) {
		list, err := t.listing(inst)
		return nil, list, err
	}
	if inst.N > problem.MaxAgents {
		return nil, nil, t.errorf(t.lines[min(problem.MaxAgents, len(t.lines)-1)], "found %d agents, expected at most %d in a table of all coalitions%s", inst.N, problem.MaxAgents, asListed)
	}
	inst, err := t.instance(inst)
	return inst, nil, err
}

// instance makes the instance of all rows.
func (t *table) instance(inst *problem.Instance) (*problem.Instance, error) {
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
		if k < 0 || k >= t.mostAgents() {
			return t.errorf(t.lines[i], "found agent %s, expected 1 to %d", t.agents[i], t.mostAgents())
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
	if single := !slices.ContainsFunc(t.entries, func(e entry) bool { return e.wide > 0 || bits.OnesCount64(e.mask) != 1 }); single && !t.said && inst.N >= 3 &&
		len(t.entries) == inst.N && inst.N&(inst.N+1) == 0 {
		return t.errorf(t.entries[0].line, "found the coalitions 1 to %d, which could be agents or coalition numbers, expected a header that tells: coalition,value or mask,value", inst.N)
	}
	if len(move) <= 64 && inst.N <= 64 {
		for e := range t.entries {
			var to uint64
			for i, k := range move {
				to |= t.entries[e].mask >> i & 1 << k
			}
			t.entries[e].mask = to
		}
		return nil
	}
	for e := range t.entries {
		var to coalition
		for _, i := range t.members(t.entries[e].coalition) {
			if _, err := t.include(&to, move[i]); err != nil {
				return t.errorf(t.entries[e].line, "coalitions take %w", err)
			}
		}
		t.entries[e].coalition = to
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
		return entry{}, nil
	}
	if t.opts.Missing != "" {
		e, err := parseValue(t.opts.Missing)
		if err != nil {
			return entry{}, fmt.Errorf("value of missing coalitions: %w", err)
		}
		if bytes := int64(inst.Len()) * 8; bytes > t.opts.limit() {
			return entry{}, fmt.Errorf("%s: found %d of the 2^%d coalitions of %d agents; to fill in the others takes %w%s", t.file, len(t.entries), inst.N, inst.N, formats.MemoryShortage(float64(bytes), t.opts.limit()), asListed)
		}
		t.float = t.float || !e.whole()
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
		if e.whole() && (e.i > 1<<53 || e.i < -1<<53) {
			return t.errorf(e.line, "%w: found the integer %d, expected at most 2^53 where other values are not integers", problem.ErrValue, e.i)
		}
		values[e.mask] = e.f
	}
	problem.SetValues(inst, values)
	inst.SetPlaces(t.places(missing))
	return nil
}

// places are the digits behind the point that all values need, 0 where some value has more than 18 digits, and the largest magnitude.
func (t *table) places(missing entry) (places int, most float64) {
	for i := -1; i < len(t.entries); i++ {
		e := &missing
		if i >= 0 {
			e = &t.entries[i]
		}
		switch {
		case math.IsInf(e.f, -1):
			continue
		case e.digits == noDecimal:
			return 0, 0
		}
		places, most = max(places, e.fewestDigits()), max(most, math.Abs(e.f))
	}
	return places, most
}
