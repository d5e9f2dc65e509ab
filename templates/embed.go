// Package templates holds the texts that kernels are rendered from: one
// folder a problem, and the shared headers in cuda/, which is the include
// root's first folder.
package templates

import "embed"

// Files are the templates (*.tmpl) and the shared headers (*.cuh), by path
// relative to this folder.
//
//go:embed */*.tmpl */*.cuh
var Files embed.FS
