package tokens

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLiterals(t *testing.T) {
	for text, want := range map[string]string{
		`{"1": -Infinity, "2": NaN}`:                      `{"1": "-Infinity", "2": "NaN"}`,
		`[Infinity,-Infinity,NaN,-1,null]`:                `["Infinity","-Infinity","NaN",-1,null]`,
		`{"NaN": "Infinity \" -Infinity \\", "a\\": NaN}`: `{"NaN": "Infinity \" -Infinity \\", "a\\": "NaN"}`,
		"[\n-Infinity\n,Na":                               "[\n\"-Infinity\"\n,Na",
		"":                                                "",
	} {
		whole := func(r io.Reader) io.Reader { return r }
		for _, in := range []func(io.Reader) io.Reader{whole, iotest.OneByteReader, iotest.DataErrReader} {
			for _, out := range []func(io.Reader) io.Reader{whole, iotest.OneByteReader} {
				if got, err := io.ReadAll(out(quoteLiterals(in(strings.NewReader(text))))); err != nil || string(got) != want {
					t.Errorf("%s: %s %v, want %s", text, got, err, want)
				}
			}
		}
	}
	if _, err := io.ReadAll(quoteLiterals(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("[1]"))))); err != iotest.ErrTimeout {
		t.Errorf("a stream that fails: %v", err)
	}
	var list []any
	if err := json.NewDecoder(quoteLiterals(strings.NewReader("[NaN, -Infinity, -2]"))).Decode(&list); err != nil || len(list) != 3 {
		t.Errorf("%v %v", list, err)
	}
}
