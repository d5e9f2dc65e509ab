// Package texts reads the CUDA texts of families, compressed or not, and compresses them. Variants of a
// family differ in few lines: all texts of a folder but its first are compressed with that one's text
// for a dictionary.
package texts

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"

	"github.com/klauspost/compress/zstd"
)

// dictionary is the number by which a compressed text says that it needs the first of its folder.
const dictionary = 1

// magic begins what zstd compressed.
var magic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// Pack compresses a text; first is the text of the folder's first file, nil for that file itself.
func Pack(text, first []byte) ([]byte, error) {
	options := []zstd.EOption{zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1)}
	if first != nil {
		options = append(options, zstd.WithEncoderDictRaw(dictionary, first))
	}
	z, err := zstd.NewWriter(nil, options...)
	if err != nil {
		return nil, err
	}
	return z.EncodeAll(text, nil), z.Close()
}

// Files are texts, of which some may be compressed.
type Files struct{ fs.FS }

// ReadFile returns a text, unpacked where it is compressed.
func (f Files) ReadFile(name string) ([]byte, error) {
	text, err := fs.ReadFile(f.FS, name)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(text, magic) {
		return text, nil
	}
	var head zstd.Header
	if err := head.Decode(text); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1)}
	if head.DictionaryID == dictionary {
		first, err := f.first(path.Dir(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		options = append(options, zstd.WithDecoderDictRaw(dictionary, first))
	}
	d, err := zstd.NewReader(nil, options...)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if text, err = d.DecodeAll(text, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

// first is the text of a folder's first file.
func (f Files) first(folder string) ([]byte, error) {
	list, err := fs.ReadDir(f.FS, folder)
	if err != nil {
		return nil, err
	}
	return f.ReadFile(path.Join(folder, list[0].Name()))
}
