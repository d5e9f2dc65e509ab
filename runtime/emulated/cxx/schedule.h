// The schedule: threads as fibers, what they wait for, and what warp operations
// and barriers give them. A launch runs its blocks one after the other; a
// cooperative one has them all alive and goes to and fro between them, one of
// clusters those of a cluster.
#ifndef COALESCE_SCHEDULE_H
#define COALESCE_SCHEDULE_H
#include "emulated.h"
#include "fiber.h"
#include <stdarg.h>
#include <vector>

static const int kThreads = 1024;
static const char *kOps[] = {
    "__syncwarp", "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync", "__ballot_sync",
    "__any_sync", "__all_sync", "__match_any_sync", "__match_all_sync", "__reduce_add_sync", "__reduce_min_sync",
    "__reduce_max_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync",
    "__reduce_xor_sync", "__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or", "a cluster's barrier"};

enum State { kRunnable, kWarp, kBarrier, kCluster, kWatch, kDone };

struct alignas(64) Fiber { // a line of the processor's cache
  Context context;
  State state = kDone;
  int op = 0, line = 0;
  unsigned mask = 0, value = 0;            // value: of kWatch
  const char *file = "";
  const volatile unsigned *word = nullptr; // of kWatch: until word & mask != value
};

// Lanes of a warp, a bit each: those that have not ended, and those in a warp operation, with
// what each gave to it and receives. Those that wait are alike if all have one mask and one operation.
struct Warp {
  unsigned live = 0, waiting = 0, mask = 0;
  int op = 0;
  bool alike = true;
  int arg[32], width[32];
  uint64_t value[32], result[32];
};

// A Block has the fibers of its threads, and its shared memory: dynamic is
// where the running block's lies, kept holds the static of one that is not
// running: whole words for each array.
struct Block {
  unsigned index = 0;
  int alive = 0, at_barrier = 0, runnables = 0;
  int met = 0;                 // the thread that came first to the barrier
  uint64_t sum = 0, given = 0; // of the values at this barrier; what the last one gave
  bool alike = true;           // all that came are at the same barrier
  bool drawn = false;          // the last of the runnable goes on next
  std::vector<Fiber> fibers;
  std::vector<char *> stacks; // of the fibers
  std::vector<Warp> warps;
  std::vector<int> runnable;
  char *dynamic = nullptr;
  std::vector<uint64_t> kept;
};

extern "C" {
uint3 emu_thread, emu_block;
dim3 emu_block_dim, emu_grid_dim;
char *emu_dynamic;
}

struct Range { char *at; size_t size; };
struct Watcher { Block *block; int thread; };

static std::vector<Block> blocks; // alive at once
static std::vector<Watcher> watchers; // the threads of state kWatch
static Block *here;               // the running one
static const std::vector<Range> *shared; // static shared memory, the running block's
static size_t dynamic_bytes;
static uint64_t stay; // a block goes on for stay + 1 switches on average where others could
static bool clustered; // the blocks alive are a cluster
static int live_blocks, live_threads, at_cluster;
static int idle; // yields since anything else happened
static const int kIdle = 1 << 22;
static Fiber *fibers; // here's
static Context outside;
static int threads, current;
static void (*body)(const uint64_t *);
static const uint64_t *body_slots;
static char failure[4096]; // not empty: the launch failed
static uint64_t rng;

static inline uint64_t random64() { // splitmix64
  uint64_t z = (rng += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
static inline uint64_t random_below(uint64_t n) { return (uint64_t)(((unsigned __int128)random64() * n) >> 64); }

static void say(const char *format, ...) {
  size_t n = strlen(failure);
  va_list args;
  va_start(args, format);
  vsnprintf(failure + n, sizeof failure - n, format, args);
  va_end(args);
}
static void say_thread(int t) {
  say("block %u, thread %d (warp %d, lane %d)", here->index, t, t / 32, t % 32);
}

static inline void wake_in(Block *b, int t) {
  b->fibers[(size_t)t].state = kRunnable;
  int *last = &b->runnable[(size_t)b->runnables++];
  if (b->drawn) *last = last[-1], last--;
  *last = t;
}
static inline void wake(int t) { wake_in(here, t); }

// wake_lanes wakes the running block's threads from base on that have a bit.
static inline void wake_lanes(int base, unsigned lanes) {
  int *end = &here->runnable[(size_t)here->runnables], next = here->drawn ? *--end : 0;
  for (; lanes; lanes &= lanes - 1) {
    int t = base + __builtin_ctz(lanes);
    fibers[t].state = kRunnable;
    *end++ = t;
  }
  if (here->drawn) *end++ = next;
  here->runnables = (int)(end - here->runnable.data());
}

// draw moves one of the running block's threads that can run, at random, to their end: one of
// eight times any, else one of those that came to run last, which are the lanes of a warp as
// a rule: their stacks are in the processor's caches, and warps get far ahead of one another.
static inline int draw() {
  uint64_t random = random64();
  int n = here->runnables, last = n > 32 && random & 7 ? 32 : n;
  int *end = &here->runnable[(size_t)n - 1], *drawn = end - ((random >> 32) * (uint64_t)last >> 32);
  int t = *drawn;
  *drawn = *end, *end = t;
  return t;
}

// pick takes the thread that was drawn to go on, and draws the next where there is a choice:
// what the next needs is on its way to the processor's caches while this one runs.
static inline int pick() {
  int t = here->drawn ? here->runnable[(size_t)here->runnables - 1] : draw();
  here->runnables--;
  if ((here->drawn = here->runnables > 1)) context_fetch(&fibers[draw()].context);
  return t;
}

// copy_past copies bytes without the sanitizer's checks: shared memory has red
// zones between its arrays, and a call of memcpy would be watched.
EMU_NO_ASAN static void copy_past(char *to, const char *from, size_t n) {
#if !defined(EMU_ASAN)
  memcpy(to, from, n);
#elif defined(__x86_64__)
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
#else
  size_t i = 0;
  for (; i + 8 <= n; i += 8) *(volatile uint64_t *)(to + i) = *(const volatile uint64_t *)(from + i);
  for (; i < n; i++) *(volatile char *)(to + i) = *(const volatile char *)(from + i);
#endif
}

// keep copies static shared memory to out, and restore from in: whole words for
// each array.
static void keep(uint64_t *out) {
  for (const Range &r : *shared) copy_past((char *)out, r.at, r.size), out += (r.size + 7) / 8;
}
static void restore(const uint64_t *in) {
  for (const Range &r : *shared) copy_past(r.at, (const char *)in, r.size), in += (r.size + 7) / 8;
}

// enter makes a block the running one.
static void enter(Block *b) {
  if (here && here != b && !here->kept.empty()) keep(here->kept.data());
  if (here != b && !b->kept.empty()) restore(b->kept.data());
  here = b;
  fibers = b->fibers.data();
  emu_block.x = b->index;
  emu_dynamic = b->dynamic;
}

static inline bool seen(const Fiber &f) { return (*f.word & f.mask) != f.value; }

// look wakes the threads that watch a word which has changed.
static void look() {
  for (size_t i = 0; i < watchers.size();) {
    Watcher w = watchers[i];
    if (!seen(w.block->fibers[(size_t)w.thread])) {
      i++;
      continue;
    }
    watchers[i] = watchers.back();
    watchers.pop_back();
    wake_in(w.block, w.thread);
  }
}

// turn enters a block with threads that can run, at random; here stays where
// there is none.
static void turn() {
  look();
  Block *first = blocks.data(), *end = first + blocks.size(), *b = first + random_below(blocks.size());
  for (size_t i = blocks.size(); i > 0; i--) {
    if (b->runnables) {
      if (b != here) enter(b);
      return;
    }
    if (++b == end) b = first;
  }
}

// go_on leaves the current fiber for another that can run, or for the
// scheduler's caller when none can or the launch failed.
static void go_on() {
  int from = current;
  Context *me = &fibers[from].context, *to = &outside;
  if (!failure[0]) {
    if (!here->runnables || (blocks.size() > 1 && (random64() & stay) == 0)) turn();
    if (here->runnables) {
      current = pick();
      to = &fibers[current].context;
      if (to == me) return;
    }
  }
  context_switch(me, to);
  emu_thread.x = (unsigned)(current = from);
}

// say_apart makes the launch fail where the running block's threads are at different barriers.
static void say_apart() {
  int first = -1;
  for (int t = 0; t < threads; t++) {
    Fiber &f = fibers[t];
    if (f.state != kBarrier) continue;
    if (first < 0) first = t;
    Fiber &g = fibers[first];
    if (f.op == g.op && f.line == g.line && !strcmp(f.file, g.file)) continue;
    say_thread(t);
    say(": at %s (%s:%d) while thread %d is at %s (%s:%d): the block's threads meet at different barriers",
        kOps[f.op], f.file, f.line, first, kOps[g.op], g.file, g.line);
    return;
  }
}

static void barrier_release() {
  if (!here->alike) return say_apart();
  int op = fibers[here->met].op;
  uint64_t sum = here->sum, n = (uint64_t)here->at_barrier;
  here->given = op == EMU_SYNC_COUNT ? sum : op == EMU_SYNC_AND ? sum == n : op == EMU_SYNC_OR ? sum != 0 : 0;
  here->at_barrier = 0;
  for (int base = 0; base < threads; base += 32) wake_lanes(base, here->warps[(size_t)base / 32].live);
}

// say_waiting adds where the running block's threads wait; said counts places.
static void say_waiting(int *said) {
  for (int t = 0; t < threads && *said < 5; t++) {
    Fiber &f = fibers[t];
    if (f.state == kDone) continue;
    bool runs = f.state == kRunnable;
    const char *op = f.state == kWatch ? "a wait for a word to change" : kOps[f.op];
    int same = 0;
    bool first = true;
    for (int u = 0; u < threads; u++) {
      Fiber &g = fibers[u];
      if (g.state != f.state || (!runs && g.line != f.line) || (f.state != kWatch && !runs && g.op != f.op) || (f.state == kWarp && g.mask != f.mask)) continue;
      same++;
      if (u < t) first = false;
    }
    if (!first) continue;
    if ((*said)++) say("; ");
    say_thread(t);
    if (runs) say(" and %d more, which can run", same - 1);
    else say(" and %d more in %s (%s:%d)", same - 1, op, f.file, f.line);
    if (f.state == kWarp) say(" with mask %08x", f.mask);
  }
}

// say_stuck makes the launch fail with why and where all threads are.
static void say_stuck(const char *why) {
  Block *back = here;
  int said = 0, live = 0;
  for (Block &b : blocks) live += b.alive;
  say("%s, %d of %d have ended: ", why, threads * (int)blocks.size() - live, threads * (int)blocks.size());
  for (Block &b : blocks) {
    here = &b;
    fibers = b.fibers.data();
    if (b.alive) say_waiting(&said);
  }
  here = back;
  fibers = here->fibers.data();
}

// warp_all combines what the lanes that arrived gave.
template <class F> static inline uint64_t warp_all(const Warp &w, unsigned arrived, F combine) {
  uint64_t all = w.value[__builtin_ctz(arrived)];
  for (unsigned rest = arrived & (arrived - 1); rest; rest &= rest - 1) all = combine(all, w.value[__builtin_ctz(rest)]);
  return all;
}
// warp_give gives each lane of those that arrived a result.
template <class F> static inline void warp_give(Warp &w, unsigned arrived, F result) {
  for (unsigned rest = arrived; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    w.result[i] = result(i);
  }
}
// warp_move gives each lane of those that arrived another's value. A lane that is not there gives
// what must not be used.
template <class F> static inline void warp_move(Warp &w, unsigned arrived, F source) {
  warp_give(w, arrived, [&](int i) {
    int from = source(i, w.arg[i], i & ~(w.width[i] - 1), w.width[i]);
    return arrived >> from & 1 ? w.value[from] : 0xa5a5a5a5a5a5a5a5ull;
  });
}
static inline unsigned warp_votes(const Warp &w, unsigned arrived) {
  unsigned votes = 0;
  for (unsigned rest = arrived; rest; rest &= rest - 1)
    if (w.value[__builtin_ctz(rest)]) votes |= rest & -rest;
  return votes;
}

// warp_result computes the operation for every lane of those that arrived.
static void warp_result(Warp &w, int op, unsigned arrived) {
  uint64_t all = 0, first = w.value[__builtin_ctz(arrived)];
  switch (op) {
  case EMU_SHFL: return warp_move(w, arrived, [](int, int arg, int segment, int width) { return segment | (arg & (width - 1)); });
  case EMU_SHFL_UP:
    return warp_move(w, arrived, [](int i, int arg, int segment, int) { return (unsigned)arg > 31 || i - arg < segment ? i : i - arg; });
  case EMU_SHFL_DOWN:
    return warp_move(w, arrived, [](int i, int arg, int segment, int width) { return (unsigned)arg > 31 || i + arg >= segment + width ? i : i + arg; });
  case EMU_SHFL_XOR:
    return warp_move(w, arrived, [](int i, int arg, int segment, int width) { return (i ^ (arg & 31)) >= segment + width ? i : i ^ (arg & 31); });
  case EMU_MATCH_ANY:
    return warp_give(w, arrived, [&](int i) {
      uint64_t same = 0;
      for (unsigned rest = arrived; rest; rest &= rest - 1)
        if (w.value[__builtin_ctz(rest)] == w.value[i]) same |= rest & -rest;
      return same;
    });
  case EMU_SYNCWARP: break;
  case EMU_BALLOT: all = warp_votes(w, arrived); break;
  case EMU_ANY: all = warp_votes(w, arrived) != 0; break;
  case EMU_ALL: all = warp_votes(w, arrived) == arrived; break;
  case EMU_MATCH_ALL: all = warp_all(w, arrived, [=](uint64_t a, uint64_t v) { return v == first ? a : ~first; }) == first ? arrived : 0; break;
  case EMU_ADD: all = warp_all(w, arrived, [](uint64_t a, uint64_t v) { return a + v; }); break;
  case EMU_MIN_S: case EMU_MIN_U: all = warp_all(w, arrived, [](uint64_t a, uint64_t v) { return (int64_t)v < (int64_t)a ? v : a; }); break;
  case EMU_MAX_S: case EMU_MAX_U: all = warp_all(w, arrived, [](uint64_t a, uint64_t v) { return (int64_t)v > (int64_t)a ? v : a; }); break;
  case EMU_AND: all = warp_all(w, arrived, [](uint64_t a, uint64_t v) { return a & v; }); break;
  case EMU_OR: all = warp_all(w, arrived, [](uint64_t a, uint64_t v) { return a | v; }); break;
  case EMU_XOR: all = warp_all(w, arrived, [](uint64_t a, uint64_t v) { return a ^ v; }); break;
  }
  warp_give(w, arrived, [=](int) { return all; });
}

// warp_try wakes the lanes that share t's mask when all that live have come.
static inline void warp_try(int t) {
  int base = t & ~31;
  Fiber *lane = fibers + base, &me = fibers[t];
  Warp &w = here->warps[(size_t)t / 32];
  unsigned arrived = me.mask & w.live;
  if (arrived & ~w.waiting) return;
  for (unsigned rest = w.alike ? 0 : arrived; rest; rest &= rest - 1)
    if (lane[__builtin_ctz(rest)].mask != me.mask) return;
  for (unsigned rest = w.alike ? 0 : arrived; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    if (lane[i].op == me.op) continue;
    say_thread(t);
    say(": in %s (%s:%d) while lane %d is in %s (%s:%d) with the same mask %08x", kOps[me.op], me.file, me.line, i,
        kOps[lane[i].op], lane[i].file, lane[i].line, me.mask);
    return;
  }
  warp_result(w, me.op, arrived);
  w.waiting &= ~arrived;
  wake_lanes(base, arrived);
}

extern "C" uint64_t emu_warp(int op, unsigned mask, uint64_t value, int arg, int width, const char *file, int line) {
  Fiber &f = fibers[current];
  Warp &w = here->warps[(size_t)current / 32];
  int lane = current & 31;
  idle = 0;
  f.op = op, f.mask = mask, f.file = file, f.line = line, f.state = kWarp;
  w.value[lane] = value, w.arg[lane] = arg, w.width[lane] = width;
  if (!w.waiting) w.mask = mask, w.op = op, w.alike = true;
  else if (w.mask != mask || w.op != op) w.alike = false;
  w.waiting |= 1u << lane;
  if (!(mask >> lane & 1)) {
    say_thread(current);
    say(": %s (%s:%d) with mask %08x, which does not name the lane itself", kOps[op], file, line, mask);
  } else if (width < 1 || width > 32 || (width & (width - 1))) {
    say_thread(current);
    say(": %s (%s:%d) with width %d, not a power of two up to 32", kOps[op], file, line, width);
  } else {
    warp_try(current);
  }
  go_on();
  return w.result[lane];
}

extern "C" uint64_t emu_barrier(int op, uint64_t value, const char *file, int line) {
  Fiber &f = fibers[current];
  Block *b = here;
  idle = 0;
  f.op = op, f.file = file, f.line = line, f.state = kBarrier;
  if (b->at_barrier++ == 0) {
    b->met = current, b->sum = value, b->alike = true;
  } else {
    Fiber &g = fibers[b->met];
    b->sum += value;
    if (f.op != g.op || f.line != g.line || (f.file != g.file && strcmp(f.file, g.file))) b->alike = false;
  }
  if (b->at_barrier == b->alive) barrier_release();
  go_on();
  return b->given;
}

static void cluster_release() {
  at_cluster = 0;
  for (Block &b : blocks)
    for (int t = 0; t < threads; t++)
      if (b.fibers[(size_t)t].state == kCluster) wake_in(&b, t);
}

extern "C" void emu_cluster_sync(const char *file, int line) {
  Fiber &f = fibers[current];
  idle = 0;
  f.op = EMU_CLUSTER, f.file = file, f.line = line, f.state = kCluster;
  if (!clustered) say_thread(current), say(": a cluster's barrier (%s:%d) in a launch without clusters", file, line);
  else if (++at_cluster == live_threads) cluster_release();
  go_on();
}

extern "C" void *emu_peer(void *p, unsigned rank, const char *file, int line) {
  char *at = (char *)p;
  if (clustered && rank < blocks.size()) {
    Block *b = &blocks[rank];
    if (b == here) return p;
    if (at >= here->dynamic && at < here->dynamic + dynamic_bytes) return b->dynamic + (at - here->dynamic);
    size_t words = 0;
    for (const Range &r : *shared) {
      if (at >= r.at && at < r.at + r.size) return (char *)(b->kept.data() + words) + (at - r.at);
      words += (r.size + 7) / 8;
    }
  }
  say_thread(current);
  say(": no shared memory of block %u of a cluster (%s:%d)", rank, file, line);
  fibers[current].state = kWarp;
  go_on();
  return nullptr;
}

extern "C" void emu_yield() {
  if (++idle == kIdle) say_stuck("threads spin on words that nobody changes");
  wake(current);
  go_on();
}
// emu_watch waits until the word under the mask is no longer the value.
extern "C" void emu_watch(const unsigned *word, unsigned mask, unsigned value, const char *file, int line) {
  Fiber &f = fibers[current];
  f.word = word, f.mask = mask, f.value = value, f.file = file, f.line = line;
  if (seen(f)) return emu_yield();
  f.state = kWatch;
  watchers.push_back(Watcher{here, current});
  go_on();
}
extern "C" void emu_maybe_yield() {
  idle = 0;
  if ((random64() & 7) == 0) emu_yield();
}

extern "C" void emu_trap(const char *file, int line) {
  say_thread(current);
  say(": __trap (%s:%d)", file, line);
  fibers[current].state = kWarp;
  go_on();
}

static void fiber_main() {
  emu_thread.x = (unsigned)current;
  body(body_slots);
  Fiber &f = fibers[current];
  f.state = kDone;
  here->warps[(size_t)current / 32].live &= ~(1u << (current & 31));
  idle = 0;
  if (--here->alive == 0) live_blocks--;
  live_threads--;
  if (here->alive && here->at_barrier == here->alive) barrier_release();
  if (live_threads && at_cluster == live_threads) cluster_release();
  // Lanes of the warp may have waited for this one only.
  int base = current & ~31;
  for (int t = base; t < threads && t < base + 32 && !failure[0]; t++)
    if (fibers[t].state == kWarp && fibers[t].mask >> (current & 31) & 1) warp_try(t);
  go_on();
  abort(); // a thread that has ended is never resumed
}

// begin sets a block's threads at their start.
static void begin(Block *b, unsigned index) {
  b->index = index;
  b->alive = threads;
  b->at_barrier = b->runnables = 0;
  b->drawn = false;
  b->warps.assign((size_t)(threads + 31) / 32, Warp());
  for (int t = 0; t < threads; t++) {
    context_make(&b->fibers[(size_t)t].context, b->stacks[(size_t)t], (unsigned)t, fiber_main);
    b->warps[(size_t)t / 32].live |= 1u << (t & 31);
    wake_in(b, t);
  }
}

// run runs the blocks that have begun to their end; failure says why it could
// not.
static void run() {
  live_blocks = (int)blocks.size();
  live_threads = live_blocks * threads;
  idle = at_cluster = 0;
  watchers.clear();
  here = nullptr;
  turn();
  current = pick();
  context_switch(&outside, &fibers[current].context);
  if (!failure[0] && live_blocks) say_stuck("threads wait for one another");
  for (Block &b : blocks)
    for (int t = 0; t < threads && b.alive; t++)
      if (b.fibers[(size_t)t].state != kDone) stack_forget(b.stacks[(size_t)t]);
}
#endif
