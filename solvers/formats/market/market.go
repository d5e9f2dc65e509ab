// Package market reads Matrix Market's exchange format (Boisvert, Pozo and Remington, NISTIR 5935,
// 1996) on all cores: coordinates and arrays; of whole numbers, real ones, or a pattern; general,
// symmetric or skew-symmetric. It finds entries. Callers decide on values, on repeated entries, and
// on matrices that are not square.
package market

import (
	"errors"
	"io"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/lines"
	"coalesce/solvers/formats/text"
)

// Banner is how a file begins, in any case.
const Banner = "%%MatrixMarket"

// Field is the kind of the entries' values.
type Field string

// The fields that are read. Files that say double are Real, and those of unsigned-integer, which SciPy writes, Integer.
const (
	Integer Field = "integer"
	Real    Field = "real"
	Pattern Field = "pattern" // coordinates without values
)

// Symmetry says which entries a file leaves out because others imply them.
type Symmetry string

// The symmetries that are read.
const (
	General   Symmetry = "general"
	Symmetric Symmetry = "symmetric"
	Skew      Symmetry = "skew-symmetric"
)

// A Header is a file's banner and sizes.
type Header struct {
	Array    bool // all entries, column by column; else coordinates
	Field    Field
	Symmetry Symmetry
	Rows     int
	Columns  int
	Entries  int64 // lines of entries that the file has
}

// maxEntries is the most entries that a file's head may state: counts stay exact as float64.
const maxEntries = 1 << 53

// ReadHead reads the banner and the sizes; the file's Options.Comment has to be
// "%". Rows and columns are at most `most`, which an int32 has to hold. Sizes that the head states
// take no memory here.
func ReadHead(f *text.File, limit int) (Header, error) {
	var h Header
	line, err := f.Line()
	if err != nil && !errors.Is(err, io.EOF) {
		return h, err
	}
	words := strings.Fields(strings.ToLower(string(line[:min(len(line), 200)])))
	if len(words) != 5 || words[0] != strings.ToLower(Banner) || words[1] != "matrix" {
		return h, f.Errorf("found %s, expected %s matrix and three words", formats.Quote(line), Banner)
	}
	if h.Array = words[2] == "array"; !h.Array && words[2] != "coordinate" {
		return h, f.Errorf("found the layout %s, expected coordinate or array", formats.Quote(words[2]))
	}
	switch h.Field = Field(words[3]); h.Field {
	case "double":
		h.Field = Real
	case "unsigned-integer":
		h.Field = Integer
	case Integer, Real, Pattern:
	default:
		return h, f.Errorf("found %s entries, expected integer, real or pattern ones", formats.Quote(words[3]))
	}
	switch h.Symmetry = Symmetry(words[4]); h.Symmetry {
	case General, Symmetric, Skew:
	default:
		return h, f.Errorf("found a %s matrix, expected a general, symmetric or skew-symmetric one", formats.Quote(words[4]))
	}
	if h.Field == Pattern && (h.Array || h.Symmetry == Skew) {
		return h, f.Errorf("found a pattern of %s, expected one of coordinates, general or symmetric", strings.Join([]string{words[2], words[4]}, ", "))
	}
	return h, h.readSizes(f, limit)
}

func (h *Header) readSizes(f *text.File, limit int) error {
	kind := lines.Kind{What: "rows and columns", Fields: []lines.Field{lines.Int("number of rows", 0, int64(limit)), lines.Int("number of columns", 0, int64(limit))}}
	if !h.Array {
		kind = lines.Kind{What: "rows, columns and entries", Fields: append(kind.Fields, lines.Int("number of entries", 0, maxEntries))}
	}
	sizes, err := lines.ReadHead(f, kind)
	if err != nil {
		return err
	}
	h.Rows, h.Columns = int(sizes.Int(0)), int(sizes.Int(1))
	if h.Symmetry != General && h.Rows != h.Columns {
		return f.Errorf("found a %s matrix of %d x %d, expected a square", h.Symmetry, h.Rows, h.Columns)
	}
	if !h.Array {
		h.Entries = sizes.Int(2)
		return nil
	}
	if float64(h.Rows)*float64(h.Columns) > maxEntries {
		return f.Errorf("found an array of %d x %d, expected at most 2^53 entries", h.Rows, h.Columns)
	}
	rows, columns := int64(h.Rows), int64(h.Columns)
	switch h.Symmetry {
	case General:
		h.Entries = rows * columns
	case Symmetric:
		h.Entries = rows * (rows + 1) / 2
	case Skew:
		h.Entries = rows * max(0, rows-1) / 2
	}
	return nil
}
