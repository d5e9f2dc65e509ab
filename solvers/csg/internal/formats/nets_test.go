package formats

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Random nets against their rules, coalition by coalition, whole numbers and tenths.
func TestNets(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 4))
	for k := range 2000 {
		n := 1 + r.IntN(6)
		type rule struct {
			wanted, not uint64
			value       int64
		}
		var rules []rule
		var text strings.Builder
		text.WriteString("# a net\n")
		for i := range n { // so that every agent is there
			rules = append(rules, rule{1 << i, 0, int64(r.IntN(41) - 20)})
		}
		for range r.IntN(8) {
			x := rule{value: int64(r.IntN(41) - 20)}
			for i := range n {
				switch r.IntN(3) {
				case 0:
					x.wanted |= 1 << i
				case 1:
					x.not |= 1 << i
				}
			}
			if x.wanted != 0 {
				rules = append(rules, x)
			}
		}
		r.Shuffle(len(rules), func(a, b int) { rules[a], rules[b] = rules[b], rules[a] })
		for _, x := range rules {
			var words []string
			for i := range n {
				switch {
				case x.wanted>>i&1 == 1:
					words = append(words, fmt.Sprint(i+1))
				case x.not>>i&1 == 1:
					words = append(words, []string{"!", "~", "¬"}[r.IntN(3)]+fmt.Sprint(i+1))
				}
			}
			value := fmt.Sprint(x.value)
			if k%2 == 1 {
				value = fmt.Sprintf("%.1f", float64(x.value)/10)
			}
			fmt.Fprintf(&text, "%s %s %s\n", strings.Join(words, []string{" & ", " ", ", ", " ∧ "}[r.IntN(4)]), []string{"->", "→"}[r.IntN(2)], value)
		}
		inst, err := ReadFrom(strings.NewReader(text.String()), -1, "x.txt", ReadOptions{})
		if err != nil {
			t.Fatalf("%s%v", text.String(), err)
		}
		for mask := range uint64(1 << n) {
			want := int64(0)
			for _, x := range rules {
				if x.wanted&^mask == 0 && x.not&mask == 0 {
					want += x.value
				}
			}
			expected := float64(want)
			if k%2 == 1 {
				expected /= 10
			}
			if got := inst.Value64(mask); inst.N != n || got != expected {
				t.Fatalf("%scoalition %b: found %v, expected %v", text.String(), mask, got, expected)
			}
		}
	}
}

// Names keep the order in which they appear, or that of the options.
func TestNamesOfNets(t *testing.T) {
	const net = "bob & !ann -> 3\nann -> 1\n"
	inst, err := ReadFrom(strings.NewReader(net), -1, "x.mcn", ReadOptions{})
	if err != nil || !slices.Equal(inst.Names, []string{"bob", "ann"}) || !slices.Equal(inst.I32, []int32{0, 3, 1, 1}) {
		t.Errorf("found %+v, %v", inst, err)
	}
	inst, err = ReadFrom(strings.NewReader(net), -1, "x.mcn", ReadOptions{Names: []string{"ann", "bob"}})
	if err != nil || !slices.Equal(inst.Names, []string{"ann", "bob"}) || !slices.Equal(inst.I32, []int32{0, 1, 3, 1}) {
		t.Errorf("found %+v, %v", inst, err)
	}
	tenths := "1 -> 0.1\n2 -> 0.2\n"
	inst, _, err = ReadGameFrom(strings.NewReader(tenths), -1, "x.mcn", ReadOptions{Form: Either})
	if err != nil || inst == nil || inst.Places != 1 || inst.ValueDecimals(3) != "0.3" {
		t.Errorf("found %+v, %v, expected decimals", inst, err)
	}
	_, list, err := ReadGameFrom(strings.NewReader(tenths), -1, "x.mcn", ReadOptions{Form: Listed})
	if err != nil || list == nil || list.Scale != 1 || list.Coalitions[2].Value != 3 {
		t.Errorf("found %+v, %v, expected a listing", list, err)
	}
}

// Errors of nets name the line, what was found and what was expected.
func TestNetErrors(t *testing.T) {
	for text, want := range map[string]string{
		"1 -> 2\n1 2 3\n":    "x.txt:2: found no arrow, expected a rule such as",
		"1 -> x\n":           "x.txt:1: ",
		"1 & 1 -> 2\n":       `x.txt:1: found agent "1" again, expected each once in a rule`,
		"1 & !1 -> 2\n":      `x.txt:1: found agent "1" again, expected each once in a rule`,
		"!1 -> 2\n":          "x.txt:1: found no agent that has to be a member, expected one",
		"1 & ! -> 2\n":       `x.txt:1: found "!", expected an agent behind it`,
		"1 -> -inf\n":        "x.txt:1: ",
		"ann -> 1\n2 -> 2\n": "x.txt:1: found agent \"ann\", expected a number",
		"1 -> 900000000000000000\n2 -> 900000000000000000\n": "x.txt:2: value: found values whose sum takes more than 60 bits",
	} {
		if _, err := ReadFrom(strings.NewReader(text), -1, "x.txt", ReadOptions{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: found %v, expected %s", text, err, want)
		}
	}
}
