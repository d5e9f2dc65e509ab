// The schedule: threads of a block as fibers, what they wait for, and what
// warp operations and barriers give them.
#ifndef COALESCE_SCHEDULE_H
#define COALESCE_SCHEDULE_H
#include "emulated.h"
#include "fiber.h"
#include <stdarg.h>

static const int kThreads = 1024;
static const char *kOps[] = {
    "__syncwarp", "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync", "__ballot_sync",
    "__any_sync", "__all_sync", "__match_any_sync", "__match_all_sync", "__reduce_add_sync", "__reduce_min_sync",
    "__reduce_max_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync",
    "__reduce_xor_sync", "__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"};

enum State { kRunnable, kWarp, kBarrier, kDone };

struct Fiber {
  Context context;
  char *stack = nullptr;
  State state = kDone;
  int op = 0, arg = 0, width = 32, line = 0;
  unsigned mask = 0;
  const char *file = "";
  uint64_t value = 0, result = 0;
};

extern "C" {
uint3 emu_thread, emu_block;
dim3 emu_block_dim, emu_grid_dim;
}

static Fiber fibers[kThreads];
static Context outside;
static int threads, current, alive, at_barrier;
static int runnable[kThreads], runnables;
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
  say("block %u, thread %d (warp %d, lane %d)", emu_block.x, t, t / 32, t % 32);
}

// go_on leaves the current fiber for another that can run, or for the
// scheduler's caller when none can or the launch failed.
static void go_on() {
  int from = current;
  Context *to = &outside;
  if (!failure[0] && runnables) {
    int i = (int)random_below((uint64_t)runnables);
    int next = runnable[i];
    runnable[i] = runnable[--runnables];
    if (next == from) return;
    current = next;
    to = &fibers[next].context;
  }
  context_switch(&fibers[from].context, to);
  emu_thread.x = (unsigned)(current = from);
}

static inline void wake(int t) {
  fibers[t].state = kRunnable;
  runnable[runnables++] = t;
}

static void barrier_release() {
  int op = fibers[current].op, first = -1;
  uint64_t count = 0;
  for (int t = 0; t < threads; t++) {
    Fiber &f = fibers[t];
    if (f.state != kBarrier) continue;
    if (first < 0) first = t, op = f.op;
    Fiber &g = fibers[first];
    if (f.op != g.op || f.line != g.line || strcmp(f.file, g.file)) {
      say_thread(t);
      say(": at %s (%s:%d) while thread %d is at %s (%s:%d): the block's threads meet at different barriers",
          kOps[f.op], f.file, f.line, first, kOps[g.op], g.file, g.line);
      return;
    }
    count += f.value;
  }
  int n = at_barrier;
  at_barrier = 0;
  for (int t = 0; t < threads; t++) {
    Fiber &f = fibers[t];
    if (f.state != kBarrier) continue;
    f.result = op == EMU_SYNC_COUNT ? count : op == EMU_SYNC_AND ? count == (uint64_t)n : op == EMU_SYNC_OR ? count != 0 : 0;
    wake(t);
  }
}

// warp_result computes the operation for every lane of those that arrived.
static void warp_result(Fiber *lane, int lanes, unsigned arrived) {
  int op = lane[__builtin_ctz(arrived)].op;
  uint64_t first = lane[__builtin_ctz(arrived)].value, all = first;
  unsigned votes = 0;
  bool same = true;
  for (int i = 0; i < lanes; i++) {
    if (!(arrived >> i & 1)) continue;
    uint64_t v = lane[i].value;
    if (v) votes |= 1u << i;
    if (v != first) same = false;
    if (i == __builtin_ctz(arrived)) continue;
    switch (op) {
    case EMU_ADD: all += v; break;
    case EMU_MIN_S: case EMU_MIN_U: if ((int64_t)v < (int64_t)all) all = v; break;
    case EMU_MAX_S: case EMU_MAX_U: if ((int64_t)v > (int64_t)all) all = v; break;
    case EMU_AND: all &= v; break;
    case EMU_OR: all |= v; break;
    case EMU_XOR: all ^= v; break;
    }
  }
  for (int i = 0; i < lanes; i++) {
    if (!(arrived >> i & 1)) continue;
    Fiber &f = lane[i];
    int segment = i & ~(f.width - 1), src = i;
    switch (op) {
    case EMU_SYNCWARP: f.result = 0; continue;
    case EMU_BALLOT: f.result = votes; continue;
    case EMU_ANY: f.result = votes != 0; continue;
    case EMU_ALL: f.result = votes == arrived; continue;
    case EMU_MATCH_ALL: f.result = same ? arrived : 0; continue;
    case EMU_MATCH_ANY:
      f.result = 0;
      for (int j = 0; j < lanes; j++)
        if ((arrived >> j & 1) && lane[j].value == f.value) f.result |= 1u << j;
      continue;
    case EMU_SHFL: src = segment | (f.arg & (f.width - 1)); break;
    case EMU_SHFL_UP: src = (unsigned)f.arg > 31 || i - f.arg < segment ? i : i - f.arg; break;
    case EMU_SHFL_DOWN: src = (unsigned)f.arg > 31 || i + f.arg >= segment + f.width ? i : i + f.arg; break;
    case EMU_SHFL_XOR: src = (i ^ (f.arg & 31)) >= segment + f.width ? i : i ^ (f.arg & 31); break;
    default: f.result = all; continue;
    }
    // A lane that is not there gives what must not be used.
    f.result = arrived >> src & 1 ? lane[src].value : 0xa5a5a5a5a5a5a5a5ull;
  }
}

// warp_try wakes the lanes that share t's mask when all that live have come.
static void warp_try(int t) {
  int base = t & ~31, lanes = threads - base < 32 ? threads - base : 32;
  Fiber *lane = fibers + base, &me = fibers[t];
  unsigned arrived = 0;
  for (int i = 0; i < lanes; i++) {
    if (!(me.mask >> i & 1) || lane[i].state == kDone) continue;
    if (lane[i].state != kWarp || lane[i].mask != me.mask) return;
    arrived |= 1u << i;
  }
  for (int i = 0; i < lanes; i++) {
    if (!(arrived >> i & 1) || lane[i].op == me.op) continue;
    say_thread(t);
    say(": in %s (%s:%d) while lane %d is in %s (%s:%d) with the same mask %08x", kOps[me.op], me.file, me.line, i,
        kOps[lane[i].op], lane[i].file, lane[i].line, me.mask);
    return;
  }
  warp_result(lane, lanes, arrived);
  for (int i = 0; i < lanes; i++)
    if (arrived >> i & 1) wake(base + i);
}

extern "C" uint64_t emu_warp(int op, unsigned mask, uint64_t value, int arg, int width, const char *file, int line) {
  Fiber &f = fibers[current];
  f.op = op, f.mask = mask, f.value = value, f.arg = arg, f.width = width, f.file = file, f.line = line;
  f.state = kWarp;
  if (!(mask >> (current & 31) & 1)) {
    say_thread(current);
    say(": %s (%s:%d) with mask %08x, which does not name the lane itself", kOps[op], file, line, mask);
  } else if (width < 1 || width > 32 || (width & (width - 1))) {
    say_thread(current);
    say(": %s (%s:%d) with width %d, not a power of two up to 32", kOps[op], file, line, width);
  } else {
    warp_try(current);
  }
  go_on();
  return f.result;
}

extern "C" uint64_t emu_barrier(int op, uint64_t value, const char *file, int line) {
  Fiber &f = fibers[current];
  f.op = op, f.value = value, f.file = file, f.line = line, f.state = kBarrier;
  if (++at_barrier == alive) barrier_release();
  go_on();
  return f.result;
}

extern "C" void emu_yield() {
  wake(current);
  go_on();
}
extern "C" void emu_maybe_yield() {
  if ((random64() & 7) == 0) emu_yield();
}

extern "C" void emu_trap(const char *file, int line) {
  say_thread(current);
  say(": __trap (%s:%d)", file, line);
  fibers[current].state = kWarp;
  go_on();
}

static void fiber_main() {
  context_arrived(&outside);
  emu_thread.x = (unsigned)current;
  body(body_slots);
  Fiber &f = fibers[current];
  f.state = kDone;
  alive--;
  if (alive && at_barrier == alive) barrier_release();
  // Lanes of the warp may have waited for this one only.
  int base = current & ~31;
  for (int t = base; t < threads && t < base + 32 && !failure[0]; t++)
    if (fibers[t].state == kWarp && fibers[t].mask >> (current & 31) & 1) warp_try(t);
  go_on();
  abort(); // a thread that has ended is never resumed
}

static void say_deadlock() {
  int said = 0;
  for (int t = 0; t < threads; t++) {
    Fiber &f = fibers[t];
    if (f.state != kWarp && f.state != kBarrier) continue;
    int same = 0, seen = 0;
    for (int u = 0; u < threads; u++) {
      Fiber &g = fibers[u];
      if (g.state != f.state || g.op != f.op || g.line != f.line || (f.state == kWarp && g.mask != f.mask)) continue;
      same++;
      seen |= u < t;
    }
    if (seen) continue;
    if (said++ == 0) {
      say("threads wait for one another, %d of %d have ended: ", threads - alive, threads);
    } else {
      say("; ");
    }
    say_thread(t);
    say(" and %d more in %s (%s:%d)", same - 1, kOps[f.op], f.file, f.line);
    if (f.state == kWarp) say(" with mask %08x", f.mask);
    if (said == 5) break;
  }
}

// run_block runs one block to its end; failure says why it could not.
static void run_block(unsigned block) {
  emu_block.x = block;
  alive = threads;
  at_barrier = runnables = 0;
  for (int t = 0; t < threads; t++) {
    context_make(&fibers[t].context, fibers[t].stack, fiber_main);
    wake(t);
  }
  int i = (int)random_below((uint64_t)threads);
  current = runnable[i];
  runnable[i] = runnable[--runnables];
  context_switch(&outside, &fibers[current].context);
  if (!failure[0] && alive) say_deadlock();
  for (int t = 0; t < threads && alive; t++)
    if (fibers[t].state != kDone) stack_forget(fibers[t].stack);
}
#endif
