// Package templates holds the texts that kernels are rendered from: a folder a
// problem, in which each family of several files has its own, and the shared headers
// in cuda/, which is the include root's first folder.
package templates

import "embed"

// Files are the shared headers (*.cuh) by path relative to this folder: what CUDA texts include,
// where they are compiled outside the repository. gen reads the templates from the repository.
//
//go:embed */*.cuh
var Files embed.FS
