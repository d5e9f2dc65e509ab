package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"coalesce/bench/result"
)

// kernelTables are the regions about mistakes in kernels, found by Coalesce and by Kernel Tuner.
func kernelTables(root string) (map[string]string, error) {
	out := map[string]string{}
	for name, tools := range map[string][]string{
		"kernel-tuner":     {"go test", "go test, pairs", "verify", "tune", "Kernel Tuner, C"},
		"kernel-tuner-gpu": {"verify", "tune", "Kernel Tuner, CuPy"},
	} {
		f, err := result.Load[result.Mistake](filepath.Join(root, "bench", "results", name+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("load results: %w", err)
		}
		out[name] = mistakes(f, tools)
		if lines := authors(f); lines != "" {
			out[name+"-lines"] = lines
		}
	}
	return out, nil
}

// mistakes has a row for each mistake, and a column for each tool.
func mistakes(f *result.Experiment[result.Mistake], tools []string) string {
	var names []string
	cells := map[[2]string]string{}
	for _, r := range f.Rows {
		if !slices.Contains(names, r.Mistake) {
			names = append(names, r.Mistake)
		}
		cells[[2]string{r.Mistake, r.Tool}] = outcome(r)
	}
	table := tableHead(append([]string{"mistake"}, tools...)...)
	for _, name := range names {
		row := []string{cmp.Or(name, "none")}
		for _, tool := range tools {
			row = append(row, cmp.Or(cells[[2]string{name, tool}], "–"))
		}
		table += "| " + strings.Join(row, " | ") + " |\n"
	}
	return fmt.Sprintf("%s\n%s, %s, commit %.8s: `%s`\n", table, f.Device, f.Date, f.Commit, f.Command)
}

// outcome says what a tool noticed, and how many variants it kept where it tunes.
func outcome(r result.Mistake) string {
	tunes := r.Tool == "tune" || strings.HasPrefix(r.Tool, "Kernel Tuner")
	var text string
	switch {
	case !r.Ended:
		text = fmt.Sprintf("does not end within %.0f s", r.Seconds)
	case r.Exit > 128:
		text = fmt.Sprintf("the session ends (exit code %d)", r.Exit)
	case r.Mistake == "" && r.Noticed:
		text = "a false alarm"
	case r.Mistake == "":
		text = "right"
	case r.Noticed && strings.HasPrefix(r.Tool, "Kernel Tuner"):
		text = "found, the session ends"
	case r.Noticed:
		text = "found"
	default:
		text = "**not seen**"
	}
	if tunes {
		text += fmt.Sprintf(", %d of %d tuned", r.Kept, r.Of)
	}
	return fmt.Sprintf("%s, %.0f s", text, r.Seconds)
}

// authors lists the lines that an author writes for each tool.
func authors(f *result.Experiment[result.Mistake]) string {
	table := tableHead("tool", "files", "lines", "of these")
	found := false
	for _, r := range f.Rows {
		if r.Lines == nil {
			continue
		}
		found = true
		var names []string
		sum := 0
		for name, n := range r.Lines {
			names = append(names, fmt.Sprintf("%s %d", name, n))
			sum += n
		}
		slices.Sort(names)
		tool := "Coalesce"
		if strings.HasPrefix(r.Tool, "Kernel") {
			tool = r.Tool
		}
		table += fmt.Sprintf("| %s | %d | %d | %s |\n", tool, len(names), sum, strings.Join(names, ", "))
	}
	if !found {
		return ""
	}
	return table
}
