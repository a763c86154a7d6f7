// CallArgs and results(): how the functions beside generated ones (named_call.h) take arguments
// apart and put what is returned together.
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

/// The arguments of one call as generated code takes them.
class CallArgs {
 public:
  /// A list per tensor argument: its one tensor, undefined where an optional one is absent, or its
  /// elements; a list of one undefined tensor is absent, too. `attributes`: in the order of the
  /// YAML entry; they must outlive this.
  CallArgs(std::string_view op, std::vector<TensorList> arguments,
           std::span<const AttributeValue> attributes);

  /// Errors: InvalidArgument where there is none, or several are given.
  Tensor& tensor(int i);
  std::optional<Tensor>& optional(int i);
  TensorList& list(int i);
  /// T: one of attribute_types.h, optional or not. Errors: InvalidArgument where there is none, or
  /// it is no T.
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

/// What a function returns, as one list: for generated code.
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
