// Shapes of ops that move elements without changing them.
#include "phi/infermeta/shape.h"

#include <algorithm>

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"

namespace phi {
namespace {

TensorMeta with_dims(const TensorMeta& x, const Dims& dims) { return {dims, x.dtype, x.layout}; }

// The extent for the -1 of a reshape: `numel` divided by the product of the other extents.
int64_t inferred_extent(const TensorMeta& x, const IntArray& shape, int64_t others) {
  if (!x.dims.known()) return kUnknownDim;
  PHI_CHECK(
      others != 0 && x.numel() % others == 0,
      errors::InvalidArgument("x {} of {} elements cannot take shape {}: the extents other than -1 "
                              "multiply to {}, which does not divide it; change the shape.",
                              x.to_string(), x.numel(), Dims(shape.values()).to_string(), others));
  return x.numel() / others;
}

// Whether a shape with a 0 that copies a non-zero extent is used as written, because x is empty.
bool stays_empty(const TensorMeta& x, const IntArray& shape) {
  if (!x.dims.known() || x.numel() != 0) return false;
  bool copies_more = false;
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] < 0 || (shape[d] == 0 && d >= x.dims.ndim())) return false;
    if (shape[d] == 0 && x.dims[d] == 0) return false;  // the copied extent is 0 too
    copies_more = copies_more || shape[d] == 0;
  }
  return copies_more;
}

Dims remove_dims(const Dims& dims, AxisSet removed) {
  Dims out;
  for (int d = 0; d < dims.ndim(); ++d) {
    if (!removed.has(d)) out.push_back(dims[d]);
  }
  return out;
}

std::string list_of(const IntArray& values) {
  std::string out = "[";
  for (int i = 0; i < values.size(); ++i) out += (i > 0 ? "," : "") + std::to_string(values[i]);
  return out + "]";
}

}  // namespace

TensorMeta ReshapeInferMeta(const TensorMeta& x, const IntArray& shape) {
  if (stays_empty(x, shape)) return with_dims(x, Dims(shape.values()));
  Dims out;
  int inferred = -1;
  for (int d = 0; d < shape.size(); ++d) {
    int64_t size = shape[d];
    if (size == -1) {
      PHI_CHECK(inferred < 0, errors::InvalidArgument("shape is {}, but only one extent may be -1.",
                                                      list_of(shape)));
      inferred = d;
      size = 1;
    } else if (size == 0) {
      PHI_CHECK(d < x.dims.ndim(),
                errors::InvalidArgument("shape[{}] of {} is 0, which copies that tensor dim of x "
                                        "{}, but x has only {}.",
                                        d, list_of(shape), x.to_string(), x.dims.ndim()));
      size = x.dims[d];
    }
    PHI_CHECK(size >= 0 || size == kUnknownDim,
              errors::InvalidArgument(
                  "shape is {}, but extents are at least 1, 0 to copy x's, or -1 to infer it.",
                  list_of(shape)));
    out.push_back(size);
  }
  if (inferred >= 0) {
    const int64_t others = out.numel();
    // For an empty x the quotient is 0 / 0; the extent is 0.
    out[inferred] = others == 0 && x.numel() == 0 ? 0 : inferred_extent(x, shape, others);
  }
  PHI_CHECK(!x.dims.known() || out.numel() == x.numel(),
            errors::InvalidArgument("x {} has {} elements, but shape {} has {}; they must be "
                                    "equal (use -1 for one extent to have it computed).",
                                    x.to_string(), x.numel(), list_of(shape), out.numel()));
  return with_dims(x, out);
}

TensorMeta SqueezeInferMeta(const TensorMeta& x, const IntArray& axis) {
  AxisSet removed;
  if (axis.empty()) {
    for (int d = 0; d < x.dims.ndim(); ++d) {
      if (x.dims[d] == 1) removed.add(d);
    }
  }
  for (int64_t a : axis.values()) {  // a 0-D tensor accepts axes 0 and -1
    const int d = normalise_axis(a, std::max(x.dims.ndim(), 1), x.dims);
    if (x.dims.ndim() > 0 && x.dims[d] == 1) removed.add(d);
  }
  return with_dims(x, remove_dims(x.dims, removed));
}

TensorMeta UnsqueezeInferMeta(const TensorMeta& x, const IntArray& axis) {
  Dims out = x.dims;
  for (int64_t a : axis.values()) {
    const int at = normalise_axis(a, out.ndim() + 1, out);
    out.push_back(1);
    std::rotate(out.begin() + at, out.end() - 1, out.end());
  }
  return with_dims(x, out);
}

TensorMeta TransposeInferMeta(const TensorMeta& x, const std::vector<int>& perm) {
  const int ndim = x.dims.ndim();
  AxisSet seen;
  bool good = static_cast<int>(perm.size()) == ndim;
  Dims out;
  for (size_t i = 0; good && i < perm.size(); ++i) {
    const int d = perm[i] < 0 ? perm[i] + ndim : perm[i];
    good = d >= 0 && d < ndim && !seen.has(d);
    if (!good) break;
    seen.add(d);
    out.push_back(x.dims[d]);
  }
  if (!good) {
    throw errors::InvalidArgument(
        "perm is {} for x {}, but it must name each of its {} tensor dims once.",
        list_of(IntArray(std::vector<int64_t>(perm.begin(), perm.end()))), x.to_string(), ndim);
  }
  return with_dims(x, out);
}

TensorMeta ConcatInferMeta(std::span<const TensorMeta> x, const Scalar& axis) {
  PHI_CHECK(!x.empty(), errors::InvalidArgument("x is an empty list; pass at least one tensor."));
  const int ndim = x[0].dims.ndim();
  const int d = normalise_axis(axis.to<int64_t>(), ndim, x[0].dims);
  TensorMeta out = x[0];
  for (size_t i = 1; i < x.size(); ++i) {
    bool fits = x[i].dims.ndim() == ndim && x[i].dtype == out.dtype;
    for (int k = 0; fits && k < ndim; ++k) fits = k == d || x[i].dims[k] == out.dims[k];
    PHI_CHECK(fits, errors::InvalidArgument("x[0] is {} and x[{}] is {}: they must have one dtype "
                                            "and equal extents except on axis {}; reshape or cast "
                                            "one of them.",
                                            x[0].to_string(), i, x[i].to_string(), d));
    const bool known = out.dims[d] != kUnknownDim && x[i].dims[d] != kUnknownDim;
    out.dims[d] = known ? extent_plus(out.dims[d], x[i].dims[d]) : kUnknownDim;
  }
  return out;
}

std::vector<TensorMeta> SplitInferMeta(const TensorMeta& x, const IntArray& sections,
                                       const Scalar& axis) {
  const int d = normalise_axis(axis.to<int64_t>(), x.dims.ndim(), x.dims);
  PHI_CHECK(!sections.empty(),
            errors::InvalidArgument("sections is empty; pass the extent of each part of x {}.",
                                    x.to_string()));
  std::vector<TensorMeta> parts(sections.size(), x);
  int64_t sum = 0;
  int open = -1;
  bool good = true;
  for (int i = 0; i < sections.size(); ++i) {
    if (sections[i] == -1) {
      good = good && open < 0;
      open = i;
      continue;
    }
    good = good && sections[i] >= 0;
    if (good) sum = extent_plus(sum, sections[i]);
    parts[i].dims[d] = sections[i];
  }
  if (good && open >= 0) parts[open].dims[d] = x.dims[d] - sum;
  PHI_CHECK(good && (open >= 0 ? sum < x.dims[d] : sum == x.dims[d]),
            errors::InvalidArgument(
                "sections is {} for axis {} of x {}: they must be at least 0 and add up to {}; one "
                "may be -1 to infer it, unless the others exceed the extent.",
                list_of(sections), d, x.to_string(), x.dims[d]));
  return parts;
}

std::vector<TensorMeta> SplitWithNumInferMeta(const TensorMeta& x, int num, const Scalar& axis) {
  const int d = normalise_axis(axis.to<int64_t>(), x.dims.ndim(), x.dims);
  PHI_CHECK(num > 0 && x.dims[d] % num == 0,
            errors::InvalidArgument("num is {}, but axis {} of x {} has extent {}, which must be a "
                                    "multiple of it; use split with sections for uneven parts.",
                                    num, d, x.to_string(), x.dims[d]));
  TensorMeta part = x;
  part.dims[d] = x.dims[d] / num;
  return std::vector<TensorMeta>(num, part);
}

SliceBounds slice_bounds(int64_t start, int64_t end, int64_t extent) {
  const auto place = [extent](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent);
  };
  const int64_t begin = place(start);
  return {begin, std::max(begin, place(end))};
}

TensorMeta SliceInferMeta(const TensorMeta& input, const std::vector<int64_t>& axes,
                          const IntArray& starts, const IntArray& ends,
                          const std::vector<int64_t>& /*infer_flags*/,
                          const std::vector<int64_t>& decrease_axis) {
  PHI_CHECK(axes.size() == starts.values().size() && axes.size() == ends.values().size(),
            errors::InvalidArgument("axes names {} tensor dims, but there are {} starts and {} "
                                    "ends; pass one of each per axis.",
                                    axes.size(), starts.size(), ends.size()));
  Dims out = input.dims;
  AxisSet seen;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int d = normalise_axis(axes[i], out.ndim(), input.dims, "axes");
    PHI_CHECK(!seen.has(d), errors::InvalidArgument("axes names tensor dim {} of input {} twice.",
                                                    d, input.to_string()));
    seen.add(d);
    if (out[d] == kUnknownDim) continue;
    const auto [begin, end] =
        slice_bounds(starts[static_cast<int>(i)], ends[static_cast<int>(i)], out[d]);
    out[d] = end - begin;
  }
  AxisSet removed;
  for (int64_t axis : decrease_axis) {
    const int d = normalise_axis(axis, out.ndim(), input.dims, "decrease_axis");
    PHI_CHECK(
        out[d] == 1 || out[d] == kUnknownDim,
        errors::InvalidArgument("decrease_axis names tensor dim {} of input {}, but the slice "
                                "has {} elements there; only a tensor dim of 1 is removed.",
                                d, input.to_string(), out[d]));
    removed.add(d);
  }
  return with_dims(input, remove_dims(out, removed));
}

TensorMeta SliceScatterInferMeta(const TensorMeta& x, const TensorMeta& value,
                                 const std::vector<int64_t>& axes, const IntArray& starts,
                                 const IntArray& ends, const std::vector<int64_t>& decrease_axis) {
  const TensorMeta slice = SliceInferMeta(x, axes, starts, ends, {}, decrease_axis);
  bool fits = slice.dims.ndim() == value.dims.ndim() && x.dtype == value.dtype;
  for (int d = 0; fits && d < slice.dims.ndim(); ++d) {
    const bool known = slice.dims[d] != kUnknownDim && value.dims[d] != kUnknownDim;
    fits = !known || slice.dims[d] == value.dims[d];
  }
  PHI_CHECK(fits, errors::InvalidArgument("value is {}, but the slice of x {} that it replaces is "
                                          "{}; cast, expand or reshape value.",
                                          value.to_string(), x.to_string(), slice.to_string()));
  return x;
}

TensorMeta ExpandInferMeta(const TensorMeta& x, const IntArray& shape) {
  const int added = shape.size() - x.dims.ndim();
  PHI_CHECK(added >= 0, errors::InvalidArgument(
                            "x is {} and shape is {}: shape must have at least as many extents as "
                            "x; add them in front.",
                            x.to_string(), list_of(shape)));
  Dims out;
  for (int d = 0; d < shape.size(); ++d) {
    const int64_t own = d < added ? 1 : x.dims[d - added];
    const int64_t size = shape[d] == -1 && d >= added ? own : shape[d];
    PHI_CHECK(
        size == own || (own == 1 && size >= 0) || own == kUnknownDim,
        errors::InvalidArgument("x is {} and shape is {}: shape[{}] must be {}; only extents of 1 "
                                "expand, and -1 keeps an extent that x has.",
                                x.to_string(), list_of(shape), d,
                                d < added ? "at least 0" : std::to_string(own) + " or -1"));
    out.push_back(size);
  }
  return with_dims(x, out);
}

TensorMeta ExpandAsInferMeta(const TensorMeta& x, const TensorMeta& y) {
  const int added = y.dims.ndim() - x.dims.ndim();
  bool fits = added >= 0;
  for (int d = 0; fits && d < x.dims.ndim(); ++d) {
    const int64_t from = x.dims[d];
    const int64_t to = y.dims[added + d];
    fits = from == to || from == 1 || from == kUnknownDim || to == kUnknownDim;
  }
  PHI_CHECK(fits, errors::InvalidArgument("x is {} and y is {}: counted from the last, each tensor "
                                          "dim of x must be as y's or 1; reshape x.",
                                          x.to_string(), y.to_string()));
  return with_dims(x, y.dims);
}

TensorMeta ExpandToInferMeta(const TensorMeta& x, const TensorMeta* y,
                             const std::vector<int64_t>& target_shape) {
  return y ? ExpandAsInferMeta(x, *y) : ExpandInferMeta(x, target_shape);
}

TensorMeta TrilInferMeta(const TensorMeta& x, int /*diagonal*/) {
  PHI_CHECK(x.dims.ndim() >= 2,
            errors::InvalidArgument("x is {}, but it must have at least 2 tensor dims: the last "
                                    "two are the rows and columns of the matrices.",
                                    x.to_string()));
  return x;
}

}  // namespace phi
