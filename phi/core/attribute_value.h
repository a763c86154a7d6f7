// AttributeValue: a type-erased attribute of an operator, and conversions to and from the C++ types
// of attributes.
//
//   const AttributeValue value = attribute_value(Scalar(0.5f));    // a double
//   const float epsilon = attribute_from<float>(value);       // 0.5f; from an int too
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "phi/common/dtype.h"
#include "phi/common/errors.h"
#include "phi/common/layout.h"
#include "phi/common/place.h"
#include "phi/core/attribute.h"

namespace phi {

/// The stored type of each attribute type:
///
/// - integers of all widths: int64; both floating types: double; a Scalar: its value;
/// - IntArray and vectors: a list of int64, double or std::string;
/// - Place and DataLayout, on which no placement or shape depends: text;
/// - an absent optional attribute: std::monostate.
using AttributeValue =
    std::variant<bool, int64_t, double, std::string, DataType, std::vector<int64_t>,
                 std::vector<double>, std::vector<std::string>, std::monostate>;

/// "bool", "int", ..., "list of ints".
std::string_view name_of(AttributeKind kind);

namespace detail {

/// Element type of the list that stores a vector of T.
template <typename T>
using ListElement =
    std::conditional_t<std::is_integral_v<T>, int64_t,
                       std::conditional_t<std::is_same_v<T, std::string>, std::string, double>>;

template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

[[noreturn]] void refuse_attribute(const AttributeValue& value, AttributeKind expected);

}  // namespace detail

template <typename T>
constexpr AttributeKind attribute_kind() {
  if constexpr (detail::kIsOptional<T>) {
    return attribute_kind<typename T::value_type>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return AttributeKind::kBool;
  } else if constexpr (std::is_integral_v<T>) {
    return AttributeKind::kInt;
  } else if constexpr (std::is_floating_point_v<T>) {
    return AttributeKind::kFloat;
  } else if constexpr (std::is_same_v<T, Scalar>) {
    return AttributeKind::kNumber;
  } else if constexpr (std::is_same_v<T, DataType>) {
    return AttributeKind::kDataType;
  } else if constexpr (std::is_same_v<T, Place>) {
    return AttributeKind::kPlace;
  } else if constexpr (std::is_same_v<T, IntArray>) {
    return AttributeKind::kInts;
  } else if constexpr (detail::kIsList<T>) {
    using Element = detail::ListElement<typename T::value_type>;
    return std::is_same_v<Element, int64_t>  ? AttributeKind::kInts
           : std::is_same_v<Element, double> ? AttributeKind::kFloats
                                             : AttributeKind::kStrings;
  } else {
    return AttributeKind::kString;
  }
}

template <typename T>
AttributeValue attribute_value(const T& value) {
  if constexpr (detail::kIsOptional<T>) {
    return value ? attribute_value(*value) : std::monostate();
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, DataType> ||
                       std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<int64_t>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_same_v<T, Scalar>) {
    if (value.dtype() == DataType::BOOL) return value.template to<bool>();
    if (is_floating(value.dtype())) return value.template to<double>();
    return value.template to<int64_t>();
  } else if constexpr (std::is_same_v<T, IntArray>) {
    return std::vector<int64_t>(value.values().begin(), value.values().end());
  } else if constexpr (detail::kIsList<T>) {
    std::vector<detail::ListElement<typename T::value_type>> list;
    for (const typename T::value_type& element : value) {
      if constexpr (std::is_same_v<typename T::value_type, Scalar>) {
        list.push_back(element.template to<double>());
      } else {
        list.push_back(element);
      }
    }
    return list;
  } else if constexpr (std::is_same_v<T, Place>) {
    return value.to_string();
  } else {
    static_assert(std::is_same_v<T, DataLayout>);
    return std::string(name_of(value));
  }
}

/// Converts `value` to T. Any number converts to any arithmetic type. Errors: InvalidArgument if
/// `value` is of another kind.
template <typename T>
T attribute_from(const AttributeValue& value) {
  if constexpr (detail::kIsOptional<T>) {
    if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
    return attribute_from<typename T::value_type>(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, Scalar>) {
    return std::visit(
        [&](const auto& held) -> T {
          if constexpr (std::is_arithmetic_v<std::decay_t<decltype(held)>>) {
            return T(held);
          } else {
            detail::refuse_attribute(value, attribute_kind<T>());
          }
        },
        value);
  } else if constexpr (std::is_same_v<T, IntArray> || detail::kIsList<T>) {
    using Element = std::conditional_t<
        attribute_kind<T>() == AttributeKind::kInts, int64_t,
        std::conditional_t<attribute_kind<T>() == AttributeKind::kFloats, double, std::string>>;
    const auto* list = std::get_if<std::vector<Element>>(&value);
    if (list == nullptr) detail::refuse_attribute(value, attribute_kind<T>());
    if constexpr (std::is_same_v<T, IntArray>) {
      return IntArray(*list);
    } else {
      return T(list->begin(), list->end());
    }
  } else {
    static_assert(std::is_same_v<T, std::string> || std::is_same_v<T, DataType>,
                  "no rule or shape function accepts this type of attribute");
    const T* held = std::get_if<T>(&value);
    if (held == nullptr) detail::refuse_attribute(value, attribute_kind<T>());
    return *held;
  }
}

/// Text in the syntax of the command line: "true", "3", "1,2".
std::string to_text(const AttributeValue& value);

}  // namespace phi
