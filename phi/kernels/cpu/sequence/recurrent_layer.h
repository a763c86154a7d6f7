// What the kernels of a recurrent layer share: the order of steps, and arrays in the type that is
// computed in.
#pragma once

#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/sequence/lengths.h"

namespace phi {

/// The steps of a layer: backwards in time with `is_reverse`.
struct RecurrentSteps {
  int64_t steps;
  int64_t batch;
  int64_t hidden;
  bool is_reverse;
  std::vector<int64_t> lengths;

  /// The time of step number i.
  int64_t time(int64_t i) const { return is_reverse ? steps - 1 - i : i; }
  bool is_within(int64_t t, int64_t b) const { return t < lengths[static_cast<size_t>(b)]; }
  /// The time of the step before t of sample b, -1 where that is its first.
  int64_t before(int64_t t, int64_t b) const {
    const int64_t earlier = is_reverse ? t + 1 : t - 1;
    return earlier >= 0 && is_within(earlier, b) ? earlier : -1;
  }
};

/// An output in the computing type: in place, or converted by `store`.
template <typename T>
class WideOutput {
 public:
  using C = compute_t<T>;
  /// A null tensor is not written; there is an array for it all the same.
  WideOutput(DenseTensor* out, int64_t numel) : out_(out) {
    if constexpr (!kIs16Bit<T>) {
      if (out) data_ = out->mutable_data<T>();
    }
    if (!data_) {
      buffer_.resize(static_cast<size_t>(numel));
      data_ = buffer_.data();
    }
  }
  C* data() { return data_; }
  void store() {
    if constexpr (kIs16Bit<T>) {
      if (out_) convert(data_, out_->mutable_data<T>(), out_->numel());
    }
  }

 private:
  DenseTensor* out_;
  C* data_ = nullptr;
  std::vector<C> buffer_;
};

}  // namespace phi
