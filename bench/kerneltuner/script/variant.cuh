// Stands for Coalesce's header of this name where Kernel Tuner compiles passes.cuh.
#define ENTRY(name) name
namespace param {
using value = int;
constexpr int block = block_size_x, items = ITEMS_OF_A_PASS, each = EACH_THREAD;
}  // namespace param
