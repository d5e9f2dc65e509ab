//go:build cuda

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

func embedded() fs.FS { return images }
