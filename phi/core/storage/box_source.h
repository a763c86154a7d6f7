// BoxSource: part of what another source gives, as a source of its own. A shard stays deferred with
// it: no bytes, and still able to give any box of itself.
#pragma once

#include <memory>

#include "phi/core/storage/storage.h"

namespace phi {

class BoxSource final : public Storage::Source {
 public:
  /// `box`: within whole->meta().dims. Errors: OutOfRange.
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
  Dims offset_;  // of the part in the whole
  TensorMeta meta_;
};

}  // namespace phi
