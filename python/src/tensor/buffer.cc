// Imports and exports arrays by the buffer protocol.
#include "python/src/tensor/buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "phi/common/errors.h"
#include "phi/core/storage/storage_from_blob.h"
#include "python/src/base/errors.h"
#include "python/src/base/shared_reference.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/tensor/tensor_slots.h"
#include "python/src/tensor/values.h"

namespace phi::python {
namespace {

// ---- formats ----

struct Format {
  DataType dtype;
  const char* letters;  // of Python's module struct; long and long long both have 64 bits here
};
constexpr Format kFormats[] = {
    {DataType::BOOL, "?"},       {DataType::UINT8, "B"},      {DataType::INT8, "b"},
    {DataType::INT16, "h"},      {DataType::INT32, "i"},      {DataType::INT64, "l"},
    {DataType::FLOAT16, "e"},    {DataType::FLOAT32, "f"},    {DataType::FLOAT64, "d"},
    {DataType::COMPLEX64, "Zf"}, {DataType::COMPLEX128, "Zd"}};

// Returns null for a dtype without a letter in the protocol.
const char* letters_of(DataType dtype) {
  const auto* row = std::ranges::find(kFormats, dtype, &Format::dtype);
  return row != std::end(kFormats) ? row->letters : nullptr;
}

struct Elements {
  DataType dtype;
  bool swapped;  // in the other byte order
};

Elements elements_of(const Py_buffer& view) {
  std::string_view letters = view.format != nullptr ? view.format : "B";
  const bool big = letters.starts_with('>') || letters.starts_with('!');
  const bool marked = big || letters.starts_with('<') || letters.starts_with('=') ||
                      letters.starts_with('@') || letters.starts_with('|');
  if (marked) letters.remove_prefix(1);
  if (letters == "q") letters = "l";
  const auto* row = std::ranges::find(kFormats, letters, &Format::letters);
  if (row == std::end(kFormats) || size_of(row->dtype) != static_cast<size_t>(view.itemsize)) {
    raise(PyExc_TypeError,
          fmt::format("an array of elements '{}' ({} bytes each) cannot become a tensor: there is "
                      "no such dtype; convert it first, for example by array.astype('float32')",
                      view.format != nullptr ? view.format : "B", view.itemsize));
  }
  const bool swapped = (big && std::endian::native == std::endian::little) && view.itemsize > 1;
  return {row->dtype, swapped};
}

// ---- import ----

// Returns a view of an array; it is released with its last owner.
std::shared_ptr<const Py_buffer> view_of(PyObject* array, int flags) {
  auto view = std::make_unique<Py_buffer>();
  checked(PyObject_GetBuffer(array, view.get(), flags));
  return std::shared_ptr<const Py_buffer>(view.release(), [](const Py_buffer* held) {
    auto* owned = const_cast<Py_buffer*>(held);
    if (const GilLock lock; lock.taken()) PyBuffer_Release(owned);
    delete owned;
  });
}

Dims dims_of(const Py_buffer& view) {
  return Dims(std::vector<int64_t>(view.shape, view.shape + view.ndim));
}

void swap_bytes(std::byte* element, size_t size) { std::reverse(element, element + size); }

// Copies the elements to `out` in row-major order.
std::byte* copy_buffer(const Py_buffer& view, int d, const std::byte* from, std::byte* out) {
  if (d == view.ndim) {
    std::memcpy(out, from, static_cast<size_t>(view.itemsize));
    return out + view.itemsize;
  }
  for (Py_ssize_t i = 0; i < view.shape[d]; ++i) {
    const std::byte* element = from + i * view.strides[d];
    if (view.suboffsets != nullptr && view.suboffsets[d] >= 0) {
      std::memcpy(&element, element, sizeof element);
      element += view.suboffsets[d];
    }
    out = copy_buffer(view, d + 1, element, out);
  }
  return out;
}

// Swaps the bytes of each number; those of complex numbers part by part.
void swap_all(std::byte* bytes, size_t nbytes, DataType dtype) {
  const size_t size = size_of(real_part_of(dtype));
  for (size_t at = 0; at < nbytes; at += size) swap_bytes(bytes + at, size);
}

template <typename T>
Tensor from_bytes(std::shared_ptr<std::byte[]> bytes, const Dims& dims) {
  const auto* elements = reinterpret_cast<const T*>(bytes.get());
  return Tensor::from(std::shared_ptr<const T[]>(std::move(bytes), elements), dims);
}

const char* why_not_shared(const Py_buffer& view, const Elements& elements) {
  if (elements.swapped) return "it is in the other byte order";
  if (view.readonly != 0) return "it is read-only";
  if (PyBuffer_IsContiguous(&view, 'C') == 0) return "it is not row-major";
  const auto address = reinterpret_cast<uintptr_t>(view.buf);
  if (address % size_of(real_part_of(elements.dtype)) != 0) return "its elements are not aligned";
  return nullptr;
}

// ---- export ----

// The data that an exported view points to.
struct ExportedBuffer {
  explicit ExportedBuffer(const Tensor& x) : array(x.dense()) {
    for (int d = 0; d < x.ndim(); ++d) {
      shape[static_cast<size_t>(d)] = x.shape()[d];
      strides[static_cast<size_t>(d)] =
          x.shape().strides()[d] * static_cast<Py_ssize_t>(size_of(x.dtype()));
    }
  }
  DenseTensor array;  // keeps the bytes alive after the tensor
  std::array<Py_ssize_t, kMaxNdim> shape{};
  std::array<Py_ssize_t, kMaxNdim> strides{};
};

void check_exported(const Tensor& x, int flags, bool readonly) {
  if (letters_of(x.dtype()) == nullptr) {
    raise(PyExc_BufferError, fmt::format("{} has no counterpart in the buffer protocol; cast it, "
                                         "x.cast('float32'), or use DLPack",
                                         name_of(x.dtype())));
  }
  if (readonly && (flags & PyBUF_WRITABLE) != 0) {
    raise(PyExc_BufferError,
          "a tensor that requires a gradient is shared read-only; x.detach() can be written to");
  }
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded_status([&] {
    const Tensor& own = tensor_of(self);
    const Tensor x = local_whole_value(own, "the array");
    const bool readonly = own.requires_grad();
    check_exported(x, flags, readonly);
    auto exported = std::make_unique<ExportedBuffer>(x);
    exported->array.storage()->expose_bytes();
    view->buf = exported->array.mutable_raw_data();
    if (view->buf == nullptr)
      view->buf = exported.get();  // no elements, but some consumers require an address
    view->len = static_cast<Py_ssize_t>(exported->array.nbytes());
    view->itemsize = static_cast<Py_ssize_t>(size_of(x.dtype()));
    view->readonly = readonly ? 1 : 0;
    view->ndim = x.ndim();
    view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(letters_of(x.dtype())) : nullptr;
    view->shape = (flags & PyBUF_ND) != 0 ? exported->shape.data() : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? exported->strides.data() : nullptr;
    view->suboffsets = nullptr;
    view->internal = exported.release();
    view->obj = Py_NewRef(self);
    return 0;
  });
}

void release_buffer(PyObject* /*self*/, Py_buffer* view) {
  delete static_cast<ExportedBuffer*>(view->internal);
}

}  // namespace

Tensor copy_of_buffer(PyObject* array) {
  const auto view = view_of(array, PyBUF_FULL_RO);
  const Elements elements = elements_of(*view);
  const Dims dims = dims_of(*view);
  const auto nbytes = static_cast<size_t>(view->len);
  const auto bytes = std::make_shared_for_overwrite<std::byte[]>(std::max<size_t>(nbytes, 1));
  const auto* from = static_cast<const std::byte*>(view->buf);
  if (PyBuffer_IsContiguous(view.get(), 'C') != 0) {
    std::memcpy(bytes.get(), from, nbytes);
  } else {
    copy_buffer(*view, 0, from, bytes.get());
  }
  if (elements.swapped) swap_all(bytes.get(), nbytes, elements.dtype);
  return visit_any_dtype(elements.dtype, [&]<typename T>() { return from_bytes<T>(bytes, dims); });
}

Tensor tensor_over_buffer(PyObject* array) {
  const auto view = view_of(array, PyBUF_FULL_RO);
  const Elements elements = elements_of(*view);
  const char* reason = why_not_shared(*view, elements);
  if (reason != nullptr) {
    raise(PyExc_ValueError,
          fmt::format("the array's memory cannot be shared: {}; autophi.tensor(array) copies it",
                      reason));
  }
  const TensorMeta meta{dims_of(*view), elements.dtype};
  return Tensor(DenseTensor(meta, storage_from_blob(static_cast<std::byte*>(view->buf),
                                                    meta.nbytes(), CPUPlace(), view)));
}

std::span<const PyType_Slot> buffer_slots() {
  static const std::array<PyType_Slot, 2> slots = {
      {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
       {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)}}};
  return slots;
}

}  // namespace phi::python
