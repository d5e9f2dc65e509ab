package effect

import (
	"testing"

	"github.com/spf13/pflag"
)

func TestMistakes(t *testing.T) {
	set := pflag.NewFlagSet("solve", pflag.ContinueOnError)
	set.String("metric", "euclidean", "")
	set.Bool("floor", false, "")
	set.Int("rows", 0, "")
	if err := set.Parse([]string{"--floor=false", "--rows", "0"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		points, drawn bool
		want          string
	}{
		{true, true, ""},
		{false, true, "--floor is for --points, found costs.csv: it would have no effect"},
		{true, false, "--rows is for --kind, found costs.csv: it would have no effect"},
		{false, false, "--floor is for --points, found costs.csv: it would have no effect"},
	} {
		said := ""
		if err := CheckFlags(set, []Rule{{"metric floor", "--points", UnlessRequested(c.points, "costs.csv")}, {"rows", "--kind", UnlessRequested(c.drawn, "costs.csv")}}); err != nil {
			said = err.Error()
		}
		if said != c.want {
			t.Errorf("points %t, drawn %t: found %q, expected %q", c.points, c.drawn, said, c.want)
		}
	}
}
