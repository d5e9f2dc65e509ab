package collective

// Ranks are the processes that work together, each on its own host memory: package mpi
// has those that a launcher started. Operations of all ranks are called in the same order
// on each; they return when they are done.
type Ranks interface {
	Rank() int // this process, from 0
	Size() int // all of them
	// Broadcast brings the root's bytes to all.
	Broadcast(p []byte, root int) error
	// AllReduce combines the values of all, value by value, in all.
	AllReduce(p []byte, t Type, op Op) error
	// AllGather gives all the parts of all: rank i brings bytes bounds[i] to bounds[i+1].
	AllGather(p []byte, bounds []int64) error
}
