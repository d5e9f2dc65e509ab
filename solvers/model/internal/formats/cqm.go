package formats

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/model/problem"
)

// cqmMagic is how a file of dimod's constrained quadratic model begins, expressionMagic how a sum in it does.
const (
	cqmMagic        = "DIMODCQM"
	expressionMagic = "DIMODEXPR"
)

// maxUnpackedCQM is the most bytes that a file may unpack to, for each byte that it has.
const maxUnpackedCQM = 1100 // of deflate

// A cqm is a file of dimod's constrained quadratic model, version 2 (ConstrainedQuadraticModel.to_file): a header, then a zip archive of
// sections, which begin with four letters and their length.
type cqm struct {
	model  *problem.Model
	files  map[string]*zip.File
	budget *formats.Budget
}

// readCQM reads such a file. Errors name the part of the archive.
func readCQM(in *bufio.Reader, name string, budget *formats.Budget) (*problem.Model, error) {
	text, err := formats.ReadAll(in, name, min(int64(maxObject), budget.Remaining()))
	if err != nil {
		return nil, err
	}
	if err := budget.Reserve(int64(len(text))); err != nil {
		return nil, formats.Errorf(name, 0, "the file takes %w", err)
	}
	c := cqm{model: problem.New(problem.Minimize), files: map[string]*zip.File{}, budget: budget}
	c.model.Source = name
	if err := c.read(text); err != nil {
		return nil, formats.Errorf(name, 0, "dimod's constrained model: %w", err)
	}
	return c.model, c.model.Check()
}

func (c *cqm) read(text []byte) error {
	if len(text) < len(cqmMagic)+2 || text[len(cqmMagic)] != 2 {
		return fmt.Errorf("found no header of version 2, which dimod writes from 0.12 on")
	}
	header, _, err := section(text[len(cqmMagic)+2:], "", 4)
	if err != nil {
		return err
	}
	var h struct {
		Variables int `json:"num_variables"`
	}
	if err := json.Unmarshal(header, &h); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	archive, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return fmt.Errorf("found no whole archive: %w", err)
	}
	var labels []string // of constraints, in their order
	for _, f := range archive.File {
		c.files[f.Name] = f
		if label, ok := strings.CutPrefix(f.Name, "constraints/"); ok {
			if label, ok = strings.CutSuffix(label, "/lhs"); ok {
				labels = append(labels, label)
			}
		}
	}
	if err := c.variables(h.Variables); err != nil {
		return err
	}
	objective, err := c.expression("objective")
	if err != nil {
		return err
	}
	for _, t := range objective {
		c.model.AddTerm(t.Coefficient, t.Variables...)
	}
	for _, label := range labels {
		if err := c.constraint(label); err != nil {
			return fmt.Errorf("constraint %s: %w", label, err)
		}
	}
	return nil
}

// part is the bytes of a part of the archive.
func (c *cqm) part(name string) ([]byte, error) {
	f := c.files[name]
	if f == nil {
		return nil, fmt.Errorf("found no part %s", formats.Quote(name))
	}
	size := f.UncompressedSize64
	if size > maxUnpackedCQM*(f.CompressedSize64+1) || size > maxUnpacked {
		return nil, fmt.Errorf("part %s: found %d bytes of %d packed ones", formats.Quote(name), size, f.CompressedSize64)
	}
	if err := c.budget.Reserve(5 * int64(size)); err != nil {
		return nil, fmt.Errorf("part %s takes %w", formats.Quote(name), err)
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, int64(size)+1))
	if err == nil && uint64(len(text)) != size {
		err = fmt.Errorf("found %d bytes, expected %d", len(text), size)
	}
	if err != nil {
		return nil, fmt.Errorf("part %s: %w", formats.Quote(name), err)
	}
	return text, nil
}

// section is what follows four letters and a length of some bytes, and what comes after it.
func section(text []byte, letters string, width int) (content, rest []byte, err error) {
	head := len(letters) + width
	if len(text) < head || string(text[:len(letters)]) != letters {
		return nil, nil, fmt.Errorf("found no section %s", letters)
	}
	length := uint64(binary.LittleEndian.Uint32(text[len(letters):]))
	if width == 8 {
		length = binary.LittleEndian.Uint64(text[len(letters):])
	}
	if length > uint64(len(text)-head) {
		return nil, nil, fmt.Errorf("found %d bytes in section %s, expected %d", len(text)-head, letters, length)
	}
	return text[head : head+int(length)], text[head+int(length):], nil
}

// A variable's record is its kind, a byte, and its bounds.
const variableBytes = 17

func float(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

func (c *cqm) variables(count int) error {
	text, err := c.part("varinfo")
	if err != nil {
		return err
	}
	records, _, err := section(text, "VTYP", 4)
	if err != nil {
		return err
	}
	if count < 0 || count > len(records)/variableBytes {
		return fmt.Errorf("found %d bytes of %d variables, expected %d for each", len(records), count, variableBytes)
	}
	var labels []json.RawMessage
	if c.files["variable_labels.json"] != nil {
		text, err := c.part("variable_labels.json")
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &labels); err != nil {
			return fmt.Errorf("labels: %w", err)
		}
		if len(labels) != count {
			return fmt.Errorf("found %d labels of %d variables", len(labels), count)
		}
	}
	for i := range count {
		r := records[i*variableBytes:]
		v := problem.Variable{Name: fmt.Sprint(i)}
		if labels != nil {
			v.Name = labelOf(labels[i])
		}
		low, high := float(r[1:]), float(r[9:])
		switch r[0] {
		case 0:
			v.Kind = problem.Binary
		case 1:
			v.Kind = problem.Spin
		case 2:
			v.Kind = problem.Integer
		default:
			return fmt.Errorf("found the variable %s, which is continuous, expected binary variables, spins and integers", formats.Quote(v.Name))
		}
		if !(math.Abs(low) < 1<<60 && math.Abs(high) < 1<<60) {
			return fmt.Errorf("found the variable %s from %v to %v, expected finite bounds", formats.Quote(v.Name), low, high)
		}
		v.Low, v.High = int64(math.Ceil(low)), int64(math.Floor(high))
		c.model.AddVariable(v)
	}
	return nil
}

// labelOf is a label of JSON as a name: texts as they are, others as they are written.
func labelOf(label json.RawMessage) string {
	var text string
	if json.Unmarshal(label, &text) == nil {
		return text
	}
	return string(label)
}

// expression reads a sum of products of two variables at most.
func (c *cqm) expression(name string) (terms []problem.Term, err error) {
	text, err := c.part(name)
	if err != nil {
		return nil, err
	}
	wrong := func(err error) ([]problem.Term, error) {
		return nil, fmt.Errorf("part %s: %w", formats.Quote(name), err)
	}
	head := len(expressionMagic) + 6
	if len(text) < head || string(text[:len(expressionMagic)]) != expressionMagic {
		return wrong(fmt.Errorf("found no %s", expressionMagic))
	}
	size := int(binary.LittleEndian.Uint32(text[head-4:]))
	if size > len(text)-head {
		return wrong(fmt.Errorf("found %d bytes, expected a header of %d", len(text)-head, size))
	}
	var h struct {
		Shape [2]int `json:"shape"`
		DType string `json:"dtype"`
		IType string `json:"itype"`
	}
	if err := json.Unmarshal(text[head:head+size], &h); err != nil {
		return wrong(err)
	}
	if h.DType != "float64" || h.IType != "int32" {
		return wrong(fmt.Errorf("found the types %s and %s, expected float64 and int32", formats.Quote(h.DType), formats.Quote(h.IType)))
	}
	n, pairs := h.Shape[0], h.Shape[1]
	rest := text[head+size:]
	var parts [4][]byte
	for k, s := range [4]struct {
		letters     string
		width, size int
	}{{"INDX", 4, 4 * n}, {"OFFS", 4, 8}, {"LINB", 4, 8 * n}, {"QUAD", 8, 16 * pairs}} {
		if parts[k], rest, err = section(rest, s.letters, s.width); err != nil {
			return wrong(err)
		}
		if n < 0 || pairs < 0 || n > problem.MaxVariables || pairs > len(text) || len(parts[k]) < s.size {
			return wrong(fmt.Errorf("found %d bytes in section %s, expected those of %d variables and %d pairs", len(parts[k]), s.letters, n, pairs))
		}
	}
	add := func(b []byte, local ...int) error {
		v, ok := problem.DecimalOf(float(b))
		if !ok {
			return fmt.Errorf("found the coefficient %v, expected a finite number", float(b))
		}
		if v.Digits == 0 {
			return nil
		}
		list := make([]int32, len(local))
		for k, at := range local {
			if at < 0 || at >= n {
				return fmt.Errorf("found the variable %d of a sum of %d", at, n)
			}
			if list[k] = int32(binary.LittleEndian.Uint32(parts[0][4*at:])); list[k] < 0 || int(list[k]) >= len(c.model.Variables) {
				return fmt.Errorf("found the variable %d, expected 0 to %d", list[k], len(c.model.Variables)-1)
			}
		}
		terms = append(terms, problem.Term{Coefficient: v, Variables: list})
		return nil
	}
	err = add(parts[1])
	for i := 0; i < n && err == nil; i++ {
		err = add(parts[2][8*i:], i)
	}
	for k := 0; k < pairs && err == nil; k++ {
		r := parts[3][16*k:]
		err = add(r[8:], int(int32(binary.LittleEndian.Uint32(r))), int(int32(binary.LittleEndian.Uint32(r[4:]))))
	}
	if err != nil {
		return wrong(err)
	}
	return terms, nil
}

// constraint reads the constraint of a label as the archive's names have it.
func (c *cqm) constraint(label string) error {
	folder := "constraints/" + label + "/"
	if c.files[folder+"weight"] != nil {
		return fmt.Errorf("found a weight, which makes it soft, expected hard constraints")
	}
	terms, err := c.expression(folder + "lhs")
	if err != nil {
		return err
	}
	side, err := c.part(folder + "rhs")
	if err != nil {
		return err
	}
	sense, err := c.part(folder + "sense")
	if err != nil {
		return err
	}
	if len(side) != 8 {
		return fmt.Errorf("found a right side of %d bytes, expected 8", len(side))
	}
	value := float(side)
	out := problem.Constraint{Name: labelOf(json.RawMessage(label))}
	for _, t := range terms {
		switch len(t.Variables) {
		case 0: // a constant, exact in most files
			value -= t.Coefficient.Float()
		case 1:
			out.Terms = append(out.Terms, problem.Linear{Coefficient: t.Coefficient, Variable: t.Variables[0]})
		default:
			return fmt.Errorf("found a product of variables, expected linear constraints")
		}
	}
	bound, ok := problem.DecimalOf(value)
	if !ok {
		return fmt.Errorf("found the right side %v, expected a finite number", value)
	}
	switch string(sense) {
	case "<=":
		out.High = &bound
	case ">=":
		out.Low = &bound
	case "==":
		out.Low, out.High = &bound, &bound
	default:
		return fmt.Errorf("found the sense %s, expected <=, >= or ==", formats.Quote(sense))
	}
	c.model.AddConstraint(out)
	return nil
}
