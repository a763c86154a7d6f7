// AlignedBuffer: host memory that begins on a page, as direct disk I/O needs it.
#pragma once

#include <cstddef>
#include <memory>

namespace phi::memory {

/// The alignment of offsets, lengths and addresses in direct I/O.
inline constexpr size_t kPage = 4096;

inline constexpr size_t round_to_pages(size_t nbytes) {
  return (nbytes + kPage - 1) / kPage * kPage;
}

class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  /// Not initialised; its size is rounded up to pages. Errors: ResourceExhausted.
  explicit AlignedBuffer(size_t nbytes);

  std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte[], Free> data_;
  size_t size_ = 0;
};

}  // namespace phi::memory
