package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"coalesce/bench/paper"
	"coalesce/bench/result"
)

// An paperRow is a row of a paper's page: an algorithm, a data structure, a table, a figure or a
// piece of further work. Every cell says something, if only why there is nothing to say.
type paperRow struct{ what, printed, ours, where, command string }

// paperResults has the files of results that pages of papers are made of; a missing file is nil.
type paperResults struct {
	csg      results
	solves   solveResults
	binaries binaryResults
}

// paperTables are the regions of the papers' pages.
func paperTables(m paperResults) map[string]string {
	regions := map[string]string{"papers": paperList()}
	for name, items := range paperItems(m) {
		regions["paper-"+name] = strings.TrimSpace(origins(m)[name] + "\n\n" + itemTable(items))
	}
	regions["paper-multistart-results"] = lewisTable(m)
	regions["paper-hungarian-weak"] = weakTable(m)
	return regions
}

// paperItems are the rows of each paper.
func paperItems(m paperResults) map[string][]paperRow {
	return map[string][]paperRow{"report": reportItems(m), "gpu-csg": gpuCSGItems(m), "hungarian": hungarianItems(m), "multistart": lewisItems(m)}
}

// origins say where the numbers of each paper's page were measured.
func origins(m paperResults) map[string]string {
	from := func(list []string) string {
		if len(list) == 0 {
			return ""
		}
		return "Numbers of ours, unless a cell says otherwise: " + strings.Join(list, ", ") + "."
	}
	csg := func(names ...string) (list []string) { return devicesOf("csg", m.csg, names) }
	return map[string]string{
		"report":     from(csg("sequential", "figures", "effects")),
		"gpu-csg":    from(csg("sequential", "figures", "effects", "tiles")),
		"hungarian":  from(devicesOf("assignment", m.solves, []string{"paper", "paper-host", "published", "paths", "scaling-x2", "scaling"})),
		"multistart": from(devicesOf("qubo", m.binaries, []string{"evaluate", "paper", "division"})),
	}
}

// devicesOf names files of results with their devices.
func devicesOf[R any](program string, files map[string]*result.Experiment[R], names []string) (list []string) {
	for _, name := range names {
		if f := files[name]; f != nil {
			list = append(list, fmt.Sprintf("%s-%s.json (%s)", program, name, f.Device))
		}
	}
	return list
}

func itemTable(items []paperRow) string {
	out := "| of the paper | printed | ours | where it is made | the command that repeats it |\n|---|---|---|---|---|\n"
	for _, i := range items {
		out += tableLine(i.what, i.printed, i.ours, i.where, i.command)
	}
	return out
}

// paperList is the table of the papers.
func paperList() string {
	out := "| authors | title | published | every table and figure | all of its experiments |\n|---|---|---|---|---|\n"
	for _, p := range paper.All() {
		out += tableLine(p.Authors, p.Title, p.Where, fmt.Sprintf("[papers/%s.md](papers/%s.md)", p.Name, p.Name), fmt.Sprintf("`go run ./bench/reproduce %s`", p.Name))
	}
	return out
}

// reproduceCommand is the command that repeats a paper's experiments on a GPU.
func reproduceCommand(name string) string {
	return fmt.Sprintf("`go run ./bench/reproduce %s --device cuda:0`", name)
}

// goTestCommand is the command that runs a test of a package.
func goTestCommand(path, name string) string {
	return fmt.Sprintf("`go test ./%s -run %s`", path, name)
}

// orWhy is the text of a cell, or the reason why there is none.
func orWhy(cell, why string) string {
	if cell == "" {
		return why
	}
	return cell
}

// atAgents is the median time of a row and where it was measured, "" where it was not.
func atAgents(f *result.File, name string, agents int) string {
	for _, r := range measuredRows(f, name) {
		if r.Agents == agents {
			return formatSeconds(r.Median()) + ", " + f.Device
		}
	}
	return ""
}

// lastOf is the largest measured row of a name.
func lastOf(f *result.File, name string) (r result.Row, ok bool) {
	if list := measuredRows(f, name); len(list) > 0 {
		return list[len(list)-1], true
	}
	return r, false
}

// paperPages makes the page of one paper of the results in a folder, with the figures that belong to
// it: what bench/reproduce shows.
func paperPages(name, folder string) (map[string]string, error) {
	p, ok := paper.Find(name)
	if !ok {
		return nil, fmt.Errorf("there is no paper %q", name)
	}
	m, err := loadMeasured(folder)
	if err != nil {
		return nil, err
	}
	all := paperFigures(m)
	page := fmt.Sprintf("# %s\n\n%s, %s.\n\n%s", p.Title, p.Authors, p.Where, paperTables(m)["paper-"+name])
	files := map[string]string{}
	add := func(title, table string, figures ...string) {
		page += "\n## " + title + "\n\n" + strings.TrimSpace(table) + "\n"
		for _, f := range figures {
			if all[f] != "" {
				files[f+".svg"] = all[f]
				page += fmt.Sprintf("\n![%s](%s.svg)\n", title, f)
			}
		}
	}
	switch name {
	case "gpu-csg":
		add("Figures 3 and 4", checkpointTable(m.csg["figures"]), "paper-3", "paper-4")
		add("Figure 5", figureTable(m.csg), "paper-5")
	case "report":
		add("Figure 1", figureTable(m.csg), "report-1")
		add("Figure 2", subsetTable(), "report-2")
	case "multistart":
		add("Table 1, evaluation", region(m.binaries["evaluate"], evaluateTable))
		add("Tables 1 and 2, results", lewisTable(m), "qubo-paper-3", "qubo-paper-4")
	case "hungarian":
		add("Table 2", hungarianTable(m))
		add("Weak scaling", weakTable(m), "hungarian-weak")
	}
	files[name+".md"] = page
	return files, nil
}

func region(f *result.Experiment[result.Binary], table func([]result.Binary) string) string {
	if f == nil {
		return "Nothing was measured yet."
	}
	return table(f.Rows)
}

// loadMeasured reads the results in a folder: those of a host where there are none of a device.
func loadMeasured(folder string) (m paperResults, err error) {
	m = paperResults{results{}, solveResults{}, binaryResults{}}
	return m, errors.Join(
		readAll(folder, "csg", m.csg), readAll(folder, "assignment", m.solves), readAll(folder, "qubo", m.binaries))
}

// readAll reads the files of a program by the names of their experiments.
func readAll[R any, M ~map[string]*result.Experiment[R]](folder, program string, into M) error {
	files, err := filepath.Glob(filepath.Join(folder, program+"-*.json"))
	for _, path := range files {
		f, wrong := result.Load[R](path)
		err = errors.Join(err, wrong)
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), program+"-"), ".json")
		into[name] = f
	}
	for name, f := range maps.Clone(into) {
		if plain, host := strings.CutSuffix(name, "-host"); host && into[plain] == nil {
			into[plain] = f
		}
	}
	return err
}

// paperFigures are all figures of the papers that there are results for.
func paperFigures(m paperResults) map[string]string {
	out := map[string]string{}
	if m.csg["figures"] != nil {
		maps.Copy(out, drawFigures(m.csg))
	}
	maps.Copy(out, quboFigures(m.binaries))
	if svg := weakFigure(m); svg != "" {
		out["hungarian-weak"] = svg
	}
	return out
}

// writePages writes a paper's page and figures into a folder.
func writePages(name, from, into string) error {
	files, err := paperPages(name, from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	for path, text := range files {
		if err := os.WriteFile(filepath.Join(into, path), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
