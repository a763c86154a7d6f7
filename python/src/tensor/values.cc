// Converts nested lists to arrays and arrays to nested lists.
#include "python/src/tensor/values.h"

#include <fmt/format.h>

#include <complex>
#include <concepts>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "api/generated/ops/cast.h"
#include "api/tensor/from_vector.h"
#include "api/tensor/whole.h"
#include "phi/common/errors.h"
#include "python/src/base/convert.h"
#include "python/src/base/dtype.h"
#include "python/src/base/errors.h"
#include "python/src/base/py_ref.h"
#include "python/src/tensor/buffer.h"
#include "python/src/tensor/dlpack.h"
#include "python/src/tensor/tensor_object.h"

namespace phi::python {

namespace nb = nanobind;

namespace {

// ---- nested lists ----

// Whether `sequence` is a 0-D array, which has the type of a sequence but no length.
bool is_one_number(PyObject* sequence) {
  if (PySequence_Size(sequence) >= 0) return false;
  PyErr_Clear();
  return PyObject_HasAttrString(sequence, "item") != 0;
}

// Whether `value` is an array of a library with DLPack or __array__.
bool is_foreign_array(PyObject* value) {
  if (PyList_Check(value) || PyTuple_Check(value)) return false;
  return PyObject_HasAttrString(value, "__dlpack__") || PyObject_HasAttrString(value, "__array__");
}

// Formats a position, such as "the value at [1][0]", for errors.
std::string place_in(const std::vector<int64_t>& path) {
  std::string text;
  for (const int64_t i : path) text += fmt::format("[{}]", i);
  return text.empty() ? "the value" : "the value at " + text;
}

enum class NumberKind : uint8_t { kNone, kBool, kInt, kFloat, kComplex };

NumberKind kind_of(PyObject* value, const std::vector<int64_t>& path) {
  if (PyBool_Check(value)) return NumberKind::kBool;
  if (PyLong_Check(value)) return NumberKind::kInt;
  if (PyFloat_Check(value)) return NumberKind::kFloat;
  if (PyComplex_Check(value)) return NumberKind::kComplex;
  const std::string_view type = Py_TYPE(value)->tp_name;
  if (type == "numpy.bool" || type == "numpy.bool_") return NumberKind::kBool;
  if (is_tensor(value)) {
    const DataType dtype = tensor_of(value).dtype();
    return dtype == DataType::BOOL ? NumberKind::kBool
           : is_integral(dtype)    ? NumberKind::kInt
                                   : NumberKind::kFloat;
  }
  if (PyIndex_Check(value)) return NumberKind::kInt;
  const PyNumberMethods* methods = Py_TYPE(value)->tp_as_number;
  if (methods != nullptr && methods->nb_float != nullptr) return NumberKind::kFloat;
  raise(PyExc_TypeError,
        fmt::format("tensor: {} must be a number, got {}", place_in(path), describe(value)));
}

// The numbers of nested lists in order, and the lists' common shape.
class NestedNumbers {
 public:
  explicit NestedNumbers(PyObject* data) { add(data); }

  Dims dims() const { return Dims(std::span<const int64_t>(shape_)); }
  /// The dtype of the widest number; float32 if there are no numbers.
  DataType dtype() const {
    switch (kind_) {
      case NumberKind::kBool:
        return DataType::BOOL;
      case NumberKind::kInt:
        return DataType::INT64;
      case NumberKind::kComplex:
        return DataType::COMPLEX64;
      default:
        return DataType::FLOAT32;
    }
  }
  const std::vector<PyRef>& values() const { return values_; }
  /// The number's position in the lists, for errors.
  std::string place(size_t number) const {
    std::vector<int64_t> path(shape_.size());
    for (size_t d = shape_.size(); d-- > 0; number /= static_cast<size_t>(shape_[d])) {
      path[d] = static_cast<int64_t>(number % static_cast<size_t>(shape_[d]));
    }
    return place_in(path);
  }

 private:
  void add(PyObject* value) {
    if (!is_list(value)) return add_number(value);
    if (is_one_number(value)) {
      const PyRef number(checked(PyObject_CallMethod(value, "item", nullptr)));
      return add_number(number.get());
    }
    if (path_.size() == kMaxNdim) {
      raise(PyExc_ValueError, fmt::format("tensor: lists are nested more than {} deep", kMaxNdim));
    }
    const PyRef sequence(checked(PySequence_Fast(value, "tensor: expected a list")));
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(sequence.get());
    const size_t depth = path_.size();
    if (shape_.size() == depth && values_.empty()) shape_.push_back(size);
    if (shape_.size() == depth || shape_[depth] != size) refuse_lengths(value, size);
    path_.push_back(0);
    for (Py_ssize_t i = 0; i < size; ++i) {
      path_.back() = i;
      add(PySequence_Fast_GET_ITEM(sequence.get(), i));
    }
    path_.pop_back();
  }

  void add_number(PyObject* value) {
    if (path_.size() != shape_.size()) {
      raise(PyExc_ValueError,
            fmt::format("tensor: {} is the number {}, but other elements are lists of {}",
                        place_in(path_), describe(value), shape_[path_.size()]));
    }
    kind_ = std::max(kind_, kind_of(value, path_));
    values_.push_back(PyRef::borrow(value));
  }

  [[noreturn]] void refuse_lengths(PyObject* value, Py_ssize_t size) const {
    const size_t depth = path_.size();
    if (shape_.size() == depth) {
      raise(PyExc_ValueError, fmt::format("tensor: {} is {}, but other elements are numbers",
                                          place_in(path_), describe(value)));
    }
    raise(PyExc_ValueError,
          fmt::format("tensor: {} is a list of {}, but other elements are lists of {}",
                      place_in(path_), size, shape_[depth]));
  }

  std::vector<int64_t> shape_;
  std::vector<int64_t> path_;
  std::vector<PyRef> values_;
  NumberKind kind_ = NumberKind::kNone;
};

// ---- one number ----

[[noreturn]] void refuse_number(const NestedNumbers& numbers, size_t i, DataType dtype) {
  raise(PyExc_ValueError,
        fmt::format("tensor: {} is {}, which {} cannot represent", numbers.place(i),
                    describe(numbers.values()[i].get()), name_of(dtype)));
}

template <typename T>
bool whole_number(PyObject* value, T* out) {
  if (PyFloat_Check(value) || !PyIndex_Check(value)) {
    const double number = floating(value);
    const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (!(std::trunc(number) == number && number < above &&
          number >= (std::is_signed_v<T> ? -above : 0.0))) {
      return false;
    }
    *out = static_cast<T>(number);
    return true;
  }
  const PyRef index(checked(PyNumber_Index(value)));
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow != 0 || !std::in_range<T>(number)) return false;
  *out = static_cast<T>(number);
  return true;
}

template <typename T>
T number_as(const NestedNumbers& numbers, size_t i) {
  PyObject* value = numbers.values()[i].get();
  if constexpr (kIsComplex<T>) {
    const Py_complex number = PyComplex_AsCComplex(value);
    if (number.real == -1.0 && PyErr_Occurred()) throw_python_error();
    using Part = typename T::value_type;
    return {static_cast<Part>(number.real), static_cast<Part>(number.imag)};
  } else if constexpr (std::same_as<T, bool>) {
    const int truth = PyObject_IsTrue(value);
    checked(truth);
    return truth == 1;
  } else {
    if (PyComplex_Check(value)) refuse_number(numbers, i, dtype_of<T>());
    if constexpr (std::integral<T>) {
      T number;
      if (!whole_number(value, &number)) refuse_number(numbers, i, dtype_of<T>());
      return number;
    } else if constexpr (std::floating_point<T>) {
      return static_cast<T>(floating(value));
    } else {
      return T(static_cast<float>(floating(value)));
    }
  }
}

Tensor from_numbers(PyObject* data, PyObject* dtype) {
  const NestedNumbers numbers(data);
  const DataType type = dtype == Py_None ? numbers.dtype() : dtype_from(dtype, {"tensor", "dtype"});
  return visit_any_dtype(type, [&]<typename T>() {
    std::vector<T> values;
    values.reserve(numbers.values().size());
    for (size_t i = 0; i < numbers.values().size(); ++i) {
      values.push_back(number_as<T>(numbers, i));
    }
    return from_vector(std::move(values), numbers.dims());
  });
}

// Returns a copy of the array.
Tensor from_foreign(PyObject* array) {
  if (PyObject_HasAttrString(array, "__dlpack__") != 0) return from_dlpack(array, true);
  return copy_of_buffer(nb::module_::import_("numpy").attr("asarray")(nb::handle(array)).ptr());
}

// ---- tensors to lists ----

template <typename T>
PyObject* number_object(T value) {
  if constexpr (std::same_as<T, bool>) {
    return PyBool_FromLong(value);
  } else if constexpr (kIsComplex<T>) {
    return PyComplex_FromDoubles(value.real(), value.imag());
  } else if constexpr (std::integral<T>) {
    return PyLong_FromLongLong(value);
  } else {
    return PyFloat_FromDouble(static_cast<double>(static_cast<float>(value)));
  }
}
template <>
PyObject* number_object(double value) {
  return PyFloat_FromDouble(value);
}

// Returns nested lists for the dims from `d` on. Each call of `next` returns the next element.
template <typename Next>
PyObject* nested(const Dims& dims, int d, Next& next) {
  if (d == dims.ndim()) return checked(next());
  PyRef list(checked(PyList_New(dims[d])));
  for (int64_t i = 0; i < dims[d]; ++i) {
    PyList_SET_ITEM(list.get(), i, nested(dims, d + 1, next));
  }
  return list.release();
}

// Calls f with a vector of the elements of a plain tensor.
template <typename F>
PyObject* with_elements(const Tensor& x, F&& f) {
  return visit_any_dtype(x.dtype(), [&]<typename T>() { return f(x.to_vector<T>()); });
}

}  // namespace

bool is_array(PyObject* value) {
  if (PyUnicode_Check(value) || PyBytes_Check(value) || is_tensor(value)) return false;
  return PyObject_CheckBuffer(value) != 0 || is_foreign_array(value);
}

Tensor tensor_from(PyObject* data, PyObject* dtype) {
  if (PyUnicode_Check(data) || PyBytes_Check(data) || data == Py_None) {
    raise(PyExc_TypeError,
          "tensor: argument 'data' must be numbers, lists of them or an array, got " +
              describe(data));
  }
  if (!is_tensor(data) && !is_array(data)) return from_numbers(data, dtype);
  const Tensor copy = is_tensor(data)                   ? tensor_of(data).detach()
                      : PyObject_CheckBuffer(data) != 0 ? copy_of_buffer(data)
                                                        : from_foreign(data);
  return dtype == Py_None ? copy : copy.to(dtype_from(dtype, {"tensor", "dtype"}));
}

Tensor local_whole_value(const Tensor& x, const char* what) {
  if (!x.is_dist()) return x;
  PHI_CHECK(
      parts_are_whole(x),
      errors::InvalidArgument(
          "{} of {} needs the unsharded value, but this rank stores only a shard: x.local() "
          "returns the shard, distributed.unshard_dtensor(x) the unsharded value on every rank.",
          what, x.to_string()));
  // Throws the error for a rank outside the mesh, which has no values.
  visit_any_dtype(x.dtype(), [&]<typename T>() { x.values<T>(); });
  return x.detach().local();
}

PyObject* list_of(const Tensor& x) {
  return with_elements(local_whole_value(x, "tolist()"), [&](const auto& elements) {
    size_t at = 0;
    auto next = [&] {
      using T = typename std::decay_t<decltype(elements)>::value_type;
      return number_object<T>(elements[at++]);
    };
    return nested(x.shape(), 0, next);
  });
}

PyObject* item_of(const Tensor& x) {
  PHI_CHECK(x.numel() == 1, errors::InvalidArgument("item() needs exactly one element, {} has {}.",
                                                    x.to_string(), x.numel()));
  return with_elements(local_whole_value(x, "item()"), [](const auto& elements) {
    using T = typename std::decay_t<decltype(elements)>::value_type;
    return number_object<T>(elements[0]);
  });
}

void bind_values(nb::module_& module) {
  module.def(
      "tensor",
      [](nb::handle data, nb::handle dtype, bool requires_grad) {
        Tensor x = tensor_from(data.ptr(), dtype.ptr());
        if (requires_grad) x.set_requires_grad();
        return x;
      },
      nb::arg("data").none(), nb::arg("dtype").none() = nb::none(), nb::kw_only(),
      nb::arg("requires_grad") = false,
      "Return a tensor with a copy of `data`: numbers, nested lists of numbers, or an array.\n\n"
      "Arrays are those of NumPy or other libraries. `dtype`: default is the dtype of the array; "
      "for\n"
      "numbers, bool, int64, float32 or complex64.");
}

}  // namespace phi::python
