package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"coalesce/autotune/tuned"
	"coalesce/internal/cli/tuning"
	"coalesce/runtime/bundle"
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

// database returns the tuning data that variants are chosen from: the winners in the binary, those of
// its bundle, and those of a file, by default the user's own. A missing or broken file is an error
// only if the user named it.
func (a *app) database(named string) (*tuned.Database, error) {
	db, err := a.bundled(tuned.Shipped())
	if err != nil {
		return nil, err
	}
	path := named
	if path == "" {
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

// winnersSoFar are those of a running tune's file, which may not exist yet, over the binary's but for one class of device.
func (a *app) winnersSoFar(path, without string) (*tuned.Database, error) {
	db, err := tuned.Shipped(), error(nil)
	if without != "" {
		db, err = tuned.Embedded()
	}
	if err == nil {
		db, err = a.bundled(db)
	}
	if err == nil {
		db, err = tuning.Kept(path, db.Without(without))
	}
	return db, err
}

// tuningCommands are the commands about the results of tuning.
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
		Damaged:  a.damaged,
		Subjects: subjects(),
		Usage:    usagef,
	}.Commands()
}

// bundled puts the tuning data of a bundle over db, so that its entries go before those of db.
func (a *app) bundled(db *tuned.Database) (*tuned.Database, error) {
	b, err := bundle.Open()
	if errors.Is(err, bundle.ErrNone) {
		return db, nil
	}
	if err != nil {
		fmt.Fprintf(a.err, "coalesce: going on without the bundle's tuning: %v\n", err)
		return db, nil
	}
	text, err := b.TuningData()
	if err != nil || text == nil {
		return db, err
	}
	own, err := tuned.Decode(b.Name, text)
	if err != nil {
		return nil, err
	}
	return own.Over(db), nil
}
