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
	close  func()
}

// Close gives back what the decompressor holds; the file stays open.
func (s *Stream) Close() {
	if s.close != nil {
		s.close()
	}
}

// maxDictionary is the largest window that a decompressor may ask for: that of
// xz -9, and twice zstd's --ultra default.
const maxDictionary = 1 << 27

// Open undoes gzip, xz or zstd, told by content. A name that promises
// compression which is not there is an error. Close the stream, not the file,
// to give back what the decompressor holds.
func Open(r io.Reader, name string) (*Stream, error) {
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
	out := &Stream{Reader: in, Name: bare, Packed: true}
	var body io.Reader
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		body, err = gzip.NewReader(in)
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		if d := xzDictionary(head); d > maxDictionary {
			return nil, fmt.Errorf("%s: found an xz dictionary of %d bytes, expected at most %d", name, d, maxDictionary)
		}
		body, err = newXZ(in)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		var d *zstd.Decoder
		d, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxDictionary))
		if err == nil {
			body, out.close = d, d.Close
		}
	case bare != name:
		return nil, fmt.Errorf("%s: found no compressed data, expected the beginning of a %s file", name, filepath.Ext(name)[1:])
	default:
		out.Packed = false
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: decompress: %w", name, err)
	}
	out.Reader = bufio.NewReaderSize(body, 1<<16)
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
