// Implements x[2], x[1:4, ..., None], x[mask], and assignment to them.
#include "api/tensor/indexing.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/generated/ops/cumsum.h"
#include "api/generated/ops/expand.h"
#include "api/generated/ops/flip.h"
#include "api/generated/ops/gather.h"
#include "api/generated/ops/masked_select.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/scatter.h"
#include "api/generated/ops/set_value_with_tensor.h"
#include "api/generated/ops/strided_slice.h"
#include "api/generated/ops/unsqueeze.h"
#include "api/generated/ops/where.h"
#include "api/tensor/scalar_operand.h"
#include "phi/common/errors.h"
#include "python/src/base/convert.h"
#include "python/src/base/dtype.h"
#include "python/src/base/errors.h"
#include "python/src/base/py_ref.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/tensor/tensor_slots.h"
#include "python/src/tensor/values.h"

namespace phi::python {
namespace {

// ---- indices ----

// The index of one tensor dim: a number, or a range, which runs backwards if its step is negative.
struct DimIndex {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t step = 1;
  bool is_number = false;

  TensorIndex index() const { return is_number ? TensorIndex(begin) : range(begin, end); }
};

struct ParsedIndex {
  std::vector<DimIndex> dims;  // one for each tensor dim
  std::vector<int64_t> none;   // positions in the result of inserted tensor dims of size 1
  bool has_steps = false;
};

DimIndex whole(int64_t extent) { return {0, extent, 1, false}; }

DimIndex slice_of(PyObject* slice, int64_t extent) {
  Py_ssize_t begin = 0, end = 0, step = 1;
  checked(PySlice_Unpack(slice, &begin, &end, &step));
  const Py_ssize_t count = PySlice_AdjustIndices(extent, &begin, &end, step);
  // Normalised: the bounds are within the extent.
  if (count == 0) return {0, 0, 1, false};
  return {begin, begin + count * step, step, false};
}

DimIndex number_of(PyObject* index, int d, int64_t extent) {
  const Py_ssize_t number = PyNumber_AsSsize_t(index, PyExc_IndexError);
  if (number == -1 && PyErr_Occurred()) throw_python_error();
  if (number < -extent || number >= extent) {
    raise(PyExc_IndexError, fmt::format("index {} is outside tensor dim {}, which has {} elements",
                                        number, d, extent));
  }
  return {number < 0 ? number + extent : number, 0, 1, true};
}

int count_dims(PyObject* const* parts, Py_ssize_t count) {
  int dims = 0;
  for (Py_ssize_t i = 0; i < count; ++i) dims += parts[i] != Py_None && parts[i] != Py_Ellipsis;
  return dims;
}

class IndexParser {
 public:
  explicit IndexParser(const Tensor& x) : x_(x) {}

  ParsedIndex read(PyObject* key) {
    const bool several = PyTuple_Check(key);
    PyObject* const* parts = several ? &PyTuple_GET_ITEM(key, 0) : &key;
    const Py_ssize_t count = several ? PyTuple_GET_SIZE(key) : 1;
    const int named = count_dims(parts, count);
    if (named > x_.ndim()) {
      raise(PyExc_IndexError, fmt::format("got {} indices of {}, which has {} tensor dims", named,
                                          x_.to_string(), x_.ndim()));
    }
    for (Py_ssize_t i = 0; i < count; ++i) add(parts[i], named);
    while (next_ < x_.ndim()) take(whole(x_.shape()[next_]));
    return std::move(picks_);
  }

 private:
  void add(PyObject* part, int named) {
    if (part == Py_None) {
      picks_.none.push_back(shown_++);
    } else if (part == Py_Ellipsis) {
      if (std::exchange(has_ellipsis_, true)) {
        raise(PyExc_IndexError, "at most one '...' is allowed among indices");
      }
      for (int i = x_.ndim() - named; i > 0; --i) take(whole(x_.shape()[next_]));
    } else if (PySlice_Check(part)) {
      take(slice_of(part, x_.shape()[next_]));
    } else if (PyIndex_Check(part) && !PyBool_Check(part)) {
      take(number_of(part, next_, x_.shape()[next_]));
    } else {
      raise(PyExc_TypeError, fmt::format("an index must be an int, a slice, '...' or None, or a "
                                         "single tensor of bool or of integers; got {}",
                                         describe(part)));
    }
  }
  void take(const DimIndex& picked) {
    picks_.dims.push_back(picked);
    picks_.has_steps = picks_.has_steps || picked.step != 1;
    shown_ += !picked.is_number;
    ++next_;
  }

  const Tensor& x_;
  ParsedIndex picks_;
  int next_ = 0;       // tensor dim
  int64_t shown_ = 0;  // tensor dims of the result so far
  bool has_ellipsis_ = false;
};

// Converts a list, array or tensor in the brackets to an index tensor; empty for any other key.
std::optional<Tensor> index_tensor(PyObject* key) {
  if (is_tensor(key)) return tensor_of(key);
  if (!PyList_Check(key) && (PySequence_Check(key) == 0 || !is_array(key))) return std::nullopt;
  Tensor index = tensor_from(key, Py_None);
  // An empty list has no dtype.
  return PyList_Check(key) && index.numel() == 0 ? index.to(DataType::INT64) : index;
}

// Same, but empty for a 0-D integer tensor, which counts as a number.
std::optional<Tensor> picking_tensor(PyObject* key) {
  std::optional<Tensor> index = index_tensor(key);
  if (index && index->ndim() == 0 && is_integral(index->dtype())) return std::nullopt;
  return index;
}

void check_picking(const Tensor& x, const Tensor& index) {
  if (index.dtype() == DataType::BOOL && index.shape() == x.shape()) return;
  if (is_integral(index.dtype()) && index.ndim() == 1 && x.ndim() > 0) return;
  raise(PyExc_IndexError, fmt::format("{} cannot select elements of {}; expected a bool tensor of "
                                      "its shape, or integers [n] for the first tensor dim",
                                      index.to_string(), x.to_string()));
}

// Operators accept int32 and int64 indices, which may count from the end.
Tensor rows_of(const Tensor& index) {
  return index.dtype() == DataType::INT32 ? index : index.to(DataType::INT64);
}

// ---- reading ----

template <size_t... I>
TensorPart part_of(const Tensor& x, const std::vector<DimIndex>& dims, std::index_sequence<I...>) {
  return x(dims[I].index()...);
}

TensorPart part_of(const Tensor& x, const std::vector<DimIndex>& dims) {
  switch (dims.size()) {
#define PHI_PART_OF(n) \
  case n:              \
    return part_of(x, dims, std::make_index_sequence<n>());
    PHI_PART_OF(0)
    PHI_PART_OF(1)
    PHI_PART_OF(2)
    PHI_PART_OF(3)
    PHI_PART_OF(4)
    PHI_PART_OF(5)
    PHI_PART_OF(6)
    PHI_PART_OF(7)
    PHI_PART_OF(8)
#undef PHI_PART_OF
    default:
      static_assert(kMaxNdim == 9);
      return part_of(x, dims, std::make_index_sequence<kMaxNdim>());
  }
}

// Returns the elements of the ranges with steps, and marks their tensor dims in `dims` as whole.
Tensor stepped(const Tensor& x, std::vector<DimIndex>& dims) {
  std::vector<int> axes, backwards;
  std::vector<int64_t> begins, ends, steps;
  for (size_t d = 0; d < dims.size(); ++d) {
    DimIndex& picked = dims[d];
    if (picked.step == 1) continue;
    const int64_t count = (picked.end - picked.begin) / picked.step;
    const int64_t last = picked.begin + (count - 1) * picked.step;
    axes.push_back(static_cast<int>(d));
    begins.push_back(std::min(picked.begin, last));
    ends.push_back(std::max(picked.begin, last) + 1);
    steps.push_back(std::abs(picked.step));
    if (picked.step < 0) backwards.push_back(static_cast<int>(d));
    picked = whole(count);
  }
  const Tensor some = strided_slice(x, axes, begins, ends, steps);
  return backwards.empty() ? some : flip(some, backwards);
}

Tensor read(const Tensor& x, ParsedIndex picks) {
  const Tensor from = picks.has_steps ? stepped(x, picks.dims) : x;
  const Tensor part = part_of(from, picks.dims).get();
  return picks.none.empty() ? part : unsqueeze(part, picks.none);
}

Tensor read_picked(const Tensor& x, const Tensor& index) {
  check_picking(x, index);
  if (index.dtype() == DataType::BOOL) return masked_select(x, index);
  return gather(x, rows_of(index), 0);
}

PyObject* get_item(PyObject* self, PyObject* key) {
  return guarded([&] {
    const Tensor& x = tensor_of(self);
    const std::optional<Tensor> index = picking_tensor(key);
    ParsedIndex picks = index ? ParsedIndex() : IndexParser(x).read(key);
    GilRelease others(is_long_work(x));
    Tensor out = index ? read_picked(x, *index) : read(x, std::move(picks));
    others.end();
    return to_python(std::move(out));
  });
}

// ---- assigning ----

// Converts the right-hand side to a tensor of x's dtype. A tensor keeps its dtype.
Tensor value_for_region(const Tensor& x, PyObject* value) {
  if (is_tensor(value)) return tensor_of(value);
  const bool is_number = PyFloat_Check(value) || PyLong_Check(value);
  if (is_number && !is_complex(x.dtype())) {
    return scalar_like(x, converted<Scalar>(value, {"Tensor", "value"}), "assigned to");
  }
  return tensor_from(value, dtype_object(x.dtype()));
}

void assign_stepped(Tensor& x, const ParsedIndex& picks, const Tensor& value) {
  std::vector<int64_t> axes, numbers, begins, ends, steps;
  for (size_t d = 0; d < picks.dims.size(); ++d) {
    const DimIndex& picked = picks.dims[d];
    const auto axis = static_cast<int64_t>(d);
    const int64_t extent = x.shape()[static_cast<int>(d)];
    axes.push_back(axis);
    begins.push_back(picked.begin);
    // A range that runs backwards to the first element ends before it; -1 would mean the last
    // element.
    ends.push_back(picked.is_number ? picked.begin + 1 : picked.end < 0 ? -extent - 1 : picked.end);
    steps.push_back(picked.step);
    if (picked.is_number) numbers.push_back(axis);
  }
  set_value_with_tensor_(x, value, begins, ends, steps, axes, numbers, {});
}

void assign(Tensor& x, const ParsedIndex& picks, const Tensor& value) {
  if (picks.has_steps) return assign_stepped(x, picks, value);
  part_of(x, picks.dims).assign(value);
}

// Returns a tensor of x's shape with values[k] at the k-th true element of the mask. A single value
// is broadcast.
Tensor values_of_mask(const Tensor& x, const Tensor& mask, const Tensor& values) {
  if (values.numel() == 1 && values.ndim() <= 1) {
    return expand(reshape(values, Dims()), x.shape());
  }
  const int64_t count = masked_select(mask, mask).numel();
  PHI_CHECK(values.ndim() == 1 && values.numel() == count,
            errors::InvalidArgument("{} cannot be assigned to the {} elements of {} that the mask "
                                    "selects; pass one number, or a tensor [{}] in their order.",
                                    values.to_string(), count, x.to_string(), count));
  if (count == 0) return x;
  // Numbers start at -1, which is a valid index (the last element): values of elements whose mask
  // is false are not used.
  const Tensor numbers = cumsum(mask.to(DataType::INT64), -1, /*flatten=*/true) - 1;
  return reshape(gather(values, numbers, 0), x.shape());
}

void assign_picked(Tensor& x, const Tensor& index, const Tensor& value) {
  check_picking(x, index);
  if (index.dtype() != DataType::BOOL) {
    Dims rows = x.shape();
    rows[0] = index.numel();
    scatter_(x, rows_of(index), expand(value, rows));
    return;
  }
  std::vector<DimIndex> all;
  for (const int64_t extent : x.shape()) all.push_back(whole(extent));
  part_of(x, all).assign(where(index, values_of_mask(x, index, value), x));
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
  return guarded_status([&] {
    if (value == nullptr) raise(PyExc_TypeError, "elements of a tensor cannot be deleted");
    Tensor& x = tensor_of(self);
    const std::optional<Tensor> index = picking_tensor(key);
    const ParsedIndex picks = index ? ParsedIndex() : IndexParser(x).read(key);
    if (!picks.none.empty()) {
      raise(PyExc_IndexError,
            "None is not allowed as an index in an assignment; reshape the value instead");
    }
    const Tensor given = value_for_region(x, value);
    const GilRelease others(is_long_work(x) || is_long_work(given));
    index ? assign_picked(x, *index, given) : assign(x, picks, given);
    return 0;
  });
}

// ---- sequences ----

Py_ssize_t length(PyObject* self) {
  return guarded_status([&]() -> Py_ssize_t {
    const Tensor& x = tensor_of(self);
    if (x.ndim() == 0) raise(PyExc_TypeError, "a 0-D tensor has no length");
    return x.shape()[0];
  });
}

PyObject* element(PyObject* self, Py_ssize_t i) {
  const PyRef index(PyLong_FromSsize_t(i));
  return index ? get_item(self, index.get()) : nullptr;
}

PyObject* iterate(PyObject* self) {
  if (tensor_of(self).ndim() == 0) {
    PyErr_SetString(PyExc_TypeError, "a 0-D tensor cannot be iterated over");
    return nullptr;
  }
  return PySeqIter_New(self);
}

}  // namespace

std::span<const PyType_Slot> indexing_slots() {
  static const std::array<PyType_Slot, 6> slots = {
      {{Py_mp_subscript, reinterpret_cast<void*>(get_item)},
       {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
       {Py_mp_length, reinterpret_cast<void*>(length)},
       {Py_sq_length, reinterpret_cast<void*>(length)},
       {Py_sq_item, reinterpret_cast<void*>(element)},
       {Py_tp_iter, reinterpret_cast<void*>(iterate)}}};
  return slots;
}

}  // namespace phi::python
