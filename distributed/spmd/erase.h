// Erasure of a typed rule function into a RuleFunction, derived from the function's type.
#pragma once

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

#include "distributed/spmd/registry.h"
#include "phi/core/attribute.h"

namespace phi::distributed::detail {

template <typename T>
inline constexpr bool kIsTensor =
    std::is_same_v<T, const TensorSpec&> || std::is_same_v<T, const TensorSpec*> ||
    std::is_same_v<T, std::span<const TensorSpec>>;

template <typename T>
constexpr TensorKind tensor_kind() {
  if constexpr (std::is_same_v<T, const TensorSpec&>) {
    return TensorKind::kOne;
  } else if constexpr (std::is_same_v<T, const TensorSpec*>) {
    return TensorKind::kOptional;
  } else {
    return TensorKind::kList;
  }
}

template <typename T>
struct AttrType;
template <typename T, AttrKind kKind>
struct NumberAttr {
  static constexpr AttrKind kind = kKind;
  static T from(const AttrValue& value) {
    return std::visit(
        [](const auto& v) -> T {
          if constexpr (std::is_arithmetic_v<std::decay_t<decltype(v)>>) {
            return T(v);
          } else {
            throw errors::InvalidArgument("an attribute is no {}.", name_of(kKind));
          }
        },
        value);
  }
};
template <>
struct AttrType<bool> : NumberAttr<bool, AttrKind::kBool> {};
template <>
struct AttrType<int> : NumberAttr<int, AttrKind::kInt> {};
template <>
struct AttrType<int64_t> : NumberAttr<int64_t, AttrKind::kInt> {};
template <>
struct AttrType<float> : NumberAttr<float, AttrKind::kFloat> {};
template <>
struct AttrType<double> : NumberAttr<double, AttrKind::kFloat> {};
template <>
struct AttrType<const Scalar&> : NumberAttr<Scalar, AttrKind::kInt> {};

template <>
struct AttrType<const std::string&> {
  static constexpr AttrKind kind = AttrKind::kString;
  static const std::string& from(const AttrValue& value) { return std::get<std::string>(value); }
};
template <>
struct AttrType<DataType> {
  static constexpr AttrKind kind = AttrKind::kDataType;
  static DataType from(const AttrValue& value) { return std::get<DataType>(value); }
};
template <typename T>
struct ListAttr {
  static constexpr AttrKind kind = AttrKind::kInts;
  static T from(const AttrValue& value) {
    const auto& ints = std::get<std::vector<int64_t>>(value);
    if constexpr (std::is_same_v<T, IntArray>) {
      return IntArray(ints);
    } else {
      return T(ints.begin(), ints.end());
    }
  }
};
template <>
struct AttrType<const IntArray&> : ListAttr<IntArray> {};
template <>
struct AttrType<const std::vector<int>&> : ListAttr<std::vector<int>> {};
template <>
struct AttrType<const std::vector<int64_t>&> : ListAttr<std::vector<int64_t>> {};

template <auto kRule, typename... Args>
struct ErasedRule {
  static constexpr size_t kTensors = (0 + ... + int(kIsTensor<Args>));
  static constexpr size_t kAttrs = sizeof...(Args) - kTensors;
  using ArgTuple = std::tuple<std::type_identity<Args>...>;
  template <size_t I>
  using Arg = typename std::tuple_element_t<I, ArgTuple>::type;

  // Tensor arguments come before attributes.
  template <size_t... I>
  static constexpr std::array<TensorKind, kTensors> tensor_kinds(std::index_sequence<I...>) {
    return {tensor_kind<Arg<I>>()...};
  }
  template <size_t... I>
  static constexpr std::array<AttrKind, kAttrs> attr_kinds(std::index_sequence<I...>) {
    return {AttrType<Arg<kTensors + I>>::kind...};
  }
  static constexpr auto kTensorKinds = tensor_kinds(std::make_index_sequence<kTensors>());
  static constexpr auto kAttrKinds = attr_kinds(std::make_index_sequence<kAttrs>());

  template <typename T>
  static T tensor(const std::vector<TensorSpec>& given) {
    if constexpr (tensor_kind<T>() == TensorKind::kList) {
      return given;
    } else {
      PHI_CHECK(given.size() == 1,
                errors::InvalidArgument("one tensor is expected, {} are given.", given.size()));
      if constexpr (tensor_kind<T>() == TensorKind::kOne) {
        return given[0];
      } else {
        return given[0].absent() ? nullptr : &given[0];
      }
    }
  }

  static SpmdRule call(RuleFunction::Tensors tensors, RuleFunction::Attrs attrs) {
    PHI_CHECK(tensors.size() == kTensors && attrs.size() >= kAttrs,
              errors::InvalidArgument("{} tensor arguments and {} attributes are given, the rule "
                                      "takes {} and {}.",
                                      tensors.size(), attrs.size(), kTensors, kAttrs));
    return call(tensors, attrs, std::make_index_sequence<kTensors>(),
                std::make_index_sequence<kAttrs>());
  }
  template <size_t... T, size_t... A>
  static SpmdRule call(RuleFunction::Tensors tensors, [[maybe_unused]] RuleFunction::Attrs attrs,
                       std::index_sequence<T...>, std::index_sequence<A...>) {
    return kRule(tensor<Arg<T>>(tensors[T])..., AttrType<Arg<kTensors + A>>::from(attrs[A])...);
  }
};

template <auto kRule, typename... Args>
constexpr RuleFunction erase_as(SpmdRule (*)(Args...), std::string_view tensors,
                                std::string_view attrs) {
  using Erased = ErasedRule<kRule, Args...>;
  return {&Erased::call, Erased::kTensorKinds, Erased::kAttrKinds, tensors, attrs};
}

/// `tensors` and `attrs` name the arguments in order, separated by commas.
template <auto kRule>
constexpr RuleFunction erase(std::string_view tensors, std::string_view attrs = {}) {
  return erase_as<kRule>(kRule, tensors, attrs);
}

}  // namespace phi::distributed::detail
