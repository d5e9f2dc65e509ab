package emulated

import (
	"bytes"
	"io/fs"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// texts reads the CUDA texts of a family, which scripts/build-cuda compresses.
type texts struct{ fs.FS }

var (
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	unpacker  = sync.OnceValues(func() (*zstd.Decoder, error) { return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)) })
)

// ReadFile returns a text, unpacked where it is compressed.
func (t texts) ReadFile(name string) ([]byte, error) {
	text, err := fs.ReadFile(t.FS, name)
	if err != nil || !bytes.HasPrefix(text, zstdMagic) {
		return text, err
	}
	d, err := unpacker()
	if err != nil {
		return nil, err
	}
	return d.DecodeAll(text, nil)
}
