// Package texts packs the CUDA texts of families, and reads them, packed or not. The variants of a
// family differ in few lines: a folder compressed as one text takes a twentieth of the space of its
// files compressed one by one. A folder keeps its files: the first holds the texts of all,
// compressed, and each of the others the name of the first.
package texts

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

var (
	// magic begins what zstd compressed.
	magic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	// elsewhere begins a file whose text the first of its folder holds; that one's name follows.
	elsewhere = []byte("\x00in ")
)

// Pack returns what the files of a folder hold when their texts are packed, by name.
func Pack(folder map[string][]byte) (map[string][]byte, error) {
	names := slices.Sorted(maps.Keys(folder))
	packed := map[string][]byte{}
	var all bytes.Buffer // for each text a line with its name and its length in bytes, and the text
	for _, name := range names {
		packed[name] = slices.Concat(elsewhere, []byte(names[0]))
		fmt.Fprintf(&all, "%s %d\n", name, len(folder[name]))
		all.Write(folder[name])
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(8<<20))
	if err != nil {
		return nil, err
	}
	if len(names) > 0 {
		packed[names[0]] = z.EncodeAll(all.Bytes(), nil)
	}
	return packed, z.Close()
}

// Files are texts, of which some may be packed.
type Files struct{ fs.FS }

// ReadFile returns a text, unpacked where it is packed.
func (f Files) ReadFile(name string) ([]byte, error) {
	text, err := fs.ReadFile(f.FS, name)
	if err != nil {
		return nil, err
	}
	if first, ok := bytes.CutPrefix(text, elsewhere); ok {
		if text, err = fs.ReadFile(f.FS, path.Join(path.Dir(name), string(first))); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	} else if !bytes.HasPrefix(text, magic) {
		return text, nil
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	all, err := z.DecodeAll(text, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for len(all) > 0 {
		line, rest, _ := bytes.Cut(all, []byte("\n"))
		file, size, _ := strings.Cut(string(line), " ")
		n, err := strconv.Atoi(size)
		if err != nil || n < 0 || n > len(rest) {
			return nil, fmt.Errorf("%s: found the line %.80q, expected a name and a length of at most %d", name, line, len(rest))
		}
		if file == path.Base(name) {
			return slices.Clone(rest[:n]), nil
		}
		all = rest[n:]
	}
	return nil, fmt.Errorf("%s: the texts that are packed with it lack it: %w", name, fs.ErrNotExist)
}
