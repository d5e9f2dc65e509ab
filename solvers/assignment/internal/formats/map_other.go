//go:build !unix

package formats

import (
	"errors"
	"os"
)

// mapFile maps nothing: files are read.
func mapFile(*os.File, int64) ([]byte, func() error, error) {
	return nil, nil, errors.ErrUnsupported
}
