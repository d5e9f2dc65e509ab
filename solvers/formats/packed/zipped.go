package packed

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"coalesce/runtime/device"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/foreign"
)

// maxArchive is the largest zip archive, in bytes, that a stream may hold: its list of files stands at its end, so that it is
// kept in memory.
const maxArchive = 1 << 30

// openArchive opens the one file of a zip archive, such as the array of a .npz file, or the matrix of scipy.sparse.save_npz. in is the archive from its beginning; at reads
// it at any place, of so many bytes, nil where only in can be read. It returns the name of that file too.
func openArchive(in io.Reader, at io.ReaderAt, size int64) (io.ReadCloser, string, error) {
	if at == nil {
		data, err := io.ReadAll(io.LimitReader(in, maxArchive+1))
		switch {
		case err != nil:
			return nil, "", err
		case len(data) > maxArchive:
			return nil, "", fmt.Errorf("found a zip archive of more than %s in a stream, expected a smaller one, or a file", device.Size(maxArchive))
		}
		at, size = bytes.NewReader(data), int64(len(data))
	}
	archive, err := zip.NewReader(at, size)
	if err != nil {
		return nil, "", fmt.Errorf("found a zip archive that cannot be read: %w", err)
	}
	var files []*zip.File
	var names []string
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, "/") || strings.HasPrefix(f.Name, "__MACOSX/") {
			continue
		}
		files, names = append(files, f), append(names, f.Name)
	}
	if matrix, err := openSparse(files); matrix != nil || err != nil {
		return matrix, "matrix.mtx", err
	}
	if len(files) != 1 {
		return nil, "", fmt.Errorf("found %s, expected one file", foreign.KindOfArchive(names))
	}
	r, err := files[0].Open()
	switch {
	case errors.Is(err, zip.ErrAlgorithm) || files[0].Flags&1 != 0:
		return nil, "", fmt.Errorf("found %s in a zip archive, encrypted or compressed in a way that is not read, expected one that is stored or deflated", formats.Quote(names[0]))
	case err != nil:
		return nil, "", fmt.Errorf("found a zip archive that cannot be read: %w", err)
	}
	return r, path.Base(names[0]), nil
}
