// Softmax with cross entropy on the CPU, over whole or sharded classes.
#include "phi/kernels/cross_entropy_kernel.h"

#include <cmath>
#include <vector>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernel_signatures.h"
#include "phi/kernels/cpu/rows.h"

namespace phi {
namespace {

/// The local array as rows of classes: row o * inner + i holds the elements (o, :, i).
struct Layout {
  int axis;
  int64_t outer;
  int64_t classes;  // here
  int64_t inner;
  int64_t rows() const { return outer * inner; }
};

Layout make_layout(const Dims& dims, int axis) {
  const int at = axis < 0 ? axis + dims.ndim() : axis;
  return {at, dims.numel(0, at), dims[at], dims.numel(at + 1, dims.ndim())};
}

/// Copies rows of classes between the array and contiguous buffers of the computing type.
template <typename T>
class ClassRows {
 public:
  using C = compute_t<T>;
  explicit ClassRows(const Layout& layout) : layout_(layout), buffer_(layout.classes) {}

  const C* read(const T* data, int64_t r) {
    const T* first = data + start(r);
    if (layout_.inner == 1) {
      if constexpr (!kIs16Bit<T>) return first;
      convert(first, buffer_.data(), layout_.classes);
    } else {
      for (int64_t c = 0; c < layout_.classes; ++c)
        buffer_[c] = static_cast<C>(first[c * layout_.inner]);
    }
    return buffer_.data();
  }
  void write(const C* row, int64_t r, T* data) {
    T* first = data + start(r);
    if (layout_.inner == 1) return convert(row, first, layout_.classes);
    for (int64_t c = 0; c < layout_.classes; ++c) first[c * layout_.inner] = static_cast<T>(row[c]);
  }

 private:
  int64_t start(int64_t r) const {
    return r / layout_.inner * layout_.classes * layout_.inner + r % layout_.inner;
  }
  Layout layout_;
  std::vector<C> buffer_;
};

/// What a row's label asks of a local row of logits or log-probabilities.
template <typename T>
class Labels {
 public:
  using C = compute_t<T>;
  Labels(const DenseTensor& label, const Layout& layout, const ShardBox& box, bool soft,
         int ignore_index)
      : soft_(soft), soft_rows_(layout), begin_(box.box.offset[layout.axis]) {
    if (soft) {
      soft_data_ = label.data<T>();
      classes_ = layout.classes;
    } else {
      read_hard(label, layout, box.global[layout.axis], ignore_index);
    }
  }

  /// The sum over local classes of label * value(logit), a term of zero weight counting as 0.
  template <typename Value>
  C weigh(int64_t r, const C* row, Value value) {
    if (soft_) {
      const C* weights = soft_rows_.read(soft_data_, r);
      return row_sum<C>(classes_, [&](int64_t c) {
        return weights[c] == C(0) ? C(0) : weights[c] * value(row[c]);
      });
    }
    const int64_t here = hard_[r] - begin_;
    return hard_[r] != kIgnored && here >= 0 && here < classes_ ? value(row[here]) : C(0);
  }

 private:
  static constexpr int64_t kIgnored = -1;  // no class has this number

  void read_hard(const DenseTensor& label, const Layout& layout, int64_t global_classes,
                 int ignore_index) {
    classes_ = layout.classes;
    hard_.resize(layout.rows());
    visit_dtype(label.dtype(), [&]<typename L>() {
      if constexpr (std::is_same_v<L, int32_t> || std::is_same_v<L, int64_t>) {
        const L* values = label.data<L>();
        for (size_t r = 0; r < hard_.size(); ++r) {
          const int64_t value = values[r];
          PHI_CHECK(
              value == ignore_index || (value >= 0 && value < global_classes),
              errors::InvalidArgument("label of row {} is {}, but input has {} classes; it "
                                      "must be in [0, {}) or ignore_index ({}).",
                                      r, value, global_classes, global_classes, ignore_index));
          hard_[r] = value == ignore_index ? kIgnored : value;
        }
      }
    });
  }

  bool soft_;
  ClassRows<T> soft_rows_;
  const T* soft_data_ = nullptr;
  std::vector<int64_t> hard_;
  int64_t begin_;
  int64_t classes_ = 0;
};

/// One number per row, combined over the ranks that share the class dim.
template <typename C>
class RowNumbers {
 public:
  explicit RowNumbers(int64_t rows)
      : values_(DenseTensor::empty({{rows}, dtype_of<C>()}, CPUPlace())),
        data_(values_.template mutable_data<C>()) {}
  C& operator[](int64_t r) { return data_[r]; }
  void combine(const CpuContext& ctx, int axis, CombineKind kind) {
    if (ctx.view()) ctx.view()->combine_over(0, axis, kind, &values_);
  }

 private:
  DenseTensor values_;
  C* data_;
};

/// Whether any rank that shares the class dim has less than the whole of it. Must come out alike
/// on all of them: of two ranks sharing one class, one has it all and the other none.
bool classes_sharded(const CpuContext& ctx, const ShardBox& box, int axis) {
  return ctx.view() && (box.box.size[axis] != box.global[axis] || box.global[axis] <= 1);
}

template <typename T>
void whole_rows(const T* input, const Layout& layout, Labels<T>& labels, T* softmax, T* loss) {
  using C = compute_t<T>;
  ClassRows<T> rows(layout);
  std::vector<C> shares(layout.classes);
  for (int64_t r = 0; r < layout.rows(); ++r) {
    const C* row = rows.read(input, r);
    const C most = row_max(row, layout.classes);
    const C sum = row_exp_sum(row, layout.classes, most, shares.data());
    const C log_sum = std::log(sum);
    const C term = labels.weigh(r, row, [=](C logit) { return log_sum - (logit - most); });
    loss[r] = static_cast<T>(term);
    const C factor = C(1) / sum;
    for (C& share : shares) share *= factor;
    rows.write(shares.data(), r, softmax);
  }
}

template <typename T>
void sharded_rows(const CpuContext& ctx, const T* input, const Layout& layout, Labels<T>& labels,
                  T* softmax, T* loss) {
  using C = compute_t<T>;
  ClassRows<T> rows(layout);
  std::vector<C> shares(layout.classes);
  RowNumbers<C> most(layout.rows());
  RowNumbers<C> sums(layout.rows());
  RowNumbers<C> terms(layout.rows());
  for (int64_t r = 0; r < layout.rows(); ++r)
    most[r] = row_max(rows.read(input, r), layout.classes);
  most.combine(ctx, layout.axis, CombineKind::kMax);
  for (int64_t r = 0; r < layout.rows(); ++r)
    sums[r] = row_exp_sum(rows.read(input, r), layout.classes, most[r], shares.data());
  sums.combine(ctx, layout.axis, CombineKind::kSum);
  for (int64_t r = 0; r < layout.rows(); ++r) {
    const C* row = rows.read(input, r);
    const C shift = most[r];
    const C log_sum = std::log(sums[r]);
    terms[r] = labels.weigh(r, row, [=](C logit) { return log_sum - (logit - shift); });
    const C factor = C(1) / sums[r];
    for (int64_t c = 0; c < layout.classes; ++c) shares[c] = fast::exp(row[c] - shift) * factor;
    rows.write(shares.data(), r, softmax);
  }
  terms.combine(ctx, layout.axis, CombineKind::kSum);
  for (int64_t r = 0; r < layout.rows(); ++r) loss[r] = static_cast<T>(terms[r]);
}

template <typename T>
void given_probabilities(const CpuContext& ctx, const DenseTensor& input, const Layout& layout,
                         Labels<T>& labels, bool sharded, DenseTensor* softmax, T* loss) {
  using C = compute_t<T>;
  const T* data = input.data<T>();
  std::copy_n(data, input.numel(), softmax->mutable_data<T>());
  ClassRows<T> rows(layout);
  RowNumbers<C> terms(layout.rows());
  for (int64_t r = 0; r < layout.rows(); ++r)
    terms[r] = labels.weigh(r, rows.read(data, r), [](C share) { return -std::log(share); });
  if (sharded) terms.combine(ctx, layout.axis, CombineKind::kSum);
  for (int64_t r = 0; r < layout.rows(); ++r) loss[r] = static_cast<T>(terms[r]);
}

}  // namespace

template <typename T>
void CrossEntropyWithSoftmaxKernel(const CpuContext& ctx, const DenseTensor& input,
                                   const DenseTensor& label, bool soft_label, bool use_softmax,
                                   bool, int ignore_index, int axis, DenseTensor* softmax,
                                   DenseTensor* loss) {
  const Layout layout = make_layout(input.dims(), axis);
  if (layout.rows() == 0) return;
  const ShardBox box = ctx.input_box(0, input.dims());
  // Labels are checked before anything is combined, so that a bad one stops every rank alike.
  Labels<T> labels(label, layout, box, soft_label, ignore_index);
  const bool sharded = classes_sharded(ctx, box, layout.axis);
  T* losses = loss->mutable_data<T>();
  if (!use_softmax)
    return given_probabilities(ctx, input, layout, labels, sharded, softmax, losses);
  const T* data = input.data<T>();
  T* shares = softmax->mutable_data<T>();
  if (sharded) return sharded_rows(ctx, data, layout, labels, shares, losses);
  whole_rows(data, layout, labels, shares, losses);
}

PHI_REGISTER_KERNEL(cross_entropy_with_softmax, CPU, CrossEntropyWithSoftmaxKernel, float, double,
                    bfloat16, float16);

}  // namespace phi
