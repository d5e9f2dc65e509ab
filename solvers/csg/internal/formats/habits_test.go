package formats

import (
	"testing"

	"coalesce/solvers/formats/habits"
)

// Every table of coalitions is read as what it is, or refused, in whatever way it is written.
func TestHabits(t *testing.T) {
	const n, l = habits.Number, habits.List
	for name, table := range map[string]habits.Table{
		"names":             {Header: []string{"coalition", "value"}, Rows: [][]string{{"ann", "5"}, {"bob", "6"}, {"ann bob", "12.5"}}, Kinds: []habits.Kind{l, n}, Index: true},
		"numbers":           {Header: []string{"coalition", "value"}, Rows: [][]string{{"1", "5"}, {"2", "6"}, {"1 2", "12"}}, Kinds: []habits.Kind{l, n}, Index: true},
		"without a header":  {Rows: [][]string{{"1", "5"}, {"2", "6"}, {"1 2", "12"}}, Kinds: []habits.Kind{l, n}},
		"coalition numbers": {Header: []string{"mask", "value"}, Rows: [][]string{{"1", "5"}, {"2", "6"}, {"3", "12"}}, Kinds: []habits.Kind{n, n}, Index: true},
		"a column an agent": {Header: []string{"ann", "bob", "value"}, Rows: [][]string{{"1", "0", "5"}, {"0", "1", "6"}, {"1", "1", "12"}}, Kinds: []habits.Kind{n, n, n}, Index: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, missing := range []string{"", "0"} { // what is dropped must not become a value of others
				habits.Check(t, table, reader("a.csv", missing))
			}
		})
	}
}

// Every object of coalitions is read as what it is, or refused, in whatever way it is written.
func TestHabitsOfJSON(t *testing.T) {
	for _, object := range []string{
		`{"1": 5, "2": 6.5, "1,2": 12}`,
		`{"agents": ["ann", "bob"], "values": {"bob": 6, "ann": 5, "{ann, bob}": 12}}`,
		`[{"coalition": ["ann"], "value": 5}, {"coalition": ["bob"], "value": 6}, {"coalition": ["ann", "bob"], "value": 12}]`,
	} {
		habits.CheckJSON(t, object, reader("a.json", ""))
	}
}

// reader reads an instance of a name, and returns all that it holds.
func reader(name, missing string) func(data string) (string, error) {
	return func(data string) (string, error) {
		inst, err := readText(name, data, ReadOptions{Missing: missing, Limit: 1 << 20})
		if err != nil {
			return "", err
		}
		return shown(inst), nil
	}
}
