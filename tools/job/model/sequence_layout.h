// SequenceLayout: how activations [B,S,..] lie over tp outside the products that tp splits.
#pragma once

#include "tools/job/model/stage.h"

namespace phi::job {

class SequenceLayout {
 public:
  /// `parallel`: split by position, else whole on every rank along tp.
  explicit SequenceLayout(bool parallel) : parallel_(parallel) {}

  distributed::Placement along_tp() const {
    return parallel_ ? distributed::Shard(1) : distributed::Replicate();
  }
  /// What a product that is split by columns takes.
  Tensor whole(const Tensor& x) const {
    if (!parallel_) return x;
    return Stage(x.mesh()).place(x, distributed::Shard(0), distributed::Replicate());
  }
  /// What follows a product that is split by rows, whose result is a partial sum.
  Tensor split(const Tensor& x) const {
    return Stage(x.mesh()).place(x, distributed::Shard(0), along_tp());
  }

 private:
  bool parallel_;
};

}  // namespace phi::job
