// Package ui writes progress to stderr and tables to stdout: one progress line on
// a terminal, with a bar, a log line every ten seconds anywhere else, and columns that line
// up. It knows nothing of the computation.
package ui

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// How often the line is drawn: on a terminal, and everywhere else.
const (
	livePeriod = 250 * time.Millisecond
	logPeriod  = 10 * time.Second
)

// Progress is one line about work under way. Its methods may be called from
// several goroutines. Everything is written to the writer it was made with;
// failures to write talk are ignored, since the answer goes elsewhere.
type Progress struct {
	mu    sync.Mutex
	w     io.Writer
	width int // columns of the terminal; 0 when w is none
	start time.Time
	text  string
	share float64        // of the work under way that is done, from 0 to 1; below 0: it is not known
	seen  func() float64 // finds share; nil: it is as set
	since time.Time      // the work under way began, where limit bounds it
	limit time.Duration
	drawn bool // a live line is on the screen
	stop  chan struct{}
	done  chan struct{}
}

// StartProgress shows progress on w until Close. Nothing is drawn before Set has said
// what is going on.
func StartProgress(w io.Writer) *Progress {
	period, width := logPeriod, terminalWidth(w)
	if width > 0 {
		period = livePeriod
	}
	return startProgress(w, width, period)
}

func startProgress(w io.Writer, width int, period time.Duration) *Progress {
	p := &Progress{w: w, width: width, start: time.Now(), share: -1, stop: make(chan struct{}), done: make(chan struct{})}
	go p.tick(period)
	return p
}

func (p *Progress) tick(period time.Duration) {
	defer close(p.done)
	t := time.NewTicker(period)
	defer t.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-t.C:
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		}
	}
}

// Set replaces what the line says. The bar shows that the work goes on.
func (p *Progress) Set(format string, args ...any) { p.SetShare(-1, format, args...) }

// SetShare is Set for work of which a share is done, from 0 to 1, which the bar shows.
func (p *Progress) SetShare(share float64, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.share, p.seen = share, nil
	p.text = EscapeControl(strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " "))
	if p.width > 0 {
		p.draw()
	}
}

// SetMeasured is Set for work whose share a function finds whenever a terminal's line is drawn.
func (p *Progress) SetMeasured(share func() float64, format string, args ...any) {
	p.Set(format, args...)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = share
}

// SetLimit says that the work under way from now on ends within a time, of which the bar shows what has passed, where no share of
// the work is known; 0: it has no limit.
func (p *Progress) SetLimit(limit time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since, p.limit = time.Now(), limit
}

// PrintLine writes a line that stays.
func (p *Progress) PrintLine(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintln(p.w, EscapeControl(fmt.Sprintf(format, args...)))
}

// Close stops the line and wipes it off a terminal.
func (p *Progress) Close() {
	select {
	case <-p.stop:
		return
	default:
	}
	close(p.stop)
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// draw needs p.mu.
func (p *Progress) draw() {
	if p.text == "" {
		return
	}
	line := fmt.Sprintf("%s (%s)", p.text, Duration(time.Since(p.start).Truncate(time.Second)))
	if p.width == 0 {
		fmt.Fprintln(p.w, line)
		return
	}
	line = p.bar(time.Now()) + line
	runes := []rune(line)
	if len(runes) >= p.width {
		runes = runes[:p.width-1]
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", string(runes))
	p.drawn = true
}

// bar is the bar before the line, with a blank; none on a narrow terminal and in the first second. It needs p.mu.
func (p *Progress) bar(now time.Time) string {
	const cells, narrow, block = 12, 60, 4
	elapsed := now.Sub(p.start)
	if p.width < narrow || elapsed < time.Second {
		return ""
	}
	share := p.share
	if p.seen != nil {
		share = p.seen()
	}
	if share < 0 && p.limit > 0 {
		share = now.Sub(p.since).Seconds() / p.limit.Seconds()
	}
	if share < 0 { // a block that moves to and fro
		at := int(elapsed/livePeriod) % (2 * (cells - block))
		at = min(at, 2*(cells-block)-at)
		return "▕" + strings.Repeat(" ", at) + strings.Repeat("█", block) + strings.Repeat(" ", cells-block-at) + "▏ "
	}
	eighths := int(8 * cells * min(share, 1))
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string(rune('█' + 8 - rest)) // ▏ to ▉ are an eighth to seven
	}
	return "▕" + text + strings.Repeat(" ", cells-len([]rune(text))) + "▏ "
}

// clear needs p.mu.
func (p *Progress) clear() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

// terminalWidth is 0 when w is no terminal.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 10 {
		return width
	}
	return 80
}
