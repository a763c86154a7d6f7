// The memory of one emulated GPU: an address range of its own, closed to the process unless work
// of that GPU runs. Fresh memory holds NaN; what is not allocated is poisoned for AddressSanitizer.
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
    bool live;         // from begin_life to end_life, which go by the order of a stream
    const void* pool;  // null: of cudaMalloc
    bool given_up = false;
  };

  Arena();
  Arena(const Arena&) = delete;

  /// Sets addresses aside. They have no use before begin_life.
  std::byte* reserve(size_t size, const void* pool);
  /// While the memory is open: fills with NaN.
  void begin_life(std::byte* memory);
  /// Says that end_life will come for it; false if somebody has said so before.
  bool give_up(std::byte* memory);
  /// While the memory is open: fills with NaN again, closes and gives the addresses back.
  void end_life(std::byte* memory);

  bool contains(const void* address) const;
  /// The allocation that holds `address`, be it alive or not.
  std::optional<Allocation> find(const void* address) const;

  void open() { protect(true); }
  void close() { protect(false); }

 private:
  void protect(bool open);
  void grow(size_t used);

  mutable std::mutex mutex_;
  std::byte* base_;
  size_t used_ = 0;  // bytes from base_ that were ever set aside
  bool open_ = false;
  std::map<std::byte*, Allocation> allocations_;
  std::map<std::byte*, size_t> gaps_;
};

}  // namespace cuda_on_cpu
