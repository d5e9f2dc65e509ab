package tuning

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"coalesce/autotune"
	"coalesce/autotune/subject"
	"coalesce/runtime/device"
	"coalesce/runtime/ondemand"
)

// SpaceFull is the value of --space that has every point of a family rendered.
const SpaceFull = "full"

// ExtendFamily adds the points of a folder to their family, before a device is opened.
func ExtendFamily(dir string, subjects []subject.Subject) (*ondemand.Points, error) {
	p, err := ondemand.Open(dir)
	if err != nil {
		return nil, err
	}
	f := family(subjects, p.Family())
	if f == nil {
		return nil, fmt.Errorf("%s: family %q is not among those to tune", dir, p.Family())
	}
	return p, p.Extend(f)
}

// family finds one by its name; nil: there is none.
func family(subjects []subject.Subject, name string) *device.Family {
	at := slices.IndexFunc(subjects, func(s subject.Subject) bool { return s.Family().Name == name })
	if at < 0 {
		return nil
	}
	return subjects[at].Family()
}

// RenderSpace has the kernel compiler of the checkout, in whose folders the program was
// started, write every point of a family's space into the user's cache.
func RenderSpace(ctx context.Context, f *device.Family) (dir string, err error) {
	root, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(root, "go.generate")); missing == nil {
			break
		}
		if filepath.Dir(root) == root {
			return "", errors.New("--space full renders kernels from go.generate and templates/: expected to be started in a checkout of the sources")
		}
		root = filepath.Dir(root)
	}
	cache, failed := os.UserCacheDir()
	if err = errors.Join(err, failed); err != nil {
		return "", err
	}
	dir = filepath.Join(cache, "coalesce", "points", fmt.Sprintf("%s-%016x", strings.ReplaceAll(f.Name, "/", "-"), f.Hash))
	gen := []string{"run", "./gen"}
	if _, missing := os.Stat(filepath.Join(root, "gen", "main.go")); missing != nil { // another module's tool
		gen = []string{"tool", "gen"}
	}
	cmd := exec.CommandContext(ctx, "go", append(gen, "--only", f.Name, "--space", SpaceFull, "points", dir)...)
	cmd.Dir = root
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %.2000s", cmd, err, said)
	}
	return dir, nil
}

// Advise tells of winners among added points, which the binary does not hold, and how one
// is built that does.
func Advise(say func(string), p *ondemand.Points, sums []autotune.Summary, subjects []subject.Subject) {
	f, told := family(subjects, p.Family()), map[string]bool{}
	for _, sum := range sums {
		for _, w := range sum.Winners {
			v := f.Variant(w.Variant)
			if sum.Family == f.Name && v != nil && p.Added(v.Hash) && !told[w.Variant] {
				told[w.Variant] = true
				say(fmt.Sprintf("this binary does not hold a winner of %s: add to its space in go.generate, then go generate ./... and build:\n\tpoint  %q", f.Name, w.Variant))
			}
		}
	}
}
