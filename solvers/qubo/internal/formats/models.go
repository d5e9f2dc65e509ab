package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"coalesce/solvers/qubo/problem"
)

// readCOO reads dimod's COOrdinate text: lines `i j q` from 0, added up where
// they repeat, with `# vartype=BINARY` or `# vartype=SPIN` first or not. The
// largest variable named is the last.
func readCOO(in *lines, o Options) (*problem.Instance, error) {
	form, offset := problem.QUBO, ""
	var unknown error
	in.comment = "#"
	in.said = func(comment string) {
		text := strings.ReplaceAll(strings.TrimLeft(comment, "# "), " ", "")
		switch {
		case strings.EqualFold(text, "vartype=SPIN"):
			form = problem.Ising
		case strings.EqualFold(text, "vartype=BINARY"):
		case strings.HasPrefix(strings.ToLower(text), "vartype="):
			unknown = in.errorf("found %q, expected vartype=BINARY or vartype=SPIN", brief([]byte(text)))
		case strings.HasPrefix(text, "offset="):
			offset = text[len("offset="):]
		}
	}
	d := problem.NewEntries(o.memory())
	n := 0
	for {
		f, err := in.fields()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(f) != 3 {
			return nil, in.errorf("found %d words, expected a line of two variables and a coefficient", len(f))
		}
		if err := in.entry(d, f, problem.MaxVariables, list{loops: true}); err != nil {
			return nil, err
		}
		i, j := d.Last()
		n = max(n, i+1, j+1)
	}
	if unknown != nil {
		return nil, unknown
	}
	if offset != "" { // an entry of its own variable, so that it is of the others' type
		if err := parseInto(d, n, n, []byte(offset)); err != nil {
			return nil, in.errorf("offset: %w", err)
		}
		n++
	}
	inst, err := d.Instance(n, true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.name, err)
	}
	if offset != "" {
		inst.LastAsOffset()
	}
	if inst.Form = form; o.Form != "" {
		inst.Form = o.Form
	}
	return inst, nil
}

// A model is dimod's serialised BinaryQuadraticModel, schema 3
// (dimod/serialization and BinaryQuadraticModel.to_serializable).
type model struct {
	Type      string            `json:"type"`
	Version   map[string]string `json:"version"`
	UseBytes  bool              `json:"use_bytes"`
	IndexType string            `json:"index_type"`
	BiasType  string            `json:"bias_type"`
	Variables int64             `json:"num_variables"`
	Pairs     int64             `json:"num_interactions"`
	Labels    []json.RawMessage `json:"variable_labels"`
	Vartype   string            `json:"variable_type"`
	Offset    json.Number       `json:"offset"`
	Info      map[string]any    `json:"info"`
	Linear    []json.Number     `json:"linear_biases"`
	Biases    []json.Number     `json:"quadratic_biases"`
	Head      []int64           `json:"quadratic_head"`
	Tail      []int64           `json:"quadratic_tail"`
}

// readBQM reads dimod's JSON.
func readBQM(in *lines, o Options) (*problem.Instance, error) {
	wrong := func(found, want string) (*problem.Instance, error) {
		return nil, fmt.Errorf("%s: found %s, expected %s", in.name, found, want)
	}
	most := o.memory() / 8 // a number takes at least 2 bytes of text, 16 as it is read
	text, err := io.ReadAll(io.LimitReader(in.r, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", in.name, err)
	case int64(len(text)) > most:
		return wrong(fmt.Sprintf("more than %d bytes of JSON", most), "what a limit of "+fmt.Sprint(o.memory())+" bytes leaves room for")
	}
	var m model
	if err := json.Unmarshal(text, &m); err != nil {
		var at *json.SyntaxError
		var kind *json.UnmarshalTypeError
		where := ""
		if errors.As(err, &at) {
			where = fmt.Sprintf(" at byte %d", at.Offset)
		} else if errors.As(err, &kind) {
			where = fmt.Sprintf(" at byte %d", kind.Offset)
		}
		return nil, fmt.Errorf("%s: JSON%s: %w", in.name, where, err)
	}
	if err := uniqueKeys(text); err != nil {
		return nil, fmt.Errorf("%s: %w", in.name, err)
	}
	if err := distinct(m.Labels); err != nil {
		return nil, fmt.Errorf("%s: %w", in.name, err)
	}
	schema := m.Version["bqm_schema"]
	n := len(m.Linear)
	switch {
	case m.Type != "BinaryQuadraticModel":
		return wrong(fmt.Sprintf("type %q", brief([]byte(m.Type))), `"BinaryQuadraticModel"`)
	case !strings.HasPrefix(schema, "3."):
		return wrong(fmt.Sprintf("bqm_schema %q", brief([]byte(schema))), `"3.0.0"`)
	case m.UseBytes:
		return wrong("use_bytes true", "numbers (to_serializable(use_bytes=False))")
	case int64(n) != m.Variables || len(m.Labels) != n && m.Labels != nil:
		return wrong(fmt.Sprintf("%d linear biases and %d labels", n, len(m.Labels)), fmt.Sprintf("%d of each", m.Variables))
	case int64(len(m.Biases)) != m.Pairs || len(m.Head) != len(m.Biases) || len(m.Tail) != len(m.Biases):
		return wrong(fmt.Sprintf("%d quadratic biases, %d heads and %d tails", len(m.Biases), len(m.Head), len(m.Tail)), fmt.Sprintf("%d of each", m.Pairs))
	case m.Vartype != "BINARY" && m.Vartype != "SPIN":
		return wrong(fmt.Sprintf("variable_type %q", brief([]byte(m.Vartype))), `"BINARY" or "SPIN"`)
	}
	d := problem.NewEntries(o.memory())
	for i, v := range m.Linear {
		if err := parseInto(d, i, i, []byte(v)); err != nil {
			return nil, fmt.Errorf("%s: linear bias %d: %w", in.name, i, err)
		}
	}
	for k, v := range m.Biases {
		i, j := m.Head[k], m.Tail[k]
		if i < 0 || j < 0 || i >= int64(n) || j >= int64(n) || i == j {
			return wrong(fmt.Sprintf("the pair %d, %d", i, j), fmt.Sprintf("two different variables from 0 to %d", n-1))
		}
		if err := parseInto(d, int(i), int(j), []byte(v)); err != nil {
			return nil, fmt.Errorf("%s: quadratic bias %d: %w", in.name, k, err)
		}
	}
	if m.Offset == "" {
		m.Offset = "0"
	}
	if err := parseInto(d, n, n, []byte(m.Offset)); err != nil {
		return nil, fmt.Errorf("%s: offset: %w", in.name, err)
	}
	inst, err := d.Instance(n+1, true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.name, err)
	}
	inst.LastAsOffset()
	inst.Names = names(m.Labels)
	if m.Vartype == "SPIN" {
		inst.Form = problem.Ising
	}
	if o.Form != "" && o.Form != inst.Form {
		return wrong(fmt.Sprintf("variable_type %s", m.Vartype), fmt.Sprintf("that of form %s", o.Form))
	}
	return inst, nil
}

// uniqueKeys refuses a key of the model that comes twice, and one that differs from
// a known key in its case alone, which encoding/json would take for that.
func uniqueKeys(text []byte) error {
	known := map[string]string{}
	for _, key := range []string{"type", "version", "use_bytes", "index_type", "bias_type", "num_variables", "num_interactions",
		"variable_labels", "variable_type", "offset", "info", "linear_biases", "quadratic_biases", "quadratic_head", "quadratic_tail"} {
		known[key] = key
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		key, ok := token.(string)
		switch want := known[strings.ToLower(key)]; {
		case !ok:
			return fmt.Errorf("JSON at byte %d: found %v, expected a key", d.InputOffset(), token)
		case seen[key]:
			return fmt.Errorf("JSON at byte %d: found the key %q again, expected each once", d.InputOffset(), key)
		case want != "" && want != key:
			return fmt.Errorf("JSON at byte %d: found the key %q, expected %q", d.InputOffset(), key, want)
		}
		seen[key] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
	}
	return nil
}

// distinct refuses labels of two variables that are the same.
func distinct(labels []json.RawMessage) error {
	seen := make(map[string]int, len(labels))
	for k, label := range labels {
		if first, ok := seen[string(label)]; ok {
			return fmt.Errorf("found the label %s of variables %d and %d, expected different ones", brief(label), first, k)
		}
		seen[string(label)] = k
	}
	return nil
}

// names are labels as text; nil where they are 0, 1, 2 and so on.
func names(labels []json.RawMessage) []string {
	plain := true
	list := make([]string, len(labels))
	for k, label := range labels {
		var s string
		if json.Unmarshal(label, &s) != nil {
			s = string(label)
		}
		list[k] = s
		plain = plain && string(label) == fmt.Sprint(k)
	}
	if plain {
		return nil
	}
	return list
}
