// Report turns the committed results of bench/results into the tables and
// figures of docs/results and docs/results.md. It is deterministic: the same
// JSON gives the same bytes, and its test fails when the documents are stale.
//
//	go run ./bench/report
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coalesce/bench/result"
)

func main() {
	root := flag.String("root", ".", "the repository's root")
	name := flag.String("paper", "", "make the page of this paper alone, of results anywhere: for bench/reproduce")
	from := flag.String("results", "bench/results", "the folder of the paper's results")
	into := flag.String("out", ".build/reproduce", "the folder of the paper's page")
	flag.Parse()
	var err error
	if *name != "" {
		err = writePages(*name, *from, *into)
	} else {
		err = run(*root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(root string) error {
	files, err := buildFiles(root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(root, figureFolder), 0o755); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(root, path), []byte(files[path]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

const figureFolder = "docs/figures"

// results are the experiments by name.
type results map[string]*result.File

func load(root string) (results, error) {
	needed := []string{"sweep", "effects", "figures", "repeat", "host", "tiles", "price", "several", "large", "graphs"}
	r, err := measuredOf[result.Row](root, "csg", append(needed, "sequential"))
	for _, name := range needed {
		if err == nil && r[name] == nil {
			err = fmt.Errorf("load results: there is no bench/results/csg-%s.json", name)
		}
	}
	return r, err
}

// measuredOf loads those experiments of a program that have results.
func measuredOf[R any](root, program string, names []string) (map[string]*result.Experiment[R], error) {
	all := map[string]*result.Experiment[R]{}
	for _, name := range names {
		f, err := result.Load[R](filepath.Join(root, "bench", "results", program+"-"+name+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("load results: %w", err)
		}
		all[name] = f
	}
	return all, nil
}

// buildFiles makes the content of every file that run writes, by its path below
// root. It writes nothing.
func buildFiles(root string) (map[string]string, error) {
	r, err := load(root)
	if err != nil {
		return nil, err
	}
	regions := buildRegions(r)
	solved, err := measuredOf[result.Solve](root, "assignment", assignmentExperiments)
	if err != nil {
		return nil, err
	}
	maps.Copy(regions, assignmentTables(solved))
	binary, err := measuredOf[result.Binary](root, "qubo", quboExperiments)
	if err != nil {
		return nil, err
	}
	if len(binary) > 0 { // before the first results no document has their regions
		maps.Copy(regions, quboTables(binary))
	}
	sold, err := auctionTables(root)
	if err != nil {
		return nil, err
	}
	maps.Copy(regions, sold)
	searched, err := searchTables(root)
	if err != nil {
		return nil, err
	}
	maps.Copy(regions, searched)
	planted, err := kernelTables(root)
	if err != nil {
		return nil, err
	}
	maps.Copy(regions, planted)
	small, err := smallTables(root)
	if err != nil {
		return nil, err
	}
	maps.Copy(regions, small)
	placed, err := tensorTables(root)
	if err != nil {
		return nil, err
	}
	maps.Copy(regions, placed)
	transported, err := transportTables(root)
	if err != nil {
		return nil, err
	}
	maps.Copy(regions, transported)
	mixed, err := modelTables(root)
	if err != nil {
		return nil, err
	}
	maps.Copy(regions, mixed)
	m := paperResults{r, solved, binary}
	maps.Copy(regions, paperTables(m))
	pictures := paperFigures(m)
	maps.Copy(pictures, assignmentFigures(solved))
	files := map[string]string{}
	for name, svg := range pictures {
		files[figureFolder+"/"+name+".svg"] = svg
	}
	used := map[string]bool{}
	for _, path := range documents {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return nil, err
		}
		if files[path], err = fillRegions(string(text), regions, used); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(regions)) {
		if !used[name] {
			return nil, fmt.Errorf("no document has the region %q", name)
		}
	}
	return files, nil
}

// documents hold the regions that are generated.
var documents = []string{"docs/results/csg.md", "docs/results/assignment.md", "docs/results/qubo.md", "docs/results/qoblib.md", "docs/results/auction.md", "docs/results/search.md", "docs/results/models.md", "docs/notes/kernel-tuner.md", "docs/python.md", "docs/results.md",
	"docs/papers.md", "docs/papers/report.md", "docs/papers/gpu-csg.md", "docs/papers/hungarian.md", "docs/papers/multistart.md"}

// fillRegions replaces what lies between <!-- begin NAME --> and <!-- end NAME -->.
func fillRegions(text string, regions map[string]string, used map[string]bool) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "<!-- begin ")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, rest, found := strings.Cut(rest, " -->")
		if !found {
			return "", fmt.Errorf("a begin mark does not close")
		}
		body, known := regions[name]
		if !known {
			return "", fmt.Errorf("unknown region %q", name)
		}
		end := "<!-- end " + name + " -->"
		_, after, found := strings.Cut(rest, end)
		if !found {
			return "", fmt.Errorf("region %q has no %s", name, end)
		}
		used[name] = true
		fmt.Fprintf(&out, "<!-- begin %s -->\n%s\n%s", name, strings.TrimSpace(body), end)
		text = after
	}
}
