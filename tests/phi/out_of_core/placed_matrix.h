// A matrix of a test, on any tier, in any rows, with bytes around it that must stay as they are.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "phi/memory/io/swap_file.h"
#include "phi/out_of_core/blocked_array.h"

namespace phi::memory {

/// Where a matrix lies: kDisk with a file's path or, without one, in an extent of a swap file.
struct Placing {
  Tier tier = Tier::kDevice;
  std::string path;
  int64_t gap = 0;     // elements between rows
  int64_t offset = 0;  // elements in front of the first; on disk
  std::shared_ptr<IoEngine> engine;
};

template <typename T>
class PlacedMatrix {
 public:
  PlacedMatrix(const Placing& placing, const std::string& folder, int64_t rows, int64_t columns,
               const std::vector<T>& values)
      : rows_(rows), columns_(columns), stride_(columns + placing.gap), tier_(placing.tier) {
    offset_ = tier_ == Tier::kDisk ? placing.offset : 0;
    const int64_t elements = offset_ + std::max<int64_t>(1, rows) * std::max<int64_t>(1, stride_);
    bytes_ = AlignedBuffer(static_cast<size_t>(elements) * sizeof(T));
    std::memset(bytes_.data(), 0x5a, bytes_.size());
    put(values);
    if (tier_ != Tier::kDisk) return;
    if (placing.path.empty()) {
      const auto swap = SwapFile::create({folder, int64_t{1} << 30, placing.engine});
      pages_ = swap->bytes_of(swap->allocate(bytes_.size()));
    } else {
      pages_ = AsyncFile::create(placing.path, bytes_.size(), {placing.engine});
    }
    const FilePiece all{0, {bytes_.data(), bytes_.size()}};
    pages_->write({&all, 1}).wait();
  }

  BlockedArray array() const {
    const auto dtype = dtype_of<T>();
    if (tier_ == Tier::kDisk) {
      return BlockedArray::on_disk(pages_, dtype, rows_, columns_, stride_, offset_);
    }
    return tier_ == Tier::kHost
               ? BlockedArray::on_host(dtype, bytes_.data(), rows_, columns_, stride_)
               : BlockedArray::resident(dtype, bytes_.data(), rows_, columns_, stride_);
  }

  /// True if these are the values now, and nothing around them has changed.
  bool holds(const std::vector<T>& values) {
    AlignedBuffer now(bytes_.size());
    if (tier_ == Tier::kDisk) {
      const FilePiece all{0, {now.data(), now.size()}};
      pages_->read({&all, 1}).wait();
    } else {
      std::memcpy(now.data(), bytes_.data(), now.size());
    }
    put(values);
    return std::memcmp(now.data(), bytes_.data(), now.size()) == 0;
  }
  std::vector<T> values() const {
    AlignedBuffer now(bytes_.size());
    const FilePiece all{0, {now.data(), now.size()}};
    if (tier_ == Tier::kDisk) pages_->read({&all, 1}).wait();
    const auto* from =
        reinterpret_cast<const T*>(tier_ == Tier::kDisk ? now.data() : bytes_.data());
    std::vector<T> out;
    for (int64_t row = 0; row < rows_; ++row) {
      const T* begin = from + offset_ + row * stride_;
      out.insert(out.end(), begin, begin + columns_);
    }
    return out;
  }

 private:
  void put(const std::vector<T>& values) {
    T* to = reinterpret_cast<T*>(bytes_.data()) + offset_;
    for (int64_t row = 0; row < rows_; ++row) {
      std::copy_n(values.begin() + row * columns_, columns_, to + row * stride_);
    }
  }

  int64_t rows_, columns_, stride_, offset_ = 0;
  Tier tier_;
  AlignedBuffer bytes_;
  std::shared_ptr<PagedBytes> pages_;
};

}  // namespace phi::memory
