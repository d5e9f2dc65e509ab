package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"coalesce/solvers/assignment"
	assignmentproblem "coalesce/solvers/assignment/problem"
	"coalesce/solvers/auction"
	"coalesce/solvers/csg"
	"coalesce/solvers/formats/habits"
	"coalesce/solvers/qubo"
)

// A reader reads tables of one shape, or JSON objects, and returns their values as text.
type reader struct {
	name   string
	table  func(r *rand.Rand) habits.Table
	object func(r *rand.Rand) any
	read   func(data string) (string, error)
}

// tableReaders are all readers of tables, with each shape that they take.
func tableReaders() []reader {
	const n, w, l = habits.Number, habits.Name, habits.List
	costs := func(header, index bool) func(r *rand.Rand) habits.Table {
		return func(r *rand.Rand) habits.Table { return matrix(r, 2+r.IntN(4), 2+r.IntN(4), header, index) }
	}
	triples := func(from int, named bool, header ...string) func(r *rand.Rand) habits.Table {
		return func(r *rand.Rand) habits.Table {
			t := habits.Table{Header: header, Kinds: []habits.Kind{n, n, n}, Index: header != nil}
			row, column := words(r, 4), words(r, 4)
			if named {
				t.Kinds = []habits.Kind{w, w, n}
			}
			for _, k := range append([]int{0}, r.Perm(15)[:1+r.IntN(7)]...) {
				if len(t.Rows) > 0 {
					k++
				}
				cells := []string{fmt.Sprint(k/4 + from), fmt.Sprint(k%4 + from), decimal(r)}
				if named {
					cells[0], cells[1] = row[k/4], column[k%4]
				}
				t.Rows = append(t.Rows, cells)
			}
			return t
		}
	}
	return []reader{
		{name: "costs", table: costs(false, false), read: readCosts(assignment.ReadOptions{})},
		{name: "costs, header", table: costs(true, false), read: readCosts(assignment.ReadOptions{})},
		{name: "costs, names of rows", table: costs(false, true), read: readCosts(assignment.ReadOptions{})},
		{name: "costs, names", table: costs(true, true), read: readCosts(assignment.ReadOptions{})},
		{name: "triples", table: triples(0, false), read: readCosts(assignment.ReadOptions{Format: "triples"})},
		{name: "triples from 1", table: triples(1, false), read: readCosts(assignment.ReadOptions{Format: "triples"})},
		{name: "triples, header", table: triples(0, false, "row", "column", "cost"), read: readCosts(assignment.ReadOptions{Format: "triples"})},
		{name: "triples, names", table: triples(0, true, "worker", "task", "cost"), read: readCosts(assignment.ReadOptions{Format: "triples"})},
		{name: "points", table: func(r *rand.Rand) habits.Table { return matrix(r, 2+r.IntN(3), 2+r.IntN(2), false, false) }, read: readPoints},
		{name: "bids", table: func(r *rand.Rand) habits.Table { return bids(r, "bid", "bidder", "price", "goods", "xor") }, read: readBids("a.csv")},
		{name: "bids, two columns", table: func(r *rand.Rand) habits.Table { return bids(r, "price", "goods") }, read: readBids("a.csv")},
		{name: "bids, JSON", object: bidsObject, read: readBids("a.json")},
		{name: "coalitions", table: coalitions(l, n), read: readGame("a.csv")},
		{name: "coalition numbers", table: coalitions(n, n), read: readGame("a.csv")},
		{name: "coalitions, a column an agent", table: coalitions(n, n, n), read: readGame("a.csv")},
		{name: "coalitions, JSON", object: gameObject, read: readGame("a.json")},
		{name: "coefficients", table: symmetric(false, false), read: readProgram},
		{name: "coefficients, header", table: symmetric(true, false), read: readProgram},
		{name: "coefficients, names", table: symmetric(true, true), read: readProgram},
	}
}

// tableJobs are count random tables for each reader.
func (a *adversary) tableJobs(count int) (jobs []job) {
	for _, x := range tableReaders() {
		jobs = append(jobs, a.addBatches("table", x.name, count, 20, func(w *pool, r *rand.Rand, row *figures, _ int) error {
			return a.tryInside(w, row, "table", x.name, r)
		})...)
	}
	return jobs
}

// tryTable draws a table for a named reader from a seed, and returns the values that it misreads.
func tryTable(name string, r *rand.Rand) (refused bool, wrong *fault) {
	list := tableReaders()
	k := slices.IndexFunc(list, func(x reader) bool { return x.name == name })
	if k < 0 {
		return false, &fault{"wrong", fmt.Sprintf("found the reader %q, expected one of the table", name)}
	}
	var faults []string
	var err error
	if x := list[k]; x.object == nil {
		faults, err = habits.Faults(x.table(r), x.read)
	} else if text, failed := json.Marshal(x.object(r)); failed != nil {
		err = failed
	} else {
		faults, err = habits.FaultsJSON(string(text), x.read)
	}
	switch {
	case err != nil && strings.Contains(err.Error(), "expected to be told"): // the plain table has two readings
		return true, nil
	case err != nil:
		return false, &fault{"refused", err.Error()}
	}
	if len(faults) > 0 {
		return false, &fault{"misread", strings.Join(faults, "\n")}
	}
	return false, nil
}

// words are so many different names.
func words(r *rand.Rand, count int) (list []string) {
	for len(list) < count {
		name := []string{"ann", "Bo", "tür", "x", "日本", "Q_7", "north-east", "m.2", "z"}[r.IntN(9)] + []string{"", "a", "b", "-1", "_x", "é"}[r.IntN(6)]
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// decimal is a number as people write it.
func decimal(r *rand.Rand) string {
	return []string{strconv.Itoa(r.IntN(41) - 20), fmt.Sprint(float64(r.IntN(4001)-2000) / 100), strconv.Itoa(r.IntN(1e6)), fmt.Sprintf("%de2", r.IntN(9)),
		"0", "-0.5", "1000000"}[r.IntN(7)]
}

// matrix is a table of numbers, with names above the columns and before the rows where asked for.
func matrix(r *rand.Rand, rows, cols int, header, index bool) habits.Table {
	var t habits.Table
	names := words(r, rows)
	for i := range rows {
		var cells []string
		if index {
			cells = append(cells, names[i])
		}
		for range cols {
			cells = append(cells, decimal(r))
		}
		t.Rows = append(t.Rows, cells)
	}
	if index {
		t.Kinds = append(t.Kinds, habits.Name)
	}
	for range cols {
		t.Kinds = append(t.Kinds, habits.Number)
	}
	if header {
		if t.Header = words(r, cols); index {
			t.Header = append([]string{"who"}, t.Header...)
		}
	}
	return t
}

// symmetric are tables of coefficients of variables.
func symmetric(header, index bool) func(r *rand.Rand) habits.Table {
	return func(r *rand.Rand) habits.Table {
		size := 2 + r.IntN(3)
		t := matrix(r, size, size, header, index)
		from := len(t.Kinds) - size
		for i := range size {
			for j := range i {
				t.Rows[i][j+from] = t.Rows[j][i+from]
			}
			if index {
				t.Rows[i][0] = t.Header[i+from]
			}
		}
		return t
	}
}

// bids are tables of bids with these columns.
func bids(r *rand.Rand, columns ...string) habits.Table {
	t := habits.Table{Header: columns, Index: true}
	goods, bidders := words(r, 4), words(r, 2)
	goods[1] = "#" + goods[1]
	some := func(list []string) string {
		k := r.Perm(len(list))[:1+r.IntN(len(list))]
		slices.Sort(k)
		var names []string
		for _, k := range k {
			names = append(names, list[k])
		}
		return strings.Join(names, " ")
	}
	for _, name := range columns {
		t.Kinds = append(t.Kinds, map[string]habits.Kind{"bid": habits.Number, "price": habits.Number, "bidder": habits.Name, "goods": habits.List, "xor": habits.List}[name])
	}
	for k := range 1 + r.IntN(4) {
		cells := map[string]string{"bid": fmt.Sprint(k + 1), "bidder": bidders[r.IntN(2)], "price": fmt.Sprint(float64(r.IntN(900)+1) / 4), "goods": some(goods)}
		if r.IntN(2) == 0 {
			cells["xor"] = some([]string{"x", "y"})
		}
		var row []string
		for _, name := range columns {
			row = append(row, cells[name])
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// bidsObject is an auction of JSON.
func bidsObject(r *rand.Rand) any {
	goods := []string{"barn", "mill", "field"}
	var list []any
	for k := range 1 + r.IntN(3) {
		bid := map[string]any{"price": float64(r.IntN(900)+1) / 4, "goods": goods[r.IntN(2) : 2+r.IntN(2)]}
		if r.IntN(3) > 0 {
			bid["bidder"] = []string{"Ann", "Bob"}[r.IntN(2)]
		}
		if bid["bidder"] != nil && r.IntN(2) == 0 {
			bid["xor"] = []any{"x", []string{"x", "y"}}[r.IntN(2)]
		}
		if r.IntN(2) == 0 {
			bid["bid"] = 100 + k
		}
		list = append(list, bid)
	}
	whole := map[string]any{"goods": goods, "bids": list}
	if r.IntN(2) == 0 {
		whole["reserves"] = []any{map[string]any{"price": 2.5, "goods": goods[:1+r.IntN(2)]}}
	}
	return whole
}

// coalitions are tables of all coalitions of two or three agents: a list each, a coalition number, or a column for
// each of two agents.
func coalitions(kinds ...habits.Kind) func(r *rand.Rand) habits.Table {
	return func(r *rand.Rand) habits.Table {
		t := habits.Table{Header: []string{"coalition", "value"}, Kinds: kinds, Index: true}
		agents := 2 + r.IntN(2)
		names := words(r, agents)
		if r.IntN(2) == 0 && kinds[0] == habits.List {
			names = []string{"1", "2", "3"}[:agents]
			if r.IntN(2) == 0 {
				t.Header, t.Index = nil, false
			}
		}
		if len(kinds) == 3 {
			agents = 2
			t.Header = []string{names[0], names[1], "value"}
		} else if kinds[0] == habits.Number {
			t.Header[0] = "mask"
		}
		order := r.Perm(1<<agents - 1)
		if t.Header == nil || kinds[0] == habits.List { // agents are numbered as they come
			slices.Sort(order)
		}
		for _, k := range order {
			mask := k + 1
			row := []string{fmt.Sprint(mask)}
			switch {
			case len(kinds) == 3:
				row = []string{fmt.Sprint(mask & 1), fmt.Sprint(mask >> 1)}
			case kinds[0] == habits.List:
				var members []string
				for a := range agents {
					if mask>>a&1 == 1 {
						members = append(members, names[a])
					}
				}
				row[0] = strings.Join(members, " ")
			}
			t.Rows = append(t.Rows, append(row, decimal(r)))
		}
		return t
	}
}

// gameObject is a characteristic function of JSON.
func gameObject(r *rand.Rand) any {
	value := func() float64 { return float64(r.IntN(400)-100) / 4 }
	names := []string{"ann", "bob"}
	switch r.IntN(3) {
	case 0:
		return map[string]any{"1": value(), "2": value(), "1,2": value()}
	case 1:
		return map[string]any{"agents": names, "values": map[string]any{"ann": value(), "bob": value(), "{ann, bob}": value()}}
	}
	return []any{map[string]any{"coalition": names[:1], "value": value()}, map[string]any{"coalition": names[1:], "value": value()}, map[string]any{"coalition": names, "value": value()}}
}

func readCosts(o assignment.ReadOptions) func(data string) (string, error) {
	return func(data string) (string, error) {
		inst, err := assignment.ReadFrom(strings.NewReader(data), int64(len(data)), "a.csv", o)
		if err != nil {
			return "", err
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%d x %d %q %q", inst.Rows, inst.Cols, inst.RowNames, inst.ColNames)
		for i := range inst.Rows {
			for j := range inst.Cols {
				b.WriteString(" " + inst.CostDecimals(i, j))
			}
		}
		return b.String(), nil
	}
}

func readPoints(data string) (string, error) {
	file, err := os.CreateTemp("", "points*.csv")
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	inst, err := assignment.ReadPoints(file.Name(), file.Name(), assignmentproblem.Euclidean, false, assignment.ReadOptions{})
	if err != nil {
		return "", err
	}
	return fmt.Sprint(inst.Points.Row, inst.Points.Col), nil
}

func readBids(name string) func(data string) (string, error) {
	return func(data string) (string, error) {
		a, err := auction.ReadFrom(strings.NewReader(data), name)
		if err != nil {
			return "", err
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%d %q %d %v", a.Goods, a.Names, a.Dummies, a.Limits)
		for _, bid := range a.Bids {
			fmt.Fprintf(&b, " | %d %q %s %d", bid.Number, bid.Bidder, a.FormatPrice(big.NewInt(bid.Price)), bid.Goods)
		}
		for _, x := range a.Reserves {
			fmt.Fprintf(&b, " | %s %d", a.FormatPrice(big.NewInt(x.Price)), x.Goods)
		}
		return b.String(), nil
	}
}

func readGame(name string) func(data string) (string, error) {
	return func(data string) (string, error) {
		inst, err := csg.ReadFrom(strings.NewReader(data), int64(len(data)), name, csg.ReadOptions{})
		if err != nil {
			return "", err
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%q", inst.Names)
		for mask := range uint64(inst.Len()) {
			b.WriteString(" " + inst.ValueDecimals(mask))
		}
		return b.String(), nil
	}
}

func readProgram(data string) (string, error) {
	inst, err := qubo.ReadFrom(strings.NewReader(data), "a.csv", qubo.ReadOptions{})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %+v %+v %q %v %v", inst.N, inst.Real, inst.Int, inst.Names, inst.Sense, inst.Form), nil
}
