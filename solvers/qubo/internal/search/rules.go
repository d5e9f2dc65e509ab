package search

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"coalesce/generated/qubo"
)

// Rules are the parameters of the searches, by the names that ParseRules takes;
// 0 is the engine's default. docs/qubo.md has the defaults of each engine.
type Rules struct {
	Tenure   int // flips for which a flipped variable is tabu, at least
	Spread   int // how many lengths there are from tenure on, one of which is drawn; 1: tenure alone
	Stall    int // flips without a new best that end a tabu search
	Round    int // flips a variable of a search, or sweeps of a replica, between two visits to the pool
	Searches int // on each device
	Pool     int // elites at most
	Distance int // variables in which elites differ at least
	Restart  int // rounds without a better solution after which a search begins anew; Never: no restart
}

// Never is the Restart of a search that does not begin anew.
const Never = -1

// A rule is one of Rules: its name, its largest value and where it is.
type rule struct {
	name  string
	limit int
	of    func(r *Rules) *int
}

// ruleList are all rules, in the order of their text. A device counts flips of a
// search between two visits in 32 bits, as it does those of a stall.
var ruleList = []rule{
	{"tenure", 1<<31 - 1, func(r *Rules) *int { return &r.Tenure }},
	{"spread", 1<<31 - 1, func(r *Rules) *int { return &r.Spread }},
	{"stall", 1<<31 - 1, func(r *Rules) *int { return &r.Stall }},
	{"round", 4096, func(r *Rules) *int { return &r.Round }},
	{"searches", 1 << 16, func(r *Rules) *int { return &r.Searches }},
	{"pool", qubo.BulkElites, func(r *Rules) *int { return &r.Pool }},
	{"distance", 1<<31 - 1, func(r *Rules) *int { return &r.Distance }},
	{"restart", 1e6, func(r *Rules) *int { return &r.Restart }},
}

// engineRules are the rules that an engine has.
var engineRules = map[string][]string{
	"bulk":   {"tenure", "spread", "stall", "round", "searches", "pool", "distance", "restart"},
	"temper": {"round", "pool", "distance", "restart"},
	"host":   {"tenure", "spread", "stall", "pool", "distance"},
}

// String is the range of a rule.
func (k rule) String() string {
	text := fmt.Sprintf("%s from 1 to %d", k.name, k.limit)
	if k.name == "restart" {
		text += " or never"
	}
	return text
}

// RuleNames are the names of all rules.
func RuleNames() []string {
	var names []string
	for _, k := range ruleList {
		names = append(names, k.name)
	}
	return names
}

// ParseRules reads rules such as tenure=20,stall=10000,restart=never.
func ParseRules(text string) (r Rules, err error) {
	if text == "" {
		return r, nil
	}
	for _, pair := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		at := slices.IndexFunc(ruleList, func(k rule) bool { return k.name == name })
		if at < 0 {
			var all []string
			for _, k := range ruleList {
				all = append(all, k.String())
			}
			return Rules{}, fmt.Errorf("rule %q: expected some of %s, as in tenure=20,stall=10000", name, strings.Join(all, ", "))
		}
		k := ruleList[at]
		to := k.of(&r)
		v, err := strconv.Atoi(value)
		switch {
		case *to != 0:
			return Rules{}, fmt.Errorf("rule %s is given twice", name)
		case name == "restart" && value == "never":
			*to = Never
		case err != nil || v < 1 || v > k.limit:
			return Rules{}, fmt.Errorf("rule %s is %q, expected %s", name, value, k)
		default:
			*to = v
		}
	}
	return r, nil
}

// String is the text that ParseRules reads: all rules that are not 0.
func (r Rules) String() string {
	var list []string
	for _, k := range ruleList {
		switch v := *k.of(&r); {
		case v == Never:
			list = append(list, k.name+"=never")
		case v != 0:
			list = append(list, fmt.Sprintf("%s=%d", k.name, v))
		}
	}
	return strings.Join(list, ",")
}

// MarshalText implements encoding.TextMarshaler.
func (r Rules) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Rules) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRules(string(text))
	return err
}

// Check holds rules against their ranges.
func (r Rules) Check() error {
	for _, k := range ruleList {
		if v := *k.of(&r); v != 0 && (v < 1 || v > k.limit) && !(k.name == "restart" && v == Never) {
			return fmt.Errorf("rule %s is %d, expected %s", k.name, v, k)
		}
	}
	return nil
}

// CheckFor is an error where the engine, without the parts that are left out, has no such rule, or
// n variables are too few for a rule.
func (r Rules) CheckFor(engine string, without []string, n int) error {
	members := []string{engine}
	if engine == "portfolio" {
		members = slices.DeleteFunc([]string{"temper", "bulk", "host"}, func(name string) bool { return slices.Contains(without, name) })
	}
	if err := r.refused(engine, members); err != nil {
		return err
	}
	together := max(1, r.Tenure) + max(1, r.Spread)
	switch {
	case r.Tenure == 0 && r.Spread == 0:
	case together >= n:
		return fmt.Errorf("rules tenure and spread are %d together, expected less than the %d variables", together, n)
	case together > qubo.BulkRing && slices.Contains(members, "bulk"):
		return fmt.Errorf("rules tenure and spread are %d together, expected at most %d: engine bulk keeps so many tabu variables", together, qubo.BulkRing)
	}
	if r.Distance > n {
		return fmt.Errorf("rule distance is %d, expected at most the %d variables", r.Distance, n)
	}
	return nil
}

// refused returns an error that names a rule which no member of an engine has.
func (r Rules) refused(engine string, members []string) error {
	var has []string
	for _, name := range RuleNames() {
		if slices.ContainsFunc(members, func(m string) bool { return slices.Contains(engineRules[m], name) }) {
			has = append(has, name)
		}
	}
	for _, k := range ruleList {
		switch {
		case *k.of(&r) == 0 || slices.Contains(has, k.name):
		case len(has) == 0:
			return fmt.Errorf("rule %s: engine %s has no rules", k.name, engine)
		default:
			return fmt.Errorf("rule %s: engine %s has not got it, expected some of %s", k.name, engine, strings.Join(has, ", "))
		}
	}
	return nil
}

// RefusedBy is an error where a rule is set that no engine of used has.
func (r Rules) RefusedBy(used map[string]Rules) error {
	members := slices.Sorted(maps.Keys(used))
	return r.refused(strings.Join(members, " and "), members)
}

// ForSize returns the rules for a component of n variables. Rules for more variables are left out;
// their defaults for n hold instead.
func (r Rules) ForSize(n int) Rules {
	if max(1, r.Tenure)+max(1, r.Spread) >= n {
		r.Tenure, r.Spread = 0, 0
	}
	if r.Distance > n {
		r.Distance = 0
	}
	return r
}

// TabuList returns the tenure and the spread, together at most limit. Where one was given and one
// is a default, the default is reduced.
func (r Rules) TabuList(tenure, spread, limit int) (int, int) {
	if r.Tenure > 0 {
		spread = min(spread, limit-r.Tenure)
	} else if r.Spread > 0 {
		tenure = min(tenure, limit-r.Spread)
	}
	return cmp.Or(r.Tenure, tenure), cmp.Or(r.Spread, spread)
}
