package nvcc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// An Assembler is the ptxas of an older toolkit, whose machine code older drivers
// load: nvcc makes PTX, whose version is lowered to one that the assembler reads.
type Assembler struct {
	Path    string
	Version string // "12.9.86"
	Major   int
}

// FindAssembler asks the ptxas at a path for its version.
func FindAssembler(path string) (*Assembler, error) {
	tk := &Toolkit{NVCC: path}
	if err := tk.readVersion(); err != nil {
		return nil, err
	}
	if tk.Major != 12 || tk.Minor != 9 {
		return nil, fmt.Errorf("%w: %s is of CUDA %s, expected 12.9, which reads PTX %s", ErrVersion, path, tk.Full, lowered)
	}
	return &Assembler{Path: path, Version: tk.Full, Major: tk.Major}, nil
}

// lowered is the version of PTX that ptxas 12.9 reads at most (PTX ISA, release history).
const lowered = "8.8"

var ptxVersion = regexp.MustCompile(`(?m)^\.version +9\.[0-9]+$`)

// assemble makes an image through PTX and the older ptxas.
func (b *build) assemble(ctx context.Context, u *unit, file, out string) (string, error) {
	num := strings.TrimPrefix(u.arch, "sm_")
	ptx, cubin := b.tempPath(".ptx"), b.tempPath(".cubin")
	args := append([]string{"-ptx", "-O3", "-std=c++17", "-gencode", "arch=compute_" + num + ",code=compute_" + num}, b.job.Flags...)
	for _, d := range b.job.Include {
		args = append(args, "-I", d)
	}
	if _, err := b.tk.run(ctx, append(args, "-o", ptx, file), b.job.Timeout); err != nil {
		return "", err
	}
	text, err := os.ReadFile(ptx)
	if err != nil {
		return "", err
	}
	if !ptxVersion.Match(text) {
		return "", &compileError{fmt.Sprintf("nvcc's PTX has no line .version 9.N to lower to %s", lowered)}
	}
	if err := os.WriteFile(ptx, ptxVersion.ReplaceAll(text, []byte(".version "+lowered)), 0o666); err != nil {
		return "", err
	}
	ptxas := &Toolkit{NVCC: b.job.PTXAS.Path}
	said, err := ptxas.run(ctx, []string{"-v", "-O3", "-arch=" + u.arch, "-o", cubin, ptx}, b.job.Timeout)
	if err != nil {
		return "", err
	}
	join := []string{"--create=" + out, "-64", "--compress=false", "--image3=kind=elf,sm=" + num + ",file=" + cubin}
	if u.ptx {
		join = append(join, "--image3=kind=ptx,sm="+num+",file="+ptx)
	}
	fatbinary := &Toolkit{NVCC: filepath.Join(filepath.Dir(b.tk.NVCC), "fatbinary")}
	if _, err := fatbinary.run(ctx, join, b.job.Timeout); err != nil {
		return "", err
	}
	return said, nil
}
