// Implementation of placeholder_args.h.
#include "api/call/args/placeholder_args.h"

#include "api/call/call_events.h"
#include "phi/core/rank_context.h"

namespace phi::detail {
namespace {

// Estimates the cost as LaunchStep::cost does.
PlannedLaunch planned_launch(const OpDef& op, const KernelArrays& arrays) {
  PlannedLaunch launch{.op = op.name};
  std::vector<Dims> shapes(op.inputs.size() + op.outputs.size(), Dims{0});
  for (const KernelArray& x : arrays) {
    const size_t tensor = x.is_written ? op.inputs.size() + x.position - op.taken.size()
                                       : static_cast<size_t>(op.taken[x.position]);
    shapes[tensor] = x.array->dims();
    if (!x.is_written && op.is_unread(x.position)) continue;
    launch.cost.bytes += static_cast<double>(x.array->nbytes());
    if (!is_floating(launch.dtype)) launch.dtype = x.array->dtype();
  }
  if (op.flops != nullptr) launch.cost.flops = op.flops(shapes);
  return launch;
}

}  // namespace

void name_placeholders(Error& error, const OpDef& op, const KernelArrays& arrays) {
  for (const KernelArray& x : arrays) {
    if (x.is_written || op.is_unread(x.position) || !x.array->defined() ||
        x.array->storage()->state() != StorageState::kPlaceholder)
      continue;
    error.note(fmt::format("argument '{}' of {}, {}, is a placeholder",
                           op.inputs[static_cast<size_t>(op.taken[x.position])], op.name,
                           x.array->meta().to_string()));
  }
}

void plan_arrays(const OpDef& op, const KernelArrays& arrays) {
  for (const KernelArray& x : arrays) {
    if (!x.is_written && !op.is_unread(x.position) && x.array->defined() &&
        x.array->storage()->source())
      x.array->storage()->materialise();
    if (x.is_written && x.array->defined()) x.array->storage()->before_write();
  }
  const Observers& observers = RankContext::current().observers();
  if (observers.any_events())
    observers.notify(&Observer::on_planned_launch, planned_launch(op, arrays));
}

void check_shapes_known(const OpDef& op, const KernelArrays& arrays) {
  for (const KernelArray& x : arrays) {
    PHI_CHECK(!x.is_written || x.array->defined(),
              errors::Unimplemented("the output shape of {} depends on data, which is not "
                                    "available in a dry run or a captured program.",
                                    op.name));
  }
}

}  // namespace phi::detail
