package formats

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"coalesce/solvers/auction/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/packed"
	"coalesce/solvers/formats/program"
	"coalesce/solvers/formats/text"
)

// programReader is the reader of a file of a mathematical program, by its name; nil: it is none.
func programReader(path string) (read func(*text.File, *formats.Budget) (*program.Program, error), kind string) {
	switch strings.ToLower(filepath.Ext(packed.TrimExtension(path))) {
	case ".lp":
		return program.ReadLP, "LP format"
	case ".mps":
		return program.ReadMPS, "MPS"
	}
	return nil, ""
}

// oneOf reports whether a decimal is one of some whole numbers.
func oneOf(d program.Decimal, values ...string) bool {
	x, ok := problem.ParseAmount(string(d))
	return ok && slices.Contains(values, x.String())
}

// A programRow is a row of a program: the most and the least that its whole coefficients add up to.
type programRow struct {
	most, least int64 // -1: there is none
	plain       bool  // coefficients of 1, at most 1
}

// wholeOf is a decimal that is a whole number below 2^31.
func wholeOf(d program.Decimal) (int64, bool) {
	x, ok := problem.ParseAmount(string(d))
	if !ok || x.Scale > 0 || !x.Whole.IsInt64() || x.Whole.Int64()>>31 != 0 {
		return 0, false
	}
	return x.Whole.Int64(), true
}

// rowOf reads what a constraint asks for.
func rowOf(c *program.Constraint, name string) (r programRow, err error) {
	r = programRow{most: -1, least: -1}
	if c.High != "" {
		ok := false
		if r.most, ok = wholeOf(c.High); !ok {
			return r, formats.Errorf(name, c.Line, "found a constraint from %s to %s, expected whole numbers of at least 0", formats.Quote(string(c.Low)), formats.Quote(string(c.High)))
		}
	}
	if c.Low != "" && (!oneOf(c.Low, "0") || r.most == 0) || r.most < 0 {
		ok := false
		if r.least, ok = wholeOf(c.Low); !ok || r.most >= 0 && r.most != r.least {
			return r, formats.Errorf(name, c.Line, "found a constraint from %s to %s, expected rows that are at most, at least or just a whole number: goods that are sold or bought",
				formats.Quote(string(c.Low)), formats.Quote(string(c.High)))
		}
	}
	r.plain = r.most == 1 && r.least < 0
	for _, t := range c.Terms {
		i := max(t.I, t.J)
		n, ok := wholeOf(t.Coefficient)
		if min(t.I, t.J) >= 0 || i < 0 || !ok || n < 1 {
			return r, formats.Errorf(name, t.Line, "found the coefficient %s of a row, expected a whole number above 0", formats.Quote(string(t.Coefficient)))
		}
		r.plain = r.plain && n == 1
	}
	return r, nil
}

// fromProgram is a program of variables of 0 and 1 as an auction. A variable is a bid, of a bidder of its name, and its objective's coefficient the price. A row is a
// good and its right-hand side the units of it, of which coefficients ask for some. Rows that are at most so many are goods that may stay unsold, equal rows goods that have to
// be sold, or bought if the objective is minimised, and rows that are at least so many goods that are bought. Beside rows of the latter kinds those of ones that are at
// most 1 are dummies. If rows that are at most so many are minimised, prices have the other sign.
func fromProgram(p *program.Program, name string) (*problem.Auction, error) {
	a := &problem.Auction{Notes: slices.Clone(p.Notes), Bids: make([]problem.Bid, len(p.Variables))}
	rows := make([]programRow, len(p.Constraints))
	equal, bought := -1, -1 // a row of each kind
	for k := range p.Constraints {
		var err error
		if rows[k], err = rowOf(&p.Constraints[k], name); err != nil {
			return nil, err
		}
		switch r := rows[k]; {
		case r.least >= 0 && r.most >= 0:
			equal = k
		case r.least >= 0:
			bought = k
		}
	}
	a.SellAll, a.Minimize = equal >= 0, (equal >= 0 || bought >= 0) && !p.Maximize
	switch {
	case bought >= 0 && p.Maximize:
		return nil, formats.Errorf(name, p.Constraints[bought].Line, "found a row that is at least a number where the objective is maximised, expected it to be minimised")
	case bought >= 0 && equal >= 0:
		return nil, formats.Errorf(name, p.Constraints[bought].Line, "found a row that is at least a number beside one that is equal to one, expected one of these kinds")
	}
	prices, err := programPrices(p, name, !p.Maximize && !a.Minimize)
	if err != nil {
		return nil, err
	}
	places := make([]int64, len(p.Constraints)) // the good of each row
	several := false
	for k := range p.Constraints {
		r := rows[k]
		if r.least < 0 && (a.SellAll || a.Minimize) {
			if !r.plain {
				return nil, formats.Errorf(name, p.Constraints[k].Line, "found a row that is at most a number beside rows that are equal or at least, expected one of ones that is at most 1")
			}
			a.Dummies++
			places[k] = -a.Dummies
			continue
		}
		places[k] = a.Goods
		a.Goods++
		a.Units = append(a.Units, max(r.most, r.least))
		several = several || max(r.most, r.least) != 1
		label := p.Constraints[k].Name
		if label == "" {
			label = "row " + strconv.Itoa(k)
		}
		a.Names = append(a.Names, label)
	}
	for k := range p.Constraints {
		for _, t := range p.Constraints[k].Terms {
			b := &a.Bids[max(t.I, t.J)]
			n, _ := wholeOf(t.Coefficient)
			b.Goods, b.Quantities = append(b.Goods, places[k]), append(b.Quantities, n)
		}
	}
	for i := range a.Bids {
		v, b := &p.Variables[i], &a.Bids[i]
		sortBundle(b)
		b.Number, b.Line, b.Bidder = int64(i), v.Line, v.Name
		alone := slices.ContainsFunc(b.Goods, func(g int64) bool { return g < 0 || a.Units[g] == 1 && (a.SellAll || !a.Minimize) }) // a row allows no more
		switch {
		case len(slices.Compact(slices.Clone(b.Goods))) < len(b.Goods):
			return nil, formats.Errorf(name, v.Line, "found the variable %s twice in a row, expected once", formats.Quote(v.Name))
		case v.IsBinary(), v.Kind == program.Integer && oneOf(v.Low, "0") && alone && (v.High == "" || !oneOf(v.High, "0")):
		default:
			return nil, formats.Errorf(name, v.Line, "found the variable %s from %s that is not of 0 and 1, expected such ones", formats.Quote(v.Name), v.Bounds())
		}
		if !slices.ContainsFunc(b.Quantities, func(n int64) bool { return n > 1 }) {
			b.Quantities = nil
		}
		several = several || b.Quantities != nil
	}
	if !several {
		a.Units = nil
	}
	if !p.Maximize && !a.Minimize {
		a.Notes = append(a.Notes, "the objective is minimised: prices, value and bound are its numbers with the other sign")
	}
	return a, a.SetPrices(name, prices, nil)
}

// programPrices are the prices of variables by a linear objective, with the other sign if negate is set.
func programPrices(p *program.Program, name string, negate bool) ([]problem.Amount, error) {
	prices := make([]problem.Amount, len(p.Variables))
	for i := range prices {
		prices[i], _ = problem.ParseAmount("0")
	}
	for _, t := range p.Objective {
		i := max(t.I, t.J)
		switch x, ok := problem.ParseAmount(string(t.Coefficient)); {
		case !ok:
			return nil, formats.Errorf(name, t.Line, "found the coefficient %s, expected a decimal of at most %d digits", formats.Quote(string(t.Coefficient)), problem.MaxDigits)
		case i < 0 && x.Whole.Sign() != 0 || min(t.I, t.J) >= 0:
			return nil, formats.Errorf(name, t.Line, "found a constant or a product of variables, expected a linear objective")
		case i >= 0:
			if negate {
				x.Whole.Neg(x.Whole)
			}
			prices[i] = x
		}
	}
	return prices, nil
}

// sortBundle puts the goods of a bid in order, with their quantities.
func sortBundle(b *problem.Bid) {
	order := make([]int, len(b.Goods))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Compare(b.Goods[x], b.Goods[y]) })
	goods, units := make([]int64, len(order)), make([]int64, len(order))
	for to, from := range order {
		goods[to], units[to] = b.Goods[from], b.Quantities[from]
	}
	b.Goods, b.Quantities = goods, units
}
