// The memory of one emulated GPU: a separate address range that is inaccessible to the process
// unless work of that GPU runs. Fresh memory contains NaN. Unallocated memory is poisoned for
// AddressSanitizer.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

namespace cuda_on_cpu {

class Arena {
 public:
  struct Allocation {
    std::byte* begin;
    size_t size;
    bool live;         // between begin_life and end_life, which run in stream order
    const void* pool;  // null: allocated by cudaMalloc
    bool given_up = false;
  };

  Arena();
  Arena(const Arena&) = delete;

  /// Reserves addresses. They are unusable before begin_life.
  std::byte* reserve(size_t size, const void* pool);
  /// Fills the memory with NaN. The arena must be open.
  void begin_life(std::byte* memory);
  /// Marks the memory for end_life. Returns false if it was already marked.
  bool give_up(std::byte* memory);
  /// Fills the memory with NaN, closes it and releases the addresses. The arena must be open.
  void end_life(std::byte* memory);

  bool contains(const void* address) const;
  /// The allocation that contains `address`, alive or not.
  std::optional<Allocation> find(const void* address) const;

  void open() { protect(true); }
  void close() { protect(false); }

 private:
  void protect(bool open);
  void grow(size_t used);

  mutable std::mutex mutex_;
  std::byte* base_;
  size_t used_ = 0;  // bytes from base_ on that were ever reserved
  bool open_ = false;
  std::map<std::byte*, Allocation> allocations_;
  std::map<std::byte*, size_t> gaps_;
};

}  // namespace cuda_on_cpu
