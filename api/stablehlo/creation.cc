// Lowerings of operators that create tensors from attributes.
#include "api/stablehlo/lowering.h"

namespace phi::stablehlo {
namespace {

void full(LoweringContext& call) {
  call.set_output(call.b.constant(call.number("value"), call.output_type()));
}

// In double, so that each element is rounded once, as in the kernel.
void arange(LoweringContext& call) {
  Builder& b = call.b;
  const Type type{call.output_dims(), "f64"};
  const Ssa offset = b.mul(b.iota(type, 0), call.number("step"));
  call.set_output(b.add(offset, call.number("start")));
}

constexpr Lowering kCreationLowerings[] = {{"full", full}, {"arange", arange}};

}  // namespace

std::span<const Lowering> creation_lowerings() { return kCreationLowerings; }

}  // namespace phi::stablehlo
