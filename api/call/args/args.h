// Uniform access to the arguments of a generated function, which are of type Tensor,
// optional<Tensor> or vector<Tensor>.
#pragma once

#include <optional>
#include <type_traits>
#include <vector>

#include "api/tensor/tensor.h"
#include "phi/autograd/grad_mode.h"
#include "phi/common/inline_vector.h"
#include "phi/core/rank_context.h"

namespace phi {

/// Calls f(tensor) for each tensor of the argument until f returns true. Returns whether it did.
template <typename F>
bool any_tensor(const Tensor& x, F&& f) {
  return f(x);
}
template <typename F>
bool any_tensor(const OptionalTensor& x, F&& f) {
  return x && x->defined() && f(*x);
}
template <typename F>
bool any_tensor(const TensorList& xs, F&& f) {
  for (const Tensor& x : xs) {
    if (f(x)) return true;
  }
  return false;
}
/// Calls f(tensor) for each slot of the argument. An absent optional tensor has one slot, with an
/// undefined tensor. The tensors live as long as the argument.
template <typename Arg, typename F>
void for_each_slot(const Arg& arg, F&& f) {
  const auto each = [&](const Tensor& x) {
    f(x);
    return false;
  };
  if constexpr (std::is_same_v<Arg, OptionalTensor>) {
    static const Tensor absent;
    if (!any_tensor(arg, [](const Tensor&) { return true; })) return f(absent);
  }
  any_tensor(arg, each);
}

template <typename... Args>
bool any_distributed(const Args&... args) {
  return (any_tensor(args, [](const Tensor& x) { return x.is_dist(); }) || ...);
}

/// Whether calls on these tensors are tracked: one of them requires a gradient, and tracking is
/// enabled.
template <typename... Args>
bool any_requires_grad(const Args&... args) {
  return (any_tensor(args, [](const Tensor& x) { return x.requires_grad(); }) || ...) &&
         autograd::grad_enabled();
}

/// The place of the first tensor, or the rank's place if there is none.
template <typename... Args>
Place place_of(const Args&... args) {
  Place place = RankContext::current().place();
  (any_tensor(args, [&](const Tensor& x) { return (place = x.place()).defined(); }) || ...);
  return place;
}
inline Place place_or(const Place& wanted, const Place& otherwise) {
  return wanted.defined() ? wanted : otherwise;
}
inline Place place_or(const std::optional<Place>& wanted, const Place& otherwise) {
  return wanted ? place_or(*wanted, otherwise) : otherwise;
}

/// The dtype of the first tensor; UNDEFINED if there is none.
template <typename... Args>
DataType dtype_of(const Args&... args) {
  DataType dtype = DataType::UNDEFINED;
  (any_tensor(args, [&](const Tensor& x) { return (dtype = x.dtype()) != DataType::UNDEFINED; }) ||
   ...);
  return dtype;
}
inline DataType dtype_or(DataType wanted, DataType otherwise) {
  return wanted != DataType::UNDEFINED ? wanted : otherwise;
}
inline DataType dtype_or(const std::optional<DataType>& wanted, DataType otherwise) {
  return wanted ? dtype_or(*wanted, otherwise) : otherwise;
}

inline const TensorMeta* optional_meta(const OptionalTensor& x) {
  return x && x->defined() ? &x->meta() : nullptr;
}
inline const DenseTensor* optional_dense(const OptionalTensor& x) {
  return x && x->defined() ? &x->dense() : nullptr;
}
inline std::vector<TensorMeta> list_metas(const TensorList& xs) {
  std::vector<TensorMeta> metas;
  metas.reserve(xs.size());
  for (const Tensor& x : xs) metas.push_back(x.meta());
  return metas;
}

/// The arrays of a list argument, in the form that kernels accept.
class DenseList {
 public:
  void add(const DenseTensor* x) { arrays_.push_back(x); }
  explicit(false) operator std::span<const DenseTensor* const>() const {
    return {arrays_.data(), arrays_.size()};
  }

 private:
  InlineVector<const DenseTensor*, 8> arrays_;
};
inline DenseList list_dense(const TensorList& xs) {
  DenseList list;
  for (const Tensor& x : xs) list.add(&x.dense());
  return list;
}

/// The arrays of a list output, in the form that kernels accept.
class OutList {
 public:
  void add(DenseTensor* x) { arrays_.push_back(x); }
  explicit(false) operator std::span<DenseTensor* const>() const {
    return {arrays_.data(), arrays_.size()};
  }

 private:
  InlineVector<DenseTensor*, 8> arrays_;
};

}  // namespace phi
