// DataType: the element type of a tensor, the corresponding C++ types, and dispatch between the
// two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "phi/common/complex.h"
#include "phi/common/half.h"

namespace phi {

using complex64 = Complex<float>;
using complex128 = Complex<double>;

enum class DataType : uint8_t {
  UNDEFINED = 0,
  BOOL,
  UINT8,
  INT32,
  INT64,
  FLOAT16,
  BFLOAT16,
  FLOAT32,
  FLOAT64,
  INT8,
  INT16,
  COMPLEX64,
  COMPLEX128,
};
inline constexpr int kNumDataTypes = 13;
/// The first values of the enum: UNDEFINED and the real dtypes.
inline constexpr int kNumRealDataTypes = 11;

/// Bytes of one element; 0 for UNDEFINED.
constexpr size_t size_of(DataType dtype) {
  constexpr size_t sizes[kNumDataTypes] = {0, 1, 1, 4, 8, 2, 2, 4, 8, 1, 2, 8, 16};
  return sizes[static_cast<int>(dtype)];
}

/// "float32", "bool", ...: the spelling in YAML files, flags and reports.
std::string_view name_of(DataType dtype);
/// "f32", "i64", "bool", ...: the spelling in error messages, as in `f32[64,32]`.
std::string_view short_name_of(DataType dtype);
/// The inverse of name_of. Errors: InvalidArgument naming the accepted spellings.
DataType parse_dtype(std::string_view name);

constexpr bool is_floating(DataType dtype) {
  return dtype == DataType::FLOAT16 || dtype == DataType::BFLOAT16 || dtype == DataType::FLOAT32 ||
         dtype == DataType::FLOAT64;
}
constexpr bool is_integral(DataType dtype) {
  return dtype == DataType::UINT8 || dtype == DataType::INT32 || dtype == DataType::INT64 ||
         dtype == DataType::INT8 || dtype == DataType::INT16;
}
constexpr bool is_complex(DataType dtype) {
  return dtype == DataType::COMPLEX64 || dtype == DataType::COMPLEX128;
}
/// The dtype of the real and imaginary parts of a complex dtype. Returns other dtypes unchanged.
constexpr DataType real_part_of(DataType dtype) {
  if (dtype == DataType::COMPLEX64) return DataType::FLOAT32;
  return dtype == DataType::COMPLEX128 ? DataType::FLOAT64 : dtype;
}
/// The complex dtype whose parts are `dtype`. Returns dtypes other than float32 and float64
/// unchanged.
constexpr DataType complex_of(DataType dtype) {
  if (dtype == DataType::FLOAT32) return DataType::COMPLEX64;
  return dtype == DataType::FLOAT64 ? DataType::COMPLEX128 : dtype;
}

template <typename T>
inline constexpr bool kIsComplex = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;

template <typename T>
constexpr DataType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return DataType::BOOL;
  if constexpr (std::is_same_v<T, uint8_t>) return DataType::UINT8;
  if constexpr (std::is_same_v<T, int32_t>) return DataType::INT32;
  if constexpr (std::is_same_v<T, int64_t>) return DataType::INT64;
  if constexpr (std::is_same_v<T, float16>) return DataType::FLOAT16;
  if constexpr (std::is_same_v<T, bfloat16>) return DataType::BFLOAT16;
  if constexpr (std::is_same_v<T, float>) return DataType::FLOAT32;
  if constexpr (std::is_same_v<T, double>) return DataType::FLOAT64;
  if constexpr (std::is_same_v<T, int8_t>) return DataType::INT8;
  if constexpr (std::is_same_v<T, int16_t>) return DataType::INT16;
  if constexpr (std::is_same_v<T, complex64>) return DataType::COMPLEX64;
  if constexpr (std::is_same_v<T, complex128>) return DataType::COMPLEX128;
  return DataType::UNDEFINED;
}

// Lists of element types, for instantiations and registrations.
template <typename... Ts>
struct TypeList {};

namespace detail {
template <typename, typename>
struct Join;
template <typename... As, typename... Bs>
struct Join<TypeList<As...>, TypeList<Bs...>> {
  using type = TypeList<As..., Bs...>;
};
}  // namespace detail
/// Concatenates two lists.
template <typename A, typename B>
using join_t = typename detail::Join<A, B>::type;

using Halves = TypeList<float16, bfloat16>;
using Floats = TypeList<float16, bfloat16, float, double>;
using SignedIntegers = TypeList<int32_t, int64_t>;
using Integers = join_t<TypeList<uint8_t>, SignedIntegers>;
using SignedNumbers = join_t<SignedIntegers, Floats>;
using Numbers = join_t<Integers, Floats>;
using AllTypes = join_t<TypeList<bool>, Numbers>;
using AllIntegers = join_t<TypeList<int8_t, int16_t>, Integers>;
/// All real types except bool, for kernels that compute with ordered numbers.
using RealNumbers = join_t<AllIntegers, Floats>;
using Complexes = TypeList<complex64, complex128>;
/// All types, for kernels that only move elements.
using EveryType = join_t<AllTypes, join_t<TypeList<int8_t, int16_t>, Complexes>>;

/// The type in which sums of T are accumulated: int64 for integers and bool, float for half
/// precision and float32, otherwise T.
template <typename T>
using accumulator_t = std::conditional_t<std::is_same_v<T, double> || kIsComplex<T>, T,
                                         std::conditional_t<std::is_integral_v<T>, int64_t, float>>;

namespace detail {
[[noreturn]] void throw_no_real_dtype(DataType dtype);
}

/// Calls `f.template operator()<T>()` with the C++ type T of a real `dtype` and returns its result.
/// Errors: InvalidArgument for UNDEFINED, Unimplemented for complex dtypes.
template <typename F>
decltype(auto) visit_dtype(DataType dtype, F&& f) {
  switch (dtype) {
    case DataType::BOOL:
      return f.template operator()<bool>();
    case DataType::UINT8:
      return f.template operator()<uint8_t>();
    case DataType::INT32:
      return f.template operator()<int32_t>();
    case DataType::INT64:
      return f.template operator()<int64_t>();
    case DataType::FLOAT16:
      return f.template operator()<float16>();
    case DataType::BFLOAT16:
      return f.template operator()<bfloat16>();
    case DataType::FLOAT32:
      return f.template operator()<float>();
    case DataType::FLOAT64:
      return f.template operator()<double>();
    case DataType::INT8:
      return f.template operator()<int8_t>();
    case DataType::INT16:
      return f.template operator()<int16_t>();
    case DataType::UNDEFINED:
    case DataType::COMPLEX64:
    case DataType::COMPLEX128:
      break;
  }
  detail::throw_no_real_dtype(dtype);
}

/// Same as visit_dtype, but also accepts complex dtypes.
template <typename F>
decltype(auto) visit_any_dtype(DataType dtype, F&& f) {
  if (dtype == DataType::COMPLEX64) return f.template operator()<complex64>();
  if (dtype == DataType::COMPLEX128) return f.template operator()<complex128>();
  return visit_dtype(dtype, std::forward<F>(f));
}

}  // namespace phi
