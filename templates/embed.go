// Package templates holds the texts that kernels consist of: a folder a problem, in which each family has its
// own with its bodies, and the shared headers in cuda/, which is the include root's first folder.
package templates

import "embed"

// Files are the headers and bodies (*.cuh) by path relative to this folder: what CUDA texts include,
// where they are compiled outside the repository. gen reads them from the repository. Some may be packed
// (runtime/emulated/texts).
//
//go:embed */*.cuh */*/*.cuh
var Files embed.FS
