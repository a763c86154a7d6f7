// Where the arrays of a launch lie, which is one place.
#pragma once

#include "api/call/kernel_args.h"
#include "phi/core/op_def.h"
#include "phi/core/rank_context.h"

namespace phi {

/// Errors: InvalidArgument naming the op and both places.
[[noreturn]] void throw_several_places(const OpDef& op, const Place& a, const Place& b);

namespace detail {

/// Of a kernel's arguments, also those that are not tensors; the rank's if none has a place.
template <typename... Args>
Place common_place(const OpDef& op, const Args&... args) {
  Place place;
  const auto see = [&](const DenseTensor& x) {
    if (!x.defined()) return;  // an output whose shape the kernel finds
    if (place.defined() && x.place() != place) [[unlikely]]
      throw_several_places(op, place, x.place());
    place = x.place();
  };
  KernelArgs all([&](size_t, const DenseTensor& x) { see(x); }, see);
  (all.add(args), ...);
  return place.defined() ? place : RankContext::current().place();
}

}  // namespace detail
}  // namespace phi
