// Imports and exports arrays by DLPack.
#include "python/src/tensor/dlpack.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "phi/common/errors.h"
#include "phi/core/attribute.h"
#include "phi/core/storage/storage_from_blob.h"
#include "python/src/base/convert.h"
#include "python/src/base/errors.h"
#include "python/src/base/py_ref.h"
#include "python/src/base/shared_reference.h"
#include "python/src/tensor/dlpack_abi.h"
#include "python/src/tensor/method.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/tensor/values.h"

namespace phi::python {

namespace nb = nanobind;

namespace {

// ---- element types ----

struct TypeRow {
  DataType dtype;
  dlpack::Code code;
};
constexpr TypeRow kTypes[] = {
    {DataType::BOOL, dlpack::kBool},         {DataType::UINT8, dlpack::kUInt},
    {DataType::INT8, dlpack::kInt},          {DataType::INT16, dlpack::kInt},
    {DataType::INT32, dlpack::kInt},         {DataType::INT64, dlpack::kInt},
    {DataType::FLOAT16, dlpack::kFloat},     {DataType::BFLOAT16, dlpack::kBfloat},
    {DataType::FLOAT32, dlpack::kFloat},     {DataType::FLOAT64, dlpack::kFloat},
    {DataType::COMPLEX64, dlpack::kComplex}, {DataType::COMPLEX128, dlpack::kComplex}};

uint8_t bits_of(DataType dtype) { return static_cast<uint8_t>(8 * size_of(dtype)); }

dlpack::ElementType type_of(DataType dtype) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype) return {row.code, bits_of(dtype), 1};
  }
  throw errors::Internal("dtype {} has no counterpart in DLPack.", name_of(dtype));
}

DataType dtype_from(const dlpack::ElementType& type) {
  for (const TypeRow& row : kTypes) {
    if (row.code == type.code && bits_of(row.dtype) == type.bits && type.lanes == 1) {
      return row.dtype;
    }
  }
  raise(PyExc_BufferError,
        fmt::format("from_dlpack: no dtype has elements of kind {}, {} bits and {} lanes",
                    type.code, type.bits, type.lanes));
}

// ---- export ----

// The capsule's structure, and the data that its array points to.
template <typename Structure>
struct ExportedCapsule {
  explicit ExportedCapsule(DenseTensor given) : array(std::move(given)) {
    for (int d = 0; d < array.ndim(); ++d) {
      shape.push_back(array.dims()[d]);
      strides.push_back(array.dims().strides()[d]);
    }
    array.storage()->expose_bytes();
    structure.array = {array.mutable_raw_data(),
                       {dlpack::kCpu, 0},
                       array.ndim(),
                       type_of(array.dtype()),
                       shape.data(),
                       strides.data(),
                       0};
    structure.context = this;
    structure.deleter = [](Structure* taken) {
      delete static_cast<ExportedCapsule*>(taken->context);
    };
  }
  Structure structure{};
  DenseTensor array;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
};

// Destroys a capsule whose array no consumer has taken.
template <typename Structure>
void drop_capsule(PyObject* capsule, const char* name) {
  if (PyCapsule_IsValid(capsule, name) == 0) return;
  auto* structure = static_cast<Structure*>(PyCapsule_GetPointer(capsule, name));
  structure->deleter(structure);
}

template <typename Structure>
PyObject* capsule_of(Structure* structure, const char* name, PyCapsule_Destructor destructor) {
  PyObject* capsule = PyCapsule_New(structure, name, destructor);
  if (capsule == nullptr) {
    structure->deleter(structure);
    throw_python_error();
  }
  return capsule;
}

PyObject* versioned_capsule(const DenseTensor& array, bool read_only, bool is_copy) {
  auto* exported = new ExportedCapsule<dlpack::ManagedTensorVersioned>(array);
  exported->structure.version = dlpack::kVersion;
  exported->structure.flags =
      (read_only ? dlpack::kReadOnly : 0) | (is_copy ? dlpack::kIsCopied : 0);
  return capsule_of(&exported->structure, dlpack::kVersionedName, [](PyObject* capsule) {
    drop_capsule<dlpack::ManagedTensorVersioned>(capsule, dlpack::kVersionedName);
  });
}

PyObject* old_capsule(const DenseTensor& array) {
  auto* exported = new ExportedCapsule<dlpack::ManagedTensor>(array);
  return capsule_of(&exported->structure, dlpack::kName, [](PyObject* capsule) {
    drop_capsule<dlpack::ManagedTensor>(capsule, dlpack::kName);
  });
}

using IntPair = std::tuple<int, int>;

nb::object to_dlpack(const Tensor& x, nb::handle stream, std::optional<IntPair> max_version,
                     std::optional<IntPair> device, std::optional<bool> copy) {
  if (!stream.is_none()) {
    raise(PyExc_BufferError, "__dlpack__: tensors on a CPU have no stream; stream must be None");
  }
  if (device && *device != IntPair(dlpack::kCpu, 0)) {
    raise(PyExc_BufferError, "__dlpack__: the tensor is stored on a CPU, device (1, 0)");
  }
  const bool is_copy = copy.value_or(false);
  const DenseTensor whole = local_whole_value(x, "the array").dense();
  const DenseTensor array = is_copy ? whole.clone() : whole;
  const bool versioned = max_version && std::get<0>(*max_version) >= 1;
  if (versioned) return nb::steal(versioned_capsule(array, x.requires_grad() && !is_copy, is_copy));
  if (x.requires_grad() && !is_copy) {
    raise(PyExc_BufferError,
          "__dlpack__: a tensor that requires a gradient is shared read-only, which DLPack before "
          "1.0 cannot express; share x.detach()");
  }
  return nb::steal(old_capsule(array));
}

// ---- import ----

// Copies the elements to `out` in row-major order.
std::byte* copy_dlpack(const dlpack::Array& array, int d, const std::byte* from, std::byte* out,
                       size_t size) {
  if (d == array.ndim) {
    std::memcpy(out, from, size);
    return out + size;
  }
  for (int64_t i = 0; i < array.shape[d]; ++i) {
    out = copy_dlpack(array, d + 1, from + i * array.strides[d] * static_cast<int64_t>(size), out,
                      size);
  }
  return out;
}

bool is_row_major(const dlpack::Array& array, const Dims& dims) {
  if (array.strides == nullptr || dims.numel() == 0) return true;
  const Dims strides = dims.strides();
  for (int d = 0; d < dims.ndim(); ++d) {
    if (dims[d] != 1 && array.strides[d] != strides[d]) return false;
  }
  return true;
}

// Validates extents and strides, which come from another library.
void check_extents(const dlpack::Array& array, const TensorMeta& meta) {
  bool fits = meta.dims.known() && (meta.nbytes() == 0 || array.data != nullptr);
  __int128 reach = 0;  // of the strides, in elements
  for (int d = 0; fits && array.strides != nullptr && d < meta.dims.ndim(); ++d) {
    const auto last = static_cast<__int128>(meta.dims[d] - 1) * array.strides[d];
    reach += last < 0 ? -last : last;
    fits = meta.dims[d] == 0 || reach <= INT64_MAX / static_cast<int64_t>(size_of(meta.dtype));
  }
  if (fits) return;
  raise(
      PyExc_BufferError,
      fmt::format("from_dlpack: shape {}, strides and address do not describe an array; extents "
                  "must be at least 0, and the byte offsets of the elements must fit into 63 bits",
                  IntArray(meta.dims).to_string()));
}

// `owner` releases the array when it is destroyed.
Tensor tensor_over(const dlpack::Array& array, bool read_only, std::shared_ptr<const void> owner,
                   std::optional<bool> copy) {
  if (array.device.kind != dlpack::kCpu) {
    raise(PyExc_BufferError,
          fmt::format("from_dlpack: the array is stored on a device of kind {}, only a CPU (kind "
                      "1) is supported; copy it to the CPU first",
                      array.device.kind));
  }
  if (array.ndim < 0 || (array.ndim > 0 && array.shape == nullptr)) {
    raise(PyExc_BufferError,
          fmt::format("from_dlpack: the array has {} dims but no shape", array.ndim));
  }
  const TensorMeta meta{Dims(std::span(array.shape, static_cast<size_t>(array.ndim))),
                        dtype_from(array.type)};
  check_extents(array, meta);
  auto* bytes = static_cast<std::byte*>(array.data) + array.byte_offset;
  const bool shares = is_row_major(array, meta.dims) && !read_only;
  if (shares && !copy.value_or(false)) {
    return Tensor(
        DenseTensor(meta, storage_from_blob(bytes, meta.nbytes(), CPUPlace(), std::move(owner))));
  }
  if (copy && !*copy) {
    raise(PyExc_BufferError,
          fmt::format("from_dlpack: the array's memory cannot be shared: it is {}; leave out "
                      "copy=False to copy it",
                      read_only ? "read-only" : "not row-major"));
  }
  DenseTensor own = DenseTensor::empty(meta, CPUPlace());
  auto* out = static_cast<std::byte*>(own.mutable_raw_data());
  if (is_row_major(array, meta.dims)) {
    if (meta.nbytes() > 0) std::memcpy(out, bytes, meta.nbytes());
  } else {
    copy_dlpack(array, 0, bytes, out, size_of(meta.dtype));
  }
  return Tensor(std::move(own));
}

// Takes ownership of the capsule's structure, and renames the capsule, which marks it as taken.
template <typename Structure>
std::shared_ptr<Structure> take(PyObject* capsule, const char* name, const char* used) {
  auto* structure = static_cast<Structure*>(PyCapsule_GetPointer(capsule, name));
  if (structure == nullptr) throw_python_error();
  checked(PyCapsule_SetName(capsule, used));
  return std::shared_ptr<Structure>(structure, [](Structure* taken) {
    // The other library's deleter may call Python.
    const GilLock lock;
    if (lock.taken() && taken->deleter != nullptr) taken->deleter(taken);
  });
}

Tensor from_capsule(PyObject* capsule, std::optional<bool> copy) {
  if (PyCapsule_IsValid(capsule, dlpack::kVersionedName) != 0) {
    const auto taken = take<dlpack::ManagedTensorVersioned>(capsule, dlpack::kVersionedName,
                                                            dlpack::kUsedVersionedName);
    if (taken->version.major != dlpack::kVersion.major) {
      raise(PyExc_BufferError,
            fmt::format("from_dlpack: the array uses DLPack {}.{}, which is not supported",
                        taken->version.major, taken->version.minor));
    }
    return tensor_over(taken->array, (taken->flags & dlpack::kReadOnly) != 0, taken, copy);
  }
  const auto taken = take<dlpack::ManagedTensor>(capsule, dlpack::kName, dlpack::kUsedName);
  return tensor_over(taken->array, false, taken, copy);
}

// Libraries that implement DLPack before 1.0 do not accept max_version.
nb::object capsule_from(nb::handle array) {
  try {
    return array.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return array.attr("__dlpack__")();
}

}  // namespace

Tensor from_dlpack(nb::handle array, std::optional<bool> copy) {
  if (PyCapsule_CheckExact(array.ptr())) return from_capsule(array.ptr(), copy);
  if (!nb::hasattr(array, "__dlpack__")) {
    raise(PyExc_TypeError,
          "from_dlpack: expected an array with __dlpack__, got " + describe(array.ptr()));
  }
  return from_capsule(capsule_from(array).ptr(), copy);
}

void bind_dlpack(nb::module_& module) {
  method("__dlpack__", &to_dlpack, nb::kw_only(), nb::arg("stream").none() = nb::none(),
         nb::arg("max_version").none() = nb::none(), nb::arg("dl_device").none() = nb::none(),
         nb::arg("copy").none() = nb::none());
  method("__dlpack_device__", [](const Tensor&) { return IntPair(dlpack::kCpu, 0); });
  module.def("from_dlpack", &from_dlpack, nb::arg("array"), nb::kw_only(),
             nb::arg("copy").none() = nb::none(),
             "Return a tensor that shares the memory of another library's array on the CPU.\n\n"
             "`copy`: None copies if the memory cannot be shared (it is read-only or not "
             "row-major), True always\n"
             "copies, False never does: BufferError then.");
}

}  // namespace phi::python
