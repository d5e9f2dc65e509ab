package formats

import (
	"fmt"
	"io"
	"os"
)

// ReadFile reads a file that is kept in memory whole, of at most so many bytes: one
// without an end, such as a device, is an error that says so.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > most {
		return nil, fmt.Errorf("%s: found more than %d bytes, expected at most that", path, most)
	}
	return text, nil
}
