package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
)

// folder makes a folder of images: each "ARCH[+ptx] VARIANT…", whose code is that text.
func folder(t *testing.T, images ...string) fstest.MapFS {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := fstest.MapFS{}
	index := Index{CUDA: "13.0.88", Least: 13000, Driver: "580", Architectures: []string{"sm_80", "sm_90"}}
	for k, text := range images {
		words := strings.Fields(text)
		arch, ptx := strings.CutSuffix(words[0], "+ptx")
		packed := z.EncodeAll([]byte(text), nil)
		i := Image{File: fmt.Sprintf("%d.zst", k), Arch: arch, PTX: ptx, Variants: words[1:], Bytes: int64(len(text)), Compressed: int64(len(packed)), SHA256: hashText(packed)}
		index.Images = append(index.Images, i)
		files[i.File] = &fstest.MapFile{Data: packed}
	}
	text, err := json.Marshal(index)
	if err != nil {
		t.Fatal(err)
	}
	files["build.json"] = &fstest.MapFile{Data: text}
	return files
}

func open(t *testing.T, files fs.FS) *Bundle {
	t.Helper()
	b, err := OpenFolder(files)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestImage: which image a device loads for a variant.
func TestImage(t *testing.T) {
	all := []string{"sm_80+ptx 0a", "sm_80 0b", "sm_86 0b", "sm_90 0a", "sm_90 0c"}
	for _, c := range []struct {
		images  []string
		variant uint64
		major   int
		minor   int
		want    string // the code, or what the error says
		byPTX   bool
	}{
		{all, 0xa, 8, 0, "sm_80+ptx 0a", false},
		{all, 0xa, 8, 9, "sm_80+ptx 0a", false},
		{all, 0xb, 8, 0, "sm_80 0b", false},
		{all, 0xb, 8, 6, "sm_86 0b", false},
		{all, 0xb, 8, 9, "sm_86 0b", false},
		{all, 0xa, 9, 0, "sm_90 0a", false},
		{all, 0xb, 9, 0, "no image of it for compute capability 9.0", false},
		{all, 0xc, 8, 0, "no image of it for compute capability 8.0", false},
		{all, 0xa, 12, 0, "sm_80+ptx 0a", true},
		{all, 0xc, 12, 0, "has no PTX of it", true},
		{all, 0xa, 7, 5, "has no PTX of it", true},
		{all, 0xff, 9, 0, "no image of it", false},
		{[]string{"sm_100 0a"}, 0xa, 10, 3, "sm_100 0a", false},
		{[]string{"sm_103 0a"}, 0xa, 10, 0, "has no PTX of it", true},
	} {
		b := open(t, folder(t, c.images...))
		_, code, byPTX, err := b.Image(c.variant, c.major, c.minor)
		if holds := b.CheckVariant(c.variant, c.major, c.minor); (holds == nil) != (err == nil) {
			t.Errorf("%x on %d.%d: Holds says %v, Image %v", c.variant, c.major, c.minor, holds, err)
		}
		if err != nil {
			code = []byte(err.Error())
		} else if byPTX != c.byPTX {
			t.Errorf("%x on %d.%d: by PTX %t", c.variant, c.major, c.minor, byPTX)
		}
		if !strings.Contains(string(code), c.want) {
			t.Errorf("%x on %d.%d: %s, expected %s", c.variant, c.major, c.minor, code, c.want)
		}
	}
	b := open(t, folder(t, all...))
	for _, c := range []struct {
		major, minor int
		byPTX, fits  bool
	}{{8, 0, false, true}, {8, 9, false, true}, {9, 0, false, true}, {12, 1, true, true}, {7, 5, false, false}} {
		byPTX, err := b.CheckCapability(c.major, c.minor)
		if byPTX != c.byPTX || (err == nil) != c.fits {
			t.Errorf("%d.%d: by PTX %t, %v", c.major, c.minor, byPTX, err)
		}
		if err != nil && !strings.Contains(err.Error(), "scripts/build-cuda --arch sm_75") {
			t.Errorf("%v does not say what to do", err)
		}
	}
}

// TestFolder: what is no folder of images, and images that are not what the index says.
func TestFolder(t *testing.T) {
	if _, err := OpenFolder(fstest.MapFS{}); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "scripts/build-cuda") {
		t.Errorf("an empty folder: %v", err)
	}
	for _, text := range []string{"{", `{"images":[{"arch":"90"}]}`, `{"images":[{"arch":"sm_90","bytes":-1}]}`, `{"images":[{"arch":"sm_90","variants":["x"]}]}`} {
		if b, err := OpenFolder(fstest.MapFS{"build.json": {Data: []byte(text)}}); err == nil {
			t.Errorf("index %s: %+v", text, b.Index)
		}
	}
	files := folder(t, "sm_90 0a")
	files["0.zst"].Data[2] ^= 1
	if _, _, _, err := open(t, files).Image(0xa, 9, 0); !errors.Is(err, ErrDamaged) {
		t.Errorf("a damaged image: %v", err)
	}
	delete(files, "0.zst")
	if _, _, _, err := open(t, files).Image(0xa, 9, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing image: %v", err)
	}
}

// TestWrite: a bundle is what was put in it, also when made of another bundle; cut off
// or altered anywhere, it is refused.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	base, first, second := filepath.Join(dir, "base"), filepath.Join(dir, "first"), filepath.Join(dir, "second")
	program := bytes.Repeat([]byte("program "), 100)
	if err := os.WriteFile(base, program, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFile(base); !errors.Is(err, ErrNone) {
		t.Errorf("no bundle: %v", err)
	}
	b := open(t, folder(t, "sm_80+ptx 0a", "sm_90 0a", "sm_90 0b"))
	if err := b.Write(first, base, b.Index, []byte("tuning")); err != nil {
		t.Fatal(err)
	}
	whole, err := OpenFile(first)
	if err != nil {
		t.Fatal(err)
	}
	index := whole.Index
	index.Images = index.Images[1:]
	if err := whole.Write(second, first, index, nil); err != nil {
		t.Fatal(err)
	}
	part, err := OpenFile(second)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		b      *Bundle
		images int
		tuning string
	}{{whole, 3, "tuning"}, {part, 2, ""}} {
		if err := c.b.Verify(); err != nil {
			t.Errorf("%s: %v", c.b.Name, err)
		}
		text, err := c.b.TuningData()
		if len(c.b.Images) != c.images || string(text) != c.tuning || err != nil || c.b.Program.Bytes != int64(len(program)) {
			t.Errorf("%s: %d images, tuning %q, %v, executable %+v", c.b.Name, len(c.b.Images), text, err, c.b.Program)
		}
		if _, code, _, err := c.b.Image(0xb, 9, 0); err != nil || string(code) != "sm_90 0b" {
			t.Errorf("%s: image %q, %v", c.b.Name, code, err)
		}
	}
	text, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(text, program) {
		t.Error("the executable is not in front")
	}
	bad := filepath.Join(dir, "bad")
	check := func(what string, text []byte) {
		t.Helper()
		if err := os.WriteFile(bad, text, 0o755); err != nil {
			t.Fatal(err)
		}
		b, err := OpenFile(bad)
		if err == nil {
			err = b.Verify()
		}
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNone) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for n := range len(text) {
		altered := bytes.Clone(text)
		altered[n] ^= 0x10
		check(fmt.Sprintf("byte %d altered", n), altered)
		check(fmt.Sprintf("cut off at %d", n), text[:n])
	}
	check("more behind", append(bytes.Clone(text), '!'))
	if left, _ := filepath.Glob(filepath.Join(dir, ".bundle-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestNone(t *testing.T) {
	if embeddedImages() != nil {
		t.Skip("this build carries images")
	}
	if _, err := Open(); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "scripts/build-cuda") {
		t.Errorf("a build without images: %v; want ErrNone and what to run", err)
	}
}

// BenchmarkHolds is what a choice pays for each variant that it looks at.
func BenchmarkHolds(b *testing.B) {
	var index Index
	for k := range 300 {
		index.Images = append(index.Images, Image{Arch: []string{"sm_80", "sm_90", "sm_100", "sm_120"}[k%4], Variants: []string{fmt.Sprintf("%016x", k/4)}})
	}
	text, err := json.Marshal(index)
	if err != nil {
		b.Fatal(err)
	}
	held, err := newBundle("index", text)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := held.CheckVariant(7, 9, 0); err != nil {
			b.Fatal(err)
		}
	}
}
