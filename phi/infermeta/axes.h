// Arithmetic of axes and broadcasting, shared by shape functions and kernels.
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

/// Maps an axis in [-ndim, ndim) to [0, ndim); a negative one counts from the end. The error shows
/// the argument's `name` and the tensor's `dims`. Errors: OutOfRange.
inline int normalise_axis(int64_t axis, int ndim, const Dims& dims,
                          std::string_view name = "axis") {
  if (axis < -ndim || axis >= ndim) [[unlikely]]
    detail::throw_bad_axis(axis, ndim, dims, name);
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

/// The tensor dims that a reduction over `axes` removes from an array of `dims`; all if `axes` is
/// empty. Errors: OutOfRange; InvalidArgument for a repeated axis.
inline AxisSet normalise_axes(const IntArray& axes, const Dims& dims) {
  if (axes.empty()) return AxisSet::all(dims.ndim());
  AxisSet set;
  for (int64_t axis : axes.values()) {
    // A 0-D tensor accepts axes 0 and -1, which select no tensor dim.
    if (dims.ndim() == 0 && (axis == 0 || axis == -1)) continue;
    const int d = normalise_axis(axis, dims.ndim(), dims);
    if (set.has(d)) [[unlikely]]
      detail::throw_repeated_axis(axes, dims);
    set.add(d);
  }
  return set;
}

/// The dims of an elementwise result. Tensor dims are aligned at the last one; a size of 1 is
/// broadcast, and an unknown extent is compatible with any other. `x_name` and `y_name` name the
/// arguments in the error. Errors: InvalidArgument with both shapes and the incompatible tensor
/// dim.
Dims broadcast_dims(const Dims& x, const Dims& y, std::string_view x_name = "x",
                    std::string_view y_name = "y");

}  // namespace phi
