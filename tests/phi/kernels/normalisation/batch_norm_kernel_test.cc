// batch_norm over a batch that two ranks share is that of one process, gradients included. (Values
// are those of the recorded calls.)
#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/image_norm.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

const Dims kDims{7, 3};
constexpr int64_t kSplit = 5;  // rows of the first rank

struct Normalised {
  DenseTensor out, mean_out, variance_out, mean, variance, x_grad, scale_grad, bias_grad;

  explicit Normalised(const Dims& dims)
      : out(blank<double>(dims)),
        mean_out(blank<double>({3})),
        variance_out(blank<double>({3})),
        mean(blank<double>({3})),
        variance(blank<double>({3})),
        x_grad(blank<double>(dims)),
        scale_grad(blank<double>({3})),
        bias_grad(blank<double>({3})) {}
};

Normalised normalise(const KernelContext& ctx, const Values& x, const Values& out_grad,
                     const Dims& dims) {
  const DenseTensor images = tensor<double>(x, dims);
  const DenseTensor mean = tensor<double>(random_values(3, 3), {3});
  const DenseTensor variance = tensor<double>(random_values(3, 4, 1, 2), {3});
  const DenseTensor scale = tensor<double>(random_values(3, 5), {3});
  Normalised r(dims);
  registered<kernels::batch_norm, double>(ctx, images, mean, variance, &scale, nullptr, false, 0.9f,
                                          1e-5f, "NCHW", false, false, &r.out, &r.mean_out,
                                          &r.variance_out, &r.mean, &r.variance);
  registered<kernels::batch_norm_grad, double>(ctx, images, &scale, r.mean, r.variance,
                                               tensor<double>(out_grad, dims), "NCHW", false, false,
                                               false, &r.x_grad, &r.scale_grad, &r.bias_grad);
  return r;
}

TEST(BatchNorm, StatisticsAreOfTheWholeBatch) {
  const Values x = random_values(kDims.numel(), 1), g = random_values(kDims.numel(), 2);
  const Normalised all = normalise(KernelContext(), x, g, kDims);
  Ranks ranks(2);
  ranks.run([&](int rank) {
    const int64_t begin = rank == 0 ? 0 : kSplit, end = rank == 0 ? kSplit : 7;
    FakeView view;
    view.inputs.assign(6, part(kDims, 0, begin, end));
    view.ranks = &ranks;
    const Normalised mine =
        normalise(KernelContext(CPUPlace(), &view), cut(x, kDims, 0, begin, end),
                  cut(g, kDims, 0, begin, end), with_extent(kDims, 0, end - begin));
    const auto rows = [&](const DenseTensor& whole) {
      return cut(to_doubles(whole), kDims, 0, begin, end);
    };
    expect_close(to_doubles(mine.out), rows(all.out), 1e-13, "out");
    expect_close(to_doubles(mine.x_grad), rows(all.x_grad), 1e-13, "x_grad");
    expect_close(to_doubles(mine.mean_out), to_doubles(all.mean_out), 1e-13, "mean_out");
    expect_close(to_doubles(mine.variance_out), to_doubles(all.variance_out), 1e-13, "variance");
    expect_close(to_doubles(mine.scale_grad), to_doubles(all.scale_grad), 1e-13, "scale_grad");
    expect_close(to_doubles(mine.bias_grad), to_doubles(all.bias_grad), 1e-13, "bias_grad");
  });
}

}  // namespace
}  // namespace phi::testing
