package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// limits are the address spaces, in bytes, that files are read within, in turns.
var limits = []int64{1 << 30, 2 << 30, 4 << 30}

// batch is how many files of a parser one worker reads.
const batch = 50

// longest is the longest line, in bytes, that the command may print about a file: quotations are short,
// but notes and paths add up.
const longest = 2000

// bombed is the number of bytes that a compressed file unpacks to, the first of each parser.
const bombed = 64 << 20

// fileJobs are count mutated files for each parser.
func (a *adversary) fileJobs(count int) (jobs []job) {
	list := parsers()
	for i, p := range list {
		jobs = append(jobs, a.addBatches("file", p.name, count, batch, func(w *pool, r *rand.Rand, row *figures, k int) error {
			if err := w.limitMemory(limits[(i+k/batch)%len(limits)]); err != nil {
				return err
			}
			if k == 0 {
				return a.tryFile(w, row, p, decompressionBomb(r, p.seeds[0], bombed))
			}
			seed, other := p.seeds[r.IntN(len(p.seeds))], list[r.IntN(len(list))].seeds[0]
			if r.IntN(2) == 0 {
				other = p.seeds[r.IntN(len(p.seeds))]
			}
			if len(seed) > 1<<14 && r.IntN(8) > 0 { // long ones now and then
				seed = p.seeds[0]
			}
			return a.tryFile(w, row, p, mutate(r, seed, other))
		})...)
	}
	return jobs
}

// aside is the name of the second file.
const aside = "aside.csv"

// tryFile has a worker read one file.
func (a *adversary) tryFile(w *pool, row *figures, p parser, data []byte) error {
	folder := filepath.Join(a.folder, fmt.Sprint("worker", w.number))
	files := map[string][]byte{"FILE": data, "ASIDE": p.aside}
	args := slices.Clone(p.args)
	silent := p.args[0] == "convert" // prints no answer
	if !silent {
		args = append(args, "--device", "host", "--json")
	}
	paths := strings.NewReplacer("FILE", filepath.Join(folder, p.file), "ASIDE", filepath.Join(folder, aside), "OUTPUT", filepath.Join(folder, "output"))
	for i := range args {
		args[i] = paths.Replace(args[i])
	}
	for name, content := range files {
		if err := os.WriteFile(paths.Replace(name), content, 0o644); err != nil {
			return err
		}
	}
	r, err := w.run(args)
	return a.countReply(row, w, args, r, err, judgeFile(r, p.file, silent))
}

// judgeFile returns the fault of a reply to a damaged file, nil if there is none. Any answer is right
// here, and so is any error that names the file, or the second file, for which memory may be short. A
// command that is silent prints no answer.
func judgeFile(r reply, file string, silent bool) *fault {
	said := string(r.Err)
	for i, c := range said {
		_, size := utf8.DecodeRuneInString(said[i:])
		if unicode.IsControl(c) && c != '\n' || c == utf8.RuneError && size == 1 {
			return &fault{"raw", fmt.Sprintf("%q holds a character that a terminal obeys", shorten(said))}
		}
	}
	for line := range strings.Lines(said) {
		if len(line) > longest {
			return &fault{"long", fmt.Sprintf("a line of %d bytes: %s", len(line), shorten(line))}
		}
	}
	switch {
	case r.Code == 0 && !silent && !bytes.HasPrefix(r.Out, []byte("{")):
		return &fault{"silent", fmt.Sprintf("exit 0 and no answer: %q", shorten(string(r.Out)))}
	case r.Code == 0:
		return nil
	case r.Code != 1:
		return &fault{"check", fmt.Sprintf("exit %d: %s", r.Code, shorten(said))}
	case !strings.Contains(said, file) && !strings.Contains(said, aside) && !saysInfeasible(r):
		return &fault{"unnamed", shorten(said)}
	}
	return nil
}

// saysInfeasible reports whether a problem was read and is said to have no solution.
func saysInfeasible(r reply) bool {
	return r.Code == 1 && bytes.Contains(r.Out, []byte(`"value":null`)) && bytes.Contains(r.Out, []byte(`"proven":true`))
}

// shorten is the beginning of a text, for a table.
func shorten(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 300 {
		text = text[:300] + "…"
	}
	return text
}
