package formats

import (
	"fmt"
	"strings"
	"testing"

	"coalesce/solvers/formats/habits"
)

// A table of coefficients is read as what it is, or refused, in whatever way it is written.
func TestHabits(t *testing.T) {
	const n, w = habits.Number, habits.Name
	for name, table := range map[string]habits.Table{
		"coefficients": {Rows: [][]string{{"7", "2", "9"}, {"2", "3.5", "1"}, {"9", "1", "6"}}, Kinds: []habits.Kind{n, n, n}},
		"zeros":        {Rows: [][]string{{"1000000", "0"}, {"0", "-0.5"}}, Kinds: []habits.Kind{n, n}},
		"a header":     {Header: []string{"north", "south"}, Rows: [][]string{{"7", "2"}, {"2", "3"}}, Kinds: []habits.Kind{n, n}},
		"names":        {Header: []string{"who", "north", "south"}, Rows: [][]string{{"north", "7", "2"}, {"south", "2", "3"}}, Kinds: []habits.Kind{w, n, n}},
	} {
		t.Run(name, func(t *testing.T) {
			habits.Check(t, table, func(data string) (string, error) {
				inst, err := ReadFrom(strings.NewReader(data), "a.csv", Options{})
				if err != nil {
					return "", err
				}
				return fmt.Sprintf("%d %v %v %v", inst.N, inst.Real, inst.Names, inst.Sense), nil
			})
		})
	}
}
