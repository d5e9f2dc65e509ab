// The emulated device's server: owns buffers and modules, runs launches, and
// answers requests on stdin with replies on stdout (both little-endian, as
// every machine this runs on). A request is op, arguments, payload; a reply is
// status (0 well, else the payload is a message), payload. Lengths are 8 bytes.
#include "schedule.h"
#include <algorithm>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <vector>

enum Op : uint64_t { kAlloc = 1, kFree, kWrite, kRead, kFill, kLoad, kSymbol, kUnload, kLaunch, kCopy };
static const int kArgs = 8;
static const size_t kMostSlots = 256;
static const int kLife = 3; // the parent's pipe

struct Module {
  void *handle;
  std::vector<Range> shared;
};

static int reply_fd;

static bool read_all(void *p, size_t n) {
  char *c = (char *)p;
  while (n) {
    ssize_t r = read(0, c, n);
    if (r < 0 && errno == EINTR) continue;
    if (r <= 0) return false;
    c += r, n -= (size_t)r;
  }
  return true;
}
static void write_all(const void *p, size_t n) {
  const char *c = (const char *)p;
  while (n) {
    ssize_t r = write(reply_fd, c, n);
    if (r < 0 && errno == EINTR) continue;
    if (r <= 0) _exit(0); // nobody listens
    c += r, n -= (size_t)r;
  }
}
static void reply(uint64_t status, const void *p, size_t n) {
  uint64_t head[2] = {status, n};
  write_all(head, sizeof head);
  write_all(p, n);
}
static void reply_message(const char *m) { reply(1, m, strlen(m)); }
static void reply_value(uint64_t v) { reply(0, &v, sizeof v); }

extern "C" long long emu_clock() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}

// Poison goes over red zones too, so it is written past the sanitizer.
EMU_NO_ASAN static void poison(char *at, size_t size) {
#ifdef EMU_ASAN
  for (volatile char *p = at; p < at + size; p++) *p = (char)0xa5;
#else
  if (size) memset(at, 0xa5, size);
#endif
}

// run_group runs as many blocks at once as there are, from number first on.
// Shared memory is poisoned before.
static void run_group(uint64_t first) {
  for (const Range &r : *shared) poison(r.at, r.size);
  for (size_t i = 0; i < blocks.size(); i++) {
    Block &b = blocks[i];
    poison(b.dynamic, dynamic_bytes);
    std::fill(b.kept.begin(), b.kept.end(), 0xa5a5a5a5a5a5a5a5ull);
    begin(&b, (unsigned)(first + i));
  }
  run();
}

// run_groups runs n groups of blocks one after the other in a permuted order:
// whole for small grids, a stride for large ones.
static void run_groups(uint64_t n) {
  std::vector<uint32_t> order;
  uint64_t stride = 1, start = 0;
  if (n <= 1 << 16) {
    for (uint64_t i = 0; i < n; i++) order.push_back((uint32_t)i);
    for (uint64_t i = n; i > 1; i--) {
      uint64_t j = random_below(i);
      uint32_t x = order[i - 1];
      order[i - 1] = order[j], order[j] = x;
    }
  } else {
    start = random_below(n);
    for (;;) {
      stride = 1 + random_below(n - 1);
      uint64_t a = stride, b = n;
      while (b) { uint64_t c = a % b; a = b, b = c; }
      if (a == 1) break;
    }
  }
  for (uint64_t i = 0; i < n && !failure[0]; i++) {
    uint64_t b = order.empty() ? (start + (uint64_t)((unsigned __int128)i * stride % n)) % n : order[i];
    run_group(b * blocks.size());
  }
}

static std::vector<char *> stacks; // of all launches so far

// make_blocks makes n blocks with stacks for their threads and room for their
// shared memory.
static bool make_blocks(size_t n) {
  size_t need = n * (size_t)threads, words = 0, next = 0;
  if (stacks.size() < need) {
    while (stacks.size() < need) {
      char *s = stack_new();
      if (!s) return false;
      stacks.push_back(s);
    }
    context_tell(*std::min_element(stacks.begin(), stacks.end()), *std::max_element(stacks.begin(), stacks.end()) + kStack);
  }
  for (const Range &r : *shared) words += (r.size + 7) / 8;
  stay = words > 512 ? 255 : 63; // what a block keeps is copied at each change
  blocks = std::vector<Block>(n);
  for (Block &b : blocks) {
    b.fibers = std::vector<Fiber>((size_t)threads);
    b.runnable = std::vector<int>((size_t)threads);
    b.stacks.assign(stacks.begin() + (long)next, stacks.begin() + (long)next + threads);
    next += (size_t)threads;
    if (dynamic_bytes && posix_memalign((void **)&b.dynamic, 128, dynamic_bytes)) return false;
    if (n > 1) b.kept = std::vector<uint64_t>(words);
  }
  return true;
}

// arg: trampoline, module, blocks, threads, seed, seconds, bytes of dynamic
// shared memory, blocks that run at once and above them 1 << 32 where those are
// a cluster; payload: slots.
static void launch(const uint64_t *arg, const std::vector<char> &in) {
  failure[0] = 0;
  if (arg[3] < 1 || arg[3] > (uint64_t)kThreads || arg[2] < 1 || arg[2] > INT_MAX || in.size() > kMostSlots * 8) {
    return reply_message("the launch has an impossible shape");
  }
  uint64_t slots[kMostSlots] = {0};
  if (!in.empty()) memcpy(slots, in.data(), in.size());
  body = (void (*)(const uint64_t *))arg[0];
  body_slots = slots;
  threads = (int)arg[3];
  emu_block_dim.x = (unsigned)arg[3];
  emu_grid_dim.x = (unsigned)arg[2];
  rng = arg[4];
  shared = &((const Module *)arg[1])->shared;
  uint64_t group = arg[7] & 0xffffffff;
  clustered = arg[7] >> 32;
  dynamic_bytes = arg[6];
  if (!group || arg[2] % group) return reply_message("the launch has an impossible shape");
  if (!make_blocks(group)) return reply_message("no memory for the threads' stacks");
  alarm((unsigned)arg[5]); // should the parent be gone
  run_groups(arg[2] / group);
  alarm(0);
  for (size_t i = 0; i < group * (size_t)threads && !failure[0]; i++)
    if (!stack_whole(stacks[i])) say("thread %d used more than the %zu bytes of its stack", (int)(i % (size_t)threads), kStack);
  fflush(stdout);
  for (Block &b : blocks) free(b.dynamic);
  blocks.clear();
  if (failure[0]) return reply_message(failure);
  reply(0, "", 0);
}

// load opens a shared object; payload: pairs of (address, size) relative to the
// object's base, then its path. arg: pairs, address of the anchor symbol.
static void load(const uint64_t *arg, const std::vector<char> &in) {
  uint64_t n = arg[0];
  if (n > in.size() / 16) return reply_message("a bad load request");
  const char *path = in.data() + 16 * n; // ends in zero: see main
  void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!h) return reply_message(dlerror());
  void *anchor = dlsym(h, "emu_anchor");
  if (!anchor) return reply_message("the module has no anchor");
  char *base = (char *)anchor - arg[1];
  Module *m = new Module{h, {}};
  for (uint64_t i = 0; i < n; i++) {
    uint64_t r[2];
    memcpy(r, in.data() + 16 * i, sizeof r);
    m->shared.push_back(Range{base + r[0], (size_t)r[1]});
  }
  reply_value((uint64_t)m);
}

static void alloc(uint64_t n) {
  void *p = nullptr;
  if (posix_memalign(&p, 256, n) || !p) return reply_message("out of memory");
  memset(p, 0xa5, n);
  reply_value((uint64_t)p);
}

// watch_parent ends this process, in the middle of a launch too, when the parent
// has ended, however that came about: nobody else holds the other end of its pipe.
static void *watch_parent(void *) {
  char c;
  ssize_t r;
  do r = read(kLife, &c, 1);
  while (r < 0 && errno == EINTR);
  _exit(0);
}

int main() {
  // The terminal's ctrl-C is the parent's to act on; like the parent, this
  // process ends at the second.
  signal(SIGINT, [](int) { signal(SIGINT, SIG_DFL); });
  signal(SIGUSR1, SIG_IGN); // as well, from a launcher of MPI
  pthread_t watcher;
  if (pthread_create(&watcher, nullptr, watch_parent, nullptr)) _exit(1);
  reply_fd = dup(1);
  dup2(2, 1); // what kernels print is talk
  reply(0, "", 0);
  uint64_t head[2 + kArgs]; // op, arguments, payload's length
  while (read_all(head, sizeof head)) {
    const uint64_t *arg = head + 1;
    uint64_t n = head[1 + kArgs];
    if (head[0] == kWrite) { // straight into the buffer
      if (!read_all((void *)arg[0], n)) break;
      reply(0, "", 0);
      continue;
    }
    if (n > 1 << 20) {
      reply_message("a request is too long");
      break;
    }
    std::vector<char> in(n + 1, 0);
    if (!read_all(in.data(), n)) break;
    switch (head[0]) {
    case kAlloc: alloc(arg[0]); break;
    case kFree: free((void *)arg[0]); reply(0, "", 0); break;
    case kRead: reply(0, (const void *)arg[0], arg[1]); break;
    case kCopy: memmove((void *)arg[0], (const void *)arg[1], arg[2]); reply(0, "", 0); break;
    case kFill: memset((void *)arg[0], (int)arg[2], arg[1]); reply(0, "", 0); break;
    case kLoad: load(arg, in); break;
    case kSymbol: reply_value((uint64_t)dlsym(((Module *)arg[0])->handle, in.data())); break;
    case kUnload: {
      Module *m = (Module *)arg[0];
      dlclose(m->handle);
      delete m;
      reply(0, "", 0);
      break;
    }
    case kLaunch: in.pop_back(); launch(arg, in); break;
    default: reply_message("an unknown request");
    }
  }
  _exit(0);
}
