package formats

import (
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

// fromProgram is set packing or partitioning as an auction. A variable of 0 and 1 is a bid, of a bidder of its name, and its coefficient the price, with
// the other sign if the objective is minimised. A row of ones that is at most 1 is a good that may stay unsold, one that is 1 a good that has to be sold. If there
// are both, the former are dummies.
func fromProgram(p *program.Program, name string) (*problem.Auction, error) {
	a := &problem.Auction{Notes: slices.Clone(p.Notes), Bids: make([]problem.Bid, len(p.Variables))}
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
			if !p.Maximize {
				x.Whole.Neg(x.Whole)
			}
			prices[i] = x
		}
	}
	partition := slices.ContainsFunc(p.Constraints, func(c program.Constraint) bool { return oneOf(c.Low, "1") })
	a.SellAll = partition
	places := make([]int64, len(p.Constraints)) // the good of each row
	for k := range p.Constraints {
		c := &p.Constraints[k]
		equal, most := oneOf(c.Low, "1"), c.Low == "" || oneOf(c.Low, "0")
		if !oneOf(c.High, "1") || !equal && !most {
			return nil, formats.Errorf(name, c.Line, "found a constraint from %s to %s, expected rows of ones that are at most 1, or 1: set packing and partitioning",
				formats.Quote(string(c.Low)), formats.Quote(string(c.High)))
		}
		if equal || !partition {
			places[k] = a.Goods
			a.Goods++
			label := c.Name
			if label == "" {
				label = "row " + strconv.Itoa(k)
			}
			a.Names = append(a.Names, label)
		} else {
			a.Dummies++
			places[k] = -a.Dummies
		}
	}
	for k := range p.Constraints {
		for _, t := range p.Constraints[k].Terms {
			i := max(t.I, t.J)
			if min(t.I, t.J) >= 0 || i < 0 || !oneOf(t.Coefficient, "1") {
				return nil, formats.Errorf(name, t.Line, "found the coefficient %s of a row, expected 1", formats.Quote(string(t.Coefficient)))
			}
			a.Bids[i].Goods = append(a.Bids[i].Goods, places[k])
		}
	}
	for i := range a.Bids {
		v, b := &p.Variables[i], &a.Bids[i]
		slices.Sort(b.Goods)
		b.Number, b.Line, b.Bidder = int64(i), v.Line, v.Name
		switch inRow := len(b.Goods) > 0; {
		case len(slices.Compact(slices.Clone(b.Goods))) < len(b.Goods):
			return nil, formats.Errorf(name, v.Line, "found the variable %s twice in a row, expected once", formats.Quote(v.Name))
		case v.IsBinary(), v.Kind == program.Integer && oneOf(v.Low, "0") && inRow && (v.High == "" || !oneOf(v.High, "0")):
		default:
			return nil, formats.Errorf(name, v.Line, "found the variable %s from %s that is not of 0 and 1, expected such ones", formats.Quote(v.Name), v.Bounds())
		}
	}
	if !p.Maximize {
		a.Notes = append(a.Notes, "the objective is minimised: prices, value and bound are its numbers with the other sign")
	}
	return a, a.SetPrices(name, prices, nil)
}
