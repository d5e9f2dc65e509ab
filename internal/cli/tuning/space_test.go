package tuning

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coalesce/autotune"
	"coalesce/autotune/subject"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
)

// familyOf is a subject of a family of its own.
type familyOf struct {
	subject.Subject
	family device.Family
}

func (s *familyOf) Family() *device.Family { return &s.family }

// A winner that the binary does not hold is told with the line that has it built, once.
func TestAdvice(t *testing.T) {
	s := &familyOf{family: assignment.Check}
	s.family.Variants, s.family.Packs = slices.Clone(s.family.Variants), slices.Clone(s.family.Packs)
	held, dir, more := s.family.Variants[0].Label, t.TempDir(), "block=256,rows=16,flight=8,value=int64"
	index := fmt.Sprintf(`{"schema":"points/1","family":"assignment/check","hash":"%016x","params":["block","rows","flight","value"],
		"points":[{"label":%q,"symbol":"s","hash":"00000000000000ab","values":["256","16","8","int64"],"file":"s.cu"}]}`, s.family.Hash, more)
	if err := os.WriteFile(filepath.Join(dir, "points.json"), []byte(index), 0o666); err != nil {
		t.Fatal(err)
	}
	var text string
	p, err := ExtendFamily(dir, []subject.Subject{s})
	if err != nil {
		t.Fatal(err)
	}
	Advise(func(line string) { text += line + "\n" }, p, []autotune.Summary{{Family: "assignment/check", Winners: []autotune.Winner{{Variant: held}, {Variant: more}, {Variant: more}}}}, []subject.Subject{s})
	if strings.Count(text, "point") != 1 || !strings.Contains(text, "\tpoint  \""+more+"\"\n") || strings.Contains(text, held) {
		t.Errorf("advice %q", text)
	}
}
