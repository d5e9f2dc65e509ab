package trial

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Records are what a file of trials holds.
type Records struct {
	Trials []Trial
	// Damaged tells of each line that could not be read and was left out: a person's edit, a bad disk, a line that a
	// crash cut off, or the zeros that a power cut leaves at the end of a file.
	Damaged []DamagedLine

	lines int64 // bytes of all lines but a last one that was cut off
	ended bool  // the last of these lines has its newline
}

// A DamagedLine is a line that was left out.
type DamagedLine struct {
	File string
	Line int   // from 1
	Err  error // why it is no trial
}

// Error names the file and the line.
func (d DamagedLine) Error() string {
	return fmt.Sprintf("%s:%d: %v: this line is left out", d.File, d.Line, d.Err)
}

// Unwrap returns why the line is no trial.
func (d DamagedLine) Unwrap() error { return d.Err }

// errVersion is wrapped for a record of another version, which is no damage.
var errVersion = errors.New("this build reads schema 1")

// errCut is the damage of a line that was cut off.
var errCut = errors.New("found a trial that is cut off, expected it whole")

// Decode reads JSON Lines; name is the file's name in errors. Lines that are no trials are left out, and
// Records.Damaged tells of them. It is an error where the file has trials of another version of the schema, more than
// 256 MiB or a thousand such lines, or lines of something else and no trial at all: then it is another file.
func Decode(name string, r io.Reader) (Records, error) { return decodeLimited(name, r, maxBytes) }

// decodeLimited is Decode for a file of at most so many bytes.
func decodeLimited(name string, r io.Reader, most int64) (found Records, err error) {
	found.ended = true
	in := bufio.NewReaderSize(r, maxLine)
	var foreign error // the first line of something else
	for read, line := int64(0), 1; ; line++ {
		text, n, err := nextLine(in, most-read)
		if err != nil && err != io.EOF {
			return Records{}, fmt.Errorf("%s: %w", name, err)
		}
		if n == 0 {
			break
		}
		read += n
		ended := err == nil
		var t *Trial
		var bad error
		if n > maxLine {
			bad = fmt.Errorf("found a line of %d bytes, expected at most %d", n, maxLine)
		} else {
			t, bad = decodeLine(text)
		}
		if errors.Is(bad, errVersion) {
			return Records{}, fmt.Errorf("%s:%d: %w", name, line, bad)
		}
		switch cut := torn(text); {
		case bad != nil && cut:
			found.Damaged = append(found.Damaged, DamagedLine{name, line, errCut})
			if !ended {
				return found, found.check(foreign)
			}
		case bad != nil:
			found.Damaged = append(found.Damaged, DamagedLine{name, line, bad})
			if foreign == nil {
				foreign = fmt.Errorf("%s:%d: %w", name, line, bad)
			}
		case t != nil:
			found.Trials = append(found.Trials, *t)
		}
		if len(found.Damaged) > maxDamaged {
			return Records{}, fmt.Errorf("%s: found more than %d lines that are no trials, the first: %w", name, maxDamaged, found.Damaged[0].Err)
		}
		found.lines, found.ended = read, ended
	}
	return found, found.check(foreign)
}

// check returns the error of a line of something else where the file has no trial.
func (r *Records) check(foreign error) error {
	if len(r.Trials) > 0 {
		return nil
	}
	return foreign
}

// nextLine returns a line without its end, and the bytes that it and its end take; at the end of the input err is io.EOF. Of
// a line of more than maxLine bytes it returns the beginning. A line that goes on after most bytes is an error.
func nextLine(in *bufio.Reader, most int64) (text []byte, n int64, err error) {
	piece, err := in.ReadSlice('\n')
	n = int64(len(piece))
	text = bytes.TrimSuffix(piece, []byte("\n"))
	if err == bufio.ErrBufferFull {
		text = bytes.Clone(text)
	}
	for ; err == bufio.ErrBufferFull && n <= most; n += int64(len(piece)) {
		piece, err = in.ReadSlice('\n')
	}
	if n > most {
		return nil, n, fmt.Errorf("found more than %d bytes, expected at most that", int64(maxBytes))
	}
	return text, n, err
}

// torn reports whether a line is the beginning of a trial whose writing was cut off, with zeros in place of
// the rest or without.
func torn(text []byte) bool {
	text = bytes.TrimRight(text, "\x00")
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
		return nil, fmt.Errorf("found %.40q, expected a trial as a JSON object: %w", text, err)
	}
	if err := checkSchema(head.Schema); err != nil {
		return nil, err
	}
	t := new(Trial)
	if err := json.Unmarshal(text, t); err != nil {
		return nil, fmt.Errorf("found a trial that cannot be read: %w", err)
	}
	if !t.Status.Valid() {
		return nil, fmt.Errorf("found the status %q, expected one of %v", t.Status, Statuses)
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
		return fmt.Errorf("schema %d of trials is not known: %w", n, errVersion)
	}
	return nil
}

// Load reads a file of trials.
func Load(path string) (Records, error) {
	f, err := os.Open(path)
	if err != nil {
		return Records{}, fmt.Errorf("load trials: %w", err)
	}
	defer f.Close()
	found, err := Decode(path, f)
	if err != nil {
		return Records{}, fmt.Errorf("load trials: %w", err)
	}
	return found, nil
}

// Bytes of the longest line and of the largest file of trials that is read, and the most lines that are left out.
const (
	maxLine    = 1 << 20
	maxBytes   = 1 << 28
	maxDamaged = 1000
)

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

// CheckRegularFile returns an error unless a path names a regular file, or nothing yet. A pipe or a device cannot be read again
// after it was written, and may have no end.
func CheckRegularFile(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: found no regular file, expected one that is written and read again", path)
	}
	return nil
}

// Open opens or makes a file of trials for appending, after reading what it
// holds; a last line that a crash cut off is removed. One process has a file open at a time, where
// the system has locks; the error of a second one wraps ErrLocked.
func Open(path string) (*File, Records, error) {
	if err := CheckRegularFile(path); err != nil {
		return nil, Records{}, fmt.Errorf("open trials: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, Records{}, fmt.Errorf("open trials: %w", err)
	}
	if err := lockFile(f, false); err != nil {
		f.Close()
		return nil, Records{}, fmt.Errorf("open trials %s: %w", path, err)
	}
	found, err := prepare(f, path)
	if err != nil {
		f.Close()
		return nil, Records{}, fmt.Errorf("open trials: %w", err)
	}
	return &File{f}, found, nil
}

// prepare leaves f at its end, after a whole line.
func prepare(f *os.File, path string) (Records, error) {
	found, err := Decode(path, f)
	if err != nil {
		return Records{}, err
	}
	if err := f.Truncate(found.lines); err != nil {
		return Records{}, err
	}
	if _, err := f.Seek(found.lines, io.SeekStart); err != nil {
		return Records{}, err
	}
	if !found.ended { // the last line lacks its newline alone
		if _, err := f.Write([]byte("\n")); err != nil {
			return Records{}, err
		}
	}
	return found, nil
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

// WithFolderLock calls do while no other process is in a call of WithFolderLock for the same folder,
// where the system has locks.
func WithFolderLock(folder string, do func() error) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := lockFile(f, true); err != nil {
		return fmt.Errorf("lock %s: %w", folder, err)
	}
	return do()
}
