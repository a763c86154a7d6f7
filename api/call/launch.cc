// The rare parts of a launch, and instantiations for the signatures of most operators.
#include "api/call/launch.h"

namespace phi {

void LaunchScope::describe(const detail::KernelArrays& arrays) const {
  const TracedShapes shapes(arrays);
  span_.event()->detail = rank_.trace()->text(shapes.key(), [&] { return shapes.to_string(); });
}

namespace detail {

void show_outputs(OutputWatch& watch, const OpDef& op, const KernelArrays& arrays) {
  for (const KernelArray& x : arrays) {
    if (x.is_written) watch.wrote(op, *x.array);
  }
}

void record_launch(Recorder& recorder, const KernelContext& context, const OpDef& op,
                   DataType dtype, StoredArgs&& args, LaunchStep::LaunchFunction run) {
  auto view = context.view() ? context.view()->shared_from_this() : nullptr;
  auto step = std::make_unique<LaunchStep>(op, dtype, context.place(), std::move(view),
                                           std::move(args), run);
  if (recorder.draw_at_run && recorder.draw_at_run->op == &op) step->draw(*recorder.draw_at_run);
  recorder.add(std::move(step));
}

template struct KernelLauncher<KernelSignature<const DenseTensor&, DenseTensor*>>;
template struct KernelLauncher<
    KernelSignature<const DenseTensor&, const DenseTensor&, DenseTensor*>>;
template struct KernelLauncher<KernelSignature<const DenseTensor&, const IntArray&, DenseTensor*>>;

}  // namespace detail
}  // namespace phi
