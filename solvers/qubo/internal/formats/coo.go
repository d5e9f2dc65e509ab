package formats

import (
	"bytes"
	"context"
	"fmt"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
	"coalesce/solvers/qubo/problem"
)

// readCOO reads dimod's COOrdinate text: lines `i j q` from 0, added up where
// they repeat, with `# vartype=BINARY` or `# vartype=SPIN` first or not. The
// largest variable named is the last.
func readCOO(in source, o Options) (*problem.Instance, error) {
	f, err := in.text("", o)
	if err != nil {
		return nil, err
	}
	e, err := f.entries(0)
	if err != nil {
		return nil, err
	}
	type block struct {
		*part
		said []statement
	}
	var said statements
	l := list{loops: true}
	err = text.Each(context.Background(), f.File, text.Lines, func(b *text.Block) (block, error) {
		p := block{part: e.empty()}
		for {
			words, ok := b.Fields()
			if !ok {
				return p, nil
			}
			if words[0][0] == '#' {
				if s, ok, err := stated(b.Number(), words); err != nil {
					return p, err
				} else if ok {
					p.said = append(p.said, s)
				}
				continue
			}
			if len(words) != 3 {
				return p, fmt.Errorf("found %s, expected %s", formats.Count(len(words), "word"), lineOf)
			}
			if err := l.entry(p.part, problem.MaxVariables, b.Number(), words); err != nil {
				return p, err
			}
		}
	}, func(b *text.Block, p block) error {
		for _, s := range p.said {
			s.line += b.First()
			if err := said.add(in.name, s); err != nil {
				return err
			}
		}
		return e.keep(b, p.part)
	})
	if err != nil {
		return nil, err
	}
	n := e.variables
	if n == 0 && said.form == nil && said.offset == nil { // dimod writes the vartype of a model without variables
		return nil, formats.Errorf(in.name, 1, "found no coefficients and no vartype, expected "+lineOf)
	}
	if said.offset != nil { // an entry of its own variable, so that it is of the others' type
		if err := said.offset.offset.addTo(e.Entries, n, n); err != nil {
			return nil, formats.Errorf(in.name, said.offset.line, "offset: %w", err)
		}
		n++
	}
	inst, err := e.instance(n, true)
	if err != nil {
		return nil, err
	}
	if said.offset != nil {
		inst.LastAsOffset()
	}
	if said.form != nil {
		inst.Form = said.form.form
	}
	if o.Form != "" {
		inst.Form = o.Form
	}
	return inst, nil
}

// A statement is a comment of a COO file that says the form, or else the offset.
type statement struct {
	line   int
	form   problem.Form
	offset value
}

// statements are the form and the offset that comments of a COO file state; nil where none does. A
// repeated statement has to be the same.
type statements struct{ form, offset *statement }

// stated reads a comment that states something; most do not.
func stated(line int, words [][]byte) (s statement, ok bool, err error) {
	comment := bytes.TrimLeft(bytes.Join(words, nil), "#")
	at := bytes.IndexAny(comment, "=:") + 1
	word := comment[at:]
	switch string(bytes.ToLower(comment[:at])) {
	case "vartype=", "vartype:":
		switch {
		case bytes.EqualFold(word, []byte("SPIN")):
			return statement{line: line, form: problem.Ising}, true, nil
		case bytes.EqualFold(word, []byte("BINARY")):
			return statement{line: line, form: problem.QUBO}, true, nil
		}
		return s, false, fmt.Errorf("found %s, expected vartype=BINARY or vartype=SPIN", formats.Quote(comment))
	case "offset=":
		v, err := parse(word)
		if err != nil {
			err = fmt.Errorf("offset: %w", err)
		}
		return statement{line: line, offset: v}, true, err
	}
	return s, false, nil
}

// add takes a statement over, unless another was made before.
func (all *statements) add(name string, s statement) error {
	to, what := &all.offset, "offset"
	if s.form != "" {
		to, what = &all.form, "vartype"
	}
	if *to == nil {
		*to = &s
	}
	if (*to).form != s.form || (*to).offset != s.offset {
		return formats.Errorf(name, s.line, "found another %s than on line %d, expected one", what, (*to).line)
	}
	return nil
}
