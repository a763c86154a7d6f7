// The rare parts of a launch, and instantiations for the signatures of most operators.
#include "api/call/launch.h"

#include "api/call/call_events.h"

namespace phi {

void LaunchScope::describe(const detail::KernelArrays& arrays) const {
  const TracedShapes shapes(arrays);
  span_.fill([&](Trace& trace, TraceEvent& event) {
    event.detail = trace.text(shapes.key(), [&] { return shapes.to_string(); });
  });
}

void LaunchScope::report_outputs(const OpDef& op, const detail::KernelArrays& arrays) const {
  for (const detail::KernelArray& x : arrays) {
    if (x.is_written) rank_.observers().notify(&Observer::on_output, KernelOutput{op, *x.array});
  }
}

namespace detail {

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
