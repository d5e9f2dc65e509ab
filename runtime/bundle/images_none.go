//go:build !cuda

package bundle

import "io/fs"

func embeddedImages() fs.FS { return nil }

const apart = false
