// Package bundle is the code for GPUs that a CUDA binary carries: images, each of some
// variants of a pack for one architecture, compressed, and an index that says what
// they hold. They lie behind the executable in its file (Write), or are embedded by
// the build tag cuda from the folder images, which go generate ./... fills and git
// ignores. Only what is asked for is read and unpacked. Tuning data may lie beside.
package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// ErrNone is wrapped when the build has no images at all.
var ErrNone = errors.New("this build has no CUDA images")

// ErrDamaged is wrapped by errors of a bundle whose bytes have changed since it was written.
var ErrDamaged = errors.New("the bundle is damaged, copy or make it again")

// An Index is the table of contents of a bundle.
type Index struct {
	CUDA          string   `json:"cuda"`               // version of the compiler, "13.0.88"
	Least         int      `json:"least"`              // CUDA version of the least driver that loads the images: 13000 for 13.0
	Driver        string   `json:"driver"`             // its release: "580"
	Flags         []string `json:"flags,omitempty"`    // of the compiler, as far as machine code depends on them, such as "-O3"
	Architectures []string `json:"architectures"`      // such as "sm_90"
	Families      []string `json:"families,omitempty"` // that were asked for; none: all
	Images        []Image  `json:"images"`
	Program       *Blob    `json:"program,omitempty"` // the executable in front
	Tuning        *Blob    `json:"tuning,omitempty"`  // tuning data, not compressed
}

// Compiler is the compiler and the flags that code depends on, as tuning data name
// them: "nvcc 13.0.88 -O3 -std=c++17"; empty where the index does not say.
func (x *Index) Compiler() string {
	if len(x.Flags) == 0 {
		return ""
	}
	return strings.Join(append([]string{"nvcc", x.CUDA}, x.Flags...), " ")
}

// An Image is one fatbin, compressed with zstd.
type Image struct {
	File       string   `json:"file"`           // its name: content hash and .zst
	Arch       string   `json:"arch"`           // "sm_90"
	PTX        bool     `json:"ptx,omitempty"`  // it holds PTX for all architectures from Arch on
	Held       bool     `json:"held,omitempty"` // some of its variants are safe, won, or are named by hold in go.generate
	Variants   []string `json:"variants"`       // their hashes, 16 hexadecimal digits each
	Bytes      int64    `json:"bytes"`          // of the fatbin
	Compressed int64    `json:"compressed"`     // of the file
	SHA256     string   `json:"sha256"`         // of the file, hexadecimal
	Offset     int64    `json:"offset,omitempty"`
}

// A Blob is a stretch of the bundle's file, in bytes.
type Blob struct {
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// A Bundle is an index, and the file or memory in which its images lie.
type Bundle struct {
	Index
	// Name of the file, for errors.
	Name  string
	image func(i *Image) ([]byte, error) // as it lies there, compressed
	part  func(at, n int64) io.Reader    // of the file; nil where images are embedded
	at    map[uint64][]*Image            // by hash of a variant
	archs []string                       // that some image is for
}

// newBundle decodes an index.
func newBundle(name string, text []byte) (*Bundle, error) {
	b := &Bundle{Name: name, at: map[uint64][]*Image{}}
	if err := json.Unmarshal(text, &b.Index); err != nil {
		return nil, fmt.Errorf("%s: the index of the images: %w", name, err)
	}
	for k := range b.Images {
		i := &b.Images[k]
		if _, ok := number(i.Arch); !ok {
			return nil, fmt.Errorf("%s: image %.80s is for %.20q, expected an architecture such as sm_90", name, i.File, i.Arch)
		}
		if !slices.Contains(b.archs, i.Arch) {
			b.archs = append(b.archs, i.Arch)
		}
		if i.Bytes < 0 || i.Bytes > maxBytes || i.Compressed < 0 || i.Compressed > maxBytes {
			return nil, fmt.Errorf("%s: image %.80s has %d bytes, %d compressed, expected 0 to %d", name, i.File, i.Bytes, i.Compressed, maxBytes)
		}
		for _, v := range i.Variants {
			hash, err := strconv.ParseUint(v, 16, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: variant %.40q of image %.80s, expected 16 hexadecimal digits", name, v, i.File)
			}
			b.at[hash] = append(b.at[hash], i)
		}
	}
	return b, nil
}

// maxBytes is the size in bytes of the largest image that is read.
const maxBytes = 1 << 30

// number is 90 of "sm_90".
func number(arch string) (int, bool) {
	digits, ok := strings.CutPrefix(arch, "sm_")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 10 && n < 1000
}

// runs reports whether machine code for an architecture runs on a device: the device has the same
// major compute capability and at least the same minor one.
func runs(arch string, major, minor int) bool {
	n, ok := number(arch)
	return ok && n/10 == major && n%10 <= minor
}

// native reports whether there is machine code for a device.
func (b *Bundle) native(major, minor int) bool {
	return slices.ContainsFunc(b.archs, func(arch string) bool { return runs(arch, major, minor) })
}

// translates reports whether an image has PTX that the driver may compile for a device.
func (i *Image) translates(major, minor int) bool {
	n, ok := number(i.Arch)
	return ok && i.PTX && n <= 10*major+minor
}

// CheckCapability is an error where no image of the bundle runs on a device of a compute capability. byPTX
// reports that the bundle has no machine code for the device, so that the driver has to compile
// the safe variants, which takes seconds to minutes each.
func (b *Bundle) CheckCapability(major, minor int) (byPTX bool, err error) {
	if b.native(major, minor) {
		return false, nil
	}
	if slices.ContainsFunc(b.Images, func(i Image) bool { return i.translates(major, minor) }) {
		return true, nil
	}
	return false, fmt.Errorf("no image for compute capability %d.%d: this binary holds %s; scripts/build-cuda --arch sm_%d%d builds one that does",
		major, minor, strings.Join(b.Architectures, ", "), major, minor)
}

// Needs is the least version of CUDA that a driver must support to load the images,
// 13000 for 13.0, and the release of the driver that does.
func (b *Bundle) Needs() (version int, release string) { return b.Least, b.Driver }

// find is the image of a variant for a device: machine code of the latest architecture
// that runs there or, where no image at all is machine code for the device, PTX.
func (b *Bundle) find(variant uint64, major, minor int) (found *Image, byPTX bool) {
	byPTX = !b.native(major, minor)
	best := 0
	for _, i := range b.at[variant] {
		fits := runs(i.Arch, major, minor)
		if byPTX {
			fits = i.translates(major, minor)
		}
		if n, _ := number(i.Arch); fits && n > best {
			found, best = i, n
		}
	}
	return found, byPTX
}

// CheckVariant says why a variant, by its hash, cannot be loaded on a device of a compute
// capability; nil where it can.
func (b *Bundle) CheckVariant(variant uint64, major, minor int) error {
	if found, byPTX := b.find(variant, major, minor); found == nil {
		return missing{major, minor, byPTX}
	}
	return nil
}

// missing is the error of a variant without code for a device. Its text is made when it is printed,
// because a choice asks about many variants.
type missing struct {
	major, minor int
	byPTX        bool
}

func (m missing) Error() string {
	if m.byPTX {
		return fmt.Sprintf("this binary has no PTX of it, and no image for compute capability %d.%d", m.major, m.minor)
	}
	return fmt.Sprintf("this binary has no image of it for compute capability %d.%d: scripts/build-cuda --arch sm_%d%d builds one with every variant", m.major, m.minor, m.major, m.minor)
}

// Image returns the fatbin with a variant, by its hash, for a device of a compute
// capability, and its name, which is the same for all variants that it holds. byPTX:
// the driver has to compile it.
func (b *Bundle) Image(variant uint64, major, minor int) (name string, code []byte, byPTX bool, err error) {
	i, byPTX := b.find(variant, major, minor)
	if i == nil {
		return "", nil, false, b.CheckVariant(variant, major, minor)
	}
	code, err = b.unpack(i)
	return i.File, code, byPTX, err
}

// decoder unpacks images, one at a time each, in no more memory than the index says.
var decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBytes))
})

// unpack reads, checks and unpacks an image.
func (b *Bundle) unpack(i *Image) ([]byte, error) {
	packed, err := b.image(i)
	if err != nil {
		return nil, fmt.Errorf("%s: image %s: %w", b.Name, i.File, err)
	}
	if got := hashText(packed); got != i.SHA256 {
		return nil, fmt.Errorf("%s: image %s has the SHA-256 %.12s…, expected %.12s…: %w", b.Name, i.File, got, i.SHA256, ErrDamaged)
	}
	d, err := decoder()
	if err != nil {
		return nil, err
	}
	code, err := d.DecodeAll(packed, make([]byte, 0, i.Bytes))
	if err != nil || int64(len(code)) != i.Bytes {
		return nil, fmt.Errorf("%s: image %s unpacks to %d bytes, expected %d (%v): %w", b.Name, i.File, len(code), i.Bytes, err, ErrDamaged)
	}
	return code, nil
}

func hashText(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// TuningData is the tuned.json of the bundle; nil where it has none.
func (b *Bundle) TuningData() ([]byte, error) {
	if b.Tuning == nil || b.part == nil {
		return nil, nil
	}
	var text bytes.Buffer
	if err := b.check("tuning data", b.Tuning, &text); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// Verify reads all that the bundle holds, the executable in front too, and compares
// its hashes with those of the index.
func (b *Bundle) Verify() error {
	for k := range b.Images {
		if _, err := b.unpack(&b.Images[k]); err != nil {
			return err
		}
	}
	if b.Tuning != nil {
		if err := b.check("tuning data", b.Tuning, io.Discard); err != nil {
			return err
		}
	}
	if b.Program == nil {
		return nil
	}
	return b.check("executable", b.Program, io.Discard)
}

// check copies a stretch of the file and compares its hash.
func (b *Bundle) check(what string, at *Blob, to io.Writer) error {
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(h, to), b.part(at.Offset, at.Bytes))
	if err != nil {
		return fmt.Errorf("%s: %s: %w", b.Name, what, err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); n != at.Bytes || got != at.SHA256 {
		return fmt.Errorf("%s: %s of %d bytes has the SHA-256 %.12s…, expected %d bytes and %.12s…: %w", b.Name, what, n, got, at.Bytes, at.SHA256, ErrDamaged)
	}
	return nil
}
