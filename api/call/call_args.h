// CallArgs and results(): convert the run-time arguments of a NamedCall (named_call.h) to the types
// that generated functions accept, and their results to one list.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "api/tensor/tensor.h"
#include "phi/core/attribute_value.h"

namespace phi {

/// The arguments of one call, with accessors in the types of generated functions.
class CallArgs {
 public:
  /// `arguments`: a list per tensor argument. It has one element for a tensor, one undefined
  /// element for an absent optional tensor or list, and the elements of a list otherwise.
  /// `attributes`: in the order of the YAML entry; they must outlive this object.
  CallArgs(std::string_view op, std::vector<TensorList> arguments,
           std::span<const AttributeValue> attributes);

  /// Return tensor argument `i`. Errors: InvalidArgument if there is no such argument; for tensor()
  /// and optional() also if it has a number of elements other than one.
  Tensor& tensor(int i);
  std::optional<Tensor>& optional(int i);
  TensorList& list(int i);
  /// Returns attribute `i`. T: a type of attribute_types.h, optional or not. Errors:
  /// InvalidArgument if there is no such attribute or its value does not convert to T.
  template <typename T>
  T attr(int i) const;

 private:
  const AttributeValue& attribute(int i) const;
  Place place(int i) const;
  DataLayout layout(int i) const;
  TensorList& argument(int i);

  std::string_view op_;
  std::vector<TensorList> arguments_;
  std::vector<std::optional<Tensor>> optionals_;
  std::span<const AttributeValue> attributes_;
};

/// Collects what a function returns into one list; for generated code.
class Results {
 public:
  void add(const Tensor& tensor);
  void add(const std::optional<Tensor>& tensor);
  void add(const TensorList& tensors);
  template <typename... Outs>
  void add(const std::tuple<Outs...>& outs) {
    std::apply([this](const auto&... out) { (add(out), ...); }, outs);
  }
  TensorList take() { return std::move(list_); }

 private:
  TensorList list_;
};
template <typename Returned>
TensorList results(const Returned& returned) {
  Results list;
  list.add(returned);
  return list.take();
}

}  // namespace phi
