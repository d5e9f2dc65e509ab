package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A algorithmResult is a result of an algorithm in tuning data: its hash is that of its label and of the safe points
// of the kernels that the algorithm runs.
type algorithmResult struct {
	name     string   // family and label
	hash     string   // with the old texts
	old, new []string // the safe points of its kernels, by family and label
}

// algorithmResults are the results of algorithms whose hash is that of the old texts, each once. points are the
// safe points of each family at the old commit, whose texts olds are, and now.
func algorithmResults(data []byte, olds map[string]variantText, points [2]map[string][]string) ([]algorithmResult, error) {
	var db struct {
		Entries []struct {
			Family  string
			Results []struct{ Variant, Hash string }
		}
	}
	if err := json.Unmarshal(data, &db); err != nil {
		return nil, fmt.Errorf("%s: %w", tuning, err)
	}
	families := map[uint64]string{} // by the hash of their old safe points
	for family, list := range points[0] {
		if hash := joined(list, olds); hash != 0 { // a host's kernels have no text to compare
			families[hash] = family
		}
	}
	var list []algorithmResult
	seen := map[string]bool{}
	for _, e := range db.Entries {
		for _, r := range e.Results {
			hash, err := strconv.ParseUint(r.Hash, 16, 64)
			name := e.Family + " " + r.Variant
			if family := families[hash^labelHash(name)]; err == nil && strings.HasSuffix(e.Family, "/algorithm") && family != "" && !seen[name] {
				seen[name] = true
				list = append(list, algorithmResult{name, r.Hash, points[0][family], points[1][family]})
			}
		}
	}
	return list, nil
}

// hashWithNewTexts is the hash of a way with the new texts. It reports the point whose machine code is another one,
// if there is one.
func (w *algorithmResult) hashWithNewTexts(news map[string]variantText, differs map[string]bool) (hash, changed string) {
	for _, p := range w.old {
		if differs[p] || news[p].hash == "" {
			return "", p
		}
	}
	return fmt.Sprintf("%016x", labelHash(w.name)^joined(w.new, news)), ""
}

// labelHash is the hash of the label in a name.
func labelHash(name string) uint64 {
	_, label, _ := strings.Cut(name, " ")
	h := fnv.New64a()
	h.Write([]byte(label)) // never fails
	return h.Sum64()
}

// joined is the hash of the texts of some points (algorithms.NewFamily).
func joined(points []string, texts map[string]variantText) (hash uint64) {
	for _, p := range points {
		one, _ := strconv.ParseUint(texts[p].hash, 16, 64)
		hash ^= one
	}
	return hash
}

var (
	familyName = regexp.MustCompile(`(?m)^\tName: +"(.*)",$`)
	safePoint  = regexp.MustCompile(`(?m)^\t\t\{Label: "(.*?)".* Safe: true`)
)

// safePoints are the safe points of each CUDA family of a tree, by family and label.
func safePoints(root string, rename func(string) string) (map[string][]string, error) {
	points := map[string][]string{}
	files, err := filepath.Glob(filepath.Join(root, "generated/*/*.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		family := familyName.FindSubmatch(b)
		if family == nil {
			continue // a host's kernel, or a layout
		}
		for _, m := range safePoint.FindAllSubmatch(b, -1) {
			points[string(family[1])] = append(points[string(family[1])], rename(string(family[1])+" "+string(m[1])))
		}
	}
	return points, nil
}
