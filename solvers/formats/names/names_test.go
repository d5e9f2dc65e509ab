package names

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestItems(t *testing.T) {
	for _, c := range []struct{ list, want string }{
		{"", `[]`},
		{" ", `[]`},
		{"{}", `[]`},
		{"set()", `[]`},
		{"frozenset()", `[]`},
		{"a", `["a"]`},
		{" a  b ", `["a" "b"]`},
		{"a,b", `["a" "b"]`},
		{"a, b", `["a" "b"]`},
		{"a;b", `["a" "b"]`},
		{"a|b", `["a" "b"]`},
		{"a+b", `["a" "b"]`},
		{"a/b", `["a" "b"]`},
		{"a , b,", `["a" "b"]`},
		{"a;b;", `["a" "b"]`},
		{"a\u00a0b", `["a" "b"]`},
		{"['a', 'b']", `["a" "b"]`},
		{`["a", "b"]`, `["a" "b"]`},
		{"{'a', 'b'}", `["a" "b"]`},
		{"('a',)", `["a"]`},
		{"('a', 'b')", `["a" "b"]`},
		{"frozenset({'b', 'a'})", `["b" "a"]`},
		{"set([1, 2])", `["1" "2"]`},
		{"['a' 'b']", `["a" "b"]`},
		{"array(['a', 'b'])", `["a" "b"]`},
		{"[1 2 3]", `["1" "2" "3"]`},
		{"[1.0, 2.0]", `["1" "2"]`},
		{"[np.int64(1), np.int64(2)]", `["1" "2"]`},
		{"[np.str_('a b'), np.str_('c')]", `["a b" "c"]`},
		{"{1,2}", `["1" "2"]`},
		{"{ 1 , 2 }", `["1" "2"]`},
		{"['New York', 'Rome']", `["New York" "Rome"]`},
		{"['a ', ' b']", `["a" "b"]`},
		{`['it\'s', "it's", 'a"b']`, `["it's" "it's" "a\"b"]`},
		{"O'Brien Ann", `["O'Brien" "Ann"]`},
		{"'a, b'", `["a, b"]`},
		{"'a' 'b'", `["a" "b"]`},
		{"#1 #2", `["#1" "#2"]`},
		{"-1,-2", `["-1" "-2"]`},
		{"and b", `["and" "b"]`},
		{"'a' '&'", `["a" "&"]`},
	} {
		items, err := ParseList(c.list, nil)
		if got := fmt.Sprintf("%q", items); err != nil || got != c.want {
			t.Errorf("%s: %s %v, want %s", c.list, got, err, c.want)
		}
	}
	for _, list := range []string{"a,,b", ",a", "C++", "a+", "a/", "a b, c", "a/b, c", "['a', 'b", "[['a'], 'b']", "a]", "(a", "{a} {b}", "f(a)", "nan", "None", "N/A", "#N/A",
		"a nan", "[nan]", "['']", "'a'b", `'a\n'`, "-", "['a',, 'b']", "np.str_('a'", "[np.str_('a']", "[np.(]", "[np.x()]", "<a, b>", "<a>", "a & b", "a * b", "a and b", "barn und mill", "--"} {
		if items, err := ParseList(list, nil); err == nil || !strings.HasPrefix(err.Error(), "found ") {
			t.Errorf("%s is read as %q, %v", list, items, err)
		}
	}
	known := func(name string) bool {
		return slices.Contains([]string{"New York", "Rome", "C++", "a/b", "None"}, name)
	}
	for list, want := range map[string]string{"New York": `["New York"]`, "Rome+New York": `["Rome" "New York"]`, "{Rome, New York}": `["Rome" "New York"]`, "C++": `["C++"]`,
		"a/b; C++": `["a/b" "C++"]`, "None": `["None"]`, "Rome x": `["Rome" "x"]`} {
		items, err := ParseList(list, known)
		if got := fmt.Sprintf("%q", items); err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", list, got, err, want)
		}
	}
}

func TestMissing(t *testing.T) {
	for _, word := range []string{"", "NA", "None", "nan", "#N/A", "#DIV/0!", "#NAME?", "#REF!", "#VALUE!", "#NUM!", "#NULL!", "#NV", "#WERT!", "#ÜBERLAUF!", "#GETTING_DATA", "#SPILL!", "Err:502"} {
		if !IsMissing(word) {
			t.Errorf("%q is taken for a name", word)
		}
	}
	for _, word := range []string{"#1", "#a", "#", "#!", "a", "0", "Nan", "#Ab!", "Err:", "#A"} {
		if IsMissing(word) {
			t.Errorf("%q is taken for missing", word)
		}
	}
}

func FuzzItems(f *testing.F) {
	for _, list := range []string{"a b", "{a, b}", "['a', \"it's\"]", "frozenset({1, 2})", "[np.str_('a')]", "a/b|c", `'\\'`} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		items, err := ParseList(list, nil)
		if err != nil {
			return
		}
		again, err := ParseList(FormatList(items), nil)
		if err != nil || !slices.Equal(items, again) {
			t.Errorf("%q: %q, written as %q, read again as %q, %v", list, items, FormatList(items), again, err)
		}
	})
}
