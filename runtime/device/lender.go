package device

// A Lender is a Device that can work on memory of the caller, such as a tensor's.
type Lender interface {
	// Lend returns a buffer of n bytes at an address of the device. The memory stays the caller's:
	// Free does not release it. An address of another device or of the host, or one that is no
	// multiple of 64, is an error.
	Lend(address uintptr, n int64) (Buffer, error)
}

// A Follower is a Stream that can wait for work of streams that are not this module's.
type Follower interface {
	// Follow makes later work start after all that a stream of the device's driver has
	// been given so far, by its handle: of CUDA, 0 and 1 are the default stream, 2 that of
	// the thread.
	Follow(handle uintptr) error
}
