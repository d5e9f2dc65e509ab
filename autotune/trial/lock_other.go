//go:build !unix

package trial

import "os"

// lockFile does nothing: these systems have no lock that ends with its process.
func lockFile(*os.File, bool) error { return nil }
