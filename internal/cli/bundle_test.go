package cli

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"coalesce/generated"
	"coalesce/runtime/bundle"
	"coalesce/runtime/device"
)

// scriptPacks is "packs DIR": a folder of images, as the generator leaves it, whose
// code is no kernel: for sm_80 and sm_90 one of the safe variants of each family, for
// sm_80 with PTX, and one of all others.
func scriptPacks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: packs DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o777))
	z, err := zstd.NewWriter(nil)
	ts.Check(err)
	defer z.Close()
	index := bundle.Index{CUDA: "13.0.88", Least: 13000, Driver: "580", Architectures: []string{"sm_80", "sm_90"}}
	for _, f := range generated.Families() {
		for _, arch := range index.Architectures {
			var safe, others []string
			for _, v := range f.Variants {
				hash := fmt.Sprintf("%016x", v.Hash)
				if v.Safe {
					safe = append(safe, hash)
				} else {
					others = append(others, hash)
				}
			}
			for k, variants := range [][]string{safe, others} {
				if len(variants) == 0 || f.Target != device.CUDA {
					continue
				}
				code := fmt.Appendf(nil, "%s for %s: %d", f.Name, arch, k)
				packed := z.EncodeAll(code, nil)
				i := bundle.Image{File: fmt.Sprintf("%d.zst", len(index.Images)), Arch: arch, PTX: k == 0 && arch == "sm_80", Held: k == 0,
					Variants: variants, Bytes: int64(len(code)), Compressed: int64(len(packed)), SHA256: fmt.Sprintf("%x", sha256.Sum256(packed))}
				index.Images = append(index.Images, i)
				ts.Check(os.WriteFile(filepath.Join(dir, i.File), packed, 0o666))
			}
		}
	}
	text, err := json.Marshal(index)
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(dir, "build.json"), text, 0o666))
}

// scriptAlter is "alter FILE N": FILE without its last N bytes or, with "alter FILE -N",
// with another byte at N before its end.
func scriptAlter(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: alter FILE N")
	}
	path := ts.MkAbs(args[0])
	text, err := os.ReadFile(path)
	ts.Check(err)
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	if n > 0 {
		text = text[:len(text)-n]
	} else {
		text[len(text)+n] ^= 1
	}
	ts.Check(os.WriteFile(path, text, 0o777))
}
