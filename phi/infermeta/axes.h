// Axes and broadcasting: the arithmetic that shape functions and kernels share.
//
//   AxisSet reduced = normalise_axes(axis, x.dims);   // throws for a wrong or repeated axis
//   if (reduced.has(0)) ...
#pragma once

#include <cstdint>
#include <string_view>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// A set of tensor dims.
class AxisSet {
 public:
  static AxisSet all(int ndim) { return AxisSet((1u << ndim) - 1); }

  AxisSet() = default;
  bool has(int tensor_dim) const { return (bits_ >> tensor_dim) & 1u; }
  void add(int tensor_dim) { bits_ |= 1u << tensor_dim; }

 private:
  explicit AxisSet(uint32_t bits) : bits_(bits) {}
  uint32_t bits_ = 0;
};

namespace detail {
[[noreturn]] void throw_bad_axis(int64_t axis, int ndim, const Dims& dims, std::string_view name);
[[noreturn]] void throw_repeated_axis(const IntArray& axes, const Dims& dims);
}  // namespace detail

/// `axis` counted from the front; a negative one counts from the back of `ndim` tensor dims.
/// `name` names the argument and `dims` is the tensor's shape, both for the error.
/// Errors: OutOfRange.
inline int normalise_axis(int64_t axis, int ndim, const Dims& dims,
                          std::string_view name = "axis") {
  if (axis < -ndim || axis >= ndim) [[unlikely]]
    detail::throw_bad_axis(axis, ndim, dims, name);
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

/// The tensor dims that a reduction over `axes` of an array of `dims` removes; empty means all.
/// Errors: OutOfRange; InvalidArgument if an axis is given twice.
inline AxisSet normalise_axes(const IntArray& axes, const Dims& dims) {
  if (axes.empty()) return AxisSet::all(dims.ndim());
  AxisSet set;
  for (int64_t axis : axes.values()) {
    // A 0-D tensor takes axis 0 and -1, which name nothing.
    if (dims.ndim() == 0 && (axis == 0 || axis == -1)) continue;
    const int d = normalise_axis(axis, dims.ndim(), dims);
    if (set.has(d)) [[unlikely]]
      detail::throw_repeated_axis(axes, dims);
    set.add(d);
  }
  return set;
}

/// The shape of an elementwise result: tensor dims are matched from the last; 1 stretches. An
/// unknown extent meets any other. `x_name` and `y_name` name the arguments in the error.
/// Errors: InvalidArgument with both shapes and the tensor dim that does not fit.
Dims broadcast_dims(const Dims& x, const Dims& y, std::string_view x_name = "x",
                    std::string_view y_name = "y");

}  // namespace phi
