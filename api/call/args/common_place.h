// Where the arrays of a launch lie, which is one place.
#pragma once

#include <span>

#include "phi/core/dense_tensor.h"
#include "phi/core/op_def.h"
#include "phi/core/rank_context.h"

namespace phi {

/// Errors: InvalidArgument naming the op and both places.
[[noreturn]] void throw_several_places(const OpDef& op, const Place& a, const Place& b);

namespace detail {

/// Takes a kernel's arguments one by one, also those that are not tensors.
class CommonPlace {
 public:
  explicit CommonPlace(const OpDef& op) : op_(op) {}
  void add(const DenseTensor& x) {
    if (!x.defined()) return;  // an output whose shape the kernel finds
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

  /// The rank's if no array has one.
  Place found() const { return place_.defined() ? place_ : RankContext::current().place(); }

 private:
  const OpDef& op_;
  Place place_;
};

}  // namespace detail
}  // namespace phi
