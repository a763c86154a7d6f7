// Rotary position embedding on the CPU: all heads of q, k and v share one row of sines and cosines
// per position. templates/rope.h defines what is rotated and how.
#include <array>
#include <cmath>
#include <vector>

#include "phi/common/errors.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/rotation.h"

namespace phi {
namespace {

enum class Turn : uint8_t { kForward, kBack };

/// sin and cos of one position: one number per element of a head.
template <typename T, Turn kTurn>
class AngleRow {
 public:
  using C = compute_t<T>;
  AngleRow(const KernelContext& ctx, const DenseTensor* sin, const DenseTensor* cos,
           int64_t head_dim, bool adjacent, double base)
      : head_dim_(head_dim), adjacent_(adjacent), sin_(head_dim), cos_(head_dim) {
    if (sin) {
      const int seq_dim = sin->ndim() == 2 ? 0 : 1;
      const ShardBox box = ctx.input_box(3, sin->dims());
      begin_ = box.box.offset[seq_dim];
      rows_ = sin->dims()[seq_dim];
      sin_table_ = sin->data<T>();
      cos_table_ = cos->data<T>();
      return;
    }
    for (int64_t i = 0; i < head_dim / 2; ++i)
      rates_.push_back(
          std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(head_dim)));
  }

  void move_to(int64_t position) {
    if (filled_ && position_ == position) return;
    filled_ = true;
    position_ = position;
    if (sin_table_) return read_tables(position - begin_);
    for (int64_t i = 0; i < head_dim_ / 2; ++i) {
      const double angle = static_cast<double>(position) * rates_[i];
      const int64_t a = adjacent_ ? 2 * i : i;
      const int64_t b = adjacent_ ? 2 * i + 1 : i + head_dim_ / 2;
      sin_[a] = sin_[b] = static_cast<C>(std::sin(angle));
      cos_[a] = cos_[b] = static_cast<C>(std::cos(angle));
    }
  }

  void rotate(const T* in, T* out) {
    if constexpr (kIs16Bit<T>) {
      wide_.resize(head_dim_);
      convert(in, wide_.data(), head_dim_);
      rotated_.resize(head_dim_);
      rotate_wide(wide_.data(), rotated_.data());
      convert(rotated_.data(), out, head_dim_);
    } else {
      rotate_wide(in, out);
    }
  }

 private:
  void read_tables(int64_t row) {
    PHI_CHECK(row >= 0 && row < rows_,
              errors::InvalidArgument(
                  "position {} is requested, but sin and cos have the rows [{}, {}) here.",
                  row + begin_, begin_, begin_ + rows_));
    convert(sin_table_ + row * head_dim_, sin_.data(), head_dim_);
    convert(cos_table_ + row * head_dim_, cos_.data(), head_dim_);
  }

  /// Rotates the pair (a, b) at elements i and j of a head. Tables may have different angles for
  /// the two elements, so the inverse direction is the transpose, not the rotation by the negative
  /// angle.
  void rotate_pair(C a, C b, int64_t i, int64_t j, C* out) const {
    const C* s = sin_.data();
    const C* c = cos_.data();
    if constexpr (kTurn == Turn::kForward) {
      out[i] = a * c[i] - b * s[i];
      out[j] = b * c[j] + a * s[j];
    } else {
      out[i] = a * c[i] + b * s[j];
      out[j] = b * c[j] - a * s[i];
    }
  }

  void rotate_wide(const C* x, C* out) const {
    if (adjacent_) {
#pragma GCC ivdep
      for (int64_t i = 0; i < head_dim_; i += 2) rotate_pair(x[i], x[i + 1], i, i + 1, out);
      return;
    }
    const int64_t half = head_dim_ / 2;
#pragma GCC ivdep
    for (int64_t i = 0; i < half; ++i) rotate_pair(x[i], x[i + half], i, i + half, out);
  }

  int64_t head_dim_;
  bool adjacent_;
  std::vector<C> sin_, cos_;
  std::vector<C> wide_, rotated_;  // one head, for half-precision T
  std::vector<double> rates_;      // angle per position of each pair
  const T* sin_table_ = nullptr;
  const T* cos_table_ = nullptr;
  int64_t begin_ = 0;
  int64_t rows_ = 0;
  bool filled_ = false;
  int64_t position_ = 0;  // the position of the angles, if filled_
};

/// Positions of the local array's tokens.
class Positions {
 public:
  Positions(const KernelContext& ctx, const DenseTensor& q, const DenseTensor* ids, int seq_dim)
      : first_(ctx.input_box(0, q.dims()).box.offset[seq_dim]), ids_(ids) {
    if (!ids) return;
    PHI_CHECK(ids->dims()[0] == q.dims()[1 - seq_dim] && ids->dims()[1] == q.dims()[seq_dim],
              errors::PreconditionNotMet("position_ids has {} here and q {}; shard its batch and "
                                         "sequence as q's.",
                                         ids->dims().to_string(), q.dims().to_string()));
  }
  int64_t at(int64_t batch, int64_t token) const {
    if (!ids_) return first_ + token;
    const int64_t i = batch * ids_->dims()[1] + token;
    return ids_->dtype() == DataType::INT32 ? ids_->data<int32_t>()[i] : ids_->data<int64_t>()[i];
  }

 private:
  int64_t first_;
  const DenseTensor* ids_;
};

/// Rotates inputs[0], and the other inputs if input and output are not null.
template <typename T, Turn kTurn>
void rotate_in(const KernelContext& ctx, const Rotation& how,
               const std::array<const DenseTensor*, 3>& inputs,
               const std::array<DenseTensor*, 3>& outputs) {
  const DenseTensor& q = *inputs[0];
  const int64_t head_dim = q.dims()[3];
  const int seq_dim = how.time_major ? 0 : 1;
  const int64_t tokens = q.dims()[seq_dim];
  const int64_t batch = q.dims()[1 - seq_dim];
  AngleRow<T, kTurn> angles(ctx, how.sin, how.cos, head_dim, how.adjacent, how.base);
  const Positions positions(ctx, q, how.position_ids, seq_dim);
  // The outer loop runs over tokens, so that all batch entries use the same row of angles.
  for (int64_t s = 0; s < tokens; ++s) {
    for (int64_t b = 0; b < batch; ++b) {
      angles.move_to(positions.at(b, s));
      const int64_t token = how.time_major ? s * batch + b : b * tokens + s;
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i] || !outputs[i]) continue;
        const int64_t heads = inputs[i]->dims()[2];
        const T* in = inputs[i]->template data<T>() + token * heads * head_dim;
        T* out = outputs[i]->template mutable_data<T>() + token * heads * head_dim;
        for (int64_t h = 0; h < heads; ++h) angles.rotate(in + h * head_dim, out + h * head_dim);
      }
    }
  }
}

template <typename T>
void rotate_all(const CpuContext& ctx, const Rotation& how,
                const std::array<const DenseTensor*, 3>& inputs,
                const std::array<DenseTensor*, 3>& outputs) {
  if (how.back) return rotate_in<T, Turn::kBack>(ctx, how, inputs, outputs);
  rotate_in<T, Turn::kForward>(ctx, how, inputs, outputs);
}

}  // namespace
}  // namespace phi

#include "phi/kernels/templates/rope.h"
