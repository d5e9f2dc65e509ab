// Package packed reads files that may be compressed with gzip, xz or zstd.
package packed

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// A Stream is a file as it was before it was compressed.
type Stream struct {
	*bufio.Reader
	Name   string // the file's, without the compression's ending
	Packed bool   // it is compressed: the file's size says nothing
	Size   int64  // bytes to come, where they are known; else -1
	body   *body
}

// Close gives back what the decompressor holds, and the file that OpenFile
// opened. Another goroutine may be reading: its read ends by itself.
func (s *Stream) Close() { s.body.Close() }

// maxDictionary is the largest window that a decompressor may ask for: that of
// xz -9, and twice zstd's --ultra default.
const maxDictionary = 1 << 27

// Open is OpenLimited of a stream of unknown length, without a limit.
func Open(r io.Reader, name string) (*Stream, error) { return OpenLimited(r, -1, name, 0) }

// OpenLimited undoes gzip, xz or zstd, told by content, of a stream of size
// bytes, or of unknown size when that is negative. A name that promises
// compression which is not there is an error. Of a stream that is compressed, or
// whose size is not known, limit bytes may come, after which reading is a
// formats.LimitError; 0: no limit. Close the stream, then the file.
func OpenLimited(r io.Reader, size int64, name string, limit int64) (*Stream, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	head, err := in.Peek(32)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	bare := name
	for _, ext := range []string{".gz", ".xz", ".zst", ".zstd"} {
		if s, ok := cutFold(name, ext); ok {
			bare = s
		}
	}
	b := &body{limit: limit}
	out := &Stream{Name: bare, Packed: true, Size: -1, body: b}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		b.kind = "gzip"
		b.r, err = gzip.NewReader(in)
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		if d := xzDictionary(head); d > maxDictionary {
			return nil, fmt.Errorf("%s: found an xz dictionary of %d bytes, expected at most %d", name, d, maxDictionary)
		}
		b.kind = "xz"
		b.r, err = newXZ(in)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		b.kind = "zstd"
		var d *zstd.Decoder
		d, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxDictionary))
		if err == nil {
			b.r, b.close = d, d.Close
		}
	case bare != name:
		return nil, fmt.Errorf("%s: found no compressed data, expected the beginning of a %s file", name, filepath.Ext(name)[1:])
	default:
		out.Packed, out.Size, b.r = false, size, in
		if size >= 0 {
			b.limit = 0
		}
	}
	if err == io.EOF { // before the decompressor's first byte
		err = io.ErrUnexpectedEOF
	}
	if err != nil && b.kind != "" {
		return nil, fmt.Errorf("%s: %w", name, broken(b.kind, err))
	}
	out.Reader = bufio.NewReaderSize(b, 1<<16)
	return out, nil
}

func cutFold(s, suffix string) (string, bool) {
	i := len(s) - len(suffix)
	if i < 0 || !strings.EqualFold(s[i:], suffix) {
		return s, false
	}
	return s[:i], true
}

// An xzReader wants the stream's footer: the decompressor takes a file that
// ends before it as whole.
type xzReader struct {
	*xz.Reader
	tail *tail
}

func newXZ(r io.Reader) (*xzReader, error) {
	t := &tail{r: r}
	x, err := xz.NewReader(t)
	return &xzReader{x, t}, err
}

// Read is io.Reader.
func (x *xzReader) Read(p []byte) (int, error) {
	k, err := x.Reader.Read(p)
	if err == io.EOF && string(x.tail.last[:]) != "YZ" {
		err = io.ErrUnexpectedEOF
	}
	return k, err
}

// A tail remembers the last two bytes read that are not padding.
type tail struct {
	r    io.Reader
	last [2]byte
}

// Read is io.Reader.
func (t *tail) Read(p []byte) (int, error) {
	k, err := t.r.Read(p)
	for _, b := range bytes.TrimRight(p[max(0, k-64):k], "\x00") {
		t.last = [2]byte{t.last[1], b}
	}
	return k, err
}

// xzDictionary is the dictionary size that the first block of an xz file asks
// for (xz file format 1.1.0, sections 3.1 and 5.3.1), 0 when it is elsewhere.
func xzDictionary(head []byte) int64 {
	if len(head) < 18 {
		return 0
	}
	block := head[12:]
	at := 2
	for _, sized := range []byte{0x40, 0x80} {
		if block[1]&sized == 0 {
			continue
		}
		for at < len(block) && block[at]&0x80 != 0 {
			at++
		}
		at++
	}
	if block[1]&3 != 0 || at+2 >= len(block) || block[at] != 0x21 {
		return 0
	}
	b := block[at+2] & 63
	return int64(2|b&1) << (b/2 + 11)
}
