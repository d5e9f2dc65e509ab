//go:build cuda && !apart

package bundle

import (
	"embed"
	"io/fs"
)

// images does not compile when the folder is missing: scripts/build-cuda
// makes it.
//
//go:embed all:images
var images embed.FS

func embeddedImages() fs.FS {
	folder, err := fs.Sub(images, "images")
	if err != nil {
		panic(err) // the name is a constant
	}
	return folder
}

// apart: the images lie behind the executable, and a program without them was cut off.
const apart = false
