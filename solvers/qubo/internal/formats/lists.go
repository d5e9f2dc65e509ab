package formats

import (
	"errors"
	"fmt"
	"io"
	"math"

	"coalesce/solvers/qubo/problem"
)

// A list is how a format lists coefficients.
type list struct {
	from  int  // number of the first variable
	twice bool // an off-diagonal coefficient counts twice
	loops bool // i j may be the same
}

// readEntries reads m lines of i, j and a coefficient of n variables into an
// instance. An error of a pair that comes twice says where.
func (in *lines) readEntries(n int, m int64, l list, o Options) (*problem.Instance, error) {
	d := problem.NewEntries(o.memory())
	d.Twice = l.twice
	if err := d.Expect(m); err != nil {
		return nil, in.errorf("%w", err)
	}
	var at []int32 // lines of entries, where one is not the line after the other's
	first := in.line + 1
	for k := range m {
		f, err := in.fields()
		switch {
		case errors.Is(err, io.EOF):
			return nil, in.errorf("found the end of the file after %d of %d lines of coefficients: the file is truncated", k, m)
		case err != nil:
			return nil, err
		case len(f) != 3:
			return nil, in.errorf("found %d words, expected a line of two variables and a coefficient", len(f))
		}
		if err := in.entry(d, f, n, l); err != nil {
			return nil, err
		}
		if k == 0 {
			first = in.line
		}
		if at == nil && in.line != first+int(k) {
			for line := range int(k) {
				at = append(at, int32(first+line))
			}
		}
		if at != nil {
			at = append(at, int32(in.line))
		}
	}
	inst, err := d.Instance(n, false)
	var again *problem.RepeatedError
	if errors.As(err, &again) && at != nil {
		return nil, fmt.Errorf("%s:%d: found the variables of line %d again, expected each pair once", in.name, at[again.Again], at[again.First])
	}
	if err != nil {
		return nil, located(err, in, first)
	}
	return inst, nil
}

// entry adds one line's coefficient to d.
func (in *lines) entry(d *problem.Entries, f [][]byte, n int, l list) error {
	low, high := int64(l.from), int64(n-1+l.from)
	i, err := variable(f[0], low, high)
	if err != nil {
		return in.errorf("%w", err)
	}
	j, err := variable(f[1], low, high)
	if err != nil {
		return in.errorf("%w", err)
	}
	if i == j {
		if !l.loops {
			return in.errorf("found an edge from %d to itself, expected two different nodes", i)
		}
		in.loops++
	}
	if err := parseInto(d, i-l.from, j-l.from, f[2]); err != nil {
		return in.errorf("%w", err)
	}
	return nil
}

// variable is number, quicker.
func variable(word []byte, low, high int64) (int, error) {
	if v, ok := digits(word); ok && v >= low && v <= high {
		return int(v), nil
	}
	return number(word, "variable", low, high)
}

// size reads the words n and m of a header.
func (in *lines) size(f [][]byte) (n int, m int64, err error) {
	if n, err = number(f[0], "number of variables", 0, problem.MaxVariables); err == nil {
		var count int
		count, err = number(f[1], "number of coefficients", 0, math.MaxInt32)
		m = int64(count)
	}
	if err != nil {
		return 0, 0, in.errorf("%w", err)
	}
	return n, m, nil
}

// readOrlib reads problems of J. E. Beasley's OR-Library
// (http://people.brunel.ac.uk/~mastjjb/jeb/orlib/bqpinfo.html): the number of
// problems, then each; or one problem without that number.
func readOrlib(in *lines, o Options) (*problem.Instance, error) {
	f, err := in.fields()
	if err != nil {
		return nil, in.ended(err, "the number of problems, or n and m")
	}
	l := list{from: 1, twice: true, loops: true}
	if len(f) == 2 {
		if o.Problem > 1 {
			return nil, in.errorf("found one problem, expected number %d", o.Problem)
		}
		inst, err := in.one(f, l, o)
		if err != nil {
			return nil, err
		}
		return inst, in.end("the last coefficient")
	}
	if len(f) != 1 {
		return nil, in.errorf("found %d words, expected the number of problems, or n and m", len(f))
	}
	count, err := number(f[0], "number of problems", 1, 1<<20)
	switch {
	case err != nil:
		return nil, in.errorf("%w", err)
	case o.Problem > count:
		return nil, in.errorf("found %d problems, expected number %d", count, o.Problem)
	case o.Problem == 0 && count > 1:
		return nil, in.errorf("found %d problems, expected to be told which (--problem 1 to %d)", count, count)
	}
	for k := 1; ; k++ {
		f, err := in.want(2, "n and m")
		if err != nil {
			return nil, err
		}
		if k == max(1, o.Problem) {
			inst, err := in.one(f, l, o)
			if err == nil && k == count {
				err = in.end("the last coefficient")
			}
			if err == nil && count > 1 {
				inst.Note("problem %d of %d", k, count)
			}
			return inst, err
		}
		_, m, err := in.size(f)
		if err != nil {
			return nil, err
		}
		for range m {
			if _, err := in.want(3, "a line of two variables and a coefficient"); err != nil {
				return nil, err
			}
		}
	}
}

// one reads the coefficients of a problem whose header was read.
func (in *lines) one(header [][]byte, l list, o Options) (*problem.Instance, error) {
	n, m, err := in.size(header)
	if err != nil {
		return nil, err
	}
	return in.readEntries(n, m, l, o)
}

// single reads a file of one problem: comments, `n m`, coefficients.
func (in *lines) single(l list, o Options) (*problem.Instance, error) {
	f, err := in.want(2, "n and m")
	if err != nil {
		return nil, err
	}
	inst, err := in.one(f, l, o)
	if err != nil {
		return nil, err
	}
	return inst, in.end("the last coefficient")
}

// readSparse reads the .sparse files of the Biq Mac library (A. Wiegele, 2007).
func readSparse(in *lines, o Options) (*problem.Instance, error) {
	in.comment = "#"
	return in.single(list{from: 1, twice: true, loops: true}, o)
}

// readRudy reads graphs as G. Rinaldi's generator rudy writes them. A third
// word in the header, seen in copies of the G-set, is passed over.
func readRudy(in *lines, o Options) (*problem.Instance, error) {
	in.comment = "#"
	f, err := in.fields()
	if err != nil {
		return nil, in.ended(err, "the numbers of nodes and edges")
	}
	if len(f) != 2 && len(f) != 3 {
		return nil, in.errorf("found %d words, expected the numbers of nodes and edges", len(f))
	}
	stray := ""
	if len(f) == 3 {
		stray = string(brief(f[2]))
	}
	inst, err := in.one(f, list{from: 1}, o)
	if err != nil {
		return nil, err
	}
	inst.Form = problem.MaxCut
	if stray != "" {
		inst.Note("the header's third word, %q, was passed over", stray)
	}
	return inst, in.end("the last edge")
}

// readMQLib reads the QUBO and max-cut files of MQLib (I. Dunning, S. Gupta and
// J. Silberholz, INFORMS J. Computing 30(3), 2018).
func readMQLib(in *lines, o Options) (*problem.Instance, error) {
	in.comment = "#"
	l := list{from: 1, twice: true, loops: true}
	if o.Form == problem.MaxCut {
		l = list{from: 1}
	}
	inst, err := in.single(l, o)
	if err == nil && o.Form == problem.MaxCut {
		inst.Form = problem.MaxCut
	}
	return inst, err
}

// readQUBO reads the .qubo files of qbsolv: `p qubo topology maxNodes nNodes
// nCouplers`, then the nodes and couplers, as many lines as that says.
func readQUBO(in *lines, o Options) (*problem.Instance, error) {
	in.comment = "c"
	f, err := in.want(6, "p qubo, 0, and the numbers of variables, nodes and couplers")
	if err != nil {
		return nil, err
	}
	if string(f[0]) != "p" || string(f[1]) != "qubo" {
		return nil, in.errorf("found %q, expected p qubo", brief(f[0]))
	}
	if string(f[2]) != "0" && string(f[2]) != "unconstrained" {
		return nil, in.errorf("found the topology %q, expected 0: any couplers", brief(f[2]))
	}
	n, nodes, err := in.size(f[3:5])
	if err != nil {
		return nil, err
	}
	_, couplers, err := in.size([][]byte{f[3], f[5]})
	if err != nil {
		return nil, err
	}
	inst, err := in.readEntries(n, nodes+couplers, list{loops: true}, o)
	if err != nil {
		return nil, err
	}
	if in.loops != nodes {
		return nil, in.errorf("found %d nodes and %d couplers, expected %d and %d as the header says", in.loops, nodes+couplers-in.loops, nodes, couplers)
	}
	return inst, in.end("the last coupler")
}
