// BoxSource: a box of another source's array, as a source. A deferred shard has one: it has no
// bytes, and any box of it can still be read.
#pragma once

#include <memory>

#include "phi/core/storage/storage.h"

namespace phi {

class BoxSource final : public Storage::Source {
 public:
  /// Errors: OutOfRange if `box` is not within whole->meta().dims.
  BoxSource(std::shared_ptr<const Storage::Source> whole, const Box& box);

  const TensorMeta& meta() const override { return meta_; }
  void read(const Box& box, DenseTensor* out) const override { whole_->read(in_whole(box), out); }
  StorageState state() const override { return whole_->state(); }
  std::optional<Tier> tier() const override { return whole_->tier(); }
  int64_t stored_bytes(const Box& box) const override {
    return whole_->stored_bytes(in_whole(box));
  }

 private:
  Box in_whole(Box box) const;

  std::shared_ptr<const Storage::Source> whole_;
  Dims offset_;  // of the box in whole_
  TensorMeta meta_;
};

}  // namespace phi
