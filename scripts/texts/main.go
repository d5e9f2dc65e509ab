// Texts compresses the CUDA texts that programs embed, and writes an overlay for go
// build that puts the compressed ones in their place:
//
//	go run ./scripts/texts DIR
//	go build -overlay DIR/overlay.json …
//
// runtime/emulated/texts reads them, and knows them by their first bytes.
package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"coalesce/runtime/emulated/texts"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/texts DIR")
		os.Exit(2)
	}
	if err := pack("generated", os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "texts: %v\n", err)
		os.Exit(1)
	}
}

// pack compresses the .cu files below from into the folder to, and writes overlay.json
// there.
func pack(from, to string) error {
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	folder, first := "", []byte(nil) // whose texts are compressed with the first of them
	err = filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".cu" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if at := filepath.Dir(path); at != folder {
			folder, first = at, nil
		}
		small, err := texts.Pack(text, first)
		if err != nil {
			return err
		}
		if first == nil {
			first = text
		}
		packed := filepath.Join(to, strings.ReplaceAll(filepath.ToSlash(path), "/", "_")+".zst")
		if path, err = filepath.Abs(path); err != nil {
			return err
		}
		overlay.Replace[path] = packed
		return os.WriteFile(packed, small, 0o666)
	})
	if err != nil {
		return err
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "overlay.json"), text, 0o666)
}
