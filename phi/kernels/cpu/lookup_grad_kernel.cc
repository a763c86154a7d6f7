// Gradients of table lookups on the CPU: each row of the table gets the sum of the gradients of the
// places where it was looked up, in rising order of these; 16-bit sums are kept in float. Positions
// are sorted by row first, so that every row of the gradient is written once.
//
// Where the table is sharded along the looked-up tensor dim, a rank sums for the rows that it
// holds. Errors are those of the forward kernels.
#include <algorithm>
#include <span>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/lookup.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/looked_up_rows.h"
#include "phi/kernels/functors/hd.h"

namespace phi {
namespace {

/// For each row that is here, the positions that it was looked up at, in rising order.
class PositionsByRow {
 public:
  PositionsByRow(const LookupTable& table, const DenseTensor& ids, std::string_view argument,
                 std::string_view table_name)
      : ends_(table.end - table.begin + 1, 0) {
    const auto nothing = [](int64_t) {};
    look_up(
        table, ids, argument, table_name, [&](int64_t, int64_t row) { ++ends_[row + 1]; }, nothing);
    for (size_t row = 1; row < ends_.size(); ++row) ends_[row] += ends_[row - 1];
    positions_.resize(ends_.back());
    // Now the starts of the rows; filling moves each up to its end.
    look_up(
        table, ids, argument, table_name,
        [&](int64_t position, int64_t row) { positions_[ends_[row]++] = position; }, nothing);
  }

  int64_t rows() const { return static_cast<int64_t>(ends_.size()) - 1; }
  std::span<const int64_t> of(int64_t row) const {
    const int64_t begin = row == 0 ? 0 : ends_[row - 1];
    return {positions_.data() + begin, static_cast<size_t>(ends_[row] - begin)};
  }

 private:
  std::vector<int64_t> ends_;
  std::vector<int64_t> positions_;
};

/// to[row] = the sum of from[position] over the row's positions, all `width` wide.
template <typename T>
class RowSums {
 public:
  using C = compute_t<T>;
  explicit RowSums(int64_t width) : width_(width), sum_(width), term_(kIs16Bit<T> ? width : 0) {}

  void run(const PositionsByRow& positions, const T* from, T* to) {
    for (int64_t row = 0; row < positions.rows(); ++row, to += width_) {
      const auto places = positions.of(row);
      if (places.empty()) {
        std::fill_n(to, width_, T(0));
      } else if (places.size() == 1) {
        std::copy_n(from + places[0] * width_, width_, to);
      } else {
        convert(from + places[0] * width_, sum_.data(), width_);
        for (int64_t place : places.subspan(1)) add(from + place * width_);
        convert(sum_.data(), to, width_);
      }
    }
  }

 private:
  void add(const T* row) {
    const C* term = term_.data();
    if constexpr (kIs16Bit<T>) {
      convert(row, term_.data(), width_);
    } else {
      term = row;
    }
    C* sum = sum_.data();
#pragma GCC ivdep
    for (int64_t i = 0; i < width_; ++i) sum[i] += term[i];
  }

  int64_t width_;
  std::vector<C> sum_;
  std::vector<C> term_;  // one row of 16-bit T
};

}  // namespace

/// The row `padding_idx` gets zeros; a negative one means none.
template <typename T, typename Context>
void EmbeddingGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out_grad,
                         int64_t padding_idx, DenseTensor* weight_grad) {
  const LookupTable table(ctx.output_box(0, weight_grad->dims()), 0);
  const int64_t width = weight_grad->dims()[1];
  T* to = weight_grad->mutable_data<T>();
  RowSums<T>(width).run({table, x, "x", "the vocabulary"}, out_grad.data<T>(), to);
  if (padding_idx >= table.begin && padding_idx < table.end) {
    std::fill_n(to + (padding_idx - table.begin) * width, width, T(0));
  }
}

template <typename T, typename Context>
void GatherGradKernel(const Context& ctx, const DenseTensor& index, const DenseTensor& out_grad,
                      const Scalar& axis, DenseTensor* x_grad) {
  const Dims& dims = x_grad->dims();
  const auto given = axis.to<int64_t>();
  const int at = static_cast<int>(given < 0 ? given + dims.ndim() : given);
  const LookupTable table(ctx.output_box(0, dims), at);
  const PositionsByRow positions(table, index, "index", "x's tensor dim");
  const int64_t inner = dims.numel(at + 1, dims.ndim());
  const T* from = out_grad.data<T>();
  T* to = x_grad->mutable_data<T>();
  RowSums<T> sums(inner);
  for (int64_t outer = 0; outer < dims.numel(0, at); ++outer) {
    sums.run(positions, from + outer * index.numel() * inner, to + outer * dims[at] * inner);
  }
}

PHI_REGISTER_KERNEL(embedding_grad, CPU, EmbeddingGradKernel, Floats);
PHI_REGISTER_KERNEL(gather_grad, CPU, GatherGradKernel, Floats);

}  // namespace phi
