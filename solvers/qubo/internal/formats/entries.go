package formats

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/lines"
	"coalesce/solvers/formats/text"
	"coalesce/solvers/qubo/problem"
)

// A file is text, the memory that reading it may take, and the statements of its comments.
type file struct {
	*text.File
	o      Options
	size   int64 // bytes; negative: unknown
	budget *formats.Budget
	said   statements
}

// maxLine is the longest line, in bytes: lines have a few words.
const maxLine = 1 << 20

// openText makes text of a source.
func (in source) openText(o Options, how text.Options) (*file, error) {
	f := &file{o: o, size: in.Size, budget: formats.NewBudget(o.memoryLimit())}
	how.Line, how.Budget = maxLine, f.budget
	var err error
	f.File, err = text.New(in, in.name, how)
	return f, err
}

// openList makes text of a source, in which lines whose first word begins with comment may state something.
func (in source) openList(comment string, o Options) (*file, error) {
	said := statements{}
	f, err := in.openText(o, text.Options{Comment: comment, ReadComment: func(line int, text string) error {
		s, ok, err := parseStatement(line, strings.TrimLeft(strings.Join(strings.Fields(text), " "), comment+" "))
		if err != nil || !ok {
			return err
		}
		return said.add(in.name, s)
	}})
	f.said = said
	return f, err
}

// entries collect the lines of coefficients of a file.
type entries struct {
	*problem.Entries
	file      *file
	count     int64          // entries so far
	reserved  int64          // entries whose memory came from the budget
	loops     int64          // entries of a variable with itself
	variables int            // the largest variable and one more
	lines     text.Positions // of the entries
}

// A part is the entries of a block.
type part struct {
	lines.Entries
	loops     int64 // entries of a variable with itself
	variables int   // the largest variable and one more
}

func newPart() *part { return &part{Entries: lines.Entries{Numbers: text.Numbers{Integral: true}}} }

func (p *part) reset() {
	p.Entries.Reset()
	p.loops, p.variables = 0, 0
}

// newEntries makes room for m entries, as far as the file's size proves them.
func (f *file) newEntries(m int64) (*entries, error) {
	e := &entries{Entries: problem.NewEntries(f.o.memoryLimit()), file: f}
	if err := e.reserve(m); err != nil {
		return nil, f.Errorf("%w", err)
	}
	if err := e.Expect(m, lines.MaxEntries(m, f.size)); err != nil {
		return nil, f.Errorf("%w", err)
	}
	return e, nil
}

// reserve takes memory from the budget for count entries in all.
func (e *entries) reserve(count int64) error {
	if count <= e.reserved {
		return nil
	}
	if err := e.file.budget.Reserve((count - e.reserved) * problem.EntryBytes); err != nil {
		var short *formats.MemoryError
		if held := e.reserved * problem.EntryBytes; errors.As(err, &short) { // of all coefficients
			err = &formats.MemoryError{Need: short.Need + held, Used: short.Used - held, Limit: short.Limit}
		}
		return fmt.Errorf("%d coefficients take %w", count, err)
	}
	e.reserved = count
	return nil
}

// add adds a coefficient of two variables, which stands on a line of the block.
func (p *part) add(line int, i, j int32, word []byte) error {
	if !p.Numbers.Add(word) {
		return lines.WordError(word, noNumber(word))
	}
	p.place(line, i, j)
	return nil
}

// place adds two variables whose coefficient was added.
func (p *part) place(line int, i, j int32) {
	p.Place(line, i, j)
	if i == j {
		p.loops++
	}
	p.variables = max(p.variables, int(i)+1, int(j)+1)
}

// addNegative adds the negative of a coefficient.
func (p *part) addNegative(line int, i, j int32, word []byte) error {
	v, err := parseCoefficient(word)
	if err != nil {
		return lines.WordError(word, err)
	}
	if v = v.negative(); v.float {
		p.Numbers.AddFloat(v.real)
	} else {
		p.Numbers.AddInt(v.whole)
	}
	p.place(line, i, j)
	return nil
}

// read reads the lines of a file, of which those of the list come first; noun and count are of lines.Body.
func (e *entries) read(l coefficientList, noun string, count int64, more bool, kinds ...lines.Kind) ([]lines.Total, error) {
	return lines.Read(context.Background(), e.file.File, lines.Body[*part]{
		Kinds: kinds, Noun: noun, Count: count, More: more,
		New: newPart, Take: l.takeLine, Keep: e.addPart, Reset: (*part).reset,
	})
}

// addPart adds the entries of a block.
func (e *entries) addPart(b *text.Block, p *part) error {
	e.count += int64(len(p.Row))
	if err := e.reserve(e.count); err != nil {
		return err
	}
	if err := e.lines.Append(e.file.budget, &p.Lines, b.FirstLine()); err != nil {
		return fmt.Errorf("the lines of %d coefficients take %w", e.count, err)
	}
	e.loops += p.loops
	e.variables = max(e.variables, p.variables)
	return e.Append(p.Row, p.Column, p.Numbers.Whole, p.Numbers.Real)
}

// newInstance makes an instance of n variables. A pair that comes twice is added up
// where sum says so; else it is an error of its line.
func (e *entries) newInstance(n int, sum bool) (*problem.Instance, error) {
	inst, err := e.Instance(n, sum)
	var again *problem.RepeatedError
	if errors.As(err, &again) {
		return nil, formats.Errorf(e.file.Name(), e.lines.Line(again.Again), "found the variables of line %d again, expected each pair once", e.lines.Line(again.First))
	}
	if err != nil {
		return nil, formats.Errorf(e.file.Name(), 0, "%w", err)
	}
	return inst, nil
}
