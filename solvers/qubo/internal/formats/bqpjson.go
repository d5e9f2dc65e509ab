package formats

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/qubo/problem"
)

// A bqp is a problem of LANL's bqpjson (https://bqpjson.readthedocs.io), version 1: minimise scale * (terms + offset), of
// variables that have any numbers for names.
type bqp struct {
	Version     json.RawMessage `json:"version"`
	ID          json.RawMessage `json:"id"`
	Description json.RawMessage `json:"description,omitempty"`
	Metadata    json.RawMessage `json:"metadata"`
	Solutions   json.RawMessage `json:"solutions,omitempty"`
	Domain      string          `json:"variable_domain"`
	Sense       string          `json:"sense,omitempty"`
	Scale       json.Number     `json:"scale"`
	Offset      json.Number     `json:"offset"`
	IDs         []int64         `json:"variable_ids"`
	Linear      []linearTerm    `json:"linear_terms"`
	Quadratic   []quadraticTerm `json:"quadratic_terms"`
}

type linearTerm struct {
	ID    int64       `json:"id"`
	Coeff json.Number `json:"coeff"`
}

type quadraticTerm struct {
	Tail  int64       `json:"id_tail"`
	Head  int64       `json:"id_head"`
	Coeff json.Number `json:"coeff"`
}

// readBQPJSON reads LANL's bqpjson. Terms of the same variables are added up.
func readBQPJSON(in source, o Options) (*problem.Instance, error) {
	var m bqp
	unknown, err := in.readObject(&m, o)
	if err != nil {
		return nil, err
	}
	wrong := func(found, want string) (*problem.Instance, error) {
		return nil, fmt.Errorf("%s: found %s, expected %s", in.name, found, want)
	}
	if m.Domain != "spin" && m.Domain != "boolean" {
		return wrong("variable_domain "+formats.Quote(m.Domain), `"spin" or "boolean"`)
	}
	if m.Sense != "" && !strings.HasPrefix(strings.ToLower(m.Sense), "min") {
		return wrong("the sense "+formats.Quote(m.Sense), "min: bqpjson is minimised")
	}
	index := make(map[int64]int, len(m.IDs))
	for i, id := range m.IDs {
		if _, again := index[id]; again {
			return wrong(fmt.Sprintf("the variable %d in variable_ids again", id), "each once")
		}
		index[id] = i
	}
	n, d := len(m.IDs), problem.NewEntries(o.memoryLimit())
	for k, t := range m.Linear {
		i, ok := index[t.ID]
		if !ok {
			return wrong(fmt.Sprintf("the variable %d in linear term %d", t.ID, k), "one of variable_ids")
		}
		if err := parseInto(d, i, i, []byte(t.Coeff)); err != nil {
			return nil, fmt.Errorf("%s: linear term %d: %w", in.name, k, err)
		}
	}
	for k, t := range m.Quadratic {
		i, first := index[t.Tail]
		j, second := index[t.Head]
		if !first || !second || i == j {
			return wrong(fmt.Sprintf("the variables %d and %d in quadratic term %d", t.Tail, t.Head, k), "two of variable_ids")
		}
		if err := parseInto(d, i, j, []byte(t.Coeff)); err != nil {
			return nil, fmt.Errorf("%s: quadratic term %d: %w", in.name, k, err)
		}
	}
	if m.Offset != "" {
		if err := parseInto(d, n, n, []byte(m.Offset)); err != nil {
			return nil, fmt.Errorf("%s: offset: %w", in.name, err)
		}
	}
	inst, err := d.Instance(n+1, true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.name, err)
	}
	inst.LastAsOffset()
	if m.Scale != "" {
		by, err := parseCoefficient([]byte(m.Scale))
		if err == nil && by.float64() < 0 {
			return wrong("the scale "+string(m.Scale), "0 or more")
		}
		if err == nil {
			err = multiplyBy(inst, by)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: scale: %w", in.name, err)
		}
	}
	if m.Domain == "spin" {
		inst.Form = problem.Ising
	}
	labels := make([]json.RawMessage, n)
	for i, id := range m.IDs {
		labels[i] = strconv.AppendInt(nil, id, 10)
	}
	inst.Names = labelNames(labels)
	noteUnknownKeys(inst, unknown)
	return inst, o.checkForm(in.name, inst)
}

// checkForm is an error where an instance is not of the form that was asked for.
func (o Options) checkForm(name string, inst *problem.Instance) error {
	if o.Form != "" && o.Form != inst.Form {
		return fmt.Errorf("%s: found coefficients of form %s, expected those of form %s", name, inst.Form, o.Form)
	}
	return nil
}

func writeBQPJSON(w io.Writer, inst *problem.Instance) error {
	m := bqp{Version: json.RawMessage(`"1.0.0"`), ID: json.RawMessage("0"), Metadata: json.RawMessage("{}"), Domain: "boolean",
		Scale: "1", Offset: json.Number(offsetText(inst)), IDs: make([]int64, inst.N), Linear: []linearTerm{}, Quadratic: []quadraticTerm{}}
	if inst.Form == problem.Ising {
		m.Domain = "spin"
	}
	for i := range m.IDs {
		m.IDs[i] = int64(i)
	}
	eachEntry(inst, false, func(i, j int, text []byte) {
		if i == j {
			m.Linear = append(m.Linear, linearTerm{int64(i), json.Number(text)})
		} else {
			m.Quadratic = append(m.Quadratic, quadraticTerm{int64(i), int64(j), json.Number(text)})
		}
	})
	return json.NewEncoder(w).Encode(m)
}
