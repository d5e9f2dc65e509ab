package formats

import (
	"bytes"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/foreign"
	"coalesce/solvers/formats/text"
	"coalesce/solvers/qubo/problem"
)

// accepted are the kinds of files that some reader here takes.
var accepted = []foreign.Kind{foreign.NPY, foreign.BQM, foreign.JSON, foreign.LP, foreign.MPS, foreign.QPLIB, foreign.Market, foreign.Edges, foreign.QUBO}

// cuts match the names of files of graphs to be cut: of the G-set, of Biq Mac's library, of the DIMACS challenge of semidefinite
// programs.
var cuts = []*regexp.Regexp{
	regexp.MustCompile(`^g[0-9]+(-[0-9]+)?($|\.(txt|mc|mtx|dat|npy|csv)$)`),
	regexp.MustCompile(`^(g05|pm1s|pm1d|p?w[0-9]*)_[0-9]`),
	regexp.MustCompile(`^ising[0-9]+(\.[0-9]+)?[-_][0-9]`),
	regexp.MustCompile(`^t[23](g|pm)?[0-9]+_[0-9]`),
	regexp.MustCompile(`(^|[^a-z])torus`),
}

// programs match the names of files of OR-Library and of G. Palubeckis' instances, QUBOs to be maximised.
var programs = regexp.MustCompile(`^(bqp(gka)?[0-9]*|p[3-7]000)([-._][0-9]+)?(\.(txt|dat))?$`)

// cutName reports whether a file's name is that of a graph to be cut.
func cutName(base string) bool {
	return slices.ContainsFunc(cuts, func(r *regexp.Regexp) bool { return r.MatchString(strings.ToLower(base)) })
}

// byName is the format of a file name's extension, without that of a compression; empty where it promises none.
func byName(base string) string {
	switch strings.ToLower(filepath.Ext(base)) {
	case ".npy", ".npz":
		return "npy"
	case ".mtx", ".mm":
		return "mtx"
	case ".csv", ".tsv":
		return "csv"
	case ".rud", ".rudy", ".mc", ".gset":
		return "rudy"
	case ".sparse":
		return "sparse"
	case ".qs":
		return "qs"
	case ".qh":
		return "qubist"
	case ".qubo":
		return "qubo"
	case ".coo":
		return "coo"
	case ".bqm", ".json":
		return "bqm"
	case ".bqpjson":
		return "bqpjson"
	case ".lp":
		return "lp"
	case ".mps", ".qps":
		return "mps"
	case ".qplib":
		return "qplib"
	case ".col", ".clq":
		return "dimacs"
	case ".mqlib":
		return "mqlib"
	}
	return ""
}

// OfPath is the format that a file's name promises, empty where it promises none.
func OfPath(path string) string {
	base := filepath.Base(strings.TrimSuffix(path, ".txt"))
	if name := byName(base); name != "" || !cutName(base) {
		return name
	}
	return "rudy"
}

// detectFormat tells the format by the first bytes where these decide, by the name without the compression's ending, and by the lines
// that the first bytes are of. An error, which calls the file by its name, asks for --format.
func detectFormat(file, bare string, head []byte, o Options) (string, error) {
	base := filepath.Base(bare)
	switch foreign.KindOf(head) {
	case foreign.NPY:
		return "npy", nil
	case foreign.BQM:
		return "bqm", nil
	case foreign.Market:
		return "mtx", nil
	case foreign.Edges:
		return "dimacs", nil
	case foreign.QUBO:
		return "qubo", nil
	case foreign.LP:
		return "lp", nil
	case foreign.MPS:
		return "mps", nil
	case foreign.QPLIB:
		return "qplib", nil
	case foreign.JSON:
		if bytes.Contains(head, []byte(`"variable_domain"`)) || bytes.Contains(head, []byte(`"variable_ids"`)) || bytes.Contains(head, []byte(`"linear_terms"`)) {
			return "bqpjson", nil
		}
		return "bqm", nil
	}
	if name := byName(base); name != "" {
		return name, nil
	}
	s := sample(head)
	switch {
	case cutName(base) && !s.loops: // a diagonal decides against a cut
		return "rudy", nil
	case programs.MatchString(strings.ToLower(base)):
		return "orlib", nil
	}
	name, err := s.format(base, o)
	if err != nil {
		return "", formats.Errorf(file, s.line, "%w", err)
	}
	return name, nil
}

// A firstLines describes the first lines of text.
type firstLines struct {
	first    []int // words of the first lines that are no comments, as far as the sample goes
	numbers  bool  // all words are numbers
	tables   bool  // cells stand between commas, semicolons or tabs
	loops    bool  // a line of three words names a variable twice
	zero     bool  // a line of three words names variable 0
	indices  bool  // the first two words of all lines may number variables
	whole    bool  // the sample is the whole file
	line     int   // of the first line that is no comment
	comments []string
	p        bool // a comment or a line of DIMACS
}

// sample looks at the first bytes of text.
func sample(head []byte) firstLines {
	s := firstLines{numbers: true, indices: true, whole: len(head) < foreign.Head}
	lines := bytes.Split(head, []byte("\n"))
	if !s.whole {
		lines = lines[:max(1, len(lines)-1)] // the last is cut off
	}
	for k, line := range lines {
		words := bytes.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case words[0][0] == '#':
			s.comments = append(s.comments, commentText(words, "#"))
			continue
		case string(words[0]) == "c" || string(words[0]) == "p":
			s.p = true
			continue
		}
		s.tables = s.tables || bytes.ContainsAny(line, ",;") || bytes.ContainsRune(bytes.TrimSpace(line), '\t') && len(words) > 3
		s.numbers = s.numbers && !slices.ContainsFunc(words, func(w []byte) bool { return !text.IsNumber(w) })
		if len(s.first) == 0 {
			s.line = k + 1
		}
		s.first = append(s.first, len(words))
		for _, word := range words[:min(len(words), 2)] {
			v, ok := text.ParseInt(word)
			s.indices = s.indices && ok && v >= 0
		}
		if len(words) == 3 && len(s.first) > 1 {
			s.loops = s.loops || bytes.Equal(words[0], words[1])
			s.zero = s.zero || string(words[0]) == "0" || string(words[1]) == "0"
		}
	}
	return s
}

// format is the format of text whose name promises none. An error asks for --format.
func (s firstLines) format(base string, o Options) (string, error) {
	for _, c := range s.comments {
		said, ok, _ := parseStatement(0, c)
		lower := strings.ToLower(c)
		switch {
		case ok && said.what == vartype:
			return "coo", nil
		case strings.HasPrefix(lower, "objectiveoffset") || strings.HasPrefix(lower, "vars non-zeros"):
			return "qs", nil
		}
	}
	lines := s.first
	switch {
	case s.p:
		return "qubo", nil
	case len(lines) == 0 && s.whole:
		return "orlib", nil // whose reader says what is missing
	case s.tables:
		return "csv", nil
	case len(lines) > 1 && lines[0] == 1 && lines[1] == 2, len(lines) == 1 && lines[0] == 1:
		return "orlib", nil
	case len(lines) == 1 && lines[0] == 2 || len(lines) > 1 && lines[0] == 2 && lines[1] == 3:
		return s.edges(base, o)
	case len(lines) > 1 && lines[0] == 2 && lines[1] == 2:
		if !s.indices {
			return "csv", nil
		}
		if len(lines) == 2 && s.whole && o.Form != problem.MaxCut {
			return "", errors.New("found two lines of two numbers, a graph without weights or a matrix of 2 x 2, expected to be told: --format rudy or csv")
		}
		return "rudy", nil
	case lines[0] == 3 && s.numbers && !s.indices:
		return "csv", nil
	case lines[0] == 3:
		if s.whole && slices.Equal(lines, []int{3, 3, 3}) {
			return "", errors.New("found three lines of three numbers, coefficients or a matrix of 3 x 3, expected to be told: --format coo (variables i and j from 0 and a coefficient; --form ising says that they are spins) or csv")
		}
		return "coo", nil
	case len(lines) > 1 && lines[0] > 3 && lines[1] == lines[0] && s.numbers:
		return "csv", nil
	}
	return "orlib", nil // whose reader says what is wrong
}

// edges is the format of `n m` and lines of two variables and a number, which several formats have in common.
func (s firstLines) edges(base string, o Options) (string, error) {
	switch {
	case o.Form == problem.MaxCut:
		return "rudy", nil
	case o.Form == problem.QUBO && o.Sense != "":
		return "orlib", nil
	}
	found, qubo := "n m and lines of two variables and a number", true
	if ext := strings.ToLower(filepath.Ext(base)); ext == ".sg" || ext == ".gsg" {
		if o.Form == problem.Ising {
			return "sg", nil
		}
		found, qubo = "a spin glass, whose couplings have one sign or the other", false
	}
	type choice struct {
		name, what string
		form       problem.Form
		fits       bool
	}
	var options []string
	for _, c := range []choice{
		{"rudy", "edges of a graph to be cut", problem.MaxCut, !s.loops && !s.zero},
		{"orlib", "a QUBO to be maximised", problem.QUBO, o.Form == problem.QUBO || qubo && !s.zero},
		{"sparse", "a QUBO to be minimised", problem.QUBO, o.Form == problem.QUBO || qubo && !s.zero},
		{"qubist", "an Ising model from 0, to be minimised", problem.Ising, true},
		{"sg", "a spin glass of McGroundstate, whose sum of J s s is to be maximised", problem.Ising, !s.loops && !s.zero},
	} {
		if c.fits && (o.Form == "" || o.Form == c.form) {
			options = append(options, c.name+" ("+c.what+")")
		}
	}
	if name, _, _ := strings.Cut(options[0], " "); len(options) == 1 && o.Form != "" {
		return name, nil
	}
	last := len(options) - 1
	list := options[last]
	if last > 0 {
		list = strings.Join(options[:last], ", ") + " or " + list
	}
	return "", errors.New("found " + found + ", expected to be told what they are: --format " + list)
}
