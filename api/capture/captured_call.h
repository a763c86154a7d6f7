// CapturedCall: how a generated function tells the program that is being captured of its call.
// Nothing happens, and little is paid, where none is.
//
//   const CapturedCall captured(ops::matmul, x, y);
//   ... the call ...
//   if (captured) {
//     captured.gives(attributes("transpose_x", transpose_x), out);
//   }
#pragma once

#include <utility>
#include <vector>

#include "api/capture/ir.h"
#include "api/tensor/tensor.h"
#include "phi/core/rank_context.h"

namespace phi {

/// A named attribute, from whatever type it has in the operator's signature.
class NamedAttribute : public ir::Attribute {
 public:
  NamedAttribute(const char* name, bool value) : Attribute{name, value} {}
  template <typename T>
  requires std::is_integral_v<T> NamedAttribute(const char* name, T value)
      : Attribute{name, static_cast<int64_t>(value)} {}
  template <typename T>
  requires std::is_floating_point_v<T> NamedAttribute(const char* name, T value)
      : Attribute{name, static_cast<double>(value)} {}
  NamedAttribute(const char* name, const std::string& value) : Attribute{name, value} {}
  NamedAttribute(const char* name, DataType value) : Attribute{name, value} {}
  NamedAttribute(const char* name, const Scalar& value);
  NamedAttribute(const char* name, const IntArray& value);
  NamedAttribute(const char* name, const std::vector<int>& value);
  NamedAttribute(const char* name, const std::vector<int64_t>& value) : Attribute{name, value} {}
  NamedAttribute(const char* name, const std::vector<float>& value);
  NamedAttribute(const char* name, const std::vector<double>& value) : Attribute{name, value} {}
  NamedAttribute(const char* name, const std::vector<bool>& value);
  NamedAttribute(const char* name, const std::vector<std::string>& value)
      : Attribute{name, value} {}
};

using NamedAttributes = std::vector<ir::Attribute>;

inline void add_attributes(NamedAttributes&) {}
template <typename T, typename... More>
void add_attributes(NamedAttributes& list, const char* name, const T& value, const More&... more) {
  list.push_back(NamedAttribute(name, value));
  add_attributes(list, more...);
}
/// Of names and values in turn.
template <typename... NamesAndValues>
NamedAttributes attributes(const NamesAndValues&... names_and_values) {
  NamedAttributes list;
  add_attributes(list, names_and_values...);
  return list;
}

/// For moves, which are told of without their handles: x is used by the program that is being
/// captured, if one is. A parameter is looked up by the handle by which it was first used.
void note_used(const Tensor& x);

class CapturedCall {
 public:
  template <typename... Args>
  explicit CapturedCall(const OpDef& op, const Args&... args) {
    if (RankContext::current().recorder() == nullptr) [[likely]]
      return;
    begin(op);
    (add(args), ...);
  }
  ~CapturedCall() {
    if (state_) [[unlikely]]
      leave();
  }
  CapturedCall(const CapturedCall&) = delete;
  CapturedCall& operator=(const CapturedCall&) = delete;

  /// The call is to be told what it gives. False for a call within a captured call.
  explicit operator bool() const { return state_ != nullptr && is_outermost(); }
  template <typename... Outs>
  void gives(NamedAttributes attributes, const Outs&... outs) const {
    (add_output(outs), ...);
    finish(std::move(attributes));
  }

 private:
  struct State;

  void begin(const OpDef& op);
  void add(const Tensor& x);
  void add(const OptionalTensor& x);
  void add(const TensorList& xs);
  void add_output(const Tensor& x) const;
  void add_output(const OptionalTensor& x) const;
  void add_output(const TensorList& xs) const;
  void finish(NamedAttributes attributes) const;
  bool is_outermost() const;
  void leave();

  State* state_ = nullptr;  // owned; null, the usual case, costs a comparison
};

}  // namespace phi
