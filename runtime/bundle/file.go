package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// A bundle's file is the executable, the compressed images, the tuning data, the index
// as JSON, and a trailer of trailerSize bytes: the index's offset and length, 8 bytes
// each, little end first, its SHA-256, and magic.
const (
	trailerSize = 8 + 8 + sha256.Size + len(magic)
	magic       = "coalesce-bundle1"
	maxIndex    = 64 << 20 // bytes
)

// Open returns the bundle behind the program's executable or, where there is none, the embedded
// one. It is read once. The error wraps ErrNone where the program carries no bundle.
func Open() (*Bundle, error) { return own() }

var own = sync.OnceValues(func() (*Bundle, error) {
	path, err := os.Executable()
	if err == nil {
		b, err := OpenFile(path)
		if !errors.Is(err, ErrNone) {
			return b, err
		}
	}
	switch images := embeddedImages(); {
	case images != nil:
		return OpenFolder(images)
	case apart:
		return nil, fmt.Errorf("%s: the images behind the executable are missing: %w", path, ErrDamaged)
	}
	return nil, fmt.Errorf("%w: build the CUDA binary with scripts/build-cuda", ErrNone)
})

// OpenFolder is the bundle of a folder of images as go generate ./... leaves it.
func OpenFolder(images fs.FS) (*Bundle, error) {
	text, err := fs.ReadFile(images, "build.json")
	if err != nil {
		return nil, fmt.Errorf("%w (%w): run scripts/build-cuda", ErrNone, err)
	}
	b, err := newBundle("the images", text)
	if err != nil {
		return nil, err
	}
	b.image = func(i *Image) ([]byte, error) { return fs.ReadFile(images, i.File) }
	return b, nil
}

// OpenFile opens the bundle behind an executable; its file stays open. The error wraps ErrNone
// where the file does not end with a bundle's trailer, and ErrDamaged where the index does not
// match its hash.
func OpenFile(path string) (*Bundle, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := read(path, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return b, nil
}

func read(path string, f *os.File) (*Bundle, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	end := st.Size() - int64(trailerSize)
	trailer := make([]byte, trailerSize)
	if end >= 0 {
		if _, err := f.ReadAt(trailer, end); err != nil {
			return nil, fmt.Errorf("read the end of %s: %w", path, err)
		}
	}
	if !bytes.HasSuffix(trailer, []byte(magic)) {
		return nil, fmt.Errorf("%s has no bundle at its end: %w", path, ErrNone)
	}
	at, n := binary.LittleEndian.Uint64(trailer), binary.LittleEndian.Uint64(trailer[8:])
	if n > maxIndex || at > uint64(end) || at+n != uint64(end) {
		return nil, fmt.Errorf("%s: %d bytes of index at %d, expected them to end at %d: %w", path, n, at, end, ErrDamaged)
	}
	text := make([]byte, n)
	if _, err := f.ReadAt(text, int64(at)); err != nil {
		return nil, fmt.Errorf("read the index of %s: %w", path, err)
	}
	if got := sha256.Sum256(text); !bytes.Equal(got[:], trailer[16:16+sha256.Size]) {
		return nil, fmt.Errorf("%s: the index has the SHA-256 %x…, expected %x…: %w", path, got[:6], trailer[16:22], ErrDamaged)
	}
	b, err := newBundle(path, text)
	if err != nil {
		return nil, err
	}
	b.part = func(at, n int64) io.Reader { return io.NewSectionReader(f, at, n) }
	b.image = func(i *Image) ([]byte, error) {
		packed := make([]byte, i.Compressed)
		_, err := f.ReadAt(packed, i.Offset)
		return packed, err
	}
	return b, nil
}

// Write makes an executable at path from the executable in base, the images of b that index lists,
// and tuning data, which may be empty. The file appears whole or not at all. A bundle behind base
// is left out.
func (b *Bundle) Write(path, base string, index Index, tuning []byte) (err error) {
	from, err := os.Open(base)
	if err != nil {
		return err
	}
	defer from.Close()
	var program io.Reader = from
	if old, err := read(base, from); err == nil && old.Program != nil {
		program = io.NewSectionReader(from, 0, old.Program.Bytes)
	} else if err != nil && !errors.Is(err, ErrNone) {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".bundle-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	w := &writer{to: f}
	if index.Program, err = w.blob(program); err != nil {
		return err
	}
	index.Images = slices.Clone(index.Images)
	for k := range index.Images {
		i := &index.Images[k]
		packed, err := b.image(i)
		if err != nil {
			return err
		}
		if hashText(packed) != i.SHA256 {
			return fmt.Errorf("image %s: %w", i.File, ErrDamaged)
		}
		i.Offset = w.n
		if _, err := w.Write(packed); err != nil {
			return err
		}
	}
	if index.Tuning = nil; len(tuning) > 0 {
		if index.Tuning, err = w.blob(bytes.NewReader(tuning)); err != nil {
			return err
		}
	}
	text, err := json.Marshal(index)
	if err != nil {
		return err
	}
	hash := sha256.Sum256(text)
	end := binary.LittleEndian.AppendUint64(nil, uint64(w.n))
	end = binary.LittleEndian.AppendUint64(end, uint64(len(text)))
	for _, part := range [][]byte{text, end, hash[:], []byte(magic)} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	if err = f.Chmod(0o755); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// A writer counts bytes.
type writer struct {
	to io.Writer
	n  int64
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.n += int64(n)
	return n, err
}

// blob copies all of a reader.
func (w *writer) blob(from io.Reader) (*Blob, error) {
	h := sha256.New()
	at := w.n
	n, err := io.Copy(io.MultiWriter(w, h), from)
	return &Blob{Offset: at, Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}
