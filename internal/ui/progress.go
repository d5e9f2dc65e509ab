// Package ui writes progress to stderr and tables to stdout: one progress line on
// a terminal, a log line every ten seconds anywhere else, and columns that line
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
	livePeriod = time.Second
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
	drawn bool // a live line is on the screen
	stop  chan struct{}
	done  chan struct{}
}

// Start shows progress on w until Close. Nothing is drawn before Set has said
// what is going on.
func Start(w io.Writer) *Progress {
	period, width := logPeriod, terminalWidth(w)
	if width > 0 {
		period = livePeriod
	}
	return start(w, width, period)
}

func start(w io.Writer, width int, period time.Duration) *Progress {
	p := &Progress{w: w, width: width, start: time.Now(), stop: make(chan struct{}), done: make(chan struct{})}
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

// Set replaces what the line says.
func (p *Progress) Set(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = Plain(strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " "))
	if p.width > 0 {
		p.draw()
	}
}

// Say writes a line that stays.
func (p *Progress) Say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintln(p.w, Plain(fmt.Sprintf(format, args...)))
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
	runes := []rune(line)
	if len(runes) >= p.width {
		runes = runes[:p.width-1]
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", string(runes))
	p.drawn = true
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
