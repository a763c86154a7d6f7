// Finds the place of a launch's arrays and checks that they share it.
#pragma once

#include <span>

#include "phi/core/dense_tensor.h"
#include "phi/core/op_def.h"
#include "phi/core/rank_context.h"

namespace phi {

/// Throws InvalidArgument, which names the op and both places.
[[noreturn]] void throw_several_places(const OpDef& op, const Place& a, const Place& b);

namespace detail {

/// Receives a kernel's arguments one by one and ignores those that are not tensors. Errors:
/// InvalidArgument if two arrays have different places.
class CommonPlace {
 public:
  explicit CommonPlace(const OpDef& op) : op_(op) {}
  void add(const DenseTensor& x) {
    if (!x.defined()) return;  // an output with a data-dependent shape
    if (place_.defined() && x.place() != place_) [[unlikely]]
      throw_several_places(op_, place_, x.place());
    place_ = x.place();
  }
  void add(const DenseTensor* x) {
    if (x) add(*x);
  }
  void add(DenseTensor* x) {
    if (x) add(*x);
  }
  void add(std::span<const DenseTensor* const> list) {
    for (const DenseTensor* x : list) add(x);
  }
  void add(std::span<DenseTensor* const> list) {
    for (const DenseTensor* x : list) add(x);
  }
  template <typename Attribute>
  void add(const Attribute&) {}

  /// The common place, or the rank's place if no array has one.
  Place found() const { return place_.defined() ? place_ : RankContext::current().place(); }

 private:
  const OpDef& op_;
  Place place_;
};

}  // namespace detail
}  // namespace phi
