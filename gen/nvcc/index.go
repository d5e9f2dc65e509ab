package nvcc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A unit is the content of one image: the safe variants of a pack, or its others, for one
// architecture. The safe variants of the lowest architecture are there as PTX too: where no image
// fits, the driver compiles everything in a unit, and these are few.
type unit struct {
	pack     *Pack
	arch     string // "sm_90"
	ptx      bool
	variants []Variant
}

// units lists the images that a job needs.
func (job *Job) units() []unit {
	low := slices.MinFunc(job.Archs, func(a, b string) int { return number(a) - number(b) })
	var out []unit
	for i := range job.Packs {
		p := &job.Packs[i]
		for _, arch := range job.Archs {
			var safe, others []Variant
			for _, v := range p.Variants {
				switch {
				case v.Least > number(arch) || job.Some && !v.Held:
				case v.Safe:
					safe = append(safe, v)
				default:
					others = append(others, v)
				}
			}
			if len(safe) > 0 {
				out = append(out, unit{p, arch, arch == low, safe})
			}
			if len(others) > 0 {
				out = append(out, unit{p, arch, false, others})
			}
		}
	}
	return out
}

// number reads the number of "sm_90".
func number(arch string) int { return archNumber(strings.TrimPrefix(arch, "sm_")) }

// indexName is the file beside the images that lists their contents and the compiler: an Index as
// JSON. The bundle embeds and reads it.
const indexName = "build.json"

// An Index lists images.
type Index struct {
	CUDA          string   `json:"cuda"`          // the version of nvcc
	Least         int      `json:"least"`         // CUDA version of the least driver that loads the images: 13000 for 13.0
	Driver        string   `json:"driver"`        // its release: "580"
	Flags         []string `json:"flags"`         // that the code depends on
	Architectures []string `json:"architectures"` // in the order they were asked for
	Images        []Image  `json:"images"`
}

// An Image is one compressed fatbin.
type Image struct {
	File       string   `json:"file"`           // its name: content hash and .zst
	Arch       string   `json:"arch"`           // "sm_90"
	PTX        bool     `json:"ptx,omitempty"`  // it holds PTX for all architectures from Arch on
	Held       bool     `json:"held,omitempty"` // some of its variants are safe, won, or are named by hold in go.generate
	Variants   []string `json:"variants"`       // their hashes, 16 hexadecimal digits each
	Bytes      int64    `json:"bytes"`          // of the fatbin
	Compressed int64    `json:"compressed"`     // of the file
	SHA256     string   `json:"sha256"`         // of the file
}

// installImage compresses an object into the folder of images, unless it is there.
func (b *build) installImage(ctx context.Context, u *unit, key, object string) (Image, error) {
	code, err := os.ReadFile(object)
	if err != nil {
		return Image{}, err
	}
	packed, err := compressCached(ctx, object, code)
	if err != nil {
		return Image{}, err
	}
	image := Image{File: key + ".zst", Arch: u.arch, PTX: u.ptx, Bytes: int64(len(code)), Compressed: int64(len(packed))}
	for _, v := range u.variants {
		image.Held = image.Held || v.Held
		image.Variants = append(image.Variants, fmt.Sprintf("%016x", v.Hash))
	}
	sum := sha256.Sum256(packed)
	image.SHA256 = hex.EncodeToString(sum[:])
	path := filepath.Join(b.job.Images, image.File)
	if old, err := os.ReadFile(path); err == nil && sha256.Sum256(old) == sum {
		return image, nil
	}
	return image, replaceFile(path, packed)
}

// writeIndex writes the index of the job's images. A build of some families only leaves
// those of the others in it.
func (b *build) writeIndex() (*Index, error) {
	index := &Index{CUDA: b.tk.Full, Least: 1000 * b.tk.Major, Driver: leastDriver[b.tk.Major], Flags: slices.Concat(optimise, b.job.Flags), Architectures: b.job.Archs, Images: b.images}
	if a := b.job.PTXAS; a != nil {
		index.Least, index.Driver = 1000*a.Major, leastDriver[a.Major]
	}
	file := filepath.Join(b.job.Images, indexName)
	if text, err := os.ReadFile(file); err == nil && b.job.Keep {
		var old Index
		if err := json.Unmarshal(text, &old); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if old.CUDA != index.CUDA || old.Least != index.Least || !slices.Equal(old.Architectures, index.Architectures) {
			return nil, fmt.Errorf("%s: the images of the other families are of CUDA %s, driver %s, for %s, expected CUDA %s, driver %s, for %s: build all families",
				file, old.CUDA, old.Driver, strings.Join(old.Architectures, ","), index.CUDA, index.Driver, strings.Join(index.Architectures, ","))
		}
		made := map[string]bool{} // variant and architecture
		for _, i := range index.Images {
			for _, v := range i.Variants {
				made[v+i.Arch] = true
			}
		}
		for _, i := range old.Images {
			if !slices.ContainsFunc(i.Variants, func(v string) bool { return made[v+i.Arch] }) {
				index.Images = append(index.Images, i)
			}
		}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	slices.SortFunc(index.Images, func(a, b Image) int { return strings.Compare(a.File, b.File) })
	text, err := json.MarshalIndent(index, "", "\t")
	if err != nil {
		return nil, err
	}
	if err := replaceFile(file, append(text, '\n')); err != nil {
		return nil, fmt.Errorf("write the index of the images: %w", err)
	}
	return index, nil
}

// leastDriver is the release of the driver from which code of a major version of
// CUDA loads (CUDA Compatibility, minor version compatibility).
var leastDriver = map[int]string{12: "525", 13: "580"}

// writeReports writes ptxas's output about each pack to the cache.
func (b *build) writeReports() error {
	for hash, rep := range b.reports {
		text, err := json.MarshalIndent(rep, "", "\t")
		if err == nil {
			err = replaceFile(reportPath(b.job.Cache, hash), append(text, '\n'))
		}
		if err != nil {
			return fmt.Errorf("keep the report of %s: %w", rep.File, err)
		}
	}
	return nil
}

// deleteStale removes the images that the index does not name.
func (b *build) deleteStale(index *Index) error {
	want := map[string]bool{indexName: true}
	for _, i := range index.Images {
		want[i.File] = true
	}
	entries, err := os.ReadDir(b.job.Images)
	if err != nil {
		return fmt.Errorf("look for stale images: %w", err)
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); want[e.Name()] || ext != ".zst" && ext != ".fatbin" {
			continue
		}
		if err := os.Remove(filepath.Join(b.job.Images, e.Name())); err != nil {
			return fmt.Errorf("delete a stale image: %w", err)
		}
		b.res.Stale++
	}
	if b.job.Keep {
		return nil
	}
	return b.pruneCache()
}
