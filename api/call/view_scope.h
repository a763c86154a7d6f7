// ViewScope: an op that runs on this rank without a kernel, as its outputs share bytes of an input.
#pragma once

#include "api/call/args/kernel_args.h"
#include "api/call/launch.h"

namespace phi {

/// Counts it as a launch and shows it where the rank keeps a trace.
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
