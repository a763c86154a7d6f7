// Soundness of the rules of convolutions, equations, norms and ops that move elements of one
// tensor.
#include <gtest/gtest.h>

#include "tests/distributed/spmd/soundness.h"

namespace phi::distributed::soundness {
namespace {

// input [n, c, h, w], filter [m, c, 2, 2].
Arrays conv_op(const Arrays& in, const std::vector<Dims>& out) {
  return {make(out[0], [&](const Dims& i) {
    double sum = 0;
    for_each({in[1].shape[1], 2, 2}, [&](const Dims& k, int64_t) {
      sum +=
          at(in[0], {i[0], k[0], i[2] + k[1], i[3] + k[2]}) * at(in[1], {i[1], k[0], k[1], k[2]});
    });
    return sum;
  })};
}

// Gradients of both for out_grad [n, m, h - 1, w - 1].
Arrays conv_grad_op(const Arrays& in, const std::vector<Dims>& out) {
  Arrays grads;
  for (const Dims& shape : out) grads.push_back(make(shape, [](const Dims&) { return 0.0; }));
  const auto add = [](Array& to, const Dims& index, double value) {
    const Dims strides = to.shape.strides();
    int64_t position = 0;
    for (int d = 0; d < 4; ++d) position += index[d] * strides[d];
    to.values[static_cast<size_t>(position)] += value;
  };
  for_each(in[2].shape, [&](const Dims& o, int64_t) {
    for_each({in[1].shape[1], 2, 2}, [&](const Dims& k, int64_t) {
      const Dims image{o[0], k[0], o[2] + k[1], o[3] + k[2]};
      const Dims kernel{o[1], k[0], k[1], k[2]};
      add(grads[0], image, at(in[2], o) * at(in[1], kernel));
      add(grads[1], kernel, at(in[2], o) * at(in[0], image));
    });
  });
  return grads;
}

// x [b, i, j], y [j, k] -> [k, b]: i is summed too.
Arrays einsum_op(const Arrays& in, const std::vector<Dims>& out) {
  return {make(out[0], [&](const Dims& o) {
    double sum = 0;
    for_each({in[0].shape[1], in[0].shape[2]}, [&](const Dims& s, int64_t) {
      sum += at(in[0], {o[1], s[0], s[1]}) * at(in[1], {s[1], o[0]});
    });
    return sum;
  })};
}

// The gradients of x and y of ij,jk->ik.
Arrays einsum_grad_op(const Arrays& in, const std::vector<Dims>& out) {
  const auto product = [&](const Dims& shape, int64_t over, auto term) {
    return make(shape, [&](const Dims& i) {
      double sum = 0;
      for (int64_t k = 0; k < over; ++k) sum += term(i, k);
      return sum;
    });
  };
  return {product(out[0], in[1].shape[1],
                  [&](const Dims& i, int64_t k) {
                    return at(in[2], {i[0], k}) * at(in[1], {i[1], k});
                  }),
          product(out[1], in[0].shape[0], [&](const Dims& i, int64_t k) {
            return at(in[0], {k, i[0]}) * at(in[2], {k, i[1]});
          })};
}

Arrays trace_op(const Arrays& in, const std::vector<Dims>&) {
  double sum = 0;
  for (int64_t i = 0; i < in[0].shape[0]; ++i) sum += at(in[0], {i, i});
  return {Array{{}, {sum}}};
}

// Along dim 1 of [a, b, c], which goes.
Op along_axis(double start, const std::function<double(double, double)>& f,
              const std::function<double(double)>& last) {
  return [=](const Arrays& in, const std::vector<Dims>& out) -> Arrays {
    return {make(out[0], [&](const Dims& i) {
      double value = start;
      for (int64_t k = 0; k < in[0].shape[1]; ++k) value = f(value, at(in[0], {i[0], k, i[1]}));
      return last(value);
    })};
  };
}

// x [a, b, c], out and out_grad [a, c].
Arrays logsumexp_grad_op(const Arrays& in, const std::vector<Dims>& out) {
  return {make(out[0], [&](const Dims& i) {
    return std::exp(at(in[0], i) - at(in[1], {i[0], i[2]})) * at(in[2], {i[0], i[2]});
  })};
}

// Of x [a, b] element (i, from(j)), 0 where from(j) is negative.
Op moved(const std::function<int64_t(int64_t)>& from) {
  return [from](const Arrays& in, const std::vector<Dims>& out) -> Arrays {
    return {make(out[0], [&](const Dims& i) {
      const int64_t j = from(i[1]);
      return j < 0 ? 0.0 : at(in[0], {i[0], j});
    })};
  };
}

Arrays unbind_op(const Arrays& in, const std::vector<Dims>& out) {
  Arrays parts;
  for (size_t k = 0; k < out.size(); ++k) {
    parts.push_back(make(out[k], [&](const Dims& i) {
      return at(in[0], {i[0], static_cast<int64_t>(k), i[1]});
    }));
  }
  return parts;
}

// Mean and variance of x [n, c, s] over groups of `per_group` channels.
struct Moments {
  double mean = 0;
  double variance = 0;
};
Moments moments(const Array& x, int64_t n, int64_t group, int64_t per_group) {
  Moments result;
  const double count = double(per_group * x.shape[2]);
  const auto over = [&](const std::function<double(double)>& f) {
    double sum = 0;
    for_each({per_group, x.shape[2]}, [&](const Dims& i, int64_t) {
      sum += f(at(x, {n, group * per_group + i[0], i[1]}));
    });
    return sum / count;
  };
  result.mean = over([](double v) { return v; });
  result.variance = over([&](double v) { return (v - result.mean) * (v - result.mean); });
  return result;
}

// x [n, c, s], scale [c], bias [c].
Op normalised(int64_t per_group) {
  return [=](const Arrays& in, const std::vector<Dims>& out) -> Arrays {
    return {make(out[0],
                 [&](const Dims& i) {
                   const Moments m = moments(in[0], i[0], i[1] / per_group, per_group);
                   return (at(in[0], i) - m.mean) / std::sqrt(m.variance + 1) * at(in[1], {i[1]}) +
                          at(in[2], {i[1]});
                 }),
            make(out[1], [&](const Dims& i) { return moments(in[0], i[0], i[1], per_group).mean; }),
            make(out[2],
                 [&](const Dims& i) { return moments(in[0], i[0], i[1], per_group).variance; })};
  };
}

double larger(double a, double b) { return std::max(a, std::abs(b)); }

std::vector<Trial> trials() {
  const auto same = [](double v) { return v; };
  return {
      {"conv2d",
       {{3, 4, 4, 3}, {4, 4, 2, 2}},
       {{3, 4, 3, 2}},
       conv_op,
       [](const Specs& s) {
         return Conv2dInferSpmd(s[0], s[1], {1, 1}, {0, 0}, "EXPLICIT", {1, 1}, 1, "NCHW");
       }},
      {"conv2d_grad",
       {{3, 4, 4, 3}, {4, 4, 2, 2}, {3, 4, 3, 2}},
       {{3, 4, 4, 3}, {4, 4, 2, 2}},
       conv_grad_op,
       [](const Specs& s) {
         return Conv2dGradInferSpmd(s[0], s[1], s[2], {1, 1}, {0, 0}, "EXPLICIT", {1, 1}, 1,
                                    "NCHW");
       }},
      {"einsum",
       {{3, 2, 4}, {4, 5}},
       {{5, 3}},
       einsum_op,
       [](const Specs& s) { return EinsumInferSpmd(s, "bij,jk->kb"); }},
      {"einsum_grad",
       {{3, 4}, {4, 5}, {3, 5}},
       {{3, 4}, {4, 5}},
       einsum_grad_op,
       [](const Specs& s) {
         return EinsumGradInferSpmd(std::span(s).first(2), s[2], "ij,jk->ik");
       }},
      {"einsum_trace",
       {{4, 4}},
       {{}},
       trace_op,
       [](const Specs& s) { return EinsumInferSpmd(s, "ii->"); }},
      {"logsumexp",
       {{3, 4, 5}},
       {{3, 5}},
       along_axis(
           0, [](double a, double b) { return a + std::exp(b); },
           [](double v) { return std::log(v); }),
       [](const Specs& s) { return LogSumExpInferSpmd(s[0], {1}, false, false); }},
      {"logsumexp_grad",
       {{3, 4, 5}, {3, 5}, {3, 5}},
       {{3, 4, 5}},
       logsumexp_grad_op,
       [](const Specs& s) { return LogSumExpGradInferSpmd(s[0], s[1], s[2], {1}, false, false); }},
      {"p_norm_2",
       {{3, 4, 5}},
       {{3, 5}},
       along_axis(
           0, [](double a, double b) { return a + b * b; }, [](double v) { return std::sqrt(v); }),
       [](const Specs& s) { return PNormInferSpmd(s[0], 2, 1, 0, false, false); }},
      {"p_norm_1",
       {{3, 4, 5}},
       {{3, 5}},
       along_axis(
           0, [](double a, double b) { return a + std::abs(b); }, same),
       [](const Specs& s) { return PNormInferSpmd(s[0], 1, 1, 0, false, false); }},
      {"p_norm_inf",
       {{3, 4, 5}},
       {{3, 5}},
       along_axis(0, larger, same),
       [](const Specs& s) { return PNormInferSpmd(s[0], INFINITY, -2, 0, false, false); }},
      {"pad",
       {{4, 5}},
       {{4, 8}},
       moved([](int64_t j) { return j < 1 || j > 5 ? -1 : j - 1; }),
       [](const Specs& s) {
         return PadInferSpmd(s[0], {0, 0, 1, 2}, Scalar(0));
       }},
      {"roll",
       {{4, 5}},
       {{4, 5}},
       moved([](int64_t j) { return (j + 3) % 5; }),
       [](const Specs& s) { return RollInferSpmd(s[0], {2}, {-1}); }},
      {"strided_slice",
       {{4, 6}},
       {{4, 2}},
       moved([](int64_t j) { return 1 + 2 * j; }),
       [](const Specs& s) { return StridedSliceInferSpmd(s[0], {1}, {1}, {5}, {2}); }},
      {"unbind",
       {{4, 3, 5}},
       {{4, 5}, {4, 5}, {4, 5}},
       unbind_op,
       [](const Specs& s) { return UnbindInferSpmd(s[0], -2); }},
      {"group_norm",
       {{3, 4, 2}, {4}, {4}},
       {{3, 4, 2}, {3, 2}, {3, 2}},
       normalised(2),
       [](const Specs& s) { return GroupNormInferSpmd(s[0], &s[1], &s[2], 1, 2, "NCHW"); }},
      {"instance_norm",
       {{3, 4, 2}, {4}, {4}},
       {{3, 4, 2}, {3, 4}, {3, 4}},
       normalised(1),
       [](const Specs& s) { return InstanceNormInferSpmd(s[0], &s[1], &s[2], 1); }},
  };
}

class WindowedSoundness : public ::testing::TestWithParam<size_t> {};

TEST_P(WindowedSoundness, AnyPlacementGivesTheOpsResult) {
  EXPECT_EQ(first_mismatch(trials()[GetParam()]), "");
}

INSTANTIATE_TEST_SUITE_P(Rules, WindowedSoundness, ::testing::Range<size_t>(0, trials().size()),
                         [](const auto& info) { return trials()[info.param].name; });

TEST(EinsumRule, RefusesWhatIsNoEquation) {
  const ProcessMesh mesh(std::vector<int64_t>{2});
  const auto* whole = TensorDistAttr::replicated(mesh);
  const Specs x{{{4, 4}, whole}};
  for (const char* equation : {"ij,jk->ik", "i->i", "ij->k", "i.j->i", "ij->ii", "i1->i"}) {
    EXPECT_THROW(EinsumInferSpmd(x, equation), Error) << equation;
  }
  EXPECT_NO_THROW(EinsumInferSpmd(x, "...j -> ...").forward());
  EXPECT_EQ(EinsumInferSpmd(x, "ba").forward().outputs[0], whole);  // the letters, sorted
}

}  // namespace
}  // namespace phi::distributed::soundness
