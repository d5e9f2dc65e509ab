package formats

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/npy"
	"coalesce/solvers/qubo/problem"
)

// Write writes an instance in one of FormatNames. The instance is converted to a form and to the sense
// of the format first, so that reading the file without options gives the same problem. notes name
// the conversions, and the parts that the format cannot hold: an offset, names.
func Write(w io.Writer, inst *problem.Instance, format string) (notes []string, err error) {
	l, err := layoutOf(format)
	if err != nil {
		return nil, err
	}
	if l.write == nil {
		return nil, fmt.Errorf("format %s is read, and not written", format)
	}
	if err := inst.Check(); err != nil {
		return nil, err
	}
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	form := l.form
	if inst.Form == problem.Ising && slices.Contains(l.forms, problem.Ising) && l.sense == problem.Minimize {
		form = problem.Ising
	}
	out, err := inst.InForm(form)
	if err != nil {
		return nil, err
	}
	if form != inst.Form {
		note("the %s became a %s: %s, %s", inst.Form, form, formats.Count(out.N, "variable"), formats.Count(out.Pairs(), "pair"))
		notes = append(notes, out.Notes[len(inst.Notes):]...)
	}
	if l.sense != "" && l.sense != inst.Sense {
		note("the coefficients were negated: the format is one to %s", l.sense)
		out = out.WithSense(l.sense)
	}
	if slices.Contains([]string{"orlib", "sparse", "qs", "mqlib"}, l.name) {
		note("a coefficient off the diagonal is written as half of what the product counts")
	}
	if offset := offsetText(out); offset != "0" && !slices.Contains([]string{"coo", "bqm", "bqpjson", "qs", "qubo", "lp"}, l.name) {
		note("the constant %s is left out: values are less by it", offset)
	}
	if out.Names != nil && l.name != "bqm" && l.name != "lp" {
		note("the variables' names are left out")
	}
	if inst.Fixed != nil {
		note("fixed variables are left out")
	}
	b := bufio.NewWriterSize(w, 1<<16)
	return notes, errors.Join(l.write(b, out), b.Flush())
}

func offsetText(inst *problem.Instance) string {
	if inst.Int != nil {
		return strconv.FormatInt(inst.Int.Offset, 10)
	}
	return shortestText(inst.Real.Offset)
}

// shortestText is the shortest text that reads back as v, with no exponent below 1e21.
func shortestText(v float64) string {
	if a := math.Abs(v); a == 0 || a >= 1e-6 && a < 1e21 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// eachEntry calls back every linear term that is not 0 and every pair, i < j, row
// by row; pairs halved where so asked.
func eachEntry(inst *problem.Instance, half bool, each func(i, j int, text []byte)) {
	var buf []byte
	whole := func(i, j int, v int64) {
		if half && i != j && v%2 != 0 {
			if buf = buf[:0]; v == -1 {
				buf = append(buf, '-')
			}
			buf = append(strconv.AppendInt(buf, v/2, 10), ".5"...)
		} else {
			if half && i != j {
				v /= 2
			}
			buf = strconv.AppendInt(buf[:0], v, 10)
		}
		each(i, j, buf)
	}
	fraction := func(i, j int, v float64) {
		if half && i != j {
			v /= 2
		}
		buf = append(buf[:0], shortestText(v)...)
		each(i, j, buf)
	}
	for i := range inst.N {
		if t := inst.Int; t != nil && t.Linear[i] != 0 {
			whole(i, i, t.Linear[i])
		} else if t := inst.Real; t != nil && t.Linear[i] != 0 {
			fraction(i, i, t.Linear[i])
		}
		for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
			j := int(inst.Col[k])
			switch {
			case j < i:
			case inst.Int != nil:
				whole(i, j, inst.Int.Pair[k])
			default:
				fraction(i, j, inst.Real.Pair[k])
			}
		}
	}
}

// diagonalCount is the number of linear terms that are not 0.
func diagonalCount(inst *problem.Instance) (count int64) {
	for i := range inst.N {
		if inst.Int != nil && inst.Int.Linear[i] != 0 || inst.Real != nil && inst.Real.Linear[i] != 0 {
			count++
		}
	}
	return count
}

// listEntries writes entries a line each, numbered from first.
func listEntries(inst *problem.Instance, w io.Writer, first int, half bool) error {
	var line []byte
	var err error
	eachEntry(inst, half, func(i, j int, text []byte) {
		line = strconv.AppendInt(line[:0], int64(i+first), 10)
		line = strconv.AppendInt(append(line, ' '), int64(j+first), 10)
		line = append(append(append(line, ' '), text...), '\n')
		if _, e := w.Write(line); e != nil {
			err = e
		}
	})
	return err
}

// writeOrlib writes a count of one problem, which distinguishes the format from others.
func writeOrlib(w io.Writer, inst *problem.Instance) error {
	if _, err := fmt.Fprintln(w, 1); err != nil {
		return err
	}
	return writeSparse(w, inst)
}

func writeSparse(w io.Writer, inst *problem.Instance) error {
	if _, err := fmt.Fprintf(w, "%d %d\n", inst.N, inst.Pairs()+diagonalCount(inst)); err != nil {
		return err
	}
	return listEntries(inst, w, 1, true)
}

func writeQS(w io.Writer, inst *problem.Instance) error {
	fmt.Fprintf(w, "# ObjectiveOffset %s\n# Vars Non-zeros\n", offsetText(inst))
	return writeSparse(w, inst)
}

func writeQubist(w io.Writer, inst *problem.Instance) error {
	fmt.Fprintf(w, "%d %d\n", inst.N, inst.Pairs()+diagonalCount(inst))
	return listEntries(inst, w, 0, false)
}

func writeMQLib(w io.Writer, inst *problem.Instance) error {
	fmt.Fprintln(w, "# maximise; an off-diagonal coefficient counts twice")
	return writeSparse(w, inst)
}

func writeRudy(w io.Writer, inst *problem.Instance) error {
	fmt.Fprintf(w, "%d %d\n", inst.N, inst.Pairs())
	return listEntries(inst, w, 1, false)
}

// writeQUBO lists the nodes with a coefficient first, then the couplers.
func writeQUBO(w io.Writer, inst *problem.Instance) error {
	if offset := offsetText(inst); offset != "0" {
		fmt.Fprintf(w, "c offset : %s\n", offset)
	}
	fmt.Fprintf(w, "p qubo 0 %d %d %d\n", inst.N, diagonalCount(inst), inst.Pairs())
	var err error
	for _, nodes := range []bool{true, false} {
		eachEntry(inst, false, func(i, j int, text []byte) {
			if nodes == (i == j) {
				_, e := fmt.Fprintf(w, "%d %d %s\n", i, j, text)
				err = errors.Join(err, e)
			}
		})
	}
	return err
}

func writeCOO(w io.Writer, inst *problem.Instance) error {
	vartype := "BINARY"
	if inst.Form == problem.Ising {
		vartype = "SPIN"
	}
	fmt.Fprintf(w, "# vartype=%s\n", vartype)
	if offset := offsetText(inst); offset != "0" {
		fmt.Fprintf(w, "# offset=%s\n", offset)
	}
	if n := inst.N; n > 0 && inst.Start[n] == inst.Start[n-1] { // the last variable is named, so that it is there
		if inst.Int != nil && inst.Int.Linear[n-1] == 0 || inst.Real != nil && inst.Real.Linear[n-1] == 0 {
			fmt.Fprintf(w, "%d %d 0\n", n-1, n-1)
		}
	}
	return listEntries(inst, w, 0, false)
}

func writeBQM(w io.Writer, inst *problem.Instance) error {
	m := model{Type: "BinaryQuadraticModel", Version: map[string]string{"bqm_schema": "3.0.0"}, IndexType: "int32", BiasType: "float64",
		Variables: int64(inst.N), Pairs: inst.Pairs(), Vartype: "BINARY", Offset: json.Number(offsetText(inst)), Info: json.RawMessage("{}"),
		Labels: make([]json.RawMessage, inst.N), Linear: make([]json.Number, inst.N), Biases: []json.Number{}, Head: []int64{}, Tail: []int64{}}
	if inst.Form == problem.Ising {
		m.Vartype = "SPIN"
	}
	for i := range inst.N {
		m.Linear[i], m.Labels[i] = "0", json.RawMessage(strconv.Itoa(i))
		if inst.Names != nil {
			m.Labels[i] = json.RawMessage(label(inst.Names[i]))
		}
	}
	eachEntry(inst, false, func(i, j int, text []byte) {
		if i == j {
			m.Linear[i] = json.Number(text)
			return
		}
		m.Biases = append(m.Biases, json.Number(text))
		m.Head, m.Tail = append(m.Head, int64(i)), append(m.Tail, int64(j))
	})
	return json.NewEncoder(w).Encode(m)
}

// label is a name as JSON: text as a string; numbers and arrays, dimod's other labels, unchanged.
func label(name string) string {
	var v any
	if err := json.Unmarshal([]byte(name), &v); err == nil {
		switch v.(type) {
		case float64, []any:
			return name
		}
	}
	text, _ := json.Marshal(name) // a string always marshals
	return string(text)
}

// writeMarket writes the lower triangle, as symmetric files are.
func writeMarket(w io.Writer, inst *problem.Instance) error {
	kind := "integer"
	if inst.Real != nil {
		kind = "real"
	}
	eachEntry(inst, true, func(_, _ int, text []byte) {
		if strings.ContainsAny(string(text), ".e") {
			kind = "real"
		}
	})
	fmt.Fprintf(w, "%%%%MatrixMarket matrix coordinate %s symmetric\n%% maximise x'Qx\n%d %d %d\n", kind, inst.N, inst.N, inst.Pairs()+diagonalCount(inst))
	var err error
	eachEntry(inst, true, func(i, j int, text []byte) {
		_, e := fmt.Fprintf(w, "%d %d %s\n", j+1, i+1, text)
		err = errors.Join(err, e)
	})
	return err
}

// writeNPY writes Q's upper triangle, of int64 or float64.
func writeNPY(w io.Writer, inst *problem.Instance) error {
	if inst.N > 1<<16 {
		return fmt.Errorf("%d variables: a dense matrix is written of at most %d", inst.N, 1<<16)
	}
	shape := []int{inst.N, inst.N}
	if inst.Int != nil {
		return npy.Write(w, "<i8", shape, square64(inst, inst.Int))
	}
	return npy.Write(w, "<f8", shape, square64(inst, inst.Real))
}

// square64 is the upper triangular matrix of an instance, as bytes.
func square64[T problem.Number](inst *problem.Instance, t *problem.Terms[T]) []byte {
	n := inst.N
	if n == 0 {
		return nil
	}
	q := make([]T, n*n)
	for i := range n {
		q[i*n+i] = t.Linear[i]
		for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
			if j := int(inst.Col[k]); j > i {
				q[i*n+j] = t.Pair[k]
			}
		}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&q[0])), 8*len(q))
}
