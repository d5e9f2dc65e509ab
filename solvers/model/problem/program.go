package problem

import (
	"math/big"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/program"
)

// FromProgram is the model of a mathematical program. Variables have to be binary, or whole numbers with bounds, and constraints
// linear. name is what errors call its file.
func FromProgram(p *program.Program, name string) (*Model, error) {
	m := New(Minimize)
	if p.Maximize {
		m.Sense = Maximize
	}
	m.Source, m.Notes = name, append([]string(nil), p.Notes...)
	for i := range p.Variables {
		v, err := variableOf(&p.Variables[i], name)
		if err != nil {
			return nil, err
		}
		m.AddVariable(v)
	}
	for _, t := range p.Objective {
		c, ok := ParseDecimal(string(t.Coefficient))
		if !ok {
			return nil, coefficientError(name, t)
		}
		var list []int32
		for _, i := range []int{t.I, t.J} {
			if i >= 0 {
				list = append(list, int32(i))
			}
		}
		m.AddTerm(c, list...)
	}
	for k := range p.Constraints {
		from := &p.Constraints[k]
		c := Constraint{Name: from.Name, Line: from.Line}
		for _, t := range from.Terms {
			if t.I < 0 || t.J >= 0 {
				return nil, formats.Errorf(name, t.Line, "found a product of variables in a constraint, expected linear constraints")
			}
			a, ok := ParseDecimal(string(t.Coefficient))
			if !ok {
				return nil, coefficientError(name, t)
			}
			c.Terms = append(c.Terms, Linear{a, int32(t.I)})
		}
		for _, b := range []struct {
			text program.Decimal
			to   **Decimal
		}{{from.Low, &c.Low}, {from.High, &c.High}} {
			if b.text == "" {
				continue
			}
			d, ok := ParseDecimal(string(b.text))
			if !ok {
				return nil, formats.Errorf(name, from.Line, "found the bound %s, expected a number of at most 18 digits", formats.Quote(b.text))
			}
			*b.to = &d
		}
		m.AddConstraint(c)
	}
	return m, m.Check()
}

func coefficientError(name string, t program.Term) error {
	return formats.Errorf(name, t.Line, "found the coefficient %s, expected a number of at most 18 digits", formats.Quote(t.Coefficient))
}

// variableOf is the variable of a program's.
func variableOf(v *program.Variable, name string) (Variable, error) {
	out := Variable{Name: v.Name, Kind: Integer, Line: v.Line}
	switch {
	case v.Kind != program.Binary && v.Kind != program.Integer:
		return out, formats.Errorf(name, v.Line, "found the variable %s, which is continuous, expected binary variables and whole numbers with bounds", formats.Quote(v.Name))
	case v.Low == "" || v.High == "":
		return out, formats.Errorf(name, v.Line, "found the variable %s from %s, expected a lower and an upper bound", formats.Quote(v.Name), v.Bounds())
	}
	for _, b := range []struct {
		text program.Decimal
		to   *int64
		up   bool
	}{{v.Low, &out.Low, true}, {v.High, &out.High, false}} {
		d, ok := ParseDecimal(string(b.text))
		if !ok || d.Float() > maxRange || d.Float() < -maxRange {
			return out, formats.Errorf(name, v.Line, "found the variable %s from %s, expected bounds of at most %d in size", formats.Quote(v.Name), v.Bounds(), int64(maxRange))
		}
		*b.to = rounded(d.Rat(), b.up)
	}
	if out.Low > out.High {
		return out, formats.Errorf(name, v.Line, "found the variable %s from %s, which no whole number is between", formats.Quote(v.Name), v.Bounds())
	}
	if out.Low >= 0 && out.High <= 1 {
		out.Kind = Binary
	}
	return out, nil
}

// rounded is the nearest integer that is at least x, or at most, where it is an int64.
func rounded(x *big.Rat, up bool) int64 {
	q, r := new(big.Int).DivMod(x.Num(), x.Denom(), new(big.Int)) // r is at least 0
	if up && r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Int64()
}
