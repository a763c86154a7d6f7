// Python's operators on tensors and numbers: those of api/tensor/operators.h, @, **, //, %, bitwise
// operators, abs and conversions.
#include "api/tensor/operators.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "api/generated/ops/abs.h"
#include "api/generated/ops/bitwise_and.h"
#include "api/generated/ops/bitwise_not.h"
#include "api/generated/ops/bitwise_or.h"
#include "api/generated/ops/bitwise_xor.h"
#include "api/generated/ops/elementwise_pow.h"
#include "api/generated/ops/floor_divide.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/pow.h"
#include "api/generated/ops/remainder.h"
#include "api/tensor/scalar_operand.h"
#include "api/tensor/whole.h"
#include "python/src/base/convert.h"
#include "python/src/base/dtype.h"
#include "python/src/base/errors.h"
#include "python/src/base/py_ref.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/tensor/tensor_slots.h"
#include "python/src/tensor/values.h"

namespace phi::python {
namespace {

struct Add {
  static constexpr const char* kName = "+";
  auto operator()(const auto& a, const auto& b) const { return a + b; }
  static void write(Tensor& a, const auto& b) { a += b; }
};
struct Subtract {
  static constexpr const char* kName = "-";
  auto operator()(const auto& a, const auto& b) const { return a - b; }
  static void write(Tensor& a, const auto& b) { a -= b; }
};
struct Multiply {
  static constexpr const char* kName = "*";
  auto operator()(const auto& a, const auto& b) const { return a * b; }
  static void write(Tensor& a, const auto& b) { a *= b; }
};
struct Divide {
  static constexpr const char* kName = "/";
  auto operator()(const auto& a, const auto& b) const { return a / b; }
  static void write(Tensor& a, const auto& b) { a /= b; }
};
struct Less {
  auto operator()(const auto& a, const auto& b) const { return a < b; }
};
struct LessEqual {
  auto operator()(const auto& a, const auto& b) const { return a <= b; }
};
struct Equal {
  auto operator()(const auto& a, const auto& b) const { return a == b; }
};
struct NotEqual {
  auto operator()(const auto& a, const auto& b) const { return a != b; }
};
struct Greater {
  auto operator()(const auto& a, const auto& b) const { return a > b; }
};
struct GreaterEqual {
  auto operator()(const auto& a, const auto& b) const { return a >= b; }
};

// An operator of two tensors. A number becomes a 0-D tensor of the other operand's dtype.
template <Tensor (*kCall)(const Tensor&, const Tensor&)>
struct OfTensors {
  Tensor operator()(const Tensor& a, const Tensor& b) const { return kCall(a, b); }
  Tensor operator()(const Tensor& a, const Scalar& b) const {
    return kCall(a, scalar_like(a, b, "an operand of"));
  }
  Tensor operator()(const Scalar& a, const Tensor& b) const {
    return kCall(scalar_like(b, a, "an operand of"), b);
  }
};
struct Power : OfTensors<elementwise_pow> {
  using OfTensors::operator();
  Tensor operator()(const Tensor& a, const Scalar& b) const { return pow(a, b); }
};

Tensor product(const Tensor& a, const Tensor& b) { return matmul(a, b); }

// Whether the number must become a complex tensor: Scalar has no imaginary part.
bool takes_complex(const Tensor& x, PyObject* number) {
  return PyComplex_Check(number) || is_complex(x.dtype());
}
Tensor complex_like(const Tensor& x, PyObject* number) {
  return tensor_from(number, dtype_object(x.dtype()));
}

// Whether `value` is a number of Python or NumPy. For any other operand the operator returns
// NotImplemented, so that Python tries the operand's own operator.
bool is_number_operand(PyObject* value) {
  if (PyFloat_Check(value) || PyLong_Check(value) || PyComplex_Check(value)) return true;
  const PyNumberMethods* methods = Py_TYPE(value)->tp_as_number;
  const bool is_sequence = PySequence_Check(value) != 0;  // arrays have both methods too
  return methods != nullptr && !is_sequence && (methods->nb_index || methods->nb_float);
}

template <typename Call>
PyObject* work(bool is_long, Call&& call) {
  GilRelease others(is_long);
  Tensor out = call();
  others.end();
  return to_python(std::move(out));
}

template <typename Operator>
PyObject* binary(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    if (is_tensor(a) && is_tensor(b)) {
      const Tensor &x = tensor_of(a), &y = tensor_of(b);
      return work(is_long_work(x) || is_long_work(y), [&] { return Operator()(x, y); });
    }
    const bool tensor_first = is_tensor(a);
    PyObject* other = tensor_first ? b : a;
    const Tensor& x = tensor_of(tensor_first ? a : b);
    if (!is_number_operand(other)) return Py_NewRef(Py_NotImplemented);
    if (takes_complex(x, other)) {
      const Tensor y = complex_like(x, other);
      return work(is_long_work(x),
                  [&] { return tensor_first ? Operator()(x, y) : Operator()(y, x); });
    }
    const auto number = converted<Scalar>(other, {"Tensor", "operand"});
    return work(is_long_work(x),
                [&] { return tensor_first ? Operator()(x, number) : Operator()(number, x); });
  });
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  return modulus == Py_None ? binary<Power>(a, b) : Py_NewRef(Py_NotImplemented);
}

template <typename Operator>
PyObject* inplace(PyObject* self, PyObject* other) {
  return guarded([&]() -> PyObject* {
    Tensor& x = tensor_of(self);
    if (is_tensor(other)) {
      const Tensor& y = tensor_of(other);
      const GilRelease others(is_long_work(x) || is_long_work(y));
      Operator::write(x, y);
    } else if (!is_number_operand(other)) {
      return Py_NewRef(Py_NotImplemented);
    } else if (takes_complex(x, other)) {
      Operator::write(x, complex_like(x, other));
    } else {
      const auto number = converted<Scalar>(other, {"Tensor", "operand"});
      const GilRelease others(is_long_work(x));
      Operator::write(x, number);
    }
    return Py_NewRef(self);
  });
}

bool is_compared_by_element(PyObject* value) {
  return PyList_Check(value) || PyTuple_Check(value) || PyRange_Check(value) || is_array(value);
}

// Returns a dtype that can represent the numbers of both.
DataType wider(DataType a, DataType b) {
  if (is_complex(a) || is_complex(b)) return DataType::COMPLEX128;
  return is_floating(a) || is_floating(b) ? DataType::FLOAT64 : DataType::INT64;
}

// The operands of a comparison of x with a list or an array, in one dtype. Numbers in lists have no
// dtype: they get that of x if it can represent them.
struct Compared {
  Tensor x;
  Tensor y;
};
Compared compared_with(const Tensor& x, PyObject* values) {
  Tensor y = tensor_from(values, Py_None);
  if (y.dtype() == x.dtype()) return {x, std::move(y)};
  const bool is_list = !is_array(values);
  if (is_list && (is_floating(x.dtype()) || is_complex(x.dtype())) && !is_complex(y.dtype())) {
    return {x, tensor_from(values, dtype_object(x.dtype()))};
  }
  const DataType wide = wider(x.dtype(), y.dtype());
  return {x.to(wide), y.to(wide)};
}

template <typename Operator>
PyObject* compare_with(PyObject* self, PyObject* other) {
  if (is_tensor(other) || is_number_operand(other) || !is_compared_by_element(other)) {
    return binary<Operator>(self, other);
  }
  return guarded([&] {
    const auto [x, y] = compared_with(tensor_of(self), other);
    return work(is_long_work(x), [&, &x = x, &y = y] { return Operator()(x, y); });
  });
}

PyObject* compare(PyObject* a, PyObject* b, int operation) {
  switch (operation) {
    case Py_LT:
      return compare_with<Less>(a, b);
    case Py_LE:
      return compare_with<LessEqual>(a, b);
    case Py_EQ:
      return compare_with<Equal>(a, b);
    case Py_NE:
      return compare_with<NotEqual>(a, b);
    case Py_GT:
      return compare_with<Greater>(a, b);
    default:
      return compare_with<GreaterEqual>(a, b);
  }
}

template <Tensor (*kCall)(const Tensor&)>
PyObject* unary(PyObject* self) {
  return guarded([&] {
    const Tensor& x = tensor_of(self);
    return work(is_long_work(x), [&] { return kCall(x); });
  });
}

Tensor negative(const Tensor& x) { return -x; }
PyObject* positive(PyObject* self) { return Py_NewRef(self); }

void check_single(const Tensor& x, const char* what) {
  if (x.numel() == 1) return;
  raise(PyExc_ValueError, fmt::format("{} of {} needs exactly one element, but the tensor has {}",
                                      what, x.to_string(), x.numel()));
}

double only_element(PyObject* self, const char* what) {
  const Tensor& x = tensor_of(self);
  check_single(x, what);
  return (parts_are_whole(x) ? x : local_whole_value(x, what)).item();
}

int is_true(PyObject* self) {
  return guarded_status([&] { return only_element(self, "the truth value") != 0 ? 1 : 0; });
}
PyObject* as_float(PyObject* self) {
  return guarded([&] { return PyFloat_FromDouble(only_element(self, "float()")); });
}
PyObject* as_int(PyObject* self) {
  return guarded([&] {
    const Tensor& x = tensor_of(self);
    check_single(x, "int()");
    // Reads the element in x's dtype: double does not represent every int64.
    const PyRef element(checked(item_of(parts_are_whole(x) ? x : local_whole_value(x, "int()"))));
    return PyNumber_Long(element.get());
  });
}
PyObject* as_index(PyObject* self) {
  return guarded([&] {
    const Tensor& x = tensor_of(self);
    if (!is_integral(x.dtype())) {
      raise(PyExc_TypeError,
            fmt::format("{} cannot be an index: only integers can", x.to_string()));
    }
    return as_int(self);
  });
}

template <typename Function>
PyType_Slot slot(int id, Function* function) {
  return {id, reinterpret_cast<void*>(function)};
}

}  // namespace

std::span<const PyType_Slot> operator_slots() {
  static const std::vector<PyType_Slot> slots = {
      slot(Py_nb_add, binary<Add>),
      slot(Py_nb_subtract, binary<Subtract>),
      slot(Py_nb_multiply, binary<Multiply>),
      slot(Py_nb_true_divide, binary<Divide>),
      slot(Py_nb_floor_divide, binary<OfTensors<floor_divide>>),
      slot(Py_nb_remainder, binary<OfTensors<remainder>>),
      slot(Py_nb_power, power),
      slot(Py_nb_matrix_multiply, binary<OfTensors<product>>),
      slot(Py_nb_and, binary<OfTensors<bitwise_and>>),
      slot(Py_nb_or, binary<OfTensors<bitwise_or>>),
      slot(Py_nb_xor, binary<OfTensors<bitwise_xor>>),
      slot(Py_nb_inplace_add, inplace<Add>),
      slot(Py_nb_inplace_subtract, inplace<Subtract>),
      slot(Py_nb_inplace_multiply, inplace<Multiply>),
      slot(Py_nb_inplace_true_divide, inplace<Divide>),
      slot(Py_nb_negative, unary<negative>),
      slot(Py_nb_positive, positive),
      slot(Py_nb_absolute, unary<abs>),
      slot(Py_nb_invert, unary<bitwise_not>),
      slot(Py_nb_bool, is_true),
      slot(Py_nb_float, as_float),
      slot(Py_nb_int, as_int),
      slot(Py_nb_index, as_index),
      slot(Py_tp_richcompare, compare)};
  return slots;
}

}  // namespace phi::python
