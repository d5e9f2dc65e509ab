package formats_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coalesce/solvers/assignment/internal/formats"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/formats/habits"
)

// A table is read rightly or refused, whatever its writer's habits.
func TestHabits(t *testing.T) {
	const n, w = habits.Number, habits.Name
	triples := formats.ReadOptions{Format: "triples"}
	for name, c := range map[string]struct {
		table habits.Table
		o     formats.ReadOptions
	}{
		"costs":           {habits.Table{Rows: [][]string{{"7", "2", "9"}, {"6", "3.5", "1"}, {"4", "8", "6"}, {"5", "5", "2"}}, Kinds: []habits.Kind{n, n, n}}, formats.ReadOptions{}},
		"a header":        {habits.Table{Header: []string{"mow", "rake"}, Rows: [][]string{{"7", "2"}, {"6", "3"}, {"4", "8"}}, Kinds: []habits.Kind{n, n}}, formats.ReadOptions{}},
		"names":           {habits.Table{Header: []string{"who", "mow", "rake"}, Rows: [][]string{{"ida", "7", "2"}, {"olaf", "6", "3"}, {"ria", "4", "8"}}, Kinds: []habits.Kind{w, n, n}}, formats.ReadOptions{}},
		"names of rows":   {habits.Table{Rows: [][]string{{"ida", "7", "2"}, {"olaf", "6", "3"}}, Kinds: []habits.Kind{w, n, n}}, formats.ReadOptions{}},
		"triples":         {habits.Table{Rows: [][]string{{"0", "0", "7"}, {"0", "1", "2.5"}, {"1", "1", "5"}}, Kinds: []habits.Kind{n, n, n}}, triples},
		"headed triples":  {habits.Table{Header: []string{"row", "column", "cost"}, Rows: [][]string{{"0", "1", "7"}, {"1", "0", "2"}}, Kinds: []habits.Kind{n, n, n}, Index: true}, triples},
		"triples of ones": {habits.Table{Rows: [][]string{{"1", "1", "7"}, {"1", "2", "2"}, {"2", "1", "5"}}, Kinds: []habits.Kind{n, n, n}}, triples},
		"named triples":   {habits.Table{Header: []string{"worker", "task", "cost"}, Rows: [][]string{{"ida", "mow", "7"}, {"ida", "rake", "2"}, {"olaf", "mow", "5"}}, Kinds: []habits.Kind{w, w, n}, Index: true}, triples},
	} {
		t.Run(name, func(t *testing.T) {
			habits.Check(t, c.table, func(data string) (string, error) {
				inst, err := formats.ReadFrom(strings.NewReader(data), int64(len(data)), "a.csv", c.o)
				if err != nil {
					return "", err
				}
				return fmt.Sprintf("%s %q %q", shown(inst), inst.RowNames, inst.ColNames), nil
			})
		})
	}
	dir := t.TempDir()
	t.Run("points", func(t *testing.T) {
		habits.Check(t, habits.Table{Rows: [][]string{{"0", "1.5"}, {"9", "8"}, {"4", "4"}}, Kinds: []habits.Kind{n, n}}, func(data string) (string, error) {
			path := filepath.Join(dir, "a.csv")
			if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
				return "", err
			}
			inst, err := formats.ReadPoints(path, path, problem.Euclidean, false, formats.ReadOptions{})
			if err != nil {
				return "", err
			}
			return fmt.Sprint(inst.Points.Row, inst.Points.Col), nil
		})
	})
}
