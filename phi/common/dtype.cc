// Names of element types.
#include "phi/common/dtype.h"

#include <array>

#include "phi/common/errors.h"

namespace phi {
namespace {
constexpr std::array<std::string_view, kNumDataTypes> kNames = {
    "undefined", "bool",    "uint8", "int32", "int64",     "float16",   "bfloat16",
    "float32",   "float64", "int8",  "int16", "complex64", "complex128"};
constexpr std::array<std::string_view, kNumDataTypes> kShortNames = {
    "undefined", "bool", "u8", "i32", "i64", "f16", "bf16",
    "f32",       "f64",  "i8", "i16", "c64", "c128"};
}  // namespace

std::string_view name_of(DataType dtype) { return kNames[static_cast<int>(dtype)]; }
std::string_view short_name_of(DataType dtype) { return kShortNames[static_cast<int>(dtype)]; }

DataType parse_dtype(std::string_view name) {
  for (int i = 1; i < kNumDataTypes; ++i) {
    if (kNames[i] == name) return static_cast<DataType>(i);
  }
  throw errors::InvalidArgument(
      "unknown dtype '{}'; use one of bool, uint8, int8, int16, int32, int64, float16, bfloat16, "
      "float32, float64, complex64, complex128.",
      name);
}

void detail::throw_no_real_dtype(DataType dtype) {
  if (is_complex(dtype)) {
    throw errors::Unimplemented(
        "{} is not supported here; pass the real and imaginary parts (real, imag, as_real).",
        name_of(dtype));
  }
  throw errors::InvalidArgument("the dtype of a tensor is undefined here; pass one.");
}

}  // namespace phi
