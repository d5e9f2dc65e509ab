package packed

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/therootcompany/xz"

	"coalesce/solvers/formats"
)

// OpenFile opens a file, which Close closes. A stream that is compressed, or whose length
// the system does not know, gives at most limit bytes; reading beyond them is a
// formats.LimitError; 0: no limit.
func OpenFile(path string, limit int64) (*Stream, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read instance: %w", err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		f.Close()
		return nil, fmt.Errorf("read instance: %w", err)
	case info.IsDir():
		f.Close()
		return nil, fmt.Errorf("read instance: %s is a directory, expected a file", path)
	}
	size := int64(-1)
	if info.Mode().IsRegular() && info.Size() > 0 { // the kernel's own files, such as those of /proc, state the size 0
		size = info.Size()
	}
	s, err := OpenLimited(f, size, path, limit)
	if err != nil {
		f.Close()
		return nil, err
	}
	s.body.file = f
	return s, nil
}

// A body is the reader below a stream's buffer. It returns its first error again at later reads,
// because the buffer drops an error after Peek; names the compression in errors of the decompressor;
// counts bytes against the limit; and may be closed while another goroutine reads.
type body struct {
	mu    sync.Mutex
	r     io.Reader
	kind  string // of compression; empty: none
	err   error
	limit int64 // bytes; 0: no limit
	came  int64
	close func() // of the decompressor; may be nil
	file  *os.File
}

// Read is io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return 0, b.err
	}
	k, err := b.r.Read(p)
	if b.came += int64(k); b.limit > 0 && b.came > b.limit {
		k -= int(b.came - b.limit)
		err = &formats.LimitError{Limit: b.limit}
	} else if err != nil && b.kind != "" {
		err = decompressorError(b.kind, err)
	}
	b.err = err
	return k, err
}

// decompressorError explains an error of a decompressor.
func decompressorError(kind string, err error) error {
	switch {
	case err == io.EOF:
		return err
	case errors.Is(err, xz.ErrMemlimit):
		return fmt.Errorf("found an xz dictionary of more than %d bytes", maxDictionary)
	case errors.Is(err, xz.ErrBuf):
		return decompressorError(kind, io.ErrUnexpectedEOF)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("found the end of the file within %s data: the file is truncated: %w", kind, err)
	}
	return fmt.Errorf("found broken %s data: %w", kind, err)
}

// Close frees the decompressor, as soon as no read is under way.
func (b *body) Close() {
	if b.file != nil {
		b.file.Close() // read only: there is nothing to lose
	}
	give := func() {
		defer b.mu.Unlock()
		if b.err == nil {
			b.err = os.ErrClosed
		}
		if b.close != nil {
			b.close()
			b.close = nil
		}
	}
	if b.mu.TryLock() {
		give()
		return
	}
	go func() {
		b.mu.Lock()
		give()
	}()
}
