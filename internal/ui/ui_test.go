package ui

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// buffer is a writer that a ticking goroutine and the test may share.
type buffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestProgressAwayFromTerminal(t *testing.T) {
	var out buffer
	p := startProgress(&out, 0, 5*time.Millisecond)
	p.Set("level %d", 1)
	p.Set("level %d\nof 9", 2)
	for deadline := time.Now().Add(5 * time.Second); out.String() == "" && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	p.Close()
	p.Close() // twice is harmless
	got := out.String()
	if !strings.HasPrefix(got, "level 2 of 9 (0") || strings.ContainsAny(got, "\r\x1b") {
		t.Errorf("log lines: %q, want plain lines beginning \"level 2 of 9 (0\"", got)
	}
}

func TestProgressQuietWhenShort(t *testing.T) {
	var out buffer
	p := StartProgress(&out)
	p.Set("soon over")
	p.Close()
	if got := out.String(); got != "" {
		t.Errorf("a short run away from a terminal wrote %q, want nothing", got)
	}
}

func TestProgressOnTerminal(t *testing.T) {
	var out buffer
	p := startProgress(&out, 20, time.Hour)
	p.Set("a line that is much longer than the terminal is wide")
	p.PrintLine("kept")
	p.Set("x")
	p.Close()
	const wipe = "\r\x1b[K"
	want := wipe + "a line that is much" + wipe + "kept\n" + wipe + "x (0s)" + wipe
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBar(t *testing.T) {
	p := &Progress{width: 80, start: time.Unix(100, 0), share: -1}
	at := func(seconds float64) time.Time { return p.start.Add(time.Duration(seconds * 1e9)) }
	for _, c := range []struct {
		share, seconds float64
		limit          time.Duration
		want           string
	}{
		{0.5, 0.9, 0, ""}, // soon over
		{0.5, 2, 0, "▕██████      ▏ "},
		{0.0625, 2, 0, "▕▊           ▏ "},
		{0, 2, 0, "▕            ▏ "},
		{2, 2, 0, "▕████████████▏ "},
		{-1, 2, 0, "▕        ████▏ "},
		{-1, 2.25, 0, "▕       ████ ▏ "},
		{-1, 4, 0, "▕████        ▏ "},
		{-1, 5, 10 * time.Second, "▕████        ▏ "}, // a third of 10 s since 1.667 s
	} {
		p.share, p.limit, p.since = c.share, c.limit, at(5-10./3)
		if got := p.bar(at(c.seconds)); got != c.want {
			t.Errorf("share %g at %g s of %v: got %q, want %q", c.share, c.seconds, c.limit, got, c.want)
		}
	}
	p.width = 40
	if got := p.bar(at(2)); got != "" {
		t.Errorf("on a narrow terminal: %q", got)
	}
	var away buffer
	p = &Progress{w: &away, start: time.Now().Add(-time.Minute), share: 0.5, text: "solving"}
	if p.draw(); away.String() != "solving (1m0s)\n" {
		t.Errorf("away from a terminal: %q", away.String())
	}
}

func TestTable(t *testing.T) {
	var table Table
	table.AlignRight(1)
	table.Row("name", "value", "note")
	table.Row("höhe", "7")
	table.Row("b", "12345", "x")
	var out strings.Builder
	if err := table.Write(&out); err != nil {
		t.Fatal(err)
	}
	want := "name  value  note\nhöhe      7\nb     12345  x\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Duration(1234 * time.Microsecond), "1.23ms"}, {Duration(90 * time.Second), "1m30s"}, {Seconds(0.25), "250ms"}, {Seconds(1.5), "1.5s"},
		{Rate(3.6e11), "360 G"}, {Rate(12), "12"}, {Rate(999.7), "1000"}, {Duration(0), "0s"}, {Seconds(0.00999), "9.99ms"}, {Rate(1.25e3), "1.25 k"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
