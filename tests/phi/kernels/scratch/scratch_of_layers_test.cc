// The scratch memory that convolutions and recurrent layers state is what they obtain.
#include "phi/generated/kernels/conv.h"
#include "phi/generated/kernels/sequence.h"
#include "tests/phi/kernels/scratch/check_scratch.h"

namespace phi::testing {
namespace {

/// A random convolution of two or three spatial dims.
struct Convolution {
  explicit Convolution(std::mt19937& random)
      : spatial(static_cast<int>(draw(random, 2, 3))),
        channels_last(flip(random)),
        groups(static_cast<int>(draw(random, 1, 2))) {
    const int64_t n = draw(random, 1, 3);
    const int64_t c = groups * draw(random, 1, 9), m = groups * draw(random, 1, 9);
    const int window = draw(random, 0, 3) == 0 ? 1 : 3;
    const int pad = window == 1 ? 0 : static_cast<int>(draw(random, 0, 1));
    strides.assign(static_cast<size_t>(spatial), window == 1 ? 1 : 2);
    paddings.assign(static_cast<size_t>(spatial), pad);
    dilations.assign(static_cast<size_t>(spatial), 1);
    std::vector<int64_t> pixels, positions;
    for (int d = 0; d < spatial; ++d) {
      pixels.push_back(draw(random, 3, 12));
      positions.push_back((pixels.back() + 2 * pad - window) / strides[0] + 1);
    }
    image = array(n, c, pixels);
    result = array(n, m, positions);
    filter = {m, c / groups};
    for (int d = 0; d < spatial; ++d) filter.push_back(window);
  }
  Dims array(int64_t n, int64_t channels, const std::vector<int64_t>& extents) const {
    Dims dims{n};
    if (!channels_last) dims.push_back(channels);
    for (const int64_t each : extents) dims.push_back(each);
    if (channels_last) dims.push_back(channels);
    return dims;
  }
  std::string data_format() const {
    if (spatial == 2) return channels_last ? "NHWC" : "NCHW";
    return channels_last ? "NDHWC" : "NCDHW";
  }

  int spatial;
  bool channels_last;
  int groups;
  std::vector<int> strides, paddings, dilations;
  Dims image, result, filter;
};

template <typename T>
void check_convolution(const Convolution& c) {
  const DenseTensor image = zeros<T>(c.image), filter = zeros<T>(c.filter);
  const DenseTensor result = zeros<T>(c.result);
  DenseTensor to_image = zeros<T>(c.image), to_filter = zeros<T>(c.filter);
  DenseTensor to_result = zeros<T>(c.result);
  const std::string explicitly = "EXPLICIT";
  check_kernel<kernels::conv, T>(image, filter, c.strides, c.paddings, explicitly, c.dilations,
                                 c.groups, c.data_format(), &to_result);
  check_kernel<kernels::conv_transpose, T>(result, filter, c.strides, c.paddings, explicitly,
                                           c.dilations, c.groups, c.data_format(), &to_image);
  for (DenseTensor* const filter_grad : {static_cast<DenseTensor*>(nullptr), &to_filter}) {
    check_kernel<kernels::conv_grad, T>(image, filter, result, c.strides, c.paddings, explicitly,
                                        c.dilations, c.groups, c.data_format(), &to_image,
                                        filter_grad);
    check_kernel<kernels::conv_transpose_grad, T>(result, filter, image, c.strides, c.paddings,
                                                  explicitly, c.dilations, c.groups,
                                                  c.data_format(), &to_result, filter_grad);
  }
}

TEST(ScratchOfConvolutions, IsWhatIsStated) {
  std::mt19937 random(9);
  for (int i = 0; i < 24; ++i) {
    SCOPED_TRACE(i);
    const Convolution convolution(random);
    check_convolution<bfloat16>(convolution);
    check_convolution<float16>(convolution);
    check_convolution<double>(convolution);
    check_convolution<float>(convolution);  // oneDNN computes the larger ones
  }
}

template <typename T>
void check_deformable(std::mt19937& random) {
  const int64_t n = draw(random, 1, 2), c = draw(random, 1, 9), m = draw(random, 1, 9);
  const int64_t extent = draw(random, 3, 9), positions = extent - 2;
  const DenseTensor x = zeros<T>({n, c, extent, extent}), filter = zeros<T>({m, c, 3, 3});
  const DenseTensor offset = zeros<T>({n, 18, positions, positions});
  DenseTensor out = zeros<T>({n, m, positions, positions}), x_grad = zeros<T>(x.dims());
  const std::vector<int> ones{1, 1}, none{0, 0};
  check_kernel<kernels::deformable_conv, T>(x, offset, filter, nullptr, ones, none, ones, 1, 1,
                                            &out);
  DenseTensor filter_grad = zeros<T>(filter.dims());
  check_kernel<kernels::deformable_conv_grad, T>(x, offset, filter, nullptr, out, ones, none, ones,
                                                 1, 1, &x_grad, nullptr, &filter_grad, nullptr);
}

TEST(ScratchOfDeformableConvolutions, IsWhatIsStated) {
  std::mt19937 random(3);
  for (int i = 0; i < 6; ++i) {
    check_deformable<bfloat16>(random);
    check_deformable<float16>(random);
    check_deformable<float>(random);
  }
}

template <typename T>
void check_recurrent(const std::string& mode, int64_t gate_count, int64_t kept, bool reverse) {
  const int64_t steps = 3, batch = 2, hidden = 40, width = gate_count * hidden;
  const DenseTensor gates = zeros<T>({steps, batch, width}), weight = zeros<T>({width, hidden});
  const DenseTensor state = zeros<T>({batch, hidden}), bias = zeros<T>({width});
  const DenseTensor* const cell = mode == "LSTM" ? &state : nullptr;
  DenseTensor out = zeros<T>({steps, batch, hidden}),
              reserve = zeros<T>({steps, batch, kept * hidden});
  DenseTensor last_hidden = zeros<T>({batch, hidden}), last_cell = zeros<T>({batch, hidden});
  check_kernel<kernels::recurrent_layer, T>(gates, state, cell, weight, bias, nullptr, mode,
                                            reverse, &out, &last_hidden,
                                            cell ? &last_cell : nullptr, &reserve);
  DenseTensor gates_grad = zeros<T>(gates.dims()), weight_grad = zeros<T>(weight.dims());
  DenseTensor bias_grad = zeros<T>(bias.dims());
  check_kernel<kernels::recurrent_layer_grad, T>(
      gates, state, cell, weight, bias, nullptr, out, reserve, out, state, cell, mode, reverse,
      &gates_grad, &last_hidden, cell ? &last_cell : nullptr, &weight_grad, &bias_grad);
}

template <typename T>
void check_recurrent_modes(bool reverse) {
  check_recurrent<T>("RNN_TANH", 1, 0, reverse);
  check_recurrent<T>("GRU", 3, 4, reverse);
  check_recurrent<T>("LSTM", 4, 5, reverse);
}

TEST(ScratchOfRecurrentLayers, IsNone) {
  for (const bool reverse : {false, true}) {
    check_recurrent_modes<bfloat16>(reverse);
    check_recurrent_modes<float16>(reverse);
  }
}

}  // namespace
}  // namespace phi::testing
