// ViewScope: the launch of an op without a kernel, whose outputs share bytes of an input.
#pragma once

#include "api/call/args/kernel_args.h"
#include "api/call/launch.h"

namespace phi {

/// Counts a launch and, if the rank keeps a trace, adds a span to it.
class ViewScope {
 public:
  ViewScope(const OpDef& op, const DenseTensor& input) : scope_(op) {
    if (!scope_.is_traced()) return;
    detail::KernelArrays arrays;
    arrays.add(input);
    scope_.describe(arrays);
  }

 private:
  LaunchScope scope_;
};

}  // namespace phi
