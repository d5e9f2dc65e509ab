//go:build !cuda

package bundle

import "io/fs"

func embedded() fs.FS { return nil }

const apart = false
