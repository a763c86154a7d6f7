// Attrs: the attributes of a call, in the order of its OpDef, without copies.
#pragma once

#include <tuple>
#include <type_traits>
#include <vector>

#include "api/call/call_key.h"
#include "phi/core/attribute_value.h"
#include "phi/core/op_def.h"

namespace phi {

/// Refers to the caller's variables. After the op's own attributes may come others, which decide
/// and are no attributes for a program: a gradient's `wanted`.
template <typename... Values>
class Attrs {
 public:
  explicit Attrs(const Values&... values) : values_(values...) {}

  /// Those that shapes and placements depend on.
  void append_to(CallKey& key, const OpDef& op) const {
    size_t i = 0;
    std::apply([&](const Values&... value) { (append(key, op, i++, value), ...); }, values_);
  }

  /// The op's own.
  std::vector<AttributeValue> values(const OpDef& op) const {
    std::vector<AttributeValue> all;
    std::apply([&](const Values&... value) { (all.push_back(value_of(value)), ...); }, values_);
    all.resize(op.attributes.size());
    return all;
  }

  /// A gradient's `wanted`; null: the op makes all its outputs.
  const GradMask* wanted() const {
    const GradMask* mask = nullptr;
    const auto look = [&](const auto& value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, GradMask>) mask = &value;
    };
    std::apply([&](const Values&... value) { (look(value), ...); }, values_);
    return mask;
  }

 private:
  template <typename Value>
  static void append(CallKey& key, const OpDef& op, size_t i, const Value& value) {
    if (i >= op.attributes.size() || op.attributes[i].decides) append_attr(key, value);
  }
  template <typename Value>
  static AttributeValue value_of(const Value& value) {
    if constexpr (std::is_same_v<Value, GradMask>) {
      return {};  // no attribute of an op
    } else {
      return attribute_value(value);
    }
  }

  std::tuple<const Values&...> values_;
};

template <typename... Values>
Attrs<Values...> attrs(const Values&... values) {
  return Attrs<Values...>(values...);
}

}  // namespace phi
