// Broadcast's walks, instantiated for the numbers of operands that kernels have.
#include "phi/kernels/cpu/loops/broadcast.h"

#include "phi/kernels/broadcast_dims.h"

namespace phi {

template <int kOperands>
Broadcast<kOperands>::Broadcast(const Dims& out,
                                const std::array<const Dims*, kOperands>& operands) {
  sizes_[0] = sizes_[1] = 1;
  strides_[0].fill(0);
  strides_[1].fill(0);
  for_each_broadcast_dim(
      out, operands, [this](int64_t size, const OperandOffsets& stride) { append(size, stride); });
}

template <int kOperands>
std::optional<unsigned> Broadcast<kOperands>::repeated_rows() const {
  if (ndim_ < 2) return std::nullopt;
  unsigned repeated = 0;
  for (int k = 0; k < kOperands; ++k) {
    if (strides_[1][k] == 0) {
      repeated |= static_cast<unsigned>(strides_[0][k]) << k;
    } else if (strides_[1][k] != strides_[0][k] * sizes_[0]) {
      return std::nullopt;
    }
  }
  return repeated;
}

template <int kOperands>
void Broadcast<kOperands>::walk(int dims, void* f,
                                void (*run)(void* f, int64_t at, const OperandOffsets& from,
                                            int64_t count)) const {
  std::array<int64_t, kMaxNdim> index{};
  OperandOffsets from{};
  const int64_t count = dims == 1 ? sizes_[0] : sizes_[0] * sizes_[1];
  for (int64_t at = 0;; at += count) {
    run(f, at, from, count);
    int d = dims;
    for (; d < ndim_; ++d) {
      for (int k = 0; k < kOperands; ++k) from[k] += strides_[d][k];
      if (++index[d] < sizes_[d]) break;
      for (int k = 0; k < kOperands; ++k) from[k] -= strides_[d][k] * sizes_[d];
      index[d] = 0;
    }
    if (d >= ndim_) return;
  }
}

template <int kOperands>
void Broadcast<kOperands>::append(int64_t size, const OperandOffsets& stride) {
  bool merges = ndim_ > 0;
  for (int k = 0; merges && k < kOperands; ++k) {
    merges = stride[k] == strides_[ndim_ - 1][k] * sizes_[ndim_ - 1];
  }
  if (merges) {
    sizes_[ndim_ - 1] *= size;
    return;
  }
  sizes_[ndim_] = size;
  strides_[ndim_++] = stride;
}

template class Broadcast<1>;
template class Broadcast<2>;
template class Broadcast<3>;
template class Broadcast<4>;

}  // namespace phi
