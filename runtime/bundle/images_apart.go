//go:build cuda && apart

package bundle

import "io/fs"

func embedded() fs.FS { return nil }

const apart = true
