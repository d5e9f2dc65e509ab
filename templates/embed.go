// Package templates holds the texts that kernels are rendered from: a folder a
// problem, in which each family of several files has its own, and the shared headers
// in cuda/, which is the include root's first folder.
package templates

import "embed"

// Files are the templates (*.tmpl) and the shared headers (*.cuh), by path
// relative to this folder.
//
//go:embed */*.tmpl */*/*.tmpl */*.cuh
var Files embed.FS
