// Carry keeps the results in tuned.json after a change of kernels' texts that leaves the machine code
// alike: a variant's results get its new hash if nvcc makes the same machine code of both texts. It needs
// nvcc and git, and no GPU.
//
//	go run ./scripts/carry --from COMMIT            what could be carried
//	go run ./scripts/carry --from COMMIT --write    carries it, into tuned.json
//	go run ./scripts/carry --from COMMIT --also qubo/bulk
//	go run ./scripts/carry --from COMMIT --write --renamed solo=singleblock
//	go run ./scripts/carry --from COMMIT --write --equal FILE
//
// Results of algorithms (csg/algorithm) get their new hashes where that holds of all safe points of the
// kernels that the algorithm runs.
//
// The old texts are those of generated/ and templates/ at the commit, the new ones those
// of the working tree. --also compares all variants of families too that tuned.json does
// not name, --renamed a parameter under its old name and its new one. --equal names a list of variants whose code is
// known to be the same, which scripts/samecode writes on any machine: these are not compiled here. Exit code 1: of
// some the code differs.
package main

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	arch   = "sm_90"
	tuning = "autotune/tuned/tuned.json"
)

func main() {
	from := flag.String("from", "", "`commit` of the old texts")
	nvcc := flag.String("nvcc", ".build/cuda/bin/nvcc", "`path` of the compiler")
	also := flag.String("also", "", "`families` of which all variants are compared, separated by commas")
	jobs := flag.Int("jobs", 2, "compilers at once")
	equal := flag.String("equal", "", "`list` of variants with the same code, of scripts/samecode --equal")
	renamed := flag.String("renamed", "", "`old=new` name of a parameter, in labels and in tuning data")
	write := flag.Bool("write", false, "write "+tuning)
	flag.Parse()
	if err := run(*from, *nvcc, *also, *renamed, *equal, *jobs, *write); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A variantText is a variant's, in a tree of generated/ and templates/.
type variantText struct {
	root, file, hash string
}

// A change is a variant of which the text has changed.
type change struct {
	name     string // family and label
	old, new variantText
	differs  string // where the machine code differs; empty: nowhere
	err      error
}

func run(from, nvcc, also, renamed, equal string, jobs int, write bool) error {
	if from == "" {
		return errors.New("--from names the commit of the old texts")
	}
	before, err := os.MkdirTemp("", "carry-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(before)
	if err := checkout(from, before); err != nil {
		return err
	}
	rename, err := parseRenaming(renamed)
	if err != nil {
		return err
	}
	olds, err := variantTexts(before, rename)
	if err != nil {
		return err
	}
	news, err := variantTexts(".", rename)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(tuning)
	if err != nil {
		return err
	}
	data = []byte(rename(string(data)))
	hashes, err := namedVariants(data)
	if err != nil {
		return err
	}
	var points [2]map[string][]string
	for k, root := range []string{before, "."} {
		if points[k], err = safePoints(root, rename); err != nil {
			return err
		}
	}
	ways, err := algorithmResults(data, olds, points)
	if err != nil {
		return err
	}
	for _, w := range ways {
		for _, p := range w.old {
			hashes[p] = true
		}
	}
	same, err := readEqualVariants(equal)
	if err != nil {
		return err
	}
	var changes, unknown []*change
	fresh := 0
	for _, name := range sorted(news) {
		family, _, _ := strings.Cut(name, " ")
		old, now := olds[name], news[name]
		wanted := hashes[name] || old.hash != "" && slices.Contains(strings.Split(also, ","), family)
		switch {
		case !wanted:
		case old.hash == now.hash:
			fresh++
		case old.hash == "":
			fmt.Printf("%s: not at %s\n", name, from)
		default:
			c := &change{name: name, old: old, new: now}
			changes = append(changes, c)
			if !same[name+" "+old.hash+" "+now.hash] {
				unknown = append(unknown, c)
			}
		}
	}
	compare(nvcc, unknown, jobs)
	carried, failed := 0, 0
	differs := map[string]bool{} // by variant: the machine code is another one
	for _, c := range changes {
		differs[c.name] = c.err != nil || c.differs != ""
		switch {
		case c.err != nil:
			failed++
			fmt.Printf("%s: %v\n", c.name, c.err)
		case c.differs != "":
			failed++
			fmt.Printf("%s: the machine code differs: %s\n", c.name, c.differs)
		default:
			carried++
			data = bytes.ReplaceAll(data, []byte(`"`+c.old.hash+`"`), []byte(`"`+c.new.hash+`"`))
		}
	}
	for _, w := range ways {
		hash, changed := w.hashWithNewTexts(news, differs)
		if changed != "" {
			fmt.Printf("%s: the machine code of %s differs\n", w.name, changed)
			continue
		}
		data = bytes.ReplaceAll(data, []byte(`"`+w.hash+`"`), []byte(`"`+hash+`"`))
	}
	fmt.Printf("%d variants have the text that they had, %d another one and the same machine code for %s, %d another code\n", fresh, carried, arch, failed)
	if write {
		if err := os.WriteFile(tuning, data, 0o644); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d changed variants are to be tuned again", failed, len(changes))
	}
	return nil
}

// checkout unpacks the texts of a commit into a folder.
func checkout(commit, to string) error {
	archive := exec.Command("git", "archive", commit, "generated", "templates")
	unpack := exec.Command("tar", "-x", "-C", to)
	archive.Stderr, unpack.Stderr = os.Stderr, os.Stderr
	pipe, err := archive.StdoutPipe()
	if err != nil {
		return err
	}
	unpack.Stdin = pipe
	if err := archive.Start(); err != nil {
		return err
	}
	return errors.Join(unpack.Run(), archive.Wait())
}

var (
	labelled = regexp.MustCompile(`(?m)^// (\S+ \S+)$`)
	hashed   = regexp.MustCompile(`_hash = 0x([0-9a-f]{16})ull;\n$`)
)

// parseRenaming gives a parameter of labels its new name, of "old=new"; none where that is empty.
func parseRenaming(renamed string) (func(string) string, error) {
	if renamed == "" {
		return func(s string) string { return s }, nil
	}
	old, now, ok := strings.Cut(renamed, "=")
	if !ok || old == "" || now == "" {
		return nil, fmt.Errorf("--renamed %s, expected old=new", renamed)
	}
	parameter := regexp.MustCompile(`\b` + regexp.QuoteMeta(old) + `=`)
	return func(s string) string { return parameter.ReplaceAllString(s, now+"=") }, nil
}

// variantTexts are the variants of a tree, by family and label as it is now.
func variantTexts(root string, rename func(string) string) (map[string]variantText, error) {
	found := map[string]variantText{}
	files, err := filepath.Glob(filepath.Join(root, "generated/*/*/*.cu"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		label, hash := labelled.FindSubmatch(b), hashed.FindSubmatch(b)
		if label == nil || hash == nil {
			continue // a pack
		}
		found[rename(string(label[1]))] = variantText{root, file, string(hash[1])}
	}
	return found, nil
}

// namedVariants are the variants that tuning data has results of.
func namedVariants(data []byte) (map[string]bool, error) {
	var db struct {
		Entries []struct {
			Family  string
			Results []struct{ Variant string }
		}
	}
	if err := json.Unmarshal(data, &db); err != nil {
		return nil, fmt.Errorf("%s: %w", tuning, err)
	}
	all := map[string]bool{}
	for _, e := range db.Entries {
		for _, r := range e.Results {
			all[e.Family+" "+r.Variant] = true
		}
	}
	return all, nil
}

// readEqualVariants reads the variants that a list has: family, label, old hash and new hash, a line each.
func readEqualVariants(file string) (map[string]bool, error) {
	lines := map[string]bool{}
	if file == "" {
		return lines, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		if len(strings.Fields(line)) != 4 {
			return nil, fmt.Errorf("%s:%d: found %q, expected a family, a label and two hashes", file, len(lines)+1, strings.TrimSpace(line))
		}
		lines[strings.TrimSpace(line)] = true
	}
	return lines, nil
}

// compare compiles the two texts of each change and compares what comes of them.
func compare(nvcc string, changes []*change, jobs int) {
	var wait sync.WaitGroup
	turn := make(chan bool, max(1, jobs))
	for _, c := range changes {
		wait.Go(func() {
			turn <- true
			defer func() { <-turn }()
			var old, now map[string][]byte
			if old, c.err = compile(nvcc, c.old); c.err != nil {
				return
			}
			if now, c.err = compile(nvcc, c.new); c.err != nil {
				return
			}
			c.differs = firstDifference(old, now)
		})
	}
	wait.Wait()
}

// compile is the machine code of a text, by section. What was compiled once stays in
// .build/carry, by the text's hash.
func compile(nvcc string, t variantText) (map[string][]byte, error) {
	const cache = ".build/carry"
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return nil, err
	}
	file := filepath.Join(cache, t.hash+"."+arch+".cubin")
	if _, err := os.Stat(file); err != nil {
		out := file + ".new"
		cmd := exec.Command(nvcc, "-cubin", "-O3", "-std=c++17", "-arch="+arch, "-I", filepath.Join(t.root, "templates"), "-o", out, t.file)
		if said, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %.500s", err, said)
		}
		if err := os.Rename(out, file); err != nil {
			return nil, err
		}
	}
	f, err := elf.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return code(f, strings.TrimSuffix(filepath.Base(t.file), ".cu"))
}

// code is what of a cubin runs: instructions and constants, and what a launch is to
// know of them, registers and shared memory. The hash that a variant carries is apart, and
// so is the variant's symbol, with its length where C++ puts that before it.
func code(f *elf.File, symbol string) (map[string][]byte, error) {
	sections := map[string][]byte{}
	own := regexp.MustCompile(`\d*` + regexp.QuoteMeta(symbol))
	for _, s := range f.Sections {
		var b []byte
		switch {
		case strings.HasPrefix(s.Name, ".text."), strings.HasPrefix(s.Name, ".nv.constant"), strings.HasPrefix(s.Name, ".nv.info"):
			var err error
			if b, err = io.ReadAll(s.Open()); err != nil {
				return nil, fmt.Errorf("section %s: %w", s.Name, err)
			}
		case strings.HasPrefix(s.Name, ".nv.shared"):
			b = fmt.Append(nil, s.Size)
		default:
			continue
		}
		sections[own.ReplaceAllString(s.Name, "")] = b
	}
	return sections, nil
}

// firstDifference says where two are not alike; empty: nowhere.
func firstDifference(old, now map[string][]byte) string {
	var where []string
	for _, name := range sorted(old) {
		if b, ok := now[name]; !ok {
			where = append(where, name+" is gone")
		} else if !bytes.Equal(old[name], b) {
			where = append(where, fmt.Sprintf("%s, %d bytes and %d", name, len(old[name]), len(b)))
		}
	}
	for _, name := range sorted(now) {
		if _, ok := old[name]; !ok {
			where = append(where, name+" is new")
		}
	}
	return strings.Join(where, "; ")
}

func sorted[V any](m map[string]V) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
