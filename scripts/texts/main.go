// Texts compresses the texts that programs embed, the CUDA texts with all that they include and the tuning data, and writes an
// overlay for go build that puts the compressed ones in their place:
//
//	go run ./scripts/texts DIR
//	go build -overlay DIR/overlay.json …
//
// runtime/emulated/texts and autotune/tuned read them, and know them by their first bytes.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"coalesce/runtime/emulated/texts"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/texts DIR")
		os.Exit(2)
	}
	if err := pack([]string{"generated", "templates"}, "autotune/tuned/tuned.json", os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "texts: %v\n", err)
		os.Exit(1)
	}
}

// pack compresses the CUDA texts below some folders and the tuning data into the folder to, and writes
// overlay.json there.
func pack(from []string, tuning, to string) error {
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	folders := map[string]map[string][]byte{} // texts by folder and name
	for _, root := range from {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); err != nil || ext != ".cu" && ext != ".cuh" {
				return err
			}
			folder := filepath.Dir(path)
			if folders[folder] == nil {
				folders[folder] = map[string][]byte{}
			}
			folders[folder][filepath.Base(path)], err = os.ReadFile(path)
			return err
		})
		if err != nil {
			return err
		}
	}
	packed := map[string][]byte{} // by path
	for folder, files := range folders {
		small, err := texts.Pack(files)
		if err != nil {
			return err
		}
		for name, text := range small {
			packed[filepath.Join(folder, name)] = text
		}
	}
	text, err := os.ReadFile(tuning)
	if err != nil {
		return err
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	// Of the document's SHA-256 a frame that zstd skips, so that who asks for it need not unpack.
	sum := sha256.Sum256(text)
	packed[tuning] = z.EncodeAll(text, slices.Concat([]byte{0x50, 0x2a, 0x4d, 0x18, sha256.Size, 0, 0, 0}, sum[:]))
	if err := z.Close(); err != nil {
		return err
	}
	return overlay(packed, to)
}

// overlay writes files below a folder, and overlay.json, which names the files that they stand for.
func overlay(packed map[string][]byte, to string) error {
	var list struct{ Replace map[string]string }
	list.Replace = map[string]string{}
	for path, text := range packed {
		file := filepath.Join(to, strings.ReplaceAll(filepath.ToSlash(path), "/", "_")+".zst")
		path, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		list.Replace[path] = file
		if err := os.WriteFile(file, text, 0o666); err != nil {
			return err
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "overlay.json"), text, 0o666)
}
