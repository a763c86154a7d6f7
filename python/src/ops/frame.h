// Frame: converts the arguments of one call from Python to those of a generated function, and the
// results back.
#pragma once

#include <Python.h>

#include <array>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/tensor/tensor.h"
#include "python/src/base/convert.h"
#include "python/src/base/errors.h"
#include "python/src/base/py_ref.h"
#include "python/src/ops/op_table.h"
#include "python/src/tensor/tensor_object.h"

namespace phi::python {

/// The maximum number of arguments of an operator.
inline constexpr size_t kMaxArguments = 40;

class Frame {
 public:
  /// `values`: borrowed references, one per argument of the operator; null if it is not passed.
  Frame(const OpEntry& op, PyObject* const* values) : op_(op), values_(values) {}

  const OpEntry& op() const { return op_; }

  const Tensor& tensor(int i) { return written(i); }
  /// Tensor argument `i`, to which the call may write. Errors: TypeError if it is not a Tensor.
  Tensor& written(int i) {
    PyObject* value = values_[i];
    if (!is_tensor(value)) [[unlikely]]
      refuse(argument(i), "Tensor", value);
    return seen(tensor_of(value));
  }
  std::optional<Tensor> optional(int i);
  std::vector<Tensor> list(int i);

  bool is_given(int i) const { return values_[i] != nullptr; }
  template <typename T>
  T attr(int i) const {
    return converted<T>(values_[i], argument(i));
  }
  template <typename T>
  T attr(int i, std::type_identity_t<T> by_default) const {
    return is_given(i) ? attr<T>(i) : std::move(by_default);
  }
  template <typename T>
  std::optional<T> optional_attr(int i, std::optional<T> by_default) const {
    if (!is_given(i)) return by_default;
    return values_[i] == Py_None ? std::nullopt : std::optional<T>(attr<T>(i));
  }
  PyObject* value(int i) const { return values_[i]; }
  Argument argument(int i) const { return {op_.name, op_.arguments[static_cast<size_t>(i)].name}; }

  /// Runs `call` and returns its results as Python objects. For a tensor that the call wrote to,
  /// this is the argument's object.
  template <typename Call>
  PyObject* give(Call&& call) {
    GilRelease others(is_long());
    decltype(auto) results = call();
    others.end();
    return result(std::forward<decltype(results)>(results));
  }

 private:
  Tensor& seen(Tensor& x) {
    long_ = long_ || is_long_work(x);
    has_tensors_ = true;
    return x;
  }
  // A call without tensor arguments may create a large tensor.
  bool is_long() const { return long_ || !has_tensors_ || op_.may_wait; }

  static PyObject* result(Tensor& written) { return Py_NewRef(owner_of(written)); }
  static PyObject* result(Tensor&& made) { return to_python(std::move(made)); }
  static PyObject* result(const std::optional<Tensor>& x) {
    return to_python(x.value_or(Tensor()));
  }
  static PyObject* result(std::vector<Tensor>&& made) { return to_python(std::move(made)); }
  static PyObject* result(std::vector<Tensor>& written) { return to_python(written); }
  template <typename... Parts>
  static PyObject* result(std::tuple<Parts...>&& parts) {
    PyRef tuple(checked(PyTuple_New(sizeof...(Parts))));
    put(tuple.get(), std::move(parts), std::index_sequence_for<Parts...>());
    return tuple.release();
  }
  template <typename Tuple, size_t... I>
  static void put(PyObject* tuple, Tuple&& parts, std::index_sequence<I...>) {
    (PyTuple_SET_ITEM(tuple, I,
                      checked(result(std::forward<std::tuple_element_t<I, Tuple>>(
                          std::get<I>(std::forward<Tuple>(parts)))))),
     ...);
  }

  const OpEntry& op_;
  PyObject* const* values_;
  bool long_ = false;
  bool has_tensors_ = false;
};

}  // namespace phi::python
