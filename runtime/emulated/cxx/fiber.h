// Fibers: stacks and the switch between them. A few instructions on x86-64 and
// arm64, swapcontext elsewhere.
#ifndef COALESCE_FIBER_H
#define COALESCE_FIBER_H
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define EMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_ASAN 1
#endif
#endif
#ifdef EMU_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define EMU_NO_ASAN __attribute__((no_sanitize_address, noinline))
#else
#define EMU_NO_ASAN __attribute__((noinline))
#endif

// Under the sanitizer frames are large, and a page that nobody can read ends each stack.
// Without, stacks lie side by side in large pages, so that the processor has the
// addresses of thousands at hand; a mark at each one's end shows where a thread went past it.
#ifdef EMU_ASAN
static const size_t kStack = 256 << 10;
#else
static const size_t kStack = 16 << 10;
static const uint64_t kMark = 0x9d2c5680c0ac2919ull;
#endif

struct Context {
#if defined(__x86_64__) || defined(__aarch64__)
  void *sp = nullptr;
#else
  ucontext_t u;
#endif
};

#if defined(__x86_64__)
extern "C" void emu_switch(void **save, void *to);
asm(R"(
.text
.globl emu_switch
.type emu_switch,@function
emu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emu_switch,.-emu_switch
)");
// context_make has a context begin with entry on a stack. Of stacks that are a multiple of
// a page apart all first frames would share few lines of the cache: they begin at as many
// places of a page as it has lines, by their number.
static void context_make(Context *c, char *stack, unsigned number, void (*entry)()) {
  void **sp = (void **)(stack + kStack - number % 64 * 64) - 1; // aligned as after a call
  *--sp = (void *)entry;
  for (int i = 0; i < 6; i++) *--sp = nullptr;
  c->sp = sp;
}
#elif defined(__aarch64__)
extern "C" void emu_switch(void **save, void *to);
asm(R"(
.text
.globl emu_switch
.type emu_switch,%function
emu_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size emu_switch,.-emu_switch
)");
static void context_make(Context *c, char *stack, unsigned number, void (*entry)()) {
  uint64_t *sp = (uint64_t *)(stack + kStack - number % 64 * 64) - 20;
  for (int i = 0; i < 20; i++) sp[i] = 0;
  sp[11] = (uint64_t)entry; // x30
  c->sp = sp;
}
#else
static void context_make(Context *c, char *stack, unsigned number, void (*entry)()) {
  getcontext(&c->u);
  c->u.uc_stack.ss_sp = stack;
  c->u.uc_stack.ss_size = kStack - number % 64 * 64;
  c->u.uc_link = nullptr;
  makecontext(&c->u, entry, 0);
}
#endif

// stack_new maps a stack; null when the system refuses.
static char *stack_new() {
#ifdef EMU_ASAN
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *p = (char *)mmap(nullptr, kStack + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == (char *)MAP_FAILED) return nullptr;
  mprotect(p, page, PROT_NONE);
  return p + page;
#else
  static const size_t large = 2 << 20;
  static char *next = nullptr, *end = nullptr;
  if (next == end) {
    char *p = (char *)mmap(nullptr, 2 * large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == (char *)MAP_FAILED) return nullptr;
    next = p + (large - (uintptr_t)p % large) % large, end = next + large;
    madvise(next, large, MADV_HUGEPAGE);
  }
  char *stack = next;
  next += kStack;
  *(uint64_t *)stack = kMark;
  return stack;
#endif
}

// stack_whole reports whether no frame has reached a stack's end.
static inline bool stack_whole(const char *stack) {
#ifdef EMU_ASAN
  return true;
#else
  return *(const uint64_t *)stack == kMark;
#endif
}

// stack_forget makes a stack usable again whose frames never returned.
static void stack_forget(char *stack) {
#ifdef EMU_ASAN
  __asan_unpoison_memory_region(stack, kStack);
#else
  (void)stack;
#endif
}

// context_switch leaves from for to and returns when something switches back.
static inline void context_switch(Context *from, Context *to) {
#if defined(__x86_64__) || defined(__aarch64__)
  emu_switch(&from->sp, to->sp);
#else
  swapcontext(&from->u, &to->u);
#endif
}

// context_fetch has the processor fetch what a context's first steps need of its stack.
static inline void context_fetch(const Context *c) {
#if defined(__x86_64__) || defined(__aarch64__)
  for (int i = 0; i < 3; i++) __builtin_prefetch((const char *)c->sp + 64 * i);
#else
  (void)c;
#endif
}

// context_tell tells the sanitizer, once, that all stacks between two addresses are this
// thread's, so that its reports name frames: telling it at every switch which one is in
// use takes a tenth of a launch.
static inline void context_tell(char *low, char *high) {
#ifdef EMU_ASAN
  void *fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, low, (size_t)(high - low));
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#else
  (void)low, (void)high;
#endif
}
#endif
