// Package foreign names files by their first bytes: documents, archives, images and other binaries, and text of kinds that
// some readers take and others do not. Every problem's reader asks it before it reads, so that a file of another kind is named
// in one line, and not read as a table.
package foreign

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"coalesce/solvers/formats"
)

// A Kind names a kind of file, in words that follow "found". The empty kind is text that a table, a list or a graph may be.
type Kind string

// The kinds that some reader takes.
const (
	NPY     Kind = "a NumPy array (.npy)"
	BQM     Kind = "a binary file of dimod's binary quadratic model"
	CQM     Kind = "a binary file of dimod's constrained quadratic model"
	JSON    Kind = "JSON"
	LP      Kind = "a model in LP format"
	MPS     Kind = "a model in MPS format"
	QPLIB   Kind = "a model in QPLIB's format"
	Market  Kind = "a Matrix Market file"
	Edges   Kind = "a DIMACS graph"
	Asn     Kind = "a DIMACS assignment problem"
	MinCost Kind = "a DIMACS min-cost flow problem"
	QUBO    Kind = "a QUBO in qbsolv's format"
)

// Head is how many bytes of a file are enough to name it.
const Head = 1 << 12

// A signature is how files of a kind begin, or what they have at a later place.
type signature struct {
	at   int
	text string
	kind Kind
}

// signatures are those of binaries, and of text that begins with fixed words.
var signatures = []signature{
	{0, "\x93NUMPY", NPY},
	{0, "DIMODBQM", BQM},
	{0, "DIMODCQM", CQM},
	{0, "DIMODDQM", "a binary file of dimod's discrete quadratic model"},
	{0, "DIMODQM", "a binary file of dimod's quadratic model"},
	{0, "DIMODEXP", "a binary file of dimod's expression"},
	{0, "%PDF-", "a PDF document"},
	{0, "%!PS", "a PostScript document"},
	{0, "{\\rtf", "an RTF document"},
	{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a document of an old Microsoft Office (.xls, .doc)"},
	{0, "PK\x03\x04", "a zip archive"},
	{0, "PK\x05\x06", "an empty zip archive"},
	{0, "7z\xbc\xaf\x27\x1c", "a 7z archive"},
	{0, "Rar!\x1a\x07", "a RAR archive"},
	{0, "BZh", "a file compressed with bzip2"},
	{0, "\x1f\x9d", "a file compressed with compress (.Z)"},
	{0, "\x04\x22\x4d\x18", "a file compressed with lz4"},
	{0, "\x5d\x00\x00", "a file compressed with lzma"},
	{0, "\x1f\x8b", "a file compressed with gzip"},
	{0, "\xfd7zXZ\x00", "a file compressed with xz"},
	{0, "\x28\xb5\x2f\xfd", "a file compressed with zstd"},
	{257, "ustar", "a tar archive"},
	{0, "\x89HDF\r\n\x1a\n", "an HDF5 file"},
	{0, "CDF\x01", "a NetCDF file"},
	{0, "CDF\x02", "a NetCDF file"},
	{0, "MATLAB 5.0 MAT-file", "a MATLAB file (.mat)"},
	{0, "PAR1", "a Parquet file"},
	{0, "ARROW1", "an Arrow file"},
	{0, "FEA1", "a Feather file"},
	{0, "Obj\x01", "an Avro file"},
	{0, "SQLite format 3\x00", "an SQLite database"},
	{0, "RDX2\n", "R's data (.rda)"},
	{0, "RDX3\n", "R's data (.rda)"},
	{0, "\x80\x02", "a Python pickle"},
	{0, "\x80\x03", "a Python pickle"},
	{0, "\x80\x04", "a Python pickle"},
	{0, "\x80\x05", "a Python pickle"},
	{0, "\x89PNG\r\n\x1a\n", "a PNG image"},
	{0, "\xff\xd8\xff", "a JPEG image"},
	{0, "GIF87a", "a GIF image"},
	{0, "GIF89a", "a GIF image"},
	{0, "\x7fELF", "a program (ELF)"},
	{0, "\xcf\xfa\xed\xfe", "a program (Mach-O)"},
	{0, "MZ\x90\x00", "a Windows program"},
	{0, "version https://git-lfs.github.com/spec/", "a pointer of Git LFS, without the file that it stands for (git lfs pull fetches it)"},
	{0, "%%MatrixMarket", Market},
}

// KindOf names a file by its first bytes, of which Head are enough.
func KindOf(head []byte) Kind {
	for _, s := range signatures {
		if len(head) >= s.at && bytes.HasPrefix(head[s.at:], []byte(s.text)) {
			return s.kind
		}
	}
	if binary(head) {
		return "a binary file"
	}
	return ofText(bytes.TrimLeft(head, " \t\r\n"))
}

// binary reports whether a file is no text: it has a byte 0, while it is no text of 16 or 32 bits a character, or several and more
// than one in fifty control characters, or more than one byte in four that is no UTF-8.
func binary(head []byte) bool {
	if _, err := formats.CheckEncoding(head); err != nil {
		return false
	}
	control, broken := 0, 0
	for rest := head; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == 0:
			return true
		case r == utf8.RuneError && size == 1:
			broken++
		case r < ' ' && (r < '\t' || r > '\r') && r != '\x1a' && r != '\x1b': // which end old files of DOS, and begin colours of terminals
			control++
		}
		rest = rest[size:]
	}
	return control > 2 && 50*control > len(head) || 4*broken > len(head)
}

// ofText names text by its first words.
func ofText(text []byte) Kind {
	switch lower := strings.ToLower(string(text[:min(len(text), 64)])); {
	case strings.HasPrefix(lower, "<!doctype html") || strings.HasPrefix(lower, "<html"):
		return "an HTML page"
	case strings.HasPrefix(lower, "<graphml"):
		return "a graph in GraphML"
	case strings.HasPrefix(lower, "<?xml"):
		return "an XML file"
	case strings.HasPrefix(lower, "graph ["):
		return "a graph in GML"
	case isDOT(lower):
		return "a graph in DOT (Graphviz)"
	case isJSON(text):
		return JSON
	case bytes.HasPrefix(text, []byte(`\`)):
		return LP
	}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	words := bytes.Fields(first)
	if len(words) == 0 {
		return ""
	}
	switch word := strings.ToLower(string(words[0])); {
	case opensLP(word, bytes.TrimSpace(first[len(words[0]):]), rest):
		return LP
	case word == "name" && (len(words) < 3) && bytes.Contains(rest, []byte("ROWS")) && !bytes.Contains(first, []byte(",")), word == "rows" && len(words) == 1 && bytes.HasPrefix(bytes.TrimSpace(rest), []byte("N ")):
		return MPS
	case (strings.HasPrefix(word, "name") || strings.HasPrefix(word, "type")) && bytes.Contains(first, []byte(":")) && bytes.Contains(rest, []byte("DIMENSION")):
		return "a problem in TSPLIB's format"
	case word == "c" || word == "p":
		return ofDIMACS(text)
	case word == "*":
		return ofMPS(text)
	}
	return ofQPLIB(rest)
}

func isDOT(lower string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(lower, "strict "), "graph ")
	if !ok {
		rest, ok = strings.CutPrefix(strings.TrimPrefix(lower, "strict "), "digraph ")
	}
	return ok && strings.Contains(rest, "{")
}

// isJSON reports whether text begins as an object or as an array of JSON. Tables of coalitions may begin with a brace too: {1,2}.
func isJSON(text []byte) bool {
	if len(text) < 2 || text[0] != '{' && text[0] != '[' {
		return false
	}
	next := bytes.TrimLeft(text[1:], " \t\r\n")
	if len(next) == 0 {
		return true
	}
	if text[0] == '{' {
		return next[0] == '"' || next[0] == '}'
	}
	return strings.IndexByte("[{]\"-0123456789tfn", next[0]) >= 0
}

// opensLP reports whether a first line opens the objective of a model in LP format: the word is alone on its line, or before an
// expression, which has a name or signs. Below a word alone the expression follows, which has letters: a column of numbers may be
// called max.
func opensLP(word string, rest, below []byte) bool {
	switch word {
	case "minimize", "minimise", "minimum", "min", "maximize", "maximise", "maximum", "max":
	default:
		return false
	}
	if len(rest) == 0 {
		rest, _, _ = bytes.Cut(bytes.TrimSpace(below), []byte("\n"))
		return bytes.ContainsFunc(rest, unicode.IsLetter) && !bytes.ContainsAny(rest, ",;")
	}
	return bytes.ContainsAny(rest, ":+[") || rest[0] == '-' && !bytes.ContainsAny(rest, ",;\t")
}

// ofDIMACS names a file of the DIMACS challenges by its line of p, before which comments stand.
func ofDIMACS(text []byte) Kind {
	for line := range bytes.Lines(text) {
		words := bytes.Fields(line)
		if len(words) == 0 || string(words[0]) == "c" {
			continue
		}
		if len(words) < 4 || string(words[0]) != "p" {
			return ""
		}
		switch strings.ToLower(string(words[1])) {
		case "asn":
			return Asn
		case "edge", "edges", "col":
			return Edges
		case "qubo":
			return QUBO
		case "min":
			return MinCost
		case "max":
			return "a DIMACS maximum-flow problem"
		case "sp":
			return "a DIMACS shortest-path problem"
		case "cnf", "wcnf":
			return "a DIMACS formula (CNF)"
		}
		return ""
	}
	return ""
}

// ofMPS names a model in MPS format behind comments.
func ofMPS(text []byte) Kind {
	for line := range bytes.Lines(text) {
		if words := bytes.Fields(line); len(words) > 0 && words[0][0] != '*' {
			if string(words[0]) == "NAME" || string(words[0]) == "ROWS" {
				return MPS
			}
			break
		}
	}
	return ""
}

// ofQPLIB names a model of QPLIB by its second and third lines, a type of three letters and a sense.
func ofQPLIB(rest []byte) Kind {
	second, rest, _ := bytes.Cut(rest, []byte("\n"))
	third, _, _ := bytes.Cut(rest, []byte("\n"))
	kind, sense := bytes.Fields(second), bytes.Fields(bytes.ToLower(third))
	if len(kind) > 0 && len(kind[0]) == 3 && len(sense) > 0 && (string(sense[0]) == "minimize" || string(sense[0]) == "maximize") {
		return QPLIB
	}
	return ""
}

// Check is an error where a file is of a kind, told by its first bytes, that a reader does not take. want says what the reader
// expects.
func Check(name string, head []byte, want string, takes ...Kind) error {
	if kind := KindOf(head); kind != "" && !slices.Contains(takes, kind) {
		return formats.Errorf(name, 0, "found %s, expected %s", kind, want)
	}
	return nil
}

// KindOfArchive names a zip archive by the names of its files: documents of office programs and other programs' files, else an archive
// of so many files.
func KindOfArchive(files []string) Kind {
	has := func(prefix string) bool {
		return slices.ContainsFunc(files, func(f string) bool { return strings.HasPrefix(f, prefix) })
	}
	npy := func(f string) bool { return strings.HasSuffix(f, ".npy") }
	list := strings.Join(files[:min(len(files), 5)], ", ")
	if len(files) > 5 {
		list += ", …"
	}
	switch {
	case has("[Content_Types].xml") && has("xl/"):
		return "an Excel workbook (.xlsx)"
	case has("[Content_Types].xml") && has("word/"):
		return "a Word document (.docx)"
	case has("[Content_Types].xml"):
		return "a document of Microsoft Office"
	case has("mimetype") && has("content.xml"):
		return "an OpenDocument file (.ods, .odt)"
	case has("META-INF/"):
		return "a Java archive"
	case slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix(f, "data.pkl") }):
		return "a file of PyTorch"
	case len(files) > 1 && !slices.ContainsFunc(files, func(f string) bool { return !npy(f) }):
		return Kind(fmt.Sprintf("a .npz archive of %d arrays (%s)", len(files), strings.ReplaceAll(list, ".npy", "")))
	}
	return Kind(fmt.Sprintf("a zip archive of %s (%s)", formats.Count(len(files), "file"), formats.Quote(list)))
}
