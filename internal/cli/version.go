package cli

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"coalesce/autotune/tuned"
	"coalesce/internal/cli/kernels"
	"coalesce/internal/cli/run"
	"coalesce/internal/ui"
	"coalesce/runtime/bundle"
)

// commit is set by the linker's -X (scripts/build-cuda) in builds for which Go does not stamp the
// commit. It goes before Go's stamp.
var commit string

// release is set by the linker's -X (scripts/release): the version, such as "v0.1.0", where Go stamps none.
var release string

// version describes the program and its contents.
type version struct {
	Version       string   `json:"version"`       // of the module, "devel" where it was not released
	Commit        string   `json:"commit"`        // hexadecimal, with -dirty where files were changed; "unknown"
	Go            string   `json:"go"`            // such as "go1.26.0"
	System        string   `json:"system"`        // such as "linux/amd64"
	CUDA          string   `json:"cuda"`          // of the compiler of the images, "none" without images, "unknown" without their description
	Architectures []string `json:"architectures"` // that the images are for
	Driver        string   `json:"driver"`        // release of the least driver that loads the images, "none" without images
	Images        int      `json:"images"`        // how many there are
	Families      []string `json:"families"`      // that a bundle was made for; none: all
	OwnTuning     string   `json:"own_tuning"`    // of the tuning data that a bundle carries, as Tuning; "none" without
	Tuning        string   `json:"tuning"`        // first 12 digits of the SHA-256 of the embedded tuning data
}

// readVersion reads the version from the build information and the bundle.
func readVersion() (version, error) {
	v := version{Version: "devel", Commit: "unknown", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		CUDA: "none", Architectures: []string{}, Driver: "none", Families: []string{}, OwnTuning: "none", Tuning: tuned.Fingerprint()[:12]}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.stamp(info, commit)
	}
	b, err := bundle.Open()
	switch {
	case errors.Is(err, bundle.ErrNone):
		return v, nil
	case err != nil:
		return v, err
	}
	v.CUDA, v.Architectures, v.Driver, v.Images = b.CUDA, b.Architectures, b.Driver, len(b.Images)
	v.Families = append(v.Families, b.Families...)
	if b.Tuning != nil {
		v.OwnTuning = fmt.Sprintf("%.12s", b.Tuning.SHA256)
	}
	return v, nil
}

// stamp sets the version and the commit from Go's build information and the linker's.
func (v *version) stamp(info *debug.BuildInfo, linked string) {
	if m := info.Main.Version; release != "" {
		v.Version = release
	} else if m != "" && m != "(devel)" {
		v.Version = m
	}
	revision, dirty := "", false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	switch {
	case linked != "":
		v.Commit = linked
	case revision != "" && dirty:
		v.Commit = revision + "-dirty"
	case revision != "":
		v.Commit = revision
	}
}

func versionCommand(a *run.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the version and the content of this binary",
		Long: `Show the version and commit of this binary, the Go that built it, the CUDA version of
its images (none in the plain binary), their architectures, families and least driver,
and the hash of its tuning data. The plain binary describes itself: it does not hand
over to coalesce-cuda.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return printVersion(a, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// versionFlag makes `coalesce --version` print the same as `coalesce version`.
func versionFlag(a *run.App, root *cobra.Command) {
	var asked bool
	root.Flags().BoolVar(&asked, "version", false, "show the version and the content of this binary")
	act := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if asked && len(args) == 0 {
			return printVersion(a, false)
		}
		return act(cmd, args)
	}
}

func printVersion(a *run.App, asJSON bool) error {
	v, err := readVersion()
	if err != nil {
		return err
	}
	if asJSON {
		return run.PrintJSON(a.Out, v)
	}
	var t ui.Table
	t.Row("version", v.Version)
	t.Row("commit", v.Commit)
	t.Row("go", fmt.Sprintf("%s %s", v.Go, v.System))
	t.Row("cuda", v.CUDA)
	if b, err := bundle.Open(); err == nil {
		for _, row := range kernels.ContentRows(b) {
			t.Row(row[0], row[1])
		}
	}
	t.Row("tuning data", v.Tuning)
	return t.Write(a.Out)
}
