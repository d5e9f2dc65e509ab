package formats

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
	"coalesce/solvers/qubo/problem"
)

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
	Info      json.RawMessage   `json:"info"` // anything: passed over
	Linear    []json.Number     `json:"linear_biases"`
	Biases    []json.Number     `json:"quadratic_biases"`
	Head      []int64           `json:"quadratic_head"`
	Tail      []int64           `json:"quadratic_tail"`
}

// maxNoted is how many keys that are passed over are named.
const maxNoted = 5

// readBQM reads dimod's model: the JSON of to_serializable, or the binary file of to_file.
func readBQM(in source, o Options) (*problem.Instance, error) {
	if head, _ := in.Peek(len(binaryMagic)); string(head) == binaryMagic {
		return readBinary(in, o)
	}
	wrong := func(found, want string) (*problem.Instance, error) {
		return nil, fmt.Errorf("%s: found %s, expected %s", in.name, found, want)
	}
	var m model
	unknown, err := in.readObject(&m, o)
	if err != nil {
		return nil, err
	}
	if err := checkDistinct(m.Labels); err != nil {
		return nil, fmt.Errorf("%s: %w", in.name, err)
	}
	schema := m.Version["bqm_schema"]
	n := len(m.Linear)
	switch {
	case m.Type != "BinaryQuadraticModel":
		return wrong("type "+formats.Quote(m.Type), `"BinaryQuadraticModel"`)
	case !strings.HasPrefix(schema, "3."):
		return wrong("bqm_schema "+formats.Quote(schema), `"3.0.0"`)
	case m.UseBytes:
		return wrong("use_bytes true", "numbers (to_serializable(use_bytes=False))")
	case int64(n) != m.Variables || len(m.Labels) != n && m.Labels != nil:
		return wrong(fmt.Sprintf("%d linear biases and %d labels", n, len(m.Labels)), fmt.Sprintf("%d of each", m.Variables))
	case int64(len(m.Biases)) != m.Pairs || len(m.Head) != len(m.Biases) || len(m.Tail) != len(m.Biases):
		return wrong(fmt.Sprintf("%d quadratic biases, %d heads and %d tails", len(m.Biases), len(m.Head), len(m.Tail)), fmt.Sprintf("%d of each", m.Pairs))
	case m.Vartype != "BINARY" && m.Vartype != "SPIN":
		return wrong("variable_type "+formats.Quote(m.Vartype), `"BINARY" or "SPIN"`)
	}
	d := problem.NewEntries(o.memoryLimit())
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
	m.Offset = cmp.Or(m.Offset, "0")
	if err := parseInto(d, n, n, []byte(m.Offset)); err != nil {
		return nil, fmt.Errorf("%s: offset: %w", in.name, err)
	}
	inst, err := d.Instance(n+1, true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.name, err)
	}
	inst.LastAsOffset()
	inst.Names = labelNames(m.Labels)
	noteUnknownKeys(inst, unknown)
	if m.Vartype == "SPIN" {
		inst.Form = problem.Ising
	}
	return inst, o.checkForm(in.name, inst)
}

// readObject reads one JSON object into a struct, which to points to. It returns the keys of the object that the struct lacks.
func (in source) readObject(to any, o Options) (unknown []string, err error) {
	limit := o.memoryLimit() / 8 // a number takes at least 2 bytes of text, 16 as it is read
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", in.name, err)
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("%s: the numbers of this JSON take %w", in.name, formats.MemoryShortage(8*float64(len(data)), o.memoryLimit()))
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		return nil, formats.Errorf(in.name, 1, "found an array of JSON, expected an object: dimod's model or bqpjson (a matrix is read from CSV or .npy)")
	}
	if err := json.Unmarshal(data, to); err != nil {
		var at *json.SyntaxError
		var kind *json.UnmarshalTypeError
		where := ""
		if errors.As(err, &at) {
			where = fmt.Sprintf(" at byte %d", at.Offset)
		} else if errors.As(err, &kind) {
			return nil, fmt.Errorf("%s: JSON at byte %d: %w", in.name, kind.Offset, kind)
		}
		return nil, fmt.Errorf("%s: JSON%s: %.160s", in.name, where, err)
	}
	if unknown, err = checkKeys(data, to); err != nil {
		return nil, fmt.Errorf("%s: %w", in.name, err)
	}
	return unknown, nil
}

// noteUnknownKeys names keys that were passed over.
func noteUnknownKeys(inst *problem.Instance, unknown []string) {
	for k, key := range unknown {
		if k == maxNoted {
			inst.Note("%d more keys were passed over", len(unknown)-k)
			break
		}
		inst.Note("the key %s was passed over", formats.Quote(key))
	}
}

// checkKeys refuses a key that comes twice in one object at any depth. It also refuses a key that
// differs in case alone from a key of the struct behind `of`: encoding/json would take one for the
// other. Other keys are returned, for a note.
func checkKeys(data []byte, of any) (unknown []string, err error) {
	known := reflect.VisibleFields(reflect.TypeOf(of).Elem())
	name := func(f reflect.StructField) string { name, _, _ := strings.Cut(f.Tag.Get("json"), ","); return name }
	d := json.NewDecoder(bytes.NewReader(data))
	err = walk(d, 0, func(key string) error {
		like := slices.IndexFunc(known, func(f reflect.StructField) bool { return strings.EqualFold(name(f), key) })
		if like < 0 {
			unknown = append(unknown, key)
		} else if want := name(known[like]); want != key {
			return fmt.Errorf("JSON at byte %d: found the key %s, expected %q", d.InputOffset(), formats.Quote(key), want)
		}
		var value json.RawMessage // at once, without a token for each of many biases
		if err := d.Decode(&value); err != nil {
			return err
		}
		if bytes.IndexByte(value, '{') < 0 {
			return nil
		}
		return walkAll(json.NewDecoder(bytes.NewReader(value)), d.InputOffset()-int64(len(value)))
	})
	return unknown, err
}

// walkAll passes over a value in which no object, however deep, has a key twice.
func walkAll(d *json.Decoder, from int64) error {
	return walk(d, from, func(string) error { return walkAll(d, from) })
}

// walk passes over a value, in which no object may have a key twice. each reads what
// stands behind the keys of the value itself. The decoder began at byte from.
func walk(d *json.Decoder, from int64, each func(key string) error) error {
	token, err := d.Token()
	object := token == json.Delim('{')
	if err != nil || !object && token != json.Delim('[') {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		if !object {
			if err := walkAll(d, from); err != nil {
				return err
			}
			continue
		}
		if token, err = d.Token(); err != nil {
			return err
		}
		key := token.(string) // the text was read as JSON before
		if seen[key] {
			return fmt.Errorf("JSON at byte %d: found the key %s again, expected each once", from+d.InputOffset(), formats.Quote(key))
		}
		seen[key] = true
		if err := each(key); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// checkDistinct is an error where a label is none that dimod can hold, or where two variables have the
// same label. Texts are compared after decoding and numbers by their values, as in Python, where 1
// == 1.0 == True.
func checkDistinct(labels []json.RawMessage) error {
	seen := make(map[string]int, len(labels))
	for k, raw := range labels {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var label any
		if err := d.Decode(&label); err != nil {
			return err
		}
		shown := formats.Quote(raw)
		if s, ok := label.(string); ok {
			shown = formats.Quote(s)
		}
		same, ok := canonical(nil, label)
		if !ok {
			return fmt.Errorf("found the label %s of variable %d, expected no object", shown, k)
		}
		if first, again := seen[string(same)]; again {
			return fmt.Errorf("found the label %s of variables %d and %d, expected different ones", shown, first, k)
		}
		seen[string(same)] = k
	}
	return nil
}

// canonical appends text that labels have in common when they are the same; false
// where dimod cannot hold a label: objects cannot be hashed.
func canonical(out []byte, label any) ([]byte, bool) {
	switch v := label.(type) {
	case nil:
		return append(out, "null"...), true
	case bool:
		if v {
			return append(out, '1'), true
		}
		return append(out, '0'), true
	case string:
		return strconv.AppendQuote(out, v), true
	case json.Number:
		return append(out, plainNumber(string(v))...), true
	case []any:
		out = append(out, '[')
		for _, x := range v {
			var ok bool
			if out, ok = canonical(out, x); !ok {
				return out, false
			}
			out = append(out, ',')
		}
		return append(out, ']'), true
	}
	return out, false
}

// plainNumber writes numbers of equal value in one way.
func plainNumber(word string) string {
	v, ok := text.ParseFloat([]byte(word))
	switch whole := v == math.Trunc(v) && math.Abs(v) < 1<<53; {
	case !ok || !whole && !strings.ContainsAny(word, ".eE"):
		return word // whole, and beyond what floats tell apart
	case whole:
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// labelNames are labels as text, each different from the others; nil where they are 0, 1, 2 and so on. A text that another label, such
// as a number, is written as stands in quotes.
func labelNames(labels []json.RawMessage) []string {
	plain := true
	list := make([]string, len(labels))
	written := make(map[string]bool, len(labels)) // by labels that are no text
	for k, label := range labels {
		plain = plain && string(label) == strconv.Itoa(k)
		if !bytes.HasPrefix(label, []byte(`"`)) {
			list[k] = string(label)
			written[list[k]] = true
		}
	}
	if plain {
		return nil
	}
	for k, label := range labels {
		var s string
		if bytes.HasPrefix(label, []byte(`"`)) && json.Unmarshal(label, &s) == nil {
			if list[k] = s; written[s] {
				list[k] = string(label)
			}
		}
	}
	return list
}
