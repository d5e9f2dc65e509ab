// Command pages writes what the site has besides docs: a page for the help of every command, and one for every package that
// other programs may import, of its comments.
//
//	go run ./scripts/pages -out DIR
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"coalesce/internal/cli"
)

func main() {
	root := flag.String("root", ".", "the repository's root")
	out := flag.String("out", "", "the folder of the pages")
	flag.Parse()
	if err := run(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}

func run(root, out string) error {
	if out == "" {
		return fmt.Errorf("expected -out DIR")
	}
	pages := map[string]string{}
	for name, text := range commandPages(cli.Commands()) {
		pages[filepath.Join("commands", name+".md")] = text
	}
	packages, err := packagePages(root)
	if err != nil {
		return err
	}
	for name, text := range packages {
		pages[filepath.Join("go", name+".md")] = text
	}
	for name, text := range pages {
		path := filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
