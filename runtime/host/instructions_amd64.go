package host

import "golang.org/x/sys/cpu"

// instructionSet names the widest vector instructions of the processor that kernels are written for; avx512 stands
// for all its extensions that one of these needs.
func instructionSet() string {
	x := &cpu.X86
	switch {
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return "avx512"
	case x.HasAVX2:
		return "avx2"
	case x.HasSSE42:
		return "sse4.2"
	}
	return "none"
}
