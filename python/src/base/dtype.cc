// The type autophi.dtype, and conversions to it.
#include "python/src/base/dtype.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <array>
#include <string>

#include "python/src/base/errors.h"
#include "python/src/base/py_ref.h"

namespace phi::python {

namespace nb = nanobind;

namespace {

struct Dtype {
  DataType value;
  std::string name() const { return std::string(name_of(value)); }
};

// The objects live until the process ends: the interpreter may use them while it ends.
std::array<PyObject*, kNumDataTypes>& objects() {
  static std::array<PyObject*, kNumDataTypes> all{};
  return all;
}

// The text of the object's attribute; empty if there is none.
std::string name_under(PyObject* value, const char* attribute) {
  const PyRef name(PyObject_GetAttrString(value, attribute));
  if (!name) PyErr_Clear();
  const char* text = name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8(name.get()) : nullptr;
  return text != nullptr ? text : "";
}

std::string name_of_type(PyObject* type) {
  if (type == reinterpret_cast<PyObject*>(&PyBool_Type)) return "bool";
  if (type == reinterpret_cast<PyObject*>(&PyLong_Type)) return "int64";
  if (type == reinterpret_cast<PyObject*>(&PyFloat_Type)) return "float64";
  if (type == reinterpret_cast<PyObject*>(&PyComplex_Type)) return "complex128";
  return name_under(type, "__name__");
}

std::string name_of_value(PyObject* value) {
  if (PyUnicode_Check(value)) return PyUnicode_AsUTF8(value);
  return PyType_Check(value) ? name_of_type(value) : name_under(value, "name");
}

bool equals(const Dtype& a, nb::handle b) {
  if (PyUnicode_Check(b.ptr())) return a.name() == PyUnicode_AsUTF8(b.ptr());
  const Dtype* other = nullptr;
  return nb::try_cast(b, other) && other != nullptr && other->value == a.value;
}

}  // namespace

PyObject* dtype_object(DataType dtype) { return objects()[static_cast<size_t>(dtype)]; }

DataType dtype_from(PyObject* value, const Argument& argument) {
  for (int i = 1; i < kNumDataTypes; ++i) {
    if (objects()[static_cast<size_t>(i)] == value) return static_cast<DataType>(i);
  }
  const Dtype* other = nullptr;
  if (nb::try_cast(nb::handle(value), other) && other != nullptr) return other->value;
  const std::string name = name_of_value(value);
  for (int i = 1; i < kNumDataTypes; ++i) {
    if (name == name_of(static_cast<DataType>(i))) return static_cast<DataType>(i);
  }
  if (!PyUnicode_Check(value) && name.empty()) {
    refuse(argument, "a dtype such as autophi.float32 or 'float32'", value);
  }
  std::string known;
  for (int i = 1; i < kNumDataTypes; ++i) {
    known += (i > 1 ? ", " : "") + std::string(name_of(static_cast<DataType>(i)));
  }
  raise(PyExc_ValueError,
        fmt::format("{}: argument '{}' is '{}', which is not a dtype; expected one of {}",
                    argument.function, argument.name, name, known));
}

void make_dtypes(nb::module_& module) {
  nb::class_<Dtype>(module, "dtype", "Type of a tensor's elements.")
      .def("__init__",
           [](Dtype* self, nb::handle value) {
             new (self) Dtype{dtype_from(value.ptr(), {"dtype", "value"})};
           })
      .def_prop_ro("name", &Dtype::name)
      .def_prop_ro("itemsize", [](const Dtype& d) { return size_of(d.value); })
      .def_prop_ro("is_floating", [](const Dtype& d) { return phi::is_floating(d.value); })
      .def_prop_ro("is_integral", [](const Dtype& d) { return phi::is_integral(d.value); })
      .def_prop_ro("is_complex", [](const Dtype& d) { return phi::is_complex(d.value); })
      .def("__repr__", [](const Dtype& d) { return "autophi." + d.name(); })
      .def("__str__", &Dtype::name)
      .def("__eq__", &equals, nb::arg("other").none())
      .def("__hash__", [](const Dtype& d) { return nb::hash(nb::cast(d.name())); })
      .def("__reduce__", [](const Dtype& d) {
        return nb::make_tuple(nb::type<Dtype>(), nb::make_tuple(d.name()));
      });
  for (int i = 1; i < kNumDataTypes; ++i) {
    const Dtype dtype{static_cast<DataType>(i)};
    nb::object object = nb::cast(dtype);
    // Named bool_, as in NumPy: `bool` would hide Python's type in `from autophi import *`.
    const std::string name = dtype.name() == "bool" ? "bool_" : dtype.name();
    module.attr(name.c_str()) = object;
    objects()[static_cast<size_t>(i)] = object.release().ptr();
  }
}

}  // namespace phi::python
