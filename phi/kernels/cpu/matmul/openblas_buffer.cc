// OpenBLAS's buffers are created one at a time, each after a check for address space.
#include "phi/kernels/cpu/matmul/openblas_buffer.h"

#include <cblas.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <system_error>
#include <thread>

#include "phi/common/errors.h"
#include "phi/common/memory_advice.h"

// OpenBLAS's internals (driver/others/memory.c and blas_server.c), exported by its shared library.
extern "C" {
[[gnu::weak]] void* blas_memory_alloc(int);
[[gnu::weak]] void blas_memory_free(void*);
[[gnu::weak]] extern int blas_server_avail;
}

namespace phi {
namespace {

constinit std::atomic<int> calls_under_way{0};
constinit std::atomic<int> buffers_made{0};
constinit std::mutex making;

bool has_room_for(size_t bytes) {
  void* const room =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, bytes);
  return true;
}

// OpenBLAS starts its threads when it is loaded, and each of them maps its buffer at once. A thread
// that finds no address space retries for ever, and the process, which joins the threads at exit,
// would not end. Clearing blas_server_avail makes OpenBLAS skip the join.
bool may_keep_threads() {
  const auto threads = static_cast<size_t>(openblas_get_num_threads());
  if (threads < 2 || has_room_for(threads * kOpenblasBufferBytes)) return true;
  std::fprintf(stderr,
               "autophi: no room for the %zu threads of OpenBLAS, which need %zu MiB of address "
               "space each: it computes with one. Set OPENBLAS_NUM_THREADS=1, or raise the memory "
               "limit of the process (ulimit -v).\n",
               threads, kOpenblasBufferBytes >> 20);
  openblas_set_num_threads(1);
  if (&blas_server_avail != nullptr) blas_server_avail = 0;
  return false;
}

// Initialised while the program is loaded, after OpenBLAS itself.
const bool kMayKeepThreads = may_keep_threads();

void make_buffer() {
  if (blas_memory_alloc && blas_memory_free) blas_memory_free(blas_memory_alloc(0));
  ++buffers_made;
}

constinit std::atomic<bool> a_thread_makes_one{false};

// Creates a buffer beside threads of OpenBLAS that still wait for address space. They may map what
// has_room_for found, and the caller would retry for ever with them. Another thread therefore
// creates the buffer. Returns false if there has been no room for a second.
bool make_buffer_beside_waiting_threads() {
  using Clock = std::chrono::steady_clock;
  if (!a_thread_makes_one.exchange(true)) {
    try {
      std::thread([] {
        make_buffer();
        a_thread_makes_one = false;
      }).detach();
    } catch (const std::system_error&) {  // no room for its stack
      a_thread_makes_one = false;
      return false;
    }
  }
  for (auto last_room = Clock::now(); a_thread_makes_one;) {
    if (has_room_for(kOpenblasBufferBytes)) {
      last_room = Clock::now();
    } else if (Clock::now() - last_room > std::chrono::seconds(1)) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

bool try_to_make_buffer() {
  if (!has_room_for(kOpenblasBufferBytes)) return false;
  if (!kMayKeepThreads) return make_buffer_beside_waiting_threads();
  make_buffer();
  return true;
}

// Creates buffers until there are as many as calls under way. The next call uses a buffer that
// OpenBLAS has created and no call uses.
void make_buffers(int wanted) {
  const std::lock_guard lock(making);
  while (buffers_made.load() < wanted) {
    PHI_CHECK(
        try_to_make_buffer(),
        errors::ResourceExhausted(
            "there is no more memory: OpenBLAS, which computes matmuls of float64 and complex "
            "numbers and matrix factorisations, needs {} MiB of address space for each thread. {}",
            kOpenblasBufferBytes >> 20, kMoreMemoryAdvice));
  }
}

}  // namespace

OpenblasCall::OpenblasCall() {
  const int calls = calls_under_way.fetch_add(1) + 1;
  if (calls <= buffers_made.load(std::memory_order_relaxed)) [[likely]]
    return;
  try {
    make_buffers(calls);
  } catch (...) {
    --calls_under_way;
    throw;
  }
}

OpenblasCall::~OpenblasCall() { --calls_under_way; }

bool openblas_may_have_threads() { return kMayKeepThreads; }

}  // namespace phi
