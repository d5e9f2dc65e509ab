// Package query writes what `coalesce query csg` answers: the best structures of some
// agents, for people or as one JSON object.
package query

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"coalesce/internal/ui"
	"coalesce/solvers/csg"
)

// An answer is what query prints with --json.
type answer struct {
	Problem    string   `json:"problem"`
	Instance   string   `json:"instance"`
	Coalition  []string `json:"coalition"`
	Structures []ranked `json:"structures"`
	Seconds    Seconds  `json:"seconds"`
}

type ranked struct {
	Value  float64    `json:"value"`
	Blocks [][]string `json:"blocks"`
}

// Seconds are wall-clock times.
type Seconds struct {
	Read  float64 `json:"read"`
	Solve float64 `json:"solve"`
}

// Write writes the structures that were found for a coalition, the best first.
func Write(w io.Writer, inst *csg.Instance, coalition uint64, found []csg.Ranked, took Seconds, asJSON bool) error {
	if asJSON {
		x := answer{Problem: "csg", Instance: inst.Source, Coalition: names(inst, coalition), Structures: []ranked{}, Seconds: took}
		for _, f := range found {
			y := ranked{f.Value, make([][]string, len(f.Structure))}
			for k, b := range f.Structure {
				y.Blocks[k] = names(inst, b)
			}
			x.Structures = append(x.Structures, y)
		}
		var text bytes.Buffer
		if err := json.NewEncoder(&text).Encode(x); err != nil {
			return fmt.Errorf("write JSON: %w", err)
		}
		_, err := w.Write(text.Bytes())
		return err
	}
	if len(found) == 0 {
		_, err := fmt.Fprintf(w, "every structure of %s has a forbidden block\n", inst.Coalition(coalition))
		return err
	}
	var t ui.Table
	t.Right(0)
	t.Row("value", "structure")
	for _, f := range found {
		var blocks []string
		for _, b := range f.Structure {
			blocks = append(blocks, inst.Coalition(b))
		}
		t.Row(strconv.FormatFloat(f.Value, 'f', -1, 64), strings.Join(blocks, " "))
	}
	return t.Write(w)
}

// names are those of a coalition's agents.
func names(inst *csg.Instance, coalition uint64) []string {
	list := []string{}
	for _, agent := range csg.Agents(coalition) {
		list = append(list, inst.Name(agent))
	}
	return list
}
