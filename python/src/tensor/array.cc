// Binds numpy(), from_numpy, item(), tolist() and pickling.
#include "python/src/tensor/array.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <string>

#include "api/generated/ops/cast.h"
#include "phi/common/errors.h"
#include "phi/core/storage/storage_from_blob.h"
#include "python/src/base/dtype.h"
#include "python/src/base/errors.h"
#include "python/src/base/py_ref.h"
#include "python/src/tensor/buffer.h"
#include "python/src/tensor/method.h"
#include "python/src/tensor/values.h"

namespace phi::python {

namespace nb = nanobind;

namespace {

// Returns a tensor of the same bytes with another dtype of the same size.
Tensor reinterpreted(const Tensor& x, DataType dtype) {
  const DenseTensor& array = x.dense();
  return Tensor(DenseTensor({array.dims(), dtype}, array.storage(), array.byte_offset()));
}

// Returns an array over the memory of a tensor whose dtype NumPy has. Goes through a memoryview:
// for the tensor itself NumPy would call __array__, which calls this function.
nb::object array_over(const Tensor& x, const nb::module_& numpy) {
  const nb::object tensor = nb::cast(x);
  return numpy.attr("asarray")(nb::steal(checked(PyMemoryView_FromObject(tensor.ptr()))));
}

// NumPy has no bfloat16; ml_dtypes defines one.
nb::object bfloat16_array(const Tensor& x, const nb::module_& numpy) {
  if (!nb::module_::import_("importlib.util").attr("find_spec")("ml_dtypes").is_none()) {
    const nb::object array = array_over(reinterpreted(x, DataType::INT16), numpy);
    return array.attr("view")(nb::module_::import_("ml_dtypes").attr("bfloat16"));
  }
  raise(PyExc_TypeError,
        "NumPy has no bfloat16: x.cast('float32').numpy() has the same values (the package "
        "ml_dtypes adds the dtype)");
}

nb::object numpy_of(const Tensor& x, const char* what) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const Tensor whole = local_whole_value(x, what);
  if (whole.dtype() == DataType::BFLOAT16) {
    whole.dense().raw_data();  // materialises deferred and swapped values
    return bfloat16_array(whole, numpy);
  }
  return array_over(x, numpy);
}

nb::object to_numpy(const Tensor& x) { return numpy_of(x, "numpy()"); }

// __array__, which NumPy calls if the buffer protocol fails. Without it NumPy would read the
// elements one by one, and for a distributed tensor each read is a collective call.
nb::object to_array(const Tensor& x, nb::handle dtype, std::optional<bool> copy) {
  const nb::object array = numpy_of(x, "the array");
  const nb::object wanted = dtype.is_none() ? array.attr("dtype") : nb::borrow(dtype);
  const bool is_same =
      nb::module_::import_("numpy").attr("dtype")(wanted).equal(array.attr("dtype"));
  if (is_same && !copy.value_or(false)) return array;
  if (copy && !*copy) {
    raise(PyExc_ValueError,
          fmt::format("{} cannot become an array of {} without a copy; leave out copy=False",
                      x.to_string(), nb::str(wanted).c_str()));
  }
  return array.attr("astype")(wanted);
}

// f"{x:.3f}" formats the only element as a Python number.
nb::object format_tensor(nb::handle self, const std::string& form) {
  const Tensor& x = tensor_of(self.ptr());
  if (form.empty()) return nb::str(self);
  if (x.numel() != 1) {
    raise(PyExc_TypeError,
          fmt::format("format '{}' applies to one number, but {} has {}; format each of x.tolist()",
                      form, x.to_string(), x.numel()));
  }
  const nb::object number = nb::steal(item_of(x));
  return nb::steal(checked(PyObject_Format(number.ptr(), nb::str(form.c_str()).ptr())));
}

bool is_bfloat16(nb::handle array) {
  return nb::hasattr(array, "dtype") && nb::hasattr(array.attr("dtype"), "name") &&
         nb::str(array.attr("dtype").attr("name")).equal(nb::str("bfloat16"));
}

Tensor from_numpy(nb::object array, std::optional<bool> copy) {
  const bool is_half = is_bfloat16(array);
  if (is_half) array = array.attr("view")("int16");
  if (PyObject_CheckBuffer(array.ptr()) == 0) {
    raise(PyExc_TypeError, "from_numpy: expected an array, got " + describe(array.ptr()));
  }
  Tensor x;
  if (copy.value_or(false)) {
    x = copy_of_buffer(array.ptr());
  } else {
    try {
      x = tensor_over_buffer(array.ptr());
    } catch (nb::python_error& error) {
      if (copy || !error.matches(PyExc_ValueError)) throw;
      x = copy_of_buffer(array.ptr());
    }
  }
  if (!is_half) return x;
  x.dense().raw_data();
  return reinterpreted(x, DataType::BFLOAT16);
}

// ---- pickles ----

nb::tuple reduce_tensor(const Tensor& x) {
  if (x.is_dist()) {
    raise(PyExc_TypeError,
          fmt::format(
              "{} is distributed and cannot be pickled: this process stores only a shard of it; "
              "distributed.save_state_dict saves it, unshard_dtensor(x) returns a plain one",
              x.to_string()));
  }
  const DenseTensor& array = x.dense();
  const auto* bytes = static_cast<const char*>(array.raw_data());
  const nb::object rebuild = nb::module_::import_("autophi._pickle").attr("rebuild_tensor");
  return nb::make_tuple(rebuild,
                        nb::make_tuple(nb::bytes(bytes, array.nbytes()), array.dims().to_vector(),
                                       nb::handle(dtype_object(x.dtype())), x.requires_grad()));
}

Tensor rebuild(const nb::bytes& bytes, const std::vector<int64_t>& shape, nb::handle dtype,
               bool requires_grad) {
  const TensorMeta meta{Dims(shape), dtype_from(dtype.ptr(), {"_rebuild_tensor", "dtype"})};
  PHI_CHECK(
      meta.dims.known() && bytes.size() == meta.nbytes(),
      errors::InvalidArgument("a pickle has {} bytes for {}.", bytes.size(), meta.to_string()));
  DenseTensor array = DenseTensor::empty(meta, CPUPlace());
  if (meta.nbytes() > 0) std::memcpy(array.mutable_raw_data(), bytes.c_str(), meta.nbytes());
  Tensor x(std::move(array));
  if (requires_grad) x.set_requires_grad();
  return x;
}

Tensor to(const Tensor& x, nb::handle dtype) {
  const DataType wanted = dtype_from(dtype.ptr(), {"to", "dtype"});
  const GilRelease others(is_long_work(x));
  return x.to(wanted);
}

}  // namespace

void bind_arrays(nb::module_& module) {
  method(
      "item", [](const Tensor& x) { return nb::steal(item_of(x)); },
      "Return the only element as a Python number.");
  method(
      "tolist", [](const Tensor& x) { return nb::steal(list_of(x)); },
      "Return nested lists of numbers; one number for a 0-D tensor.");
  method("numpy", &to_numpy,
         "Return a NumPy array that shares the tensor's memory; writes are visible in both.\n\n"
         "The array is read-only if the tensor requires a gradient. A distributed tensor must be "
         "unsharded\n"
         "on this rank.");
  method("__array__", &to_array, nb::arg("dtype").none() = nb::none(),
         nb::arg("copy").none() = nb::none());
  method("__format__", &format_tensor, nb::arg("format_spec"));
  method("to", &to, nb::arg("dtype"),
         "Return the tensor in another dtype; the tensor itself if it has that dtype.");
  method("__reduce__", &reduce_tensor);
  module.def("_rebuild_tensor", &rebuild);
  module.def("from_numpy", &from_numpy, nb::arg("array"), nb::kw_only(),
             nb::arg("copy").none() = nb::none(),
             "Return a tensor that shares a NumPy array's memory.\n\n"
             "`copy`: None copies if the memory cannot be shared (it is read-only, not row-major, "
             "or in another\n"
             "byte order), True always copies, False never does: ValueError then.");
}

}  // namespace phi::python
