// Soundness of the rules of gradients.
#include <gtest/gtest.h>

#include "tests/distributed/spmd/soundness.h"

namespace phi::distributed::soundness {
namespace {

/// Adds to the element of `sum` that `index` broadcasts from.
void add_at(Array* sum, const Dims& index, double value) {
  const Dims strides = sum->shape.strides();
  const int lead = index.ndim() - sum->shape.ndim();
  int64_t position = 0;
  for (int d = 0; d < sum->shape.ndim(); ++d) {
    position += (sum->shape[d] == 1 ? 0 : index[lead + d]) * strides[d];
  }
  sum->values[static_cast<size_t>(position)] += value;
}

// x [.., m, k], y [.., k, n], out_grad [.., m, n].
Arrays matmul_grad_op(const Arrays& in, const std::vector<Dims>& out) {
  const auto zero = [](const Dims&) { return 0.0; };
  Array x_grad = make(out[0], zero);
  Array y_grad = make(out[1], zero);
  for_each(in[2].shape, [&](const Dims& i, int64_t) {
    const int n = i.ndim();
    for (int64_t k = 0; k < in[0].shape.back(); ++k) {
      Dims x = i, y = i;
      x[n - 1] = k;
      y[n - 2] = k;
      add_at(&x_grad, x, broadcast_at(in[1], y) * at(in[2], i));
      add_at(&y_grad, y, broadcast_at(in[0], x) * at(in[2], i));
    }
  });
  return {x_grad, y_grad};
}

Arrays reduce_as_op(const Arrays& in, const std::vector<Dims>& out) {
  Array sum = make(out[0], [](const Dims&) { return 0.0; });
  for_each(in[0].shape, [&](const Dims& i, int64_t) { add_at(&sum, i, at(in[0], i)); });
  return {sum};
}

Arrays softmax_grad_op(const Arrays& in, const std::vector<Dims>& out) {
  return {make(out[0], [&](const Dims& i) {
    double sum = 0;
    for (int64_t k = 0; k < in[0].shape[1]; ++k) sum += at(in[0], {i[0], k}) * at(in[1], {i[0], k});
    return at(in[0], i) * (at(in[1], i) - sum);
  })};
}

// x, y and out_grad of one shape.
Arrays swiglu_grad_op(const Arrays& in, const std::vector<Dims>& out) {
  const auto sigmoid = [&](const Dims& i) { return 1 / (1 + std::exp(-at(in[0], i))); };
  return {make(out[0],
               [&](const Dims& i) {
                 const double s = sigmoid(i);
                 return at(in[2], i) * at(in[1], i) * s * (1 + at(in[0], i) * (1 - s));
               }),
          make(out[1], [&](const Dims& i) { return at(in[2], i) * at(in[0], i) * sigmoid(i); })};
}

// input[:, 3:5].
Arrays slice_grad_op(const Arrays& in, const std::vector<Dims>& out) {
  return {make(out[0], [&](const Dims& i) {
    return i[1] >= 3 && i[1] < 5 ? at(in[1], {i[0], i[1] - 3}) : 0.0;
  })};
}

std::vector<Trial> trials() {
  return {
      {"matmul_grad",
       {{4, 5}, {5, 6}, {4, 6}},
       {{4, 5}, {5, 6}},
       matmul_grad_op,
       [](const Specs& s) { return MatmulGradInferSpmd(s[0], s[1], s[2], false, false); }},
      {"matmul_grad of a weight",
       {{2, 3, 4}, {4, 6}, {2, 3, 6}},
       {{2, 3, 4}, {4, 6}},
       matmul_grad_op,
       [](const Specs& s) { return MatmulGradInferSpmd(s[0], s[1], s[2], false, false); }},
      {"matmul_grad with broadcast batches",
       {{1, 3, 8}, {4, 8, 2}, {4, 3, 2}},
       {{1, 3, 8}, {4, 8, 2}},
       matmul_grad_op,
       [](const Specs& s) { return MatmulGradInferSpmd(s[0], s[1], s[2], false, false); }},
      {"reduce_as",
       {{3, 4, 5}, {4, 1}},
       {{4, 1}},
       reduce_as_op,
       [](const Specs& s) { return ReduceAsInferSpmd(s[0], s[1]); }},
      {"expand_as",
       {{1, 5}, {3, 4, 5}},
       {{3, 4, 5}},
       [](const Arrays& in, const std::vector<Dims>& out) -> Arrays {
         return {make(out[0], [&](const Dims& i) { return broadcast_at(in[0], i); })};
       },
       [](const Specs& s) { return ExpandAsInferSpmd(s[0], s[1]); }},
      {"softmax_grad",
       {{4, 5}, {4, 5}},
       {{4, 5}},
       softmax_grad_op,
       [](const Specs& s) { return SoftmaxGradInferSpmd(s[0], s[1], -1); }},
      {"swiglu_grad",
       {{3, 6}, {3, 6}, {3, 6}},
       {{3, 6}, {3, 6}},
       swiglu_grad_op,
       [](const Specs& s) { return SwiGLUGradInferSpmd(s[0], &s[1], s[2]); }},
      {"slice_grad",
       {{5, 6}, {5, 2}},
       {{5, 6}},
       slice_grad_op,
       [](const Specs& s) { return SliceGradInferSpmd(s[0], s[1], {1}, {}); }},
  };
}

class GradientSoundness : public ::testing::TestWithParam<size_t> {};

TEST_P(GradientSoundness, AnyPlacementGivesTheOpsResult) {
  EXPECT_EQ(first_mismatch(trials()[GetParam()]), "");
}

INSTANTIATE_TEST_SUITE_P(Rules, GradientSoundness, ::testing::Range<size_t>(0, trials().size()),
                         [](const auto& info) {
                           std::string name = trials()[info.param].name;
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace phi::distributed::soundness
