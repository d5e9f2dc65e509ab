// Package packed reads files that may be compressed with gzip, xz or zstd, or be the one file of a zip archive, as arrays of
// .npz files are.
package packed

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"coalesce/solvers/formats"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
)

// A Stream has the decompressed bytes of a file.
type Stream struct {
	*bufio.Reader
	Name string // the file's, without the compression's ending; in a zip archive that of the one file
	Size int64  // bytes to come; -1 where unknown, as of compressed files
	body *body
}

// Close frees the decompressor, and closes the file that OpenFile opened. If another goroutine is
// reading, Close returns at once and that read ends by itself.
func (s *Stream) Close() { s.body.Close() }

// TrimExtension is the name of a file without the ending of a compression, if it has one.
func TrimExtension(name string) string {
	for _, ext := range []string{".gz", ".xz", ".zst", ".zstd"} {
		if bare, ok := cutFold(name, ext); ok {
			return bare
		}
	}
	return name
}

// maxDictionary is the largest window that a decompressor may ask for: that of
// xz -9, and twice zstd's --ultra default.
const maxDictionary = 1 << 27

// OpenLimited undoes gzip, xz, zstd or zip, told by content, of a stream of size
// bytes, or of unknown size when that is negative. A name that promises
// compression which is not there is an error, and so is a zip archive of several files. Of a stream that is compressed, or
// whose size is not known, limit bytes may come, after which reading is a
// formats.LimitError; 0: no limit. Close the stream, then the file. A byte order mark of UTF-8 is passed over; text of
// another encoding is an error.
func OpenLimited(r io.Reader, size int64, name string, limit int64) (*Stream, error) {
	in := formats.Buffered(r)
	head, err := in.Peek(32)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	bare := TrimExtension(name)
	b := &body{limit: limit}
	out := &Stream{Name: bare, Size: -1, body: b}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		b.kind = "gzip"
		b.r, err = gzip.NewReader(in)
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		// This decompressor keeps one dictionary for all streams and blocks of the
		// file: one that makes another for each runs out of memory on thousands of them.
		b.kind = "xz"
		b.r, err = xz.NewReader(in, maxDictionary)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		b.kind = "zstd"
		var d *zstd.Decoder
		d, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxDictionary))
		if err == nil {
			b.r, b.close = d, d.Close
		}
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		b.kind = "zip"
		at, _ := r.(*os.File)
		var archive io.ReaderAt
		if at != nil && size >= 0 {
			archive = at
		}
		file, inner, failed := openArchive(in, archive, size)
		if failed != nil {
			return nil, fmt.Errorf("%s: %w", name, failed)
		}
		b.r, b.close, out.Name = file, func() { file.Close() }, inner
	case bare != name:
		return nil, fmt.Errorf("%s: found no compressed data, expected the beginning of a %s file", name, filepath.Ext(name)[1:])
	default:
		out.Size, b.r = size, in
		if size >= 0 {
			b.limit = 0
		}
	}
	if err == io.EOF { // before the decompressor's first byte
		err = io.ErrUnexpectedEOF
	}
	if err != nil && b.kind != "" {
		return nil, fmt.Errorf("%s: %w", name, decompressorError(b.kind, err))
	}
	room := in.Size()
	if b.kind != "" {
		room = formats.Buffer
	}
	out.Reader = bufio.NewReaderSize(b, room)
	if head, _ = out.Peek(4); len(head) == 0 { // the next read returns the error again
		return out, nil
	}
	mark, err := formats.CheckEncoding(head)
	if err != nil {
		out.Close()
		return nil, formats.Errorf(name, 1, "%w", err)
	}
	out.Discard(mark)
	out.Size = max(-1, out.Size-int64(mark))
	return out, nil
}

func cutFold(s, suffix string) (string, bool) {
	i := len(s) - len(suffix)
	if i < 0 || !strings.EqualFold(s[i:], suffix) {
		return s, false
	}
	return s[:i], true
}
