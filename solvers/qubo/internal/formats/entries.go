package formats

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
	"coalesce/solvers/qubo/problem"
)

// A file is text, the memory that reading it may take, and the statements of its comments.
type file struct {
	*text.File
	o      Options
	size   int64 // bytes; negative: unknown
	budget *formats.Budget
	begin  string // of comments; empty: there are none, or File passes over them
	said   statements
}

// maxLine is the longest line, in bytes: lines have a few words.
const maxLine = 1 << 20

// text makes text of a source. Lines whose first word begins with comment are passed over; empty: there are none.
func (in source) text(comment string, o Options) (*file, error) {
	budget := formats.NewBudget(o.memory())
	f, err := text.New(in, in.name, text.Options{Comment: comment, Line: maxLine, Budget: budget})
	return &file{File: f, o: o, size: in.Size, budget: budget, said: statements{}}, err
}

// list makes text of a source, in which lines whose first word begins with comment may state something.
func (in source) list(comment string, o Options) (*file, error) {
	f, err := in.text("", o)
	if err == nil {
		f.begin = comment
	}
	return f, err
}

// comments reports whether the words are those of a comment.
func (f *file) comments(words [][]byte) bool {
	return f.begin != "" && strings.HasPrefix(string(words[0][:min(len(words[0]), len(f.begin))]), f.begin)
}

// words are those of the next line that has any and is no comment; io.EOF at the end of the file.
func (f *file) words() ([][]byte, error) {
	for {
		words, err := f.Fields()
		if err != nil || !f.comments(words) {
			return words, err
		}
		s, ok, err := stated(f.Number(), commented(words, f.begin))
		if err != nil {
			return nil, f.Errorf("%w", err)
		}
		if ok {
			if err := f.said.add(f.Name(), s); err != nil {
				return nil, err
			}
		}
	}
}

// comment takes a line that is a comment, and keeps its statement; false for other lines.
func (f *file) comment(p *part, line int, words [][]byte) (bool, error) {
	if !f.comments(words) {
		return false, nil
	}
	s, ok, err := stated(line, commented(words, f.begin))
	if ok {
		p.said = append(p.said, s)
	}
	return true, err
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
	parts     sync.Pool
}

// A part is the entries of a block.
type part struct {
	i, j      []int32
	values    text.Numbers
	loops     int64 // entries of a variable with itself
	variables int   // the largest variable and one more
	lines     text.Positions
	said      []statement // with lines from 0 within the block
}

// leastLine is the length of the shortest line of an entry, "1 1 1" and its end.
const leastLine = 6

// entries makes room for m entries, as far as the file's size proves them.
func (f *file) entries(m int64) (*entries, error) {
	e := &entries{Entries: problem.NewEntries(f.o.memory()), file: f, parts: sync.Pool{New: func() any { return &part{} }}}
	if err := e.reserve(m); err != nil {
		return nil, f.Errorf("%w", err)
	}
	if err := e.Expect(m, f.size/leastLine); err != nil {
		return nil, f.Errorf("%w", err)
	}
	return e, nil
}

// reserve takes memory from the budget for count entries in all.
func (e *entries) reserve(count int64) error {
	if count <= e.reserved {
		return nil
	}
	if err := e.file.budget.Take((count - e.reserved) * problem.EntryBytes); err != nil {
		var short *formats.MemoryError
		if held := e.reserved * problem.EntryBytes; errors.As(err, &short) { // of all coefficients
			err = &formats.MemoryError{Need: short.Need + held, Used: short.Used - held, Limit: short.Limit}
		}
		return fmt.Errorf("%d coefficients take %w", count, err)
	}
	e.reserved = count
	return nil
}

// empty is a part without entries.
func (e *entries) empty() *part { return e.parts.Get().(*part) }

// add adds a coefficient of two variables, which stands on a line of the block.
func (p *part) add(line int, i, j int32, word []byte) error {
	v, err := parse(word)
	if err != nil {
		return err
	}
	p.append(line, i, j, v)
	return nil
}

func (p *part) append(line int, i, j int32, v value) {
	if v.float {
		p.values.AddFloat(v.real)
	} else {
		p.values.AddInt(v.whole)
	}
	p.i, p.j = append(p.i, i), append(p.j, j)
	if i == j {
		p.loops++
	}
	p.variables = max(p.variables, int(i)+1, int(j)+1)
	p.lines.Add(line)
}

// subtract adds the negative of a coefficient.
func (p *part) subtract(line int, i, j int32, word []byte) error {
	v, err := parse(word)
	if err != nil {
		return err
	}
	p.append(line, i, j, v.negative())
	return nil
}

// keep adds the entries of a block.
func (e *entries) keep(b *text.Block, p *part) error {
	e.count += int64(len(p.i))
	if err := e.reserve(e.count); err != nil {
		return err
	}
	if err := e.lines.Append(e.file.budget, &p.lines, b.First()); err != nil {
		return fmt.Errorf("the lines of %d coefficients take %w", e.count, err)
	}
	if err := e.Append(p.i, p.j, p.values.Whole, p.values.Real); err != nil {
		return err
	}
	for _, s := range p.said {
		s.line += b.First()
		if err := e.file.said.add(e.file.Name(), s); err != nil {
			return err
		}
	}
	e.loops += p.loops
	e.variables = max(e.variables, p.variables)
	p.i, p.j, p.loops, p.variables, p.said = p.i[:0], p.j[:0], 0, 0, nil
	p.values.Reset()
	p.lines.Reset()
	e.parts.Put(p)
	return nil
}

// made makes an instance of n variables. A pair that comes twice is added up
// where sum says so; else it is an error of its line.
func (e *entries) made(n int, sum bool) (*problem.Instance, error) {
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
