// The type autophi.Tensor: construction, text and destruction of its objects.
#include "python/src/tensor/tensor_object.h"

#include <fmt/format.h>
#include <structmember.h>

#include <cstddef>
#include <new>
#include <string>

#include "api/tensor/print.h"
#include "python/src/base/errors.h"
#include "python/src/base/py_ref.h"
#include "python/src/tensor/tensor_slots.h"
#include "python/src/tensor/values.h"

namespace phi::python {

PyTypeObject* tensor_type = nullptr;

namespace {

PyObject* wrap(PyTypeObject* type, Tensor&& tensor) {
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) throw_python_error();
  new (&tensor_of(object)) Tensor(std::move(tensor));
  return object;
}

// Tensor(data, dtype=None), for subclasses: the result of autophi.tensor, or another handle on a
// tensor.
PyObject* make_tensor(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  return guarded([&] {
    static const char* names[] = {"data", "dtype", nullptr};
    PyObject* data = nullptr;
    PyObject* dtype = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:Tensor", const_cast<char**>(names), &data,
                                     &dtype)) {
      throw_python_error();
    }
    if (is_tensor(data) && dtype == Py_None) return wrap(type, Tensor(tensor_of(data)));
    return wrap(type, tensor_from(data, dtype));
  });
}

void destroy_tensor(PyObject* self) {
  auto* object = reinterpret_cast<TensorObject*>(self);
  if (object->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  object->tensor.~Tensor();
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* show_tensor(PyObject* self) {
  return guarded([&] {
    const Tensor& x = tensor_of(self);
    const std::string text = to_text(x);
    const size_t line = std::min(text.find('\n'), text.size());
    return PyUnicode_FromString(fmt::format("Tensor {}{}{}", text.substr(0, line),
                                            x.requires_grad() ? ", requires grad" : "",
                                            text.substr(line))
                                    .c_str());
  });
}

// Hashes by identity, because == returns a tensor.
Py_hash_t hash(PyObject* self) { return _Py_HashPointer(self); }

}  // namespace

PyObject* to_python(Tensor tensor) {
  return tensor.defined() ? wrap(tensor_type, std::move(tensor)) : Py_NewRef(Py_None);
}

PyObject* to_python(std::vector<Tensor> tensors) {
  PyRef list(checked(PyList_New(static_cast<Py_ssize_t>(tensors.size()))));
  for (size_t i = 0; i < tensors.size(); ++i) {
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i),
                    checked(to_python(std::move(tensors[i]))));
  }
  return list.release();
}

void make_tensor_type(PyObject* module) {
  static PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET,
                                   offsetof(TensorObject, weak_references), READONLY, nullptr},
                                  {nullptr, 0, 0, 0, nullptr}};
  static const char* doc =
      "A tensor, plain or distributed: a handle. Several handles can share one tensor.\n\n"
      "Operators are also methods: x.matmul(y). autophi.tensor constructs a tensor from values.";
  std::vector<PyType_Slot> slots = {{Py_tp_new, reinterpret_cast<void*>(make_tensor)},
                                    {Py_tp_dealloc, reinterpret_cast<void*>(destroy_tensor)},
                                    {Py_tp_repr, reinterpret_cast<void*>(show_tensor)},
                                    {Py_tp_hash, reinterpret_cast<void*>(hash)},
                                    {Py_tp_members, members},
                                    {Py_tp_getset, tensor_properties()},
                                    {Py_tp_doc, const_cast<char*>(doc)}};
  for (const auto part : {operator_slots(), indexing_slots(), buffer_slots()}) {
    slots.insert(slots.end(), part.begin(), part.end());
  }
  slots.push_back({0, nullptr});
  PyType_Spec spec = {.name = "autophi.Tensor",
                      .basicsize = sizeof(TensorObject),
                      .itemsize = 0,
                      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                      .slots = slots.data()};
  PyObject* type = checked(PyType_FromSpec(&spec));
  tensor_type = reinterpret_cast<PyTypeObject*>(type);
  // Makes NumPy's operators defer to Tensor, which rejects arrays: Python's error names both types.
  checked(PyObject_SetAttrString(type, "__array_ufunc__", Py_None));
  checked(PyModule_AddObjectRef(module, "Tensor", type));
}

}  // namespace phi::python
