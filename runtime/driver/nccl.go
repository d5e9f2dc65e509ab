//go:build cuda

package driver

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

// What is used of nccl.h, whose binary interface is that of all versions 2.
typedef struct ncclComm *ncclComm_t;
typedef int ncclResult_t; // 0 is success
typedef struct { char internal[128]; } ncclUniqueId;

static struct {
	ncclResult_t (*version)(int *);
	const char *(*message)(ncclResult_t);
	ncclResult_t (*init)(ncclComm_t *, int, const int *);
	ncclResult_t (*unique)(ncclUniqueId *);
	ncclResult_t (*join)(ncclComm_t *, int, ncclUniqueId, int);
	ncclResult_t (*destroy)(ncclComm_t);
	ncclResult_t (*start)(void);
	ncclResult_t (*end)(void);
	ncclResult_t (*broadcast)(const void *, void *, size_t, int, int, ncclComm_t, void *);
	ncclResult_t (*reduce)(const void *, void *, size_t, int, int, ncclComm_t, void *);
} nccl;

// ncclOpen loads a library and returns NULL or what went wrong.
static const char *ncclOpen(const char *name) {
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!lib) return dlerror();
	if (!(*(void **)&nccl.version = dlsym(lib, "ncclGetVersion")) || !(*(void **)&nccl.message = dlsym(lib, "ncclGetErrorString")) ||
	    !(*(void **)&nccl.init = dlsym(lib, "ncclCommInitAll")) || !(*(void **)&nccl.destroy = dlsym(lib, "ncclCommDestroy")) ||
	    !(*(void **)&nccl.unique = dlsym(lib, "ncclGetUniqueId")) || !(*(void **)&nccl.join = dlsym(lib, "ncclCommInitRank")) ||
	    !(*(void **)&nccl.start = dlsym(lib, "ncclGroupStart")) || !(*(void **)&nccl.end = dlsym(lib, "ncclGroupEnd")) ||
	    !(*(void **)&nccl.broadcast = dlsym(lib, "ncclBroadcast")) || !(*(void **)&nccl.reduce = dlsym(lib, "ncclAllReduce")))
		return dlerror();
	return NULL;
}
static ncclResult_t ncclVersion(int *v) { return nccl.version(v); }
static const char *ncclMessage(ncclResult_t r) { return nccl.message(r); }
static ncclResult_t ncclInit(ncclComm_t *c, int n, const int *devices) { return nccl.init(c, n, devices); }
static ncclResult_t ncclUnique(void *id) { return nccl.unique((ncclUniqueId *)id); }
static ncclResult_t ncclJoin(ncclComm_t *c, int size, const void *id, int rank) { return nccl.join(c, size, *(const ncclUniqueId *)id, rank); }
static ncclResult_t ncclDestroy(ncclComm_t c) { return nccl.destroy(c); }
static ncclResult_t ncclStart(void) { return nccl.start(); }
static ncclResult_t ncclEnd(void) { return nccl.end(); }
static ncclResult_t ncclCast(unsigned long long p, size_t n, int root, ncclComm_t c, void *stream) {
	return nccl.broadcast((void *)p, (void *)p, n, 0, root, c, stream);
}
static ncclResult_t ncclReduce(unsigned long long p, size_t n, int type, int op, ncclComm_t c, void *stream) {
	return nccl.reduce((void *)p, (void *)p, n, type, op, c, stream);
}
*/
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"coalesce/runtime/collective"
	"coalesce/runtime/device"
)

// NCCLVariable names the environment variable that may hold the path of NCCL's
// library; without it the loader looks for libnccl.so.2 where it always does.
const NCCLVariable = "COALESCE_NCCL"

// openNCCL loads the library on first use. Nothing links against it.
var openNCCL = sync.OnceValues(func() (string, error) {
	name := cmp.Or(os.Getenv(NCCLVariable), "libnccl.so.2")
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	if message := C.ncclOpen(c); message != nil {
		return "", fmt.Errorf("no NCCL: %s", C.GoString(message))
	}
	var v C.int
	if err := ncclError(C.ncclVersion(&v)); err != nil {
		return "", err
	}
	n := int(v) // 2.9 and later: 21805; before: 2804
	if n >= 10000 {
		return fmt.Sprintf("NCCL %d.%d.%d", n/10000, n/100%100, n%100), nil
	}
	return fmt.Sprintf("NCCL %d.%d.%d", n/1000, n/100%10, n%100), nil
})

func ncclError(r C.ncclResult_t) error {
	if r == 0 {
		return nil
	}
	return errors.New(C.GoString(C.ncclMessage(r)))
}

// ncclLink is a communicator: of one process with a rank for each GPU, or of several
// processes with a GPU each, of which this one holds its own.
type ncclLink struct {
	name  string
	gpus  []*gpu
	comms []C.ncclComm_t
}

// TransportName implements collective.Joiner.
func (g *gpu) TransportName() (string, error) { return openNCCL() }

// UniqueID implements collective.Joiner: NCCL's unique id.
func (g *gpu) UniqueID() ([]byte, error) {
	if _, err := openNCCL(); err != nil {
		return nil, err
	}
	id := make([]byte, C.sizeof_ncclUniqueId)
	return id, ncclError(C.ncclUnique(unsafe.Pointer(&id[0])))
}

// Join implements collective.Joiner.
func (g *gpu) Join(id []byte, rank, size int) (collective.Transport, error) {
	name, err := openNCCL()
	if err != nil {
		return nil, err
	}
	if len(id) != C.sizeof_ncclUniqueId {
		return nil, fmt.Errorf("%s: an id of %d bytes, expected %d", name, len(id), C.sizeof_ncclUniqueId)
	}
	l := &ncclLink{name: name, gpus: []*gpu{g}, comms: make([]C.ncclComm_t, 1)}
	if err := g.enter(); err != nil {
		return nil, err
	}
	defer unlockThread()
	if err := ncclError(C.ncclJoin(&l.comms[0], C.int(size), unsafe.Pointer(&id[0]), C.int(rank))); err != nil {
		return nil, fmt.Errorf("%s does not start: %w", name, err)
	}
	return l, nil
}

// Link makes a group's transport: NCCL, where its library is found.
func (g *gpu) Link(devices []device.Device) (collective.Transport, error) {
	name, err := openNCCL()
	if err != nil {
		return nil, err
	}
	l := &ncclLink{name: name, comms: make([]C.ncclComm_t, len(devices))}
	ids, taken := make([]C.int, len(devices)), map[int]bool{}
	for i, d := range devices {
		x, ok := device.WithoutCache(d).(*gpu)
		if !ok {
			return nil, fmt.Errorf("device %d of the group is not a GPU", i)
		}
		if taken[x.facts.Index] {
			return nil, fmt.Errorf("%s is in the group twice", x.facts)
		}
		taken[x.facts.Index] = true
		l.gpus = append(l.gpus, x)
		ids[i] = C.int(x.facts.Index)
	}
	if err := g.enter(); err != nil {
		return nil, err
	}
	defer unlockThread()
	if err := ncclError(C.ncclInit(&l.comms[0], C.int(len(ids)), &ids[0])); err != nil {
		return nil, fmt.Errorf("%s does not start: %w", name, err)
	}
	return l, nil
}

func (l *ncclLink) Name() string { return l.name }

// ncclTypes and ncclOps are nccl.h's numbers.
var (
	ncclTypes = map[collective.Type]C.int{collective.Int32: 2, collective.Int64: 4, collective.Uint64: 5}
	ncclOps   = map[collective.Op]C.int{collective.Sum: 0, collective.Max: 2, collective.Min: 3}
)

func (l *ncclLink) Broadcast(streams []device.Stream, buffers []device.Buffer, root int, off, n int64) error {
	return l.together(streams, func(i int, stream unsafe.Pointer) error {
		return l.cast(i, buffers[i], root, off, n, stream)
	})
}

func (l *ncclLink) AllReduce(streams []device.Stream, buffers []device.Buffer, off, count int64, t collective.Type, op collective.Op) error {
	return l.together(streams, func(i int, stream unsafe.Pointer) error {
		ptr, err := l.gpus[i].span(buffers[i], off, count*t.Size())
		if err != nil {
			return err
		}
		return ncclError(C.ncclReduce(C.ulonglong(ptr), C.size_t(count), ncclTypes[t], ncclOps[op], l.comms[i], stream))
	})
}

// AllGather is a broadcast of every part, in one group call: parts may differ
// in size.
func (l *ncclLink) AllGather(streams []device.Stream, buffers []device.Buffer, bounds []int64) error {
	return l.together(streams, func(i int, stream unsafe.Pointer) error {
		for root := range len(bounds) - 1 {
			if n := bounds[root+1] - bounds[root]; n > 0 {
				if err := l.cast(i, buffers[i], root, bounds[root], n, stream); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (l *ncclLink) cast(i int, b device.Buffer, root int, off, n int64, stream unsafe.Pointer) error {
	ptr, err := l.gpus[i].span(b, off, n)
	if err != nil {
		return err
	}
	return ncclError(C.ncclCast(C.ulonglong(ptr), C.size_t(n), C.int(root), l.comms[i], stream))
}

// together makes one group call of the operations that enqueue starts for each rank.
func (l *ncclLink) together(streams []device.Stream, enqueue func(i int, stream unsafe.Pointer) error) error {
	if err := l.gpus[0].enter(); err != nil {
		return err
	}
	defer unlockThread()
	if err := ncclError(C.ncclStart()); err != nil {
		return err
	}
	var failed error
	for i, x := range streams {
		s, ok := x.(*stream)
		if !ok || s.g != l.gpus[i] || s.closed {
			failed = fmt.Errorf("stream %d is not an open one of %s", i, l.gpus[i].facts)
			break
		}
		if failed = enqueue(i, unsafe.Pointer(s.s.C())); failed != nil {
			break
		}
	}
	return errors.Join(failed, ncclError(C.ncclEnd()))
}

func (l *ncclLink) Close() error {
	if err := l.gpus[0].enter(); err != nil {
		return err
	}
	defer unlockThread()
	var errs []error
	for _, c := range l.comms {
		errs = append(errs, ncclError(C.ncclDestroy(c)))
	}
	l.comms = nil
	return errors.Join(errs...)
}
