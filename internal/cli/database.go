package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"coalesce/autotune/tuned"
	"coalesce/internal/cli/tuning"
	"coalesce/runtime/device"
)

// userDatabase is the file, below the user's configuration folder, where
// tuning leaves its winners unless told otherwise, and where solving looks.
var userDatabase = filepath.Join("coalesce", "tuned.json")

// databasePath is the user's database.
func databasePath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the user's %s: %w (--output or --tuned names a file)", userDatabase, err)
	}
	return filepath.Join(dir, userDatabase), nil
}

// database is what variants are chosen from: the winners that the binary
// carries and those of a file, by default the user's own. A missing or broken
// file is an error only where it was named.
func (a *app) database(named string) (*tuned.Database, error) {
	db, path := tuned.Shipped(), named
	if path == "" {
		var err error
		if path, err = databasePath(); err != nil {
			return db, nil
		}
	}
	own, err := tuned.Load(path)
	switch {
	case err == nil:
		return own.Over(db), nil
	case named != "":
		return nil, err
	case !errors.Is(err, os.ErrNotExist):
		fmt.Fprintf(a.err, "coalesce: going on without the user's tuning: %v\n", err)
	}
	return db, nil
}

// tuningCommands are those about what tuning left behind.
func (a *app) tuningCommands() []*cobra.Command {
	return tuning.Env{
		Out: a.out,
		Device: func(name string, threads int, work func(device.Device) error) error {
			if err := a.handOver(name); err != nil {
				return err
			}
			return a.withDevice(name, threads, work)
		},
		Path:     databasePath,
		Subjects: subjects(),
		Usage:    usagef,
	}.Commands()
}
