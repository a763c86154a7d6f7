// Signals as factors: transformed dims are never split.
#include "distributed/spmd/rules/fft.h"

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

// `others` splittable dims, after whole dims for axis 0 and before them otherwise.
FactorNames beside_whole(int others, int axis, std::string_view whole) {
  PHI_CHECK(others >= 0, errors::InvalidArgument("x lacks dims: a signal has 1, frames have 2."));
  FactorNames names;
  if (axis == 0) names = FactorNames(whole);
  for (char name : dim_names(others)) names.push_back(name);
  for (char name : axis == 0 ? std::string_view() : whole) names.push_back(name);
  return names;
}

FactorNames signal_names(int others, int axis) { return beside_whole(others, axis, "1"); }
FactorNames frame_names(int others, int axis) { return beside_whole(others, axis, "11"); }

}  // namespace

SpmdRule FFTGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad,
                          const std::vector<int64_t>& axes) {
  FactorNames names(dim_names(x.ndim()));
  for (int64_t axis : axes) names[normal_axis(axis, x.ndim(), "axes")] = '1';
  return Factors().input(x, names).input(out_grad, names).output_like(0);
}

SpmdRule FrameInferSpmd(const TensorSpec& x, int axis) {
  const int others = x.ndim() - 1;
  return Factors().input(x, signal_names(others, axis)).output(frame_names(others, axis));
}
SpmdRule FrameGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis) {
  const int others = x.ndim() - 1;
  return Factors()
      .input(x, signal_names(others, axis))
      .input(out_grad, frame_names(others, axis))
      .output_like(0);
}
SpmdRule OverlapAddInferSpmd(const TensorSpec& x, int axis) {
  const int others = x.ndim() - 2;
  return Factors().input(x, frame_names(others, axis)).output(signal_names(others, axis));
}
SpmdRule OverlapAddGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad, int axis) {
  const int others = x.ndim() - 2;
  return Factors()
      .input(x, frame_names(others, axis))
      .input(out_grad, signal_names(others, axis))
      .output_like(0);
}

}  // namespace phi::distributed
