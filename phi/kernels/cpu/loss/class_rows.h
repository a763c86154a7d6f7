// Shared parts of softmax with cross entropy and its gradient: rows of classes, labels, and numbers
// per row that ranks combine if the classes are sharded.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/templates/loss/classes.h"

namespace phi {

/// Copies rows of classes between the array and contiguous buffers of the compute type.
template <typename T>
class ClassRows {
 public:
  using C = compute_t<T>;
  explicit ClassRows(const ClassLayout& layout) : layout_(layout), buffer_(layout.classes) {}

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
  /// Returns where to compute row r, to pass to `write`.
  C* place(int64_t r, T* data) {
    if constexpr (!kIs16Bit<T>) {
      if (layout_.inner == 1) return data + start(r);
    }
    return buffer_.data();
  }
  void write(const C* row, int64_t r, T* data) {
    T* first = data + start(r);
    if constexpr (!kIs16Bit<T>) {
      if (row == first) return;  // computed in place
    }
    if (layout_.inner == 1) return convert(row, first, layout_.classes);
    for (int64_t c = 0; c < layout_.classes; ++c) first[c * layout_.inner] = static_cast<T>(row[c]);
  }

 private:
  int64_t start(int64_t r) const {
    return r / layout_.inner * layout_.classes * layout_.inner + r % layout_.inner;
  }
  ClassLayout layout_;
  std::vector<C> buffer_;
};

/// Labels of rows, hard (a class number) or soft (a weight per class), for local rows of logits or
/// log-probabilities.
template <typename T>
class ClassLabels {
 public:
  using C = compute_t<T>;
  ClassLabels(const DenseTensor& label, const ClassLayout& layout, const ShardBox& box, bool soft,
              int ignore_index)
      : soft_(soft), soft_rows_(layout), begin_(box.box.offset[layout.axis]) {
    if (soft) {
      soft_data_ = label.data<T>();
      classes_ = layout.classes;
    } else {
      read_hard(label, layout, box.global[layout.axis], ignore_index);
    }
  }

  /// Returns the sum of label * value(logit) over local classes. A term with weight zero is 0.
  template <typename Value>
  C weigh(int64_t r, const C* row, Value value) {
    if (soft_) {
      const C* shares = weights(r);
      return row_sum<C>(classes_, [&](int64_t c) {
        return shares[c] == C(0) ? C(0) : shares[c] * value(row[c]);
      });
    }
    const int64_t here = local_class(r);
    return here >= 0 ? value(row[here]) : C(0);
  }

  /// Returns the weights of row r's local classes. Soft labels only.
  const C* weights(int64_t r) { return soft_rows_.read(soft_data_, r); }
  /// Whether row r has no loss. Hard labels only.
  bool ignored(int64_t r) const { return hard_[r] == kIgnored; }
  /// Returns the position of row r's class in the local row, -1 if it is on another rank or
  /// ignored. Hard labels only.
  int64_t local_class(int64_t r) const {
    const int64_t here = hard_[r] - begin_;
    return hard_[r] != kIgnored && here >= 0 && here < classes_ ? here : -1;
  }

 private:
  static constexpr int64_t kIgnored = -1;  // no class has this number

  void read_hard(const DenseTensor& label, const ClassLayout& layout, int64_t global_classes,
                 int ignore_index) {
    classes_ = layout.classes;
    hard_.resize(layout.rows());
    visit_dtype(label.dtype(), [&]<typename L>() {
      if constexpr (std::is_same_v<L, int32_t> || std::is_same_v<L, int64_t>) {
        const L* values = label.data<L>();
        for (size_t r = 0; r < hard_.size(); ++r) {
          const int64_t value = values[r];
          if (value != ignore_index && (value < 0 || value >= global_classes)) {
            throw_wrong_label(static_cast<int64_t>(r), value, global_classes, ignore_index);
          }
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

}  // namespace phi
