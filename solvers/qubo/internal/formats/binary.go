package formats

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"coalesce/solvers/formats"
	"coalesce/solvers/qubo/problem"
)

// binaryMagic is how a binary file of dimod's model begins.
const binaryMagic = "DIMODBQM"

// A binaryHeader is the JSON at the beginning of such a file.
type binaryHeader struct {
	Shape     []int64         `json:"shape"`     // variables and interactions
	DType     string          `json:"dtype"`     // of biases
	IType     string          `json:"itype"`     // of variables
	NType     string          `json:"ntype"`     // of places in the list of neighbours
	Vartype   string          `json:"vartype"`   // BINARY or SPIN
	Variables json.RawMessage `json:"variables"` // version 1: the labels; 2: whether they follow
}

// sizes are the bytes of the types of such a file.
var sizes = map[string]int{"float32": 4, "float64": 8, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8}

// A field reads one value of a record: of size bytes, a float or an integer.
type field struct {
	size  int
	float bool
}

func (f field) number(b []byte) float64 {
	if f.size == 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// whole is an integer without a sign: those that may be here are not negative.
func (f field) whole(b []byte) uint64 {
	var v uint64
	for k := range f.size {
		v |= uint64(b[k]) << (8 * k)
	}
	return v
}

// readBinary reads the binary file of dimod's model, versions 1 and 2 (BinaryQuadraticModel.to_file): a header; the offset; of
// each variable the place of its neighbours and its bias; of each neighbour its number and the bias of both, from both sides; the
// labels.
func readBinary(in source, o Options) (*problem.Instance, error) {
	wrong := func(err error) (*problem.Instance, error) {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("found the end of the file within dimod's binary model: the file is truncated: %w", io.ErrUnexpectedEOF)
		}
		return nil, formats.Errorf(in.name, 0, "%w", err)
	}
	h, version, err := readBinaryHeader(in.Reader, o)
	if err != nil {
		return wrong(err)
	}
	n, m := h.Shape[0], h.Shape[1]
	real, out, place := field{sizes[h.DType], true}, field{sizes[h.IType], false}, field{sizes[h.NType], false}
	if need := float64(m)*problem.EntryBytes + float64(n)*40; need > float64(o.memory()) || n > problem.MaxVariables || m > math.MaxInt32 {
		return wrong(fmt.Errorf("%d variables and %d interactions take %w", n, m, formats.Short(need, o.memory())))
	}
	body := int64(real.size) + n*int64(place.size+real.size) + 2*m*int64(out.size+real.size)
	if in.Size >= 0 && in.Size < body {
		return wrong(fmt.Errorf("found a file of %d bytes, expected at least %d after the header: %d variables and %d interactions", in.Size, body, n, m))
	}
	d := problem.NewEntries(o.memory())
	record := make([]byte, 16)
	next := func(size int) ([]byte, error) { _, err := io.ReadFull(in, record[:size]); return record[:size], err }
	add := func(i, j int64, b []byte) error {
		v := real.number(b)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%w: variables %d and %d: found %v, expected a number", problem.ErrCoefficient, i, j, v)
		}
		return d.AddReal(int(i), int(j), v)
	}
	b, err := next(real.size)
	if err == nil {
		err = add(n, n, b)
	}
	if err != nil {
		return wrong(err)
	}
	var starts []int64
	for i := range n {
		b, err := next(place.size + real.size)
		if err == nil {
			starts = append(starts, int64(min(place.whole(b), 1<<62)))
			err = add(i, i, b[place.size:])
		}
		if err != nil {
			return wrong(err)
		}
	}
	starts = append(starts, 2*m)
	pairs := int64(0)
	for i := range n {
		if starts[i] > starts[i+1] || i == 0 && starts[0] != 0 {
			return wrong(fmt.Errorf("found the neighbours of variable %d at %d to %d, expected them in order, up to %d", i, starts[i], starts[i+1], 2*m))
		}
		for range starts[i+1] - starts[i] {
			b, err := next(out.size + real.size)
			if err != nil {
				return wrong(err)
			}
			j := int64(min(out.whole(b), 1<<62))
			if j >= n || j == i {
				return wrong(fmt.Errorf("found the pair %d, %d, expected two different variables from 0 to %d", i, j, n-1))
			}
			if j > i { // it comes again
				continue
			}
			pairs++
			if err := add(i, j, b[out.size:]); err != nil {
				return wrong(err)
			}
		}
	}
	if pairs != m {
		return wrong(fmt.Errorf("found %d pairs, expected %d from each side", pairs, m))
	}
	labels, err := h.labels(in.Reader, version, o)
	if err != nil {
		return wrong(err)
	}
	if labels != nil && int64(len(labels)) != n {
		return wrong(fmt.Errorf("found %s, expected %d, one of each variable", formats.Count(len(labels), "label"), n))
	}
	inst, err := d.Instance(int(n+1), false)
	if err != nil {
		return wrong(err)
	}
	inst.LastAsOffset()
	inst.Names = names(labels)
	if h.Vartype == "SPIN" {
		inst.Form = problem.Ising
	}
	return inst, o.holds(in.name, inst)
}

// readBinaryHeader reads the header before the biases, and checks it.
func readBinaryHeader(in *bufio.Reader, o Options) (h binaryHeader, version byte, err error) {
	var pre [14]byte // the magic, two bytes of version, and the header's length
	if _, err := io.ReadFull(in, pre[:]); err != nil {
		return h, 0, err
	}
	if version = pre[8]; version != 1 && version != 2 {
		return h, 0, fmt.Errorf("found version %d.%d of dimod's binary model, expected 1 or 2", pre[8], pre[9])
	}
	data, err := block(in, int64(binary.LittleEndian.Uint32(pre[10:])), o)
	if err != nil {
		return h, 0, err
	}
	if err := json.Unmarshal(bytes.TrimSpace(data), &h); err != nil {
		return h, 0, fmt.Errorf("header: JSON: %w", err)
	}
	switch {
	case len(h.Shape) != 2 || h.Shape[0] < 0 || h.Shape[1] < 0:
		return h, 0, fmt.Errorf("found the shape %v, expected the numbers of variables and interactions", h.Shape)
	case h.DType != "float32" && h.DType != "float64":
		return h, 0, fmt.Errorf("found biases of type %s, expected float32 or float64", formats.Quote(h.DType))
	case sizes[h.IType] == 0 || sizes[h.NType] == 0 || h.IType[0] == 'f' || h.NType[0] == 'f':
		return h, 0, fmt.Errorf("found indices of types %s and %s, expected integers", formats.Quote(h.IType), formats.Quote(h.NType))
	case h.Vartype != "BINARY" && h.Vartype != "SPIN":
		return h, 0, fmt.Errorf("found vartype %s, expected BINARY or SPIN", formats.Quote(h.Vartype))
	}
	return h, version, nil
}

// block reads so many bytes, which take memory as they come.
func block(in io.Reader, length int64, o Options) ([]byte, error) {
	if length > o.memory()/8 {
		return nil, fmt.Errorf("%d bytes of JSON take %w", length, formats.Short(8*float64(length), o.memory()))
	}
	data, err := io.ReadAll(io.LimitReader(in, length))
	if err == nil && int64(len(data)) < length {
		err = io.ErrUnexpectedEOF
	}
	return data, err
}

// labels are those of the variables; nil where they are 0, 1, 2 and so on.
func (h binaryHeader) labels(in *bufio.Reader, version byte, o Options) (labels []json.RawMessage, err error) {
	data := []byte(h.Variables)
	if version >= 2 {
		if string(bytes.TrimSpace(data)) != "true" {
			return nil, nil
		}
		var pre [8]byte
		if _, err := io.ReadFull(in, pre[:]); err != nil {
			return nil, err
		}
		if string(pre[:4]) != "VARS" {
			return nil, fmt.Errorf("found %s behind the biases, expected VARS: the labels", formats.Quote(pre[:4]))
		}
		if data, err = block(in, int64(binary.LittleEndian.Uint32(pre[4:])), o); err != nil {
			return nil, err
		}
	}
	if data = bytes.TrimSpace(data); len(data) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(data, &labels); err != nil {
		return nil, fmt.Errorf("labels: JSON: %w", err)
	}
	return labels, distinct(labels)
}
