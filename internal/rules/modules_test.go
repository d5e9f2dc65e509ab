package rules

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// modules are the folders, from the root, of the modules that go.work names: the product and
// those that use it.
func modules(t *testing.T) (folders []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	work, err := modfile.ParseWork("go.work", data, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, use := range work.Use {
		folders = append(folders, filepath.Clean(use.Path))
	}
	return folders
}

// The go command reads go.work where that is found and else the go.mod of one module: both
// build the same. Every module is in go.work, but for the examples, which play strangers, and takes the versions that the
// product takes.
func TestModulesAgree(t *testing.T) {
	requirements := func(folder string) (*modfile.File, map[string]string) {
		name := filepath.Join(root, folder, "go.mod")
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := modfile.Parse(name, data, nil)
		if err != nil {
			t.Fatal(err)
		}
		versions := map[string]string{}
		for _, r := range file.Require {
			versions[r.Mod.Path] = r.Mod.Version
		}
		return file, versions
	}
	product, versions := requirements(".")
	var found []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := entry.Name(); entry.IsDir() && name != root && (base[0] == '.' || base == "testdata") {
			return filepath.SkipDir
		}
		if entry.Name() == "go.mod" {
			found = append(found, filepath.Dir(rel(name)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	listed := slices.Sorted(slices.Values(modules(t)))
	slices.Sort(found)
	strangers := slices.DeleteFunc(slices.Clone(found), func(folder string) bool {
		return !strings.HasPrefix(folder, "examples/") && !strings.HasPrefix(folder, "bench/kerneltuner/")
	})
	if found = slices.DeleteFunc(found, func(folder string) bool { return slices.Contains(strangers, folder) }); !slices.Equal(found, listed) {
		t.Errorf("go.mod stands in %v, go.work uses %v", found, listed)
	}
	for _, folder := range slices.Concat(listed, strangers) {
		if folder == "." {
			continue
		}
		file, needs := requirements(folder)
		if want := module + filepath.ToSlash(folder); file.Module.Mod.Path != want && !slices.Contains(strangers, folder) {
			t.Errorf("%s/go.mod: found module %s, expected %s", folder, file.Module.Mod.Path, want)
		}
		if file.Go.Version != product.Go.Version {
			t.Errorf("%s/go.mod: found go %s, the product has go %s", folder, file.Go.Version, product.Go.Version)
		}
		for path, version := range needs {
			if had, shared := versions[path]; shared && had != version {
				t.Errorf("%s/go.mod: found %s %s, the product takes %s", folder, path, version, had)
			}
		}
	}
}

// The pattern ./... stands for the packages of the product, work for those of all modules: CI
// builds, vets and tests the latter.
func TestCIReachesAllModules(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join(root, ".ci", "*"))
	if err != nil {
		t.Fatal(err)
	}
	product := regexp.MustCompile(`(?m)^[^#\n]*\b(go (build|vet|test)|staticcheck\S*) ([^#\n]* )?\./\.\.\.`)
	every := regexp.MustCompile(`(?m)^[^#\n]*\b(go (?:build|vet|test)|staticcheck)(?:@\S+)?(?: -\S+)* work$`)
	missing := []string{"go build", "go test", "go vet", "staticcheck"}
	for _, name := range scripts {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if at := product.FindIndex(data); at != nil && filepath.Base(name) != "kernels" { // which is in modules of strangers
			t.Errorf("%s:%d: found ./..., the product alone, expected work", rel(name), 1+bytes.Count(data[:at[0]], []byte("\n")))
		}
		for _, m := range every.FindAllSubmatch(data, -1) {
			missing = slices.DeleteFunc(missing, func(command string) bool { return command == string(m[1]) })
		}
	}
	if len(missing) > 0 {
		t.Errorf("no script of .ci has %q over all modules", missing)
	}
}
