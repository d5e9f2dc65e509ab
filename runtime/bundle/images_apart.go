//go:build cuda && apart

package bundle

import "io/fs"

func embeddedImages() fs.FS { return nil }

const apart = true
