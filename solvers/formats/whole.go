package formats

import (
	"errors"
	"fmt"
	"io"
	"os"

	"coalesce/runtime/device"
)

// ErrLong is wrapped by the errors of ReadFile and ReadAll where there are more bytes than the limit.
var ErrLong = errors.New("found more than")

// ReadFile reads a file that is kept in memory whole, of at most so many bytes: one
// without an end, such as a device, is an error that says so.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, path, limit)
}

// ReadAll is ReadFile on an open stream; name is what errors call it.
func ReadAll(r io.Reader, name string, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s: %w %s, expected at most that", name, ErrLong, device.Size(limit))
	}
	return text, nil
}
