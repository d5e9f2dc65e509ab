package host

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"

	"coalesce/gen/space"
)

func scanAt(room, unroll, unit, value string) space.Point {
	return space.Point{Family: "assignment/hostscan", Params: []string{"room", "unroll", "unit", "value"}, Values: []string{room, unroll, unit, value}}
}

// TestFilterIsUnrolled counts the costs of a turn.
func TestFilterIsUnrolled(t *testing.T) {
	e, _ := Lookup("assignment/hostscan")
	for unroll, want := range map[string]int{"1": 1, "4": 4 + 1, "8": 8 + 1} {
		for _, value := range []string{"int32", "int64", "float32", "float64"} {
			file := jen.NewFile("assignment")
			if err := e.Kernels(file, scanAt("96", unroll, "scalar", value)); err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("%#v", file)
			if got := strings.Count(text, "h.Add("); got != want {
				t.Errorf("%s, unroll %s: %d places to add a hit, want %d", value, unroll, got, want)
			}
			if strings.Contains(text, "assignment.Vector(") {
				t.Errorf("%s, unroll %s: a scalar unit asks for vectors", value, unroll)
			}
		}
	}
}

func TestScansRefuseWhatTheyCannotWrite(t *testing.T) {
	e, _ := Lookup("assignment/hostscan")
	for _, c := range []struct {
		point space.Point
		want  string
	}{
		{scanAt("4", "4", "vector", "int32"), "room is 4"},
		{scanAt("96", "0", "vector", "int32"), "unroll is 0"},
		{scanAt("96", "x", "vector", "int32"), `unroll is "x"`},
		{scanAt("96", "4", "gpu", "int32"), `unit is "gpu"`},
		{scanAt("96", "4", "vector", "int16"), `value is "int16"`},
		{space.Point{Family: "assignment/hostscan"}, `no parameter "room"`},
	} {
		err := e.Kernels(jen.NewFile("assignment"), c.point)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error saying %s", c.point.Label(), err, c.want)
		}
	}
}
