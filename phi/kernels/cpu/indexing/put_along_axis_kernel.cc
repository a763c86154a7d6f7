// put_along_axis on the CPU, and its gradient: values are assigned to the elements that indices
// select, or reduced with each other and with the elements.
#include <algorithm>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/indexing.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/indexing/element_positions.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/functors/put.h"

namespace phi {
namespace {

/// Pairs of offsets: elements of arr that indices select, and elements of values that are put
/// there.
class PutOffsets {
 public:
  PutOffsets(const Dims& arr, const DenseTensor& indices, const Dims& values, int axis)
      : places_(arr, indices.dims(), values, axis), indices_(indices), extent_(arr[axis]) {}

  /// Calls f(offset in arr, offset in values) for each index, in their order.
  ///
  /// Errors   OutOfRange for an index outside the extent, after calls for some indices before it.
  template <typename F>
  void for_each(F&& f) const {
    places_.for_each({indices_, "indices", extent_, FromEnd::kYes}, f);
  }

  /// Errors   OutOfRange for an index outside the extent.
  void check() const {
    IndexBlocks blocks(indices_, "indices", extent_, FromEnd::kYes);
    while (!blocks.next().empty()) {
    }
  }

  /// Returns how many values are put to each of the n elements of arr.
  std::vector<int32_t> counts(int64_t n) const {
    std::vector<int32_t> counts(static_cast<size_t>(n), 0);
    for_each([&](int64_t at, int64_t) { ++counts[static_cast<size_t>(at)]; });
    return counts;
  }

 private:
  ElementPositions places_;
  const DenseTensor& indices_;
  int64_t extent_;
};

int axis_of(int axis, const Dims& dims) { return normalise_axis(axis, dims.ndim(), dims); }

/// x widened to the compute type of reductions; the destructor rounds it back.
template <typename T>
class WideArray {
 public:
  using C = compute_t<T>;
  explicit WideArray(DenseTensor* x) : narrow_(x->mutable_data<T>()), n_(x->numel()) {
    if constexpr (kIs16Bit<T>) {
      wide_.resize(static_cast<size_t>(n_));
      convert(narrow_, wide_.data(), n_);
    }
  }
  ~WideArray() {
    if constexpr (kIs16Bit<T>) convert(wide_.data(), narrow_, n_);
  }
  WideArray(const WideArray&) = delete;
  WideArray& operator=(const WideArray&) = delete;
  C* data() {
    if constexpr (kIs16Bit<T>) {
      return wide_.data();
    } else {
      return narrow_;
    }
  }

 private:
  T* narrow_;
  int64_t n_;
  std::vector<float> wide_;
};

/// Sets the selected elements to the initial value of a reduction, which excludes their own values.
template <typename C>
void start_from_input(const PutOffsets& puts, C value, C* to) {
  puts.for_each([=](int64_t at, int64_t) { to[at] = value; });
}

template <typename Put, typename T>
void reduce_into(const PutOffsets& puts, const T* values, bool include_self, DenseTensor* out) {
  using C = compute_t<T>;
  WideArray<T> wide(out);
  C* to = wide.data();
  if (!include_self) start_from_input<C>(puts, Put::kStart, to);
  puts.for_each(
      [&](int64_t at, int64_t own) { to[at] = Put()(to[at], static_cast<C>(values[own])); });
}

template <typename T>
void average_into(const PutOffsets& puts, const T* values, bool include_self, DenseTensor* out) {
  using C = compute_t<T>;
  WideArray<T> wide(out);
  C* to = wide.data();
  if (!include_self) start_from_input(puts, C(0), to);
  puts.for_each([&](int64_t at, int64_t own) {
    to[at] = AddFunctor<C>()(to[at], static_cast<C>(values[own]));
  });
  const auto counts = puts.counts(out->numel());
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) to[i] = static_cast<C>(to[i] / static_cast<C>(counts[i] + include_self));
  }
}

/// The gradients of a reduction, with offsets in arr and values as in Puts. `self` is arr's input
/// value; it takes part in the reduction if include_self.
template <typename T>
struct PutGradients {
  const PutOffsets& puts;
  const T* self;
  const T* values;
  const T* out;
  const T* out_grad;
  int64_t n;  // elements of arr
  bool include_self;
  T* self_grad;    // null: not wanted
  T* values_grad;  // null: not wanted, else zeros

  double grad(int64_t at) const { return static_cast<double>(out_grad[at]); }
  bool is_there(int64_t at, const T& value) const {
    return static_cast<double>(value) == static_cast<double>(out[at]);
  }

  /// Sets the gradient of each part of a selected element, that is, of each value and of self, to
  /// of(offset in arr, the part). Self gets 0 if it does not take part, and all of out_grad for
  /// elements that are not selected.
  template <typename Of>
  void give(const Of& of) const {
    if (self_grad) {
      std::copy_n(out_grad, n, self_grad);
      puts.for_each([&](int64_t at, int64_t) {
        self_grad[at] = convert_value<T>(include_self ? of(at, self[at]) : 0.0);
      });
    }
    if (!values_grad) return;
    puts.for_each(
        [&](int64_t at, int64_t own) { values_grad[own] = convert_value<T>(of(at, values[own])); });
  }

  /// Values that a later one overwrites have no gradient.
  void of_assign() const {
    PutGradients of_self = *this;
    of_self.include_self = false;
    of_self.values_grad = nullptr;
    of_self.give([](int64_t, const T&) { return 0.0; });
    if (!values_grad) return;
    std::vector<int64_t> last(static_cast<size_t>(n), -1);
    puts.for_each([&](int64_t at, int64_t own) { last[at] = own; });
    for (int64_t at = 0; at < n; ++at) {
      if (last[at] >= 0) values_grad[last[at]] = out_grad[at];
    }
  }

  void of_sum() const {
    give([&](int64_t at, const T&) { return grad(at); });
  }

  void of_mean() const {
    const auto counts = puts.counts(n);
    give([&](int64_t at, const T&) { return grad(at) / (counts[at] + include_self); });
  }

  /// The parts that are equal to the maximum (minimum) share the gradient evenly.
  void of_extreme() const {
    std::vector<int32_t> shares(static_cast<size_t>(n), 0);
    puts.for_each([&](int64_t at, int64_t own) { shares[at] += is_there(at, values[own]); });
    if (include_self) {
      for (int64_t i = 0; i < n; ++i) shares[i] += is_there(i, self[i]);
    }
    give([&](int64_t at, const T& part) {
      return is_there(at, part) ? grad(at) / shares[at] : 0.0;
    });
  }

  /// The gradient of a part is the product of the other parts: the product of all divided by this
  /// part, if no part is 0.
  void of_product() const {
    std::vector<double> product(static_cast<size_t>(n), 1.0);  // of nonzero parts
    std::vector<int32_t> zeros(static_cast<size_t>(n), 0);
    const auto take = [&](int64_t at, double part) {
      zeros[at] += part == 0.0;
      product[at] *= part == 0.0 ? 1.0 : part;
    };
    if (include_self) {
      for (int64_t i = 0; i < n; ++i) take(i, static_cast<double>(self[i]));
    }
    puts.for_each([&](int64_t at, int64_t own) { take(at, static_cast<double>(values[own])); });
    give([&](int64_t at, const T& part) {
      const auto value = static_cast<double>(part);
      const bool is_zero = value == 0.0;
      if (zeros[at] > is_zero) return 0.0;
      return grad(at) * (is_zero ? product[at] : product[at] / value);
    });
  }
};

}  // namespace

/// `axis` is whole on this rank. Half-precision reductions are computed in float; the mean of
/// integers drops the fraction. out may be arr.
template <typename T, typename Context>
void PutAlongAxisKernel(const Context&, const DenseTensor& arr, const DenseTensor& indices,
                        const DenseTensor& values, int axis, const std::string& reduce,
                        bool include_self, DenseTensor* out) {
  const PutOffsets puts(arr.dims(), indices, values.dims(), axis_of(axis, arr.dims()));
  T* to = out->mutable_data<T>();
  if (arr.data<T>() == to) {
    puts.check();  // before arr changes
  } else {
    std::copy_n(arr.data<T>(), arr.numel(), to);
  }
  const T* from = values.data<T>();
  using C = compute_t<T>;
  if (reduce == "assign") {
    puts.for_each([&](int64_t at, int64_t own) { to[at] = from[own]; });
  } else if (reduce == "add") {
    reduce_into<PutAdd<C>>(puts, from, include_self, out);
  } else if (reduce == "amax") {
    reduce_into<PutLargest<C>>(puts, from, include_self, out);
  } else if (reduce == "amin") {
    reduce_into<PutSmallest<C>>(puts, from, include_self, out);
  } else if (reduce == "mean") {
    average_into(puts, from, include_self, out);
  } else {
    reduce_into<PutMultiply<C>>(puts, from, include_self, out);
  }
}

/// Values that no index selects get zeros.
template <typename T, typename Context>
void PutAlongAxisGradKernel(const Context&, const DenseTensor& arr, const DenseTensor& indices,
                            const DenseTensor& values, const DenseTensor& out,
                            const DenseTensor& out_grad, int axis, const std::string& reduce,
                            bool include_self, DenseTensor* arr_grad, DenseTensor* values_grad) {
  const PutOffsets puts(arr.dims(), indices, values.dims(), axis_of(axis, arr.dims()));
  if (values_grad) std::fill_n(values_grad->mutable_data<T>(), values_grad->numel(), T(0.0f));
  const PutGradients<T> gradients{puts,
                                  arr.data<T>(),
                                  values.data<T>(),
                                  out.data<T>(),
                                  out_grad.data<T>(),
                                  arr.numel(),
                                  include_self,
                                  arr_grad ? arr_grad->mutable_data<T>() : nullptr,
                                  values_grad ? values_grad->mutable_data<T>() : nullptr};
  if (reduce == "assign") {
    gradients.of_assign();
  } else if (reduce == "add") {
    gradients.of_sum();
  } else if (reduce == "mean") {
    gradients.of_mean();
  } else if (reduce == "amax" || reduce == "amin") {
    gradients.of_extreme();
  } else {
    gradients.of_product();
  }
}

PHI_REGISTER_KERNEL(put_along_axis, CPU, PutAlongAxisKernel, RealNumbers);
PHI_REGISTER_KERNEL(put_along_axis_grad, CPU, PutAlongAxisGradKernel, Floats);

}  // namespace phi
