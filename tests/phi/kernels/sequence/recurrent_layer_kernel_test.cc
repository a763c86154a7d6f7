// Recurrent layers of many units, which cells take in vectors, against layers of one unit each:
// with weights between a unit and itself alone they have nothing to do with each other.
#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/sequence.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

constexpr int64_t kSteps = 3;
constexpr int64_t kBatch = 2;

struct Mode {
  const char* name;
  int64_t gates;
  int64_t kept;
  bool has_cell;
};

/// The values of a layer of `units`, whose last dims are [groups, units], or of one of them.
struct Layer {
  Mode mode;
  int64_t units;
  Values gates, hidden, cell, weight, bias, out_grad, hidden_grad, cell_grad;

  /// `weight` has a number for each gate of each unit.
  static Layer drawn(const Mode& mode, int64_t units) {
    const int64_t width = mode.gates * units;
    return {mode,
            units,
            random_values(kSteps * kBatch * width, 1, -2, 2),
            random_values(kBatch * units, 2),
            random_values(kBatch * units, 3),
            random_values(width, 4),
            random_values(width, 5),
            random_values(kSteps * kBatch * units, 6),
            random_values(kBatch * units, 7),
            random_values(kBatch * units, 8)};
  }
  Layer of(int64_t unit) const {
    const auto part = [&](const Values& all) {
      Values own;
      for (size_t i = static_cast<size_t>(unit); i < all.size(); i += units) own.push_back(all[i]);
      return own;
    };
    return {mode,         1,          part(gates),    part(hidden),      part(cell),
            part(weight), part(bias), part(out_grad), part(hidden_grad), part(cell_grad)};
  }
  Values weight_matrix() const {
    Values matrix(weight.size() * units, 0.0);
    for (size_t r = 0; r < weight.size(); ++r) matrix[r * units + r % units] = weight[r];
    return matrix;
  }
};

/// All that both kernels give, of which the weight's gradient has a number for each row's own unit.
template <typename T>
std::vector<Values> run(const Layer& x) {
  const int64_t n = x.units;
  const int64_t width = x.mode.gates * n;
  const Dims states{kBatch, n};
  const DenseTensor gates = tensor<T>(x.gates, {kSteps, kBatch, width});
  const DenseTensor hidden = tensor<T>(x.hidden, states);
  const DenseTensor cell = tensor<T>(x.cell, states);
  const DenseTensor weight = tensor<T>(x.weight_matrix(), {width, n});
  const DenseTensor bias = tensor<T>(x.bias, {width});
  const DenseTensor* const c = x.mode.has_cell ? &cell : nullptr;
  DenseTensor out = blank<T>({kSteps, kBatch, n});
  DenseTensor last_hidden = blank<T>(states);
  DenseTensor last_cell = blank<T>(states);
  DenseTensor reserve = blank<T>({kSteps, kBatch, x.mode.kept * n});
  registered<kernels::recurrent_layer, T>(KernelContext(), gates, hidden, c, weight, bias, nullptr,
                                          x.mode.name, false, &out, &last_hidden, &last_cell,
                                          &reserve);
  DenseTensor dgates = blank<T>(gates.dims());
  DenseTensor dhidden = blank<T>(states);
  DenseTensor dcell = blank<T>(states);
  DenseTensor dweight = blank<T>(weight.dims());
  DenseTensor dbias = blank<T>(bias.dims());
  const DenseTensor cell_grad = tensor<T>(x.cell_grad, states);
  registered<kernels::recurrent_layer_grad, T>(
      KernelContext(), gates, hidden, c, weight, bias, nullptr, out, reserve,
      tensor<T>(x.out_grad, out.dims()), tensor<T>(x.hidden_grad, states),
      x.mode.has_cell ? &cell_grad : nullptr, x.mode.name, false, &dgates, &dhidden,
      x.mode.has_cell ? &dcell : nullptr, &dweight, &dbias);
  Values own;
  const Values matrix = to_doubles(dweight);
  for (int64_t r = 0; r < width; ++r) own.push_back(matrix[r * n + r % n]);
  std::vector<Values> all = {to_doubles(out),     to_doubles(last_hidden), to_doubles(dgates),
                             to_doubles(dhidden), to_doubles(dbias),       own};
  if (x.mode.has_cell) {
    all.push_back(to_doubles(last_cell));
    all.push_back(to_doubles(dcell));
  }
  return all;
}

template <typename T>
void check(const Mode& mode, int64_t units) {
  const Layer layer = Layer::drawn(mode, units);
  const std::vector<Values> all = run<T>(layer);
  for (int64_t unit = 0; unit < units; ++unit) {
    const std::vector<Values> alone = run<T>(layer.of(unit));
    for (size_t k = 0; k < all.size(); ++k) {
      Values own;
      for (size_t i = static_cast<size_t>(unit); i < all[k].size(); i += units)
        own.push_back(all[k][i]);
      expect_close(own, alone[k], tolerance<T>(),
                   fmt::format("{}, unit {} of {}, result {}", mode.name, unit, units, k));
    }
  }
}

TEST(RecurrentLayerKernel, UnitsSideBySideAreThoseOfOneUnitEach) {
  for (const Mode& mode : {Mode{"RNN_TANH", 1, 0, false}, Mode{"RNN_RELU", 1, 0, false},
                           Mode{"LSTM", 4, 5, true}, Mode{"GRU", 3, 4, false}}) {
    for (const int64_t units : {1, 7, 16, 37}) {
      check<float>(mode, units);
      check<double>(mode, units);
      check<bfloat16>(mode, units);
    }
  }
}

}  // namespace
}  // namespace phi::testing
