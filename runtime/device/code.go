package device

// Code is the machine code that GPUs load: the images of a binary, or variants compiled on demand.
type Code interface {
	// CheckCapability says why nothing runs on a device of a compute capability; byPTX: there is
	// PTX alone, for the driver to compile.
	CheckCapability(major, minor int) (byPTX bool, err error)
	// CheckVariant says why a variant, by its hash, cannot be loaded there.
	CheckVariant(variant uint64, major, minor int) error
	// Image returns the fatbin that holds a variant, and its name.
	Image(variant uint64, major, minor int) (name string, code []byte, byPTX bool, err error)
	// Needs is the least version of CUDA that a driver must support to load them,
	// 13000 for 13.0, and the release of the driver that does; 0: any.
	Needs() (version int, release string)
	// Compiler is the version and the flags of the compiler that made the images; empty where
	// unknown.
	Compiler() string
}
