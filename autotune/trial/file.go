package trial

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Decode reads JSON Lines; name is the file's name in errors. It ignores an incomplete last line, which
// a crash leaves; whole is the length in bytes of the lines before that. Any other line that is no
// trial is an error with its number.
func Decode(name string, data []byte) (trials []Trial, whole int64, err error) {
	for line := 1; len(data) > 0; line++ {
		text, rest, ended := bytes.Cut(data, []byte("\n"))
		t, err := decodeLine(text)
		if err != nil {
			if !ended && torn(text) {
				return trials, whole, nil
			}
			return nil, 0, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if t != nil {
			trials = append(trials, *t)
		}
		whole += int64(len(text))
		if ended {
			whole++
		}
		data = rest
	}
	return trials, whole, nil
}

// torn reports whether a last line without its end is the beginning of a trial whose writing was cut
// off.
func torn(text []byte) bool {
	const begin = `{"schema":"trial/`
	n := min(len(text), len(begin))
	return !json.Valid(text) && string(text[:n]) == begin[:n]
}

// decodeLine reads one record; nil for an empty line.
func decodeLine(text []byte) (*Trial, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	var head struct{ Schema string }
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	if err := checkSchema(head.Schema); err != nil {
		return nil, err
	}
	t := new(Trial)
	if err := json.Unmarshal(text, t); err != nil {
		return nil, err
	}
	if !t.Status.Valid() {
		return nil, fmt.Errorf("status %q is not known", t.Status)
	}
	return t, nil
}

// checkSchema accepts "trial/1" and "trial/1.MINOR".
func checkSchema(s string) error {
	version, ok := strings.CutPrefix(s, "trial/")
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	if !ok || err != nil {
		return fmt.Errorf(`"schema" is %q, expected %q`, s, Schema)
	}
	if n != 1 {
		return fmt.Errorf("schema %d of trials is not known: this build reads schema 1", n)
	}
	return nil
}

// Load reads a file of trials.
func Load(path string) ([]Trial, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("load trials: %w", err)
	}
	defer f.Close()
	data, err := readAll(f, path, maxBytes)
	if err != nil {
		return nil, fmt.Errorf("load trials: %w", err)
	}
	trials, _, err := Decode(path, data)
	return trials, err
}

// Bytes of the longest line and of the largest file of trials that is read.
const (
	maxLine  = 1 << 20
	maxBytes = 1 << 28
)

// readAll reads a file of trials whole, unless it has more than most bytes or is no text of lines.
func readAll(r io.Reader, path string, most int) (data []byte, err error) {
	piece := make([]byte, 1<<16)
	for line, begins := 1, 0; ; {
		k, err := r.Read(piece)
		data = append(data, piece[:k]...)
		if end := bytes.LastIndexByte(data[len(data)-k:], '\n'); end >= 0 {
			line += bytes.Count(piece[:k], []byte("\n"))
			begins = len(data) - k + end + 1
		}
		switch {
		case len(data)-begins > maxLine:
			return nil, fmt.Errorf("%s:%d: found a line of more than %d bytes, expected a shorter one", path, line, maxLine)
		case len(data) > most:
			return nil, fmt.Errorf("%s: found more than %d bytes, expected at most that", path, most)
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		}
	}
}

// A File is open for appending.
type File struct {
	f synced
}

// synced has the operations of an operating system's file that a file of trials needs.
type synced interface {
	io.WriteCloser
	Sync() error // returns when all written bytes are on the disk
}

// ErrLocked is wrapped by Open when another process appends to the file.
var ErrLocked = errors.New("another run of the tuner appends to this file")

// Regular returns an error unless a path is that of a regular file, or of none yet. A pipe or a device cannot be read again
// after it was written, and may have no end.
func Regular(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: found no regular file, expected one that is written and read again", path)
	}
	return nil
}

// Open opens or makes a file of trials for appending, after reading what it
// holds; a torn last line is cut off. One process has a file open at a time, where
// the system has locks; the error of a second one wraps ErrLocked.
func Open(path string) (*File, []Trial, error) {
	if err := Regular(path); err != nil {
		return nil, nil, fmt.Errorf("open trials: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("open trials: %w", err)
	}
	if err := lock(f, false); err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("open trials %s: %w", path, err)
	}
	trials, err := prepare(f, path)
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("open trials: %w", err)
	}
	return &File{f}, trials, nil
}

// prepare leaves f at its end, after a whole line.
func prepare(f *os.File, path string) ([]Trial, error) {
	data, err := readAll(f, path, maxBytes)
	if err != nil {
		return nil, err
	}
	trials, whole, err := Decode(path, data)
	if err != nil {
		return nil, err
	}
	if whole < int64(len(data)) {
		if err := f.Truncate(whole); err != nil {
			return nil, err
		}
	}
	if _, err := f.Seek(whole, io.SeekStart); err != nil {
		return nil, err
	}
	if whole > 0 && data[whole-1] != '\n' { // the last trial is complete and lacks its newline
		if _, err := f.Write([]byte("\n")); err != nil {
			return nil, err
		}
	}
	return trials, nil
}

// Append writes one trial and waits until it is on the disk.
func (f *File) Append(t *Trial) error {
	line, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("append trial: %w", err)
	}
	if _, err := f.f.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("append trial: %w", err)
	}
	if err := f.f.Sync(); err != nil {
		return fmt.Errorf("append trial: %w", err)
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }

// Alone calls do while no other process is in a call of Alone for the same folder,
// where the system has locks.
func Alone(folder string, do func() error) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := lock(f, true); err != nil {
		return fmt.Errorf("lock %s: %w", folder, err)
	}
	return do()
}
