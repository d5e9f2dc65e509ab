package templates

import (
	"errors"
	"io/fs"
	"slices"
)

// Layers are folders laid over one another: a file is that of the first folder that has it; nil stands for an
// empty folder. Families of another module lay their own bodies over Files, which have the headers of all kernels.
type Layers []fs.FS

// Open opens a file of the first layer that has it.
func (l Layers) Open(name string) (f fs.File, err error) {
	err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	for _, layer := range l {
		if layer == nil {
			continue
		}
		if f, err = layer.Open(name); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return f, err
}

// Glob lists the files of all layers that match a pattern, each once.
func (l Layers) Glob(pattern string) ([]string, error) {
	var all []string
	for _, layer := range slices.DeleteFunc(slices.Clone(l), func(f fs.FS) bool { return f == nil }) {
		names, err := fs.Glob(layer, pattern)
		if err != nil {
			return nil, err
		}
		all = append(all, names...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
