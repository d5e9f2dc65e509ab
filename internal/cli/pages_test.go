package cli

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var updatePictures = flag.Bool("update-pictures", false, "write docs/pictures from the commands of the pages")

// A leftOut is commands that TestCommandsOfPages does not run, by their beginnings, and why.
type leftOut struct {
	begins string // words, between bars
	why    string
}

var leftOuts = []leftOut{
	{"go test ./...", "CI's step test runs it"},
	{"scripts/toolkit|scripts/build-cuda|go build -tags cuda", "they need nvcc; CI's step cuda runs them"},
	{"coalesce bundle", "they need a build with CUDA; CI's step cuda makes a bundle"},
	{"scripts/wheel|pip install dist/|go build -buildmode=c-shared", "CI's step python builds and installs the wheel and the library"},
	{"scripts/mpi|mpirun|srun|sleep 20; kill", "they need a launcher of MPI; CI's step mpi runs such"},
	{"coalesce doctor", "it measures the machine for seconds; the tests of internal/cli/tuning run it"},
	{"scripts/release|git tag|cosign|COALESCE_SIGNING_KEY=|sha256sum", "they make or check a release of a tag"},
	{"scripts/rename-module", "it changes all files; CI's step client runs it on a copy"},
	{"go run ./bench/|go run -tags cuda ./bench/|DIR/reproduce|CGO_ENABLED=0 go build -o auction-bench|pip download|python3 -m venv rivals|taskset|python3 bench/|scripts/auction-rivals|./auction-bench|scripts/tune-check",
		"they measure, for minutes to hours, mostly on a GPU"},
	{"coalesce tune csg --family tiles|scripts/gpu-check|scripts/tune-gpu|coalesce merge|coalesce tune --refresh|go run ./gen --only|scripts/start-time", "they need a machine with a GPU, or what is measured on one"},
	{"coalesce solve qubo G48.txt|coalesce solve qubo G81.txt|coalesce verify G81.json", "the G-set is not in the repository; bench/qubo has these values"},
}

// leads finds commands in blocks that name no language.
var leads = regexp.MustCompile(`^\s*(coalesce|go (run|build|install|test)|scripts/\S+) `)

// changes make commands short: budgets and limits of time are small, and the examples are built already.
var changes = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`^go run \./cmd/coalesce\b`), "coalesce"},
	{regexp.MustCompile(`^(coalesce tune.*?)--budget \S+`), "$1--budget 0.3s --device host"},
	{regexp.MustCompile(`--time-limit \S+`), "--time-limit 0.2s"},
	{regexp.MustCompile(`--rows 5000\b`), "--rows 500"},
	{regexp.MustCompile(`--agents 22\b`), "--agents 16"},
}

// A shown command stands on a page, with the lines that the page shows of its output.
type shownCommand struct {
	page, text string
	output     []string
}

// inline finds commands on the examples within sentences and tables.
var inline = regexp.MustCompile("`(coalesce [^`]*examples/[^`]*)`")

// commandsOf are the commands of the blocks sh and console of a page, and those on the examples elsewhere.
func commandsOf(t *testing.T, page, text string) (list []shownCommand) {
	language, open := "", false
	for n, line := range strings.Split(text, "\n") {
		switch fence, found := strings.CutPrefix(strings.TrimSpace(line), "```"); {
		case found && open:
			open = false
		case found:
			open, language = true, fence
		case open && (language == "sh" || language == "bash"):
			if line, _, _ = strings.Cut(line, " # "); strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
				list = append(list, shownCommand{page, strings.TrimSpace(line), nil})
			}
		case open && language == "console":
			if command, found := strings.CutPrefix(line, "$ "); found {
				list = append(list, shownCommand{page, command, nil})
			} else if len(list) > 0 {
				last := &list[len(list)-1]
				last.output = append(last.output, line)
			}
		case !open:
			for _, found := range inline.FindAllStringSubmatch(line, -1) {
				list = append(list, shownCommand{page, found[1], nil})
			}
		case language == "" && leads.MatchString(line):
			t.Errorf("%s:%d: a command in a block without a language: mark it sh, or console with its output", page, n+1)
		}
	}
	return list
}

// The commands that the pages show do what the pages say: they run, in their order, where neither a GPU nor another program is
// needed. The pictures that they draw are those of the pages.
func TestCommandsOfPages(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir() // kernels that the emulated device compiled are everyone's
	if err != nil {
		t.Fatal(err)
	}
	pages := []string{filepath.Join(root, "README.md")}
	for _, pattern := range []string{"docs/*.md", "docs/python/*.md", "docs/papers/*.md", "docs/results/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	used, pictures, ran := map[string]bool{}, map[string]bool{}, 0
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		page, _ := filepath.Rel(root, path)
		folder := t.TempDir()
		if err := os.Symlink(filepath.Join(root, "examples"), filepath.Join(folder, "examples")); err != nil {
			t.Fatal(err)
		}
		for _, c := range commandsOf(t, page, string(text)) {
			if why := reasonFor(c.text, used); why != "" {
				continue
			}
			ran++
			c.run(t, folder, cache)
		}
		drawn, err := filepath.Glob(filepath.Join(folder, "*.svg"))
		if err != nil {
			t.Fatal(err)
		}
		for _, svg := range drawn {
			comparePicture(t, svg, filepath.Join(root, "docs", "pictures", filepath.Base(svg)), string(text), page)
			pictures[filepath.Base(svg)] = true
		}
	}
	if ran < 40 {
		t.Errorf("%d commands ran", ran)
	}
	for _, l := range leftOuts {
		for begins := range strings.SplitSeq(l.begins, "|") {
			if !used[begins] {
				t.Errorf("no page has a command that begins with %q, which is left out", begins)
			}
		}
	}
	kept, err := filepath.Glob(filepath.Join(root, "docs", "pictures", "*.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range kept {
		if !pictures[filepath.Base(path)] {
			t.Errorf("no command of a page draws %s", path)
		}
	}
	t.Logf("%d commands ran, %v pictures", ran, slices.Sorted(maps.Keys(pictures)))
}

// reasonFor is why a command is not run, empty where it is.
func reasonFor(command string, used map[string]bool) string {
	for _, l := range leftOuts {
		for begins := range strings.SplitSeq(l.begins, "|") {
			if strings.HasPrefix(command, begins) {
				used[begins] = true
				return l.why
			}
		}
	}
	return ""
}

func (c *shownCommand) run(t *testing.T, folder, cache string) {
	t.Helper()
	text := c.text
	for _, change := range changes {
		text = change.from.ReplaceAllString(text, change.to)
	}
	cmd := exec.Command("sh", "-c", text)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "HOME="+folder, "XDG_CONFIG_HOME="+filepath.Join(folder, ".config"), "XDG_CACHE_HOME="+cache, "COALESCE_NO_HANDOVER=1", "CUDA_VISIBLE_DEVICES=-1")
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	began := time.Now()
	err := cmd.Run()
	t.Logf("%s: %s: %v", c.page, text, time.Since(began).Round(time.Millisecond))
	if err != nil {
		t.Errorf("%s: %s: %v\n%s%s", c.page, text, err, &out, &talk)
		return
	}
	// The lines that the page shows, in their order; … stands for anything, and what a machine takes is its own.
	rest := out.String()
	for _, line := range c.output {
		if begin, _, _ := strings.Cut(line, " "); slices.Contains([]string{"time", "device", "variant", "reason", "work", ""}, begin) && !strings.HasPrefix(line, "  ") {
			continue
		}
		pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(line, " ")), "…", ".*")
		at := regexp.MustCompile("(?m)^" + pattern).FindStringIndex(rest)
		if at == nil {
			t.Errorf("%s: %s does not print %q after the lines before:\n%s", c.page, text, line, &out)
			return
		}
		rest = rest[at[1]:]
	}
}

// times are what a run's clock has drawn into a picture: everything of the progress of a search.
var times = regexp.MustCompile(`(?s)[^\n]*after [0-9.]+[µm]?s</text>.*`)

// comparePicture holds a picture that a page's command has drawn against the one in docs, which the page shows.
func comparePicture(t *testing.T, drawn, kept, page, name string) {
	t.Helper()
	is, err := os.ReadFile(drawn)
	if err != nil {
		t.Fatal(err)
	}
	if *updatePictures {
		if err := os.WriteFile(kept, is, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(kept)
	if err != nil || !bytes.Equal(times.ReplaceAll(is, nil), times.ReplaceAll(want, nil)) {
		t.Errorf("%s draws another picture than docs/pictures/%s (%v): go test ./internal/cli -run TestCommandsOfPages -update-pictures", name, filepath.Base(kept), err)
	}
	if link := fmt.Sprintf("pictures/%s", filepath.Base(kept)); !strings.Contains(page, link) {
		t.Errorf("%s draws %s and does not show it", name, link)
	}
}
