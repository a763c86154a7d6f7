// Conversions of Python values, by C++ type.
#include "python/src/base/convert.h"

#include <fmt/format.h>

#include <concepts>
#include <cstring>
#include <limits>
#include <utility>

#include "phi/common/errors.h"
#include "python/src/base/dtype.h"
#include "python/src/base/errors.h"
#include "python/src/base/py_ref.h"
#include "python/src/tensor/tensor_object.h"

namespace phi::python {
namespace {

// numpy.bool (bool_ in NumPy 1) is not a subclass of bool.
bool is_numpy_bool(PyObject* value) {
  const char* name = Py_TYPE(value)->tp_name;
  return std::strcmp(name, "numpy.bool") == 0 || std::strcmp(name, "numpy.bool_") == 0;
}

bool is_bool(PyObject* value) { return PyBool_Check(value) || is_numpy_bool(value); }

bool is_integer(PyObject* value) {
  return PyLong_Check(value) ? !PyBool_Check(value)
                             : PyIndex_Check(value) && !is_numpy_bool(value) && !is_tensor(value);
}

// Whether `value` is a real number, of Python or NumPy; text, lists and complex numbers are not.
bool is_number_argument(PyObject* value) {
  if (PyFloat_Check(value) || is_integer(value)) return true;
  const PyNumberMethods* methods = Py_TYPE(value)->tp_as_number;
  return methods != nullptr && methods->nb_float != nullptr && !is_bool(value);
}

int64_t integer(PyObject* value, const Argument& argument) {
  const PyRef index(checked(PyNumber_Index(value)));
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow != 0) {
    raise(PyExc_ValueError, fmt::format("{}: argument '{}' must fit into 64 bits, got {}",
                                        argument.function, argument.name, describe(value)));
  }
  return number;
}

template <typename T>
T integer_of(PyObject* value, const Argument& argument) {
  const int64_t number = integer(value, argument);
  if (!std::in_range<T>(number)) {
    raise(PyExc_ValueError,
          fmt::format("{}: argument '{}' must be between {} and {}, got {}", argument.function,
                      argument.name, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                      number));
  }
  return static_cast<T>(number);
}

bool truth(PyObject* value) {
  const int status = PyObject_IsTrue(value);
  checked(status);
  return status == 1;
}

std::string text(PyObject* value) {
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(value, &size);
  if (bytes == nullptr) throw_python_error();
  return {bytes, static_cast<size_t>(size)};
}

template <typename T>
constexpr const char* kExpected = "";
template <>
constexpr const char* kExpected<bool> = "bool";
template <std::integral T>
constexpr const char* kExpected<T> = "int";
template <std::floating_point T>
constexpr const char* kExpected<T> = "float";
template <>
constexpr const char* kExpected<std::string> = "str";
template <>
constexpr const char* kExpected<Scalar> = "a number";

template <typename T>
struct Converter;

template <>
struct Converter<bool> {
  static bool fits(PyObject* value) { return is_bool(value); }
  static bool convert(PyObject* value, const Argument&) { return truth(value); }
};
template <std::integral T>
struct Converter<T> {
  static bool fits(PyObject* value) { return is_integer(value); }
  static T convert(PyObject* value, const Argument& argument) {
    return integer_of<T>(value, argument);
  }
};
template <std::floating_point T>
struct Converter<T> {
  static bool fits(PyObject* value) { return is_number_argument(value); }
  static T convert(PyObject* value, const Argument&) { return static_cast<T>(floating(value)); }
};
template <>
struct Converter<std::string> {
  static bool fits(PyObject* value) { return PyUnicode_Check(value); }
  static std::string convert(PyObject* value, const Argument&) { return text(value); }
};
template <>
struct Converter<Scalar> {
  static bool fits(PyObject* value) { return is_bool(value) || is_number_argument(value); }
  static Scalar convert(PyObject* value, const Argument& argument) {
    if (is_bool(value)) return truth(value);
    return is_integer(value) ? Scalar(integer(value, argument)) : Scalar(floating(value));
  }
};

template <typename T>
std::vector<T> list_of(PyObject* value, const Argument& argument, const char* expected) {
  if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    if (is_integer(value)) return {integer_of<T>(value, argument)};
  }
  if (!is_list(value)) refuse(argument, expected, value);
  const PyRef sequence(checked(PySequence_Fast(value, "expected a list")));
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(sequence.get());
  std::vector<T> list;
  list.reserve(static_cast<size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* element = PySequence_Fast_GET_ITEM(sequence.get(), i);
    if (!Converter<T>::fits(element)) {
      const std::string name = fmt::format("{}[{}]", argument.name, i);
      refuse({argument.function, name.c_str()}, kExpected<T>, element);
    }
    list.push_back(Converter<T>::convert(element, argument));
  }
  return list;
}

DataLayout layout_of(PyObject* value, const Argument& argument) {
  const auto name = converted<std::string>(value, argument);
  for (const DataLayout layout :
       {DataLayout::UNDEFINED, DataLayout::ANY, DataLayout::NCHW, DataLayout::NHWC}) {
    if (name == name_of(layout)) return layout;
  }
  raise(PyExc_ValueError, fmt::format("{}: argument '{}' must be 'NCHW', 'NHWC' or 'any', got '{}'",
                                      argument.function, argument.name, name));
}

Place place_from(PyObject* value, const Argument& argument) {
  const auto name = converted<std::string>(value, argument);
  for (const DeviceKind kind : {DeviceKind::CPU, DeviceKind::GPU, DeviceKind::CUSTOM}) {
    for (int8_t index = 0; index < 64; ++index) {
      const Place place{kind, index};
      const std::string full = place.to_string();
      if (name == full || (index == 0 && name == full.substr(0, full.find(':')))) return place;
    }
  }
  raise(PyExc_ValueError,
        fmt::format("{}: argument '{}' must be a place such as 'cpu' or 'gpu:0', got '{}'",
                    argument.function, argument.name, name));
}

}  // namespace

double floating(PyObject* value) {
  const double number = PyFloat_AsDouble(value);
  if (number == -1.0 && PyErr_Occurred()) throw_python_error();
  return number;
}

bool is_list(PyObject* value) {
  return !is_tensor(value) && PySequence_Check(value) && !PyUnicode_Check(value) &&
         !PyBytes_Check(value);
}

std::string describe(PyObject* value) {
  if (value == Py_None) return "None";
  if (is_tensor(value)) return "Tensor " + tensor_of(value).to_string();
  constexpr size_t kMost = 60;
  const PyRef shown(PyObject_Repr(value));
  std::string words;
  if (shown) {
    words = text(shown.get());
  } else {
    PyErr_Clear();
  }
  if (words.size() > kMost) words = words.substr(0, kMost - 3) + "...";
  return words.empty() ? Py_TYPE(value)->tp_name
                       : fmt::format("{} {}", Py_TYPE(value)->tp_name, words);
}

void refuse(const Argument& argument, const char* expected, PyObject* value) {
  raise(PyExc_TypeError, fmt::format("{}: argument '{}' must be {}, got {}", argument.function,
                                     argument.name, expected, describe(value)));
}

template <typename T>
T converted(PyObject* value, const Argument& argument) {
  if constexpr (std::same_as<T, DataType>) {
    return dtype_from(value, argument);
  } else if constexpr (std::same_as<T, DataLayout>) {
    return layout_of(value, argument);
  } else if constexpr (std::same_as<T, Place>) {
    return place_from(value, argument);
  } else if constexpr (std::same_as<T, IntArray>) {
    return IntArray(list_of<int64_t>(value, argument, "int or a list of int"));
  } else {
    if (!Converter<T>::fits(value)) [[unlikely]]
      refuse(argument, kExpected<T>, value);
    return Converter<T>::convert(value, argument);
  }
}

template bool converted(PyObject*, const Argument&);
template int converted(PyObject*, const Argument&);
template int64_t converted(PyObject*, const Argument&);
template size_t converted(PyObject*, const Argument&);
template float converted(PyObject*, const Argument&);
template double converted(PyObject*, const Argument&);
template std::string converted(PyObject*, const Argument&);
template Scalar converted(PyObject*, const Argument&);
template IntArray converted(PyObject*, const Argument&);
template DataType converted(PyObject*, const Argument&);
template DataLayout converted(PyObject*, const Argument&);
template Place converted(PyObject*, const Argument&);

#define PHI_LIST_OF(type, expected)                                        \
  template <>                                                              \
  std::vector<type> converted(PyObject* value, const Argument& argument) { \
    return list_of<type>(value, argument, expected);                       \
  }
PHI_LIST_OF(int, "int or a list of int")
PHI_LIST_OF(int64_t, "int or a list of int")
PHI_LIST_OF(float, "a list of float")
PHI_LIST_OF(double, "a list of float")
PHI_LIST_OF(bool, "a list of bool")
PHI_LIST_OF(std::string, "a list of str")
PHI_LIST_OF(Scalar, "a list of numbers")
#undef PHI_LIST_OF

}  // namespace phi::python
