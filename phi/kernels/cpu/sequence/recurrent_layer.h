// Shared parts of recurrent layer kernels: the order of steps, and outputs in the compute type.
#pragma once

#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/sequence/lengths.h"

namespace phi {

/// The steps of a layer; `is_reverse` runs backwards in time.
struct RecurrentSteps {
  int64_t steps;
  int64_t batch;
  int64_t hidden;
  bool is_reverse;
  std::vector<int64_t> lengths;

  /// Returns the time of step number i.
  int64_t time(int64_t i) const { return is_reverse ? steps - 1 - i : i; }
  bool is_within(int64_t t, int64_t b) const { return t < lengths[static_cast<size_t>(b)]; }
  /// Returns the time of the step before t of sample b, -1 if t is its first step.
  int64_t before(int64_t t, int64_t b) const {
    const int64_t earlier = is_reverse ? t + 1 : t - 1;
    return earlier >= 0 && is_within(earlier, b) ? earlier : -1;
  }
};

/// An output in the compute type: in place, or a buffer that `store` converts.
template <typename T>
class WideOutput {
 public:
  using C = compute_t<T>;
  /// A null `out` is not written, but has a buffer.
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
