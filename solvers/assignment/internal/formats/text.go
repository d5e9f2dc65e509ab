package formats

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"coalesce/solvers/assignment/problem"
)

// maxLine is the longest line of a text file, in bytes.
const maxLine = 1 << 28

// lines reads a text file line by line.
type lines struct {
	r    *bufio.Reader
	name string
	line int // of the last line read, from 1
	buf  []byte
}

// next is the next line without its end, good until the one after is asked
// for, or io.EOF.
func (l *lines) next() ([]byte, error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		l.buf = append(l.buf, part...)
		if len(l.buf) > maxLine {
			return nil, fmt.Errorf("%s:%d: found a line beyond %d bytes, expected a shorter one", l.name, l.line+1, maxLine)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s:%d: %w", l.name, l.line+1, err)
		}
		if err != nil && len(l.buf) == 0 {
			return nil, io.EOF
		}
		l.line++
		return bytes.TrimRight(l.buf, "\r\n"), nil
	}
}

// fields are the words of the next line that has any.
func (l *lines) fields() ([][]byte, error) {
	for {
		text, err := l.next()
		if err != nil {
			return nil, err
		}
		if f := bytes.Fields(text); len(f) > 0 {
			return f, nil
		}
	}
}

// errorf is an error at the last line read.
func (l *lines) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", l.name, max(1, l.line), fmt.Errorf(format, args...))
}

// brief shortens a word for an error.
func brief(word []byte) string {
	if len(word) > 40 {
		return string(word[:40]) + "…"
	}
	return string(word)
}

// number reads a whole number from 0 to most.
func number(word []byte, what string, most int64) (int, error) {
	n, err := strconv.ParseInt(string(word), 10, 64)
	if err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("found the %s %q, expected a whole number from 0 to %d", what, brief(word), most)
	}
	return int(n), nil
}

// costs collects costs as they are read: as integers while all are, then as
// floats.
type costs struct {
	whole    []int64 // math.MaxInt64: forbidden
	real     []float64
	floats   bool
	maximize bool
	rounded  int   // integers that no float64 holds
	most     int64 // bytes
}

func newCosts(o ReadOptions) *costs { return &costs{maximize: o.Maximize, most: o.memory()} }

func (c *costs) len() int { return len(c.whole) + len(c.real) }

// isCost reports whether a word is a cost.
func isCost(word []byte) bool {
	_, err := strconv.ParseFloat(string(word), 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// add reads a cost. Its error unwraps to ErrCost.
func (c *costs) add(word []byte) error {
	if int64(c.len())*8 > c.most {
		return fmt.Errorf("found more than %d costs, which take more than the limit of %d bytes", c.len(), c.most)
	}
	if !c.floats {
		i, err := strconv.ParseInt(string(word), 10, 64)
		if err == nil && i != math.MaxInt64 {
			c.whole = append(c.whole, i)
			return nil
		}
	}
	f, err := strconv.ParseFloat(string(word), 64)
	forbidden := problem.Forbidden[float64](c.maximize)
	switch {
	case bytes.ContainsAny(word, "xX_") || err != nil || math.IsNaN(f) || math.IsInf(f, 0) && f != forbidden:
		want := "inf"
		if c.maximize {
			want = "-inf"
		}
		return fmt.Errorf("%w: found %q, expected a number, or %s to forbid the pair", problem.ErrCost, brief(word), want)
	case f == forbidden && !c.floats:
		c.whole = append(c.whole, math.MaxInt64)
		return nil
	case !c.floats:
		c.widen()
	}
	if i, err := strconv.ParseInt(string(word), 10, 64); err == nil {
		c.round(i)
	}
	c.real = append(c.real, f)
	return nil
}

// round counts an integer that becomes a float64, where that rounds it.
func (c *costs) round(i int64) {
	if f := float64(i); f >= 1<<63 || int64(f) != i {
		c.rounded++
	}
}

// repeat adds the last cost again, or its negative.
func (c *costs) repeat(negative bool) error {
	if c.floats {
		last := c.real[len(c.real)-1]
		if negative {
			last = -last
		}
		c.real = append(c.real, last)
		return nil
	}
	last := c.whole[len(c.whole)-1]
	if negative && last != math.MaxInt64 {
		last = -last
	}
	c.whole = append(c.whole, last)
	return nil
}

// widen makes all costs floats.
func (c *costs) widen() {
	c.floats = true
	c.real = make([]float64, len(c.whole), cap(c.whole))
	for k, i := range c.whole {
		c.real[k] = float64(i)
		if i == math.MaxInt64 {
			c.real[k] = problem.Forbidden[float64](c.maximize)
			continue
		}
		c.round(i)
	}
	c.whole = nil
}

// set gives an instance the costs, in an order, nil for their own.
func (c *costs) set(inst *problem.Instance, order []int) {
	if c.floats {
		problem.SetCosts(inst, reordered(c.real, order))
		if c.rounded > 0 {
			inst.Note("%d integers were rounded to float64, because other costs are fractions or 2^63-1 and more", c.rounded)
		}
		return
	}
	problem.SetCosts(inst, reordered(c.whole, order))
}

func reordered[T any](list []T, order []int) []T {
	if order == nil {
		return list
	}
	out := make([]T, len(order))
	for k, at := range order {
		out[k] = list[at]
	}
	return out
}
