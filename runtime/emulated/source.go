package emulated

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/texts"
)

var include = regexp.MustCompile(`^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"`)

// included lists the files that a text includes by a quoted name.
func included(text []byte) (files []string) {
	for line := range bytes.Lines(text) {
		if bytes.IndexByte(line, '#') < 0 {
			continue // most lines: the expression takes longer
		}
		if m := include.FindSubmatch(line); m != nil {
			files = append(files, string(m[1]))
		}
	}
	return files
}

// gatherSources adds file of src to the tree with every quoted include it reaches:
// beside the includer, at the root of src, or in headers (below "templates/").
// What is in none of them is left to the compiler.
func gatherSources(tree map[string]string, src, headers fs.FS, file string) error {
	if _, ok := tree[file]; ok {
		return nil
	}
	from, name, inHeaders := src, file, false
	if rest, ok := strings.CutPrefix(file, "templates/"); ok {
		from, name, inHeaders = headers, rest, true
	}
	text, err := fs.ReadFile(from, name)
	if err != nil {
		return err
	}
	tree[file] = string(text)
	for _, inc := range included(text) {
		beside := path.Join(path.Dir(file), inc)
		tries := []string{beside, inc, "templates/" + inc}
		if inHeaders {
			tries = []string{beside, "templates/" + inc}
		}
		for _, try := range tries {
			try = path.Clean(try)
			if !fs.ValidPath(try) || !exists(src, headers, try) {
				continue
			}
			if err := gatherSources(tree, src, headers, try); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

func exists(src, headers fs.FS, file string) bool {
	if rest, ok := strings.CutPrefix(file, "templates/"); ok {
		_, err := fs.Stat(headers, rest)
		return err == nil
	}
	_, err := fs.Stat(src, file)
	return err == nil
}

// variantFile finds the file that holds a variant: one its pack includes, or
// the pack itself. It returns the file's name and text.
func variantFile(f *device.Family, v *device.Variant) (string, string, error) {
	if f.Source == nil {
		return "", "", fmt.Errorf("family %s carries no CUDA text", f.Name)
	}
	if v.Pack < 0 || v.Pack >= len(f.Packs) {
		return "", "", fmt.Errorf("variant %s is of pack %d, the family has %d", v.Label, v.Pack, len(f.Packs))
	}
	pack := f.Packs[v.Pack].File
	source := texts.Files{FS: f.Source}
	text, err := source.ReadFile(pack)
	if err != nil {
		return "", "", err
	}
	mark := v.Symbol + "_hash"
	if len(words(string(text), mark)) > 0 {
		return pack, string(text), nil
	}
	var files []string
	for _, inc := range included(text) {
		file := path.Join(path.Dir(pack), inc)
		if path.Base(file) == v.Symbol+".cu" {
			files = append([]string{file}, files...)
		} else {
			files = append(files, file)
		}
	}
	for _, file := range files {
		if b, err := source.ReadFile(file); err == nil && len(words(string(b), mark)) > 0 {
			return file, string(b), nil
		}
	}
	return "", "", fmt.Errorf("no file of pack %s defines %s_hash", pack, v.Symbol)
}

// words lists the places where a text has a word: an identifier that is no part of a longer one.
func words(text, word string) (at []int) {
	part := func(c byte) bool { return c == '_' || '0' <= c && c <= '9' || 'a' <= c|' ' && c|' ' <= 'z' }
	for i := 0; ; i++ {
		k := strings.Index(text[i:], word)
		if k < 0 {
			return at
		}
		i += k
		end := i + len(word)
		if (i == 0 || !part(text[i-1])) && (end == len(text) || !part(text[end])) {
			at = append(at, i)
		}
	}
}

// declared is what stands between the word __global__ and an entry's name: types, and perhaps
// launch bounds, whose first number is the most threads.
var declared = regexp.MustCompile(`^[\w\s]*?(?:__launch_bounds__\s*\(\s*([^(),]*)[^()]*\)[\w\s]*?)?$`)

// entryPoint says whether a variant's text defines an entry, and the most
// threads its launch bounds allow (the device's most where they say nothing).
func entryPoint(text, symbol, entry string) (threads int, ok bool) {
	const global = "__global__"
	name := symbol + "_" + entry
	for _, at := range words(text, name) {
		if !strings.HasPrefix(strings.TrimLeft(text[at+len(name):], " \t\r\n"), "(") {
			continue
		}
		from := strings.LastIndex(text[:at], global)
		if from < 0 {
			continue
		}
		m := declared.FindStringSubmatch(text[from+len(global) : at])
		if m == nil {
			continue // a call, or another function's name
		}
		n, err := strconv.Atoi(strings.TrimSpace(m[1]))
		if err != nil || n < 1 || n > maxThreads {
			n = maxThreads
		}
		return n, true
	}
	return 0, false
}

// trampolines writes the text that makes a unit of the files: each entry of
// each variant callable with 8-byte slots.
func trampolines(file string, spaces []string, entries map[string]int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#include %q\nextern \"C\" char emu_anchor;\nchar emu_anchor = 1;\n", file)
	for _, space := range spaces {
		fmt.Fprintf(&b, "namespace %s {}\nusing namespace %s;\n", space, space) // where entry points of bodies are
	}
	for _, name := range sortedKeys(entries) {
		fmt.Fprintf(&b, "extern \"C\" void emu_entry_%s(const uint64_t *s) { emu_call<%d>(&%s, s); }\n", name, entries[name], name)
	}
	return b.String()
}

// layout is what the loader must know of a shared object.
type layout struct {
	anchor uint64
	shared [][2]uint64 // address and size of shared memory, red zones included
	bytes  int         // of shared memory, without them
}

// readLayout finds shared memory: the sections emulated.h names, and local
// statics of templates, which the compiler keeps out of sections.
func readLayout(file string) (layout, error) {
	e, err := elf.Open(file)
	if err != nil {
		return layout{}, err
	}
	defer e.Close()
	var l layout
	for _, s := range e.Sections {
		if strings.HasPrefix(s.Name, "emu_shared_") && s.Size > 0 {
			l.shared = append(l.shared, [2]uint64{s.Addr, s.Size})
		}
	}
	symbols, err := e.Symbols()
	if err != nil {
		return layout{}, err
	}
	for _, s := range symbols {
		if int(s.Section) >= len(e.Sections) || elf.ST_TYPE(s.Info) != elf.STT_OBJECT {
			continue
		}
		section := e.Sections[s.Section].Name
		switch {
		case s.Name == "emu_anchor":
			l.anchor = s.Value
		case strings.HasPrefix(section, "emu_shared_"):
			l.bytes += int(s.Size)
		case strings.HasPrefix(s.Name, "_ZZ") && section == ".bss":
			l.bytes += int(s.Size)
			l.shared = append(l.shared, [2]uint64{s.Value, s.Size})
		}
	}
	if l.anchor == 0 {
		return layout{}, fmt.Errorf("%s has no anchor symbol", path.Base(file))
	}
	return l, nil
}
