package tuned

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

//go:embed tuned.json
var embedded []byte

// compressed begins embedded in builds of scripts/build-cuda: the head of a frame of 32 bytes that zstd
// skips, the SHA-256 of the document. The document follows, compressed.
var compressed = []byte{0x50, 0x2a, 0x4d, 0x18, sha256.Size, 0, 0, 0}

// text is the document in embedded. It is unpacked once, when it is first asked for, since that takes
// a millisecond.
var text = sync.OnceValues(func() ([]byte, error) { return decompress(embedded) })

// decompress returns data, unpacked where they are compressed.
func decompress(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, compressed) {
		return data, nil
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	if data, err = z.DecodeAll(data, nil); err != nil {
		return nil, fmt.Errorf("embedded tuned.json: %w", err)
	}
	return data, nil
}

// fingerprint is the SHA-256 of the document in data, which compressed data say.
func fingerprint(data []byte) string {
	if sum, ok := bytes.CutPrefix(data, compressed); ok && len(sum) >= sha256.Size {
		return hex.EncodeToString(sum[:sha256.Size])
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Embedded returns the database that the binary carries: one for all, which is
// not to be written to. It is decoded once, since that takes milliseconds.
func Embedded() (*Database, error) { return decoded() }

// Shipped is the database that the binary carries, to choose from: the entries of a
// family are decoded when one of its variants is chosen. It is one for all, not to be
// written to, and lists no entries, as Embedded does.
func Shipped() *Database { return shipped }

var shipped = &Database{text: text}

// entriesOf returns the entries of a family, and perhaps others. Text is what Encode writes:
// a family's entries stand together.
func (db *Database) entriesOf(family string) ([]Entry, error) {
	if db.text == nil {
		return db.entries, nil
	}
	text, err := db.text()
	if err != nil {
		return nil, err
	}
	head := fmt.Appendf(nil, "\n    {\n      \"family\": %s,\n", encode(family, ""))
	end := []byte("\n    }")
	from, last := bytes.Index(text, head), bytes.LastIndex(text, head)
	if from < 0 {
		return nil, nil
	}
	to := last + bytes.Index(text[last:], end) + len(end)
	part, err := Decode("embedded tuned.json", fmt.Appendf(nil, `{"schema":"tuned/%d","entries":[%s]}`, Schema, text[from:to]))
	if err != nil {
		return nil, err
	}
	return part.entries, nil
}

var decoded = sync.OnceValues(func() (*Database, error) {
	text, err := text()
	if err != nil {
		return nil, err
	}
	return Decode("embedded tuned.json", text)
})

// Fingerprint is the SHA-256 of the database that the binary carries, in
// hexadecimal digits.
func Fingerprint() string { return fingerprint(embedded) }

// document is tuned.json.
type document struct {
	Schema  string  `json:"schema"`
	Entries []Entry `json:"entries"`
}

// Encode writes the canonical document: entries in key order, results fastest
// first, two spaces of indent, a final newline. Equal databases have equal text.
func (db *Database) Encode() []byte {
	doc := document{Schema: fmt.Sprintf("tuned/%d", Schema), Entries: []Entry{}}
	if db != nil && len(db.entries) > 0 {
		doc.Entries = db.entries
	}
	return append(encode(doc, "  "), '\n')
}

// encodeEntry writes one entry in one line.
func encodeEntry(e *Entry) []byte { return encode(e, "") }

func encode(x any, indent string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(x); err != nil {
		panic(err) // check and Decode let in strings, integers and finite floats only
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// Decode reads a document; name is the file's name in errors. If two entries have one key, as in a
// union of two files made by hand, the later one stays, as in Merge.
func Decode(name string, data []byte) (*Database, error) {
	var head struct {
		Schema json.RawMessage `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, located(name, data, err)
	}
	if err := checkSchema(name, head.Schema); err != nil {
		return nil, err
	}
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, located(name, data, err)
	}
	db := &Database{}
	for i := range doc.Entries {
		e := &doc.Entries[i]
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("%s: entry %d (%s): %w", name, i+1, e.describe(), err)
		}
		if err := db.Put(*e); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return db, nil
}

// checkSchema accepts "tuned/1" and "tuned/1.MINOR".
func checkSchema(name string, raw json.RawMessage) error {
	if raw == nil {
		return fmt.Errorf(`%s: no "schema": expected "tuned/%d"`, name, Schema)
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return fmt.Errorf(`%s: "schema" is %.80s, expected "tuned/%d"`, name, raw, Schema)
	}
	version, ok := strings.CutPrefix(s, "tuned/")
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	if !ok || err != nil {
		return fmt.Errorf(`%s: "schema" is %.80q, expected "tuned/%d"`, name, s, Schema)
	}
	if n != Schema {
		return fmt.Errorf("%s: schema %d of tuned.json is not known: this build reads schema %d; tune again or use a matching build", name, n, Schema)
	}
	return nil
}

// located adds file and line to an error of encoding/json.
func located(name string, data []byte, err error) error {
	offset := int64(-1)
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &typ):
		offset = typ.Offset
	}
	if offset < 0 || offset > int64(len(data)) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return fmt.Errorf("%s:%d: %w", name, 1+bytes.Count(data[:offset], []byte("\n")), err)
}

// maxBytes is the size in bytes of the largest database that is read.
const maxBytes = 64 << 20

// maxStream is the most bytes read from anything but a regular file: a device may go on without end.
const maxStream = 4 << 20

// Load reads a file. The error is os.ErrNotExist's when there is none.
func Load(path string) (*Database, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("load tuned database: %w", err)
	}
	defer f.Close()
	limit := int64(maxBytes)
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		limit = maxStream
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("load tuned database: %w", err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("load tuned database: %s: found more than %d bytes, expected at most that", path, limit)
	}
	return Decode(path, data)
}

// Save writes the canonical document, whole or not at all: to a temporary file
// in the same folder, synced, then renamed. Devices, pipes and folders are refused: a file would
// take their place.
func (db *Database) Save(path string) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("save %s: found no regular file, expected one", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".tuned-*")
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("save %s: %w", path, err)
		}
	}()
	if _, err = f.Write(db.Encode()); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
