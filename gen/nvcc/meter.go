package nvcc

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// A meter shows how far a build is: on a terminal as one line rewritten in
// place, elsewhere as a line every ten seconds.
type meter struct {
	mu                   sync.Mutex
	w                    io.Writer
	live                 bool
	total                int
	done, cached, failed int
	text                 string
	start                time.Time
	quit                 chan struct{}
	ended                sync.WaitGroup
	once                 sync.Once
}

func newMeter(w io.Writer, total int) *meter {
	m := &meter{w: w, total: total, start: time.Now(), quit: make(chan struct{})}
	every := 10 * time.Second
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		m.live, every = true, 200*time.Millisecond
	}
	m.ended.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				m.print()
			case <-m.quit:
				return
			}
		}
	})
	return m
}

func (m *meter) count(cached, failed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done++
	if cached {
		m.cached++
	}
	if failed {
		m.failed++
	}
}

func (m *meter) printNote(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.text = text
}

func (m *meter) print() {
	m.mu.Lock()
	defer m.mu.Unlock()
	line := fmt.Sprintf("nvcc: %d of %d images (%d from the cache, %d failed), %.0f s", m.done, m.total, m.cached, m.failed, time.Since(m.start).Seconds())
	if m.text != "" {
		line += "; " + m.text
	}
	if m.live {
		fmt.Fprintf(m.w, "\r%s\x1b[K", line)
	} else {
		fmt.Fprintln(m.w, line)
	}
}

// stop ends the meter and clears its line; it may be called twice.
func (m *meter) stop() {
	m.once.Do(func() {
		close(m.quit)
		m.ended.Wait()
		if m.live {
			fmt.Fprint(m.w, "\r\x1b[K")
		}
	})
}
