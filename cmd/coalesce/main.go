// Command coalesce solves combinatorial-optimisation problems with generated,
// tuned kernels, and tunes them. See internal/cli for its commands.
package main

import (
	"os"

	"coalesce/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
