package device

// A Lender is a Device that can work on memory and streams of the caller, such as a tensor's.
type Lender interface {
	// Lend returns a buffer of n bytes at an address of the device. The memory stays the caller's:
	// Free does not release it. An address of another device or of the host, or one that is no
	// multiple of 64, is an error.
	Lend(address uintptr, n int64) (Buffer, error)
	// LendStream returns a stream of the device's driver by its handle, numbered as Follower's: work goes behind
	// what the caller has given it. The stream stays the caller's: Close does not end it. While the caller captures it into a graph, Launch and
	// Fill are recorded, and nothing else may be called.
	LendStream(handle uintptr) (Stream, error)
}

// A Follower is a Stream that can wait for work of streams that are not this module's.
type Follower interface {
	// Follow makes later work start after all that a stream of the device's driver has
	// been given so far, by its handle: of CUDA, 0 and 1 are the default stream, 2 that of
	// the thread.
	Follow(handle uintptr) error
}

// A Mapper is a Device whose kernels reach memory of the host.
type Mapper interface {
	// Map returns n bytes of the host's memory, and the buffer by which kernels write there. Once a stream has finished
	// its work, or at once behind a fence of the whole system, the host sees what kernels wrote. Free gives the memory back.
	Map(n int) ([]byte, Buffer, error)
}
