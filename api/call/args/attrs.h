// Attrs: references to the attributes of a call, in the order of its OpDef.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/call/call_key.h"
#include "phi/core/attribute_value.h"
#include "phi/core/op_def.h"

namespace phi {

/// The values of a call's attributes, for rules and recorders.
class AttributeList {
 public:
  AttributeList();
  AttributeList(AttributeList&& other) noexcept;
  ~AttributeList();
  /// T: a type of attribute_types.h, optional or not.
  template <typename T>
  void add(const T& value);
  const std::vector<AttributeValue>& values() const { return values_; }
  std::vector<AttributeValue> take() { return std::move(values_); }

 private:
  std::vector<AttributeValue> values_;
};

/// Stores references to the caller's variables. A gradient's GradMask `wanted` may follow the op's
/// own attributes. It is part of the decision's key, but it is not an attribute of a captured call.
template <typename... Values>
class Attrs {
 public:
  explicit Attrs(const Values&... values) : values_(values...) {}

  /// Appends the attributes on which shapes and placements depend, and `wanted`.
  void append_to(CallKey& key, const OpDef& op) const {
    size_t i = 0;
    std::apply([&](const Values&... value) { (append(key, op, i++, value), ...); }, values_);
  }

  /// The op's own attributes, without `wanted`.
  AttributeList list() const {
    AttributeList all;
    std::apply([&](const Values&... value) { (add(all, value), ...); }, values_);
    return all;
  }

  /// A gradient's `wanted`; null: the op computes all its outputs.
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
  static void add(AttributeList& all, const Value& value) {
    if constexpr (!std::is_same_v<Value, GradMask>) all.add(value);
  }

  std::tuple<const Values&...> values_;
};

template <typename... Values>
Attrs<Values...> attrs(const Values&... values) {
  return Attrs<Values...>(values...);
}

}  // namespace phi
