package formats

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestQuote(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{"", `""`},
		{"many", `"many"`},
		{"a\x1b[31m\n\x00\u202e", `"a\x1b[31m\n\x00\u202e"`},
		{"\xff'\"\\", `"\xff'\"\\"`},
		{strings.Repeat("a", 78), `"` + strings.Repeat("a", 78) + `"`},
		{strings.Repeat("a", 79), `"` + strings.Repeat("a", 77) + `…"`},
		{strings.Repeat("é", 1000), `"` + strings.Repeat("é", 77) + `…"`},
		{strings.Repeat("\x00", 1<<20), `"` + strings.Repeat(`\x00`, 19) + `…"`},
	} {
		if got := Quote([]byte(c.input)); got != c.want {
			t.Errorf("%.40q:\n got %s\nwant %s", c.input, got, c.want)
		}
	}
}

func FuzzQuote(f *testing.F) {
	f.Add("many\x1b[31m\xff")
	f.Fuzz(func(t *testing.T, s string) {
		q := Quote(s)
		if n := utf8.RuneCountInString(q); n > maxQuoted || !utf8.ValidString(q) {
			t.Errorf("%q: %d characters", q, n)
		}
		for _, r := range q {
			if r < ' ' || r == 0x7f {
				t.Errorf("%q holds a control character", q)
			}
		}
	})
}

func TestErrors(t *testing.T) {
	cause := errors.New("found nothing")
	err := Errorf("a.csv", 3, "column 2: %w", cause)
	if err.Error() != "a.csv:3: column 2: found nothing" || !errors.Is(err, cause) {
		t.Error(err)
	}
	if err = Errorf("a.csv", 0, "%w", cause); err.Error() != "a.csv: found nothing" {
		t.Error(err)
	}
}

func TestBudget(t *testing.T) {
	b := NewBudget(100)
	list, err := Grow[int64](b, nil, 4)
	if err != nil || cap(list) != 4 || b.Remaining() != 68 {
		t.Errorf("%d %v, left %d", cap(list), err, b.Remaining())
	}
	list = append(list, 1, 2, 3, 4)
	if list, err = Append(b, list, 5); err != nil || cap(list) != 6 || b.Remaining() != 52 || list[4] != 5 {
		t.Errorf("%v %d %v, left %d", list, cap(list), err, b.Remaining())
	}
	var full *MemoryError
	if _, err = Append(b, list, 6, 7); !errors.As(err, &full) || full.Need != 56 || full.Limit != 100 {
		t.Errorf("%v", err)
	}
	if list, err = Append(b, list, 6); err != nil || len(list) != 6 {
		t.Errorf("%v %v", list, err)
	}
	for _, c := range []struct {
		need, used, limit int64
		want              string
	}{
		{492 << 20, 0, 400 << 20, "492 MiB, more than the limit of 400 MiB"},
		{492 << 20, 600 << 20, 978 << 20, "492 MiB, more than the 378 MiB that are left of the limit of 978 MiB"},
		{978<<20 + 1, 0, 978 << 20, "1025507329 bytes, more than the limit of 1025507328 bytes"},
		{5, 99, 100, "5 B, and no memory is left"},
		{5, 0, 1, "5 B, and no memory is left"},
	} {
		if err := (&MemoryError{c.need, c.used, c.limit}); err.Error() != c.want {
			t.Errorf("found %q, expected %q", err, c.want)
		}
	}
	b.Release(48)
	if b.Remaining() != 100 {
		t.Errorf("left %d", b.Remaining())
	}
	if _, err := Grow[int64](b, nil, 1<<62); !errors.As(err, &full) {
		t.Error(err)
	}
	if err := b.CheckFits(1<<40, 1<<40, 8); err == nil || err.Error() != "4096 PiB, more than the limit of 100 B" {
		t.Error(err)
	}
	if b.CheckFits(3, 4, 8) != nil || b.CheckFits(4, 4, 8) == nil {
		t.Error("96 bytes fit, 128 do not")
	}
	var none *Budget
	if NewBudget(0) != none || none.Reserve(1<<60) != nil || none.CheckFits(1<<20, 1<<20, 8) != nil || none.CheckFits(1<<40, 1<<40, 8) == nil {
		t.Error("without a limit")
	}
}

// Room for what is likely to follow is made at once, where the budget has four times as much; else as Grow makes it.
func TestForesee(t *testing.T) {
	for _, c := range []struct{ limit, need, follow, least, most int }{
		{0, 10, 1000, 1010, 1010},
		{80000, 10, 1000, 1010, 1010},
		{8000, 10, 1000, 10, 10},
		{0, 10, 0, 10, 10},
	} {
		list, err := GrowAhead[int64](NewBudget(int64(c.limit)), nil, c.need, c.follow)
		if err != nil || cap(list) < c.least || cap(list) > c.most {
			t.Errorf("%+v: room for %d, %v", c, cap(list), err)
		}
		first := cap(list)
		if list, err = GrowAhead[int64](nil, list, c.need, 1<<40); err != nil || cap(list) != first {
			t.Errorf("%+v: %d became %d though there was room, %v", c, first, cap(list), err)
		}
	}
	if _, err := GrowAhead[int64](NewBudget(40), nil, 10, 1000); err == nil {
		t.Error("found room for 80 bytes in a budget of 40")
	}
}
