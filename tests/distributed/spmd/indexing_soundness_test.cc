// Soundness of the rules that order elements, or read and write them at positions.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/distributed/spmd/soundness.h"

namespace phi::distributed::soundness {
namespace {

// A position in an extent of n, made of any number.
int64_t position(double value, int64_t n) {
  return static_cast<int64_t>(std::abs(value) * 1000) % n;
}

double& element(Array& a, const Dims& index) {
  const Dims strides = a.shape.strides();
  int64_t at = 0;
  for (int d = 0; d < a.shape.ndim(); ++d) at += index[d] * strides[d];
  return a.values[static_cast<size_t>(at)];
}

// The first out[0][1] of x [a, b, c] along dim 1, from the largest, and where they stood.
Arrays sorted_op(const Arrays& in, const std::vector<Dims>& out) {
  const auto order = [&](const Dims& i) {
    std::vector<int64_t> places(static_cast<size_t>(in[0].shape[1]));
    std::iota(places.begin(), places.end(), 0);
    std::stable_sort(places.begin(), places.end(), [&](int64_t p, int64_t q) {
      return at(in[0], {i[0], p, i[2]}) > at(in[0], {i[0], q, i[2]});
    });
    return places[static_cast<size_t>(i[1])];
  };
  return {make(out[0],
               [&](const Dims& i) {
                 return at(in[0], {i[0], order(i), i[2]});
               }),
          make(out[1], [&](const Dims& i) { return double(order(i)); })};
}

Arrays cummax_op(const Arrays& in, const std::vector<Dims>& out) {
  const auto place = [&](const Dims& i) {
    int64_t best = 0;
    for (int64_t k = 1; k <= i[1]; ++k) {
      if (at(in[0], {i[0], k, i[2]}) >= at(in[0], {i[0], best, i[2]})) best = k;
    }
    return best;
  };
  return {make(out[0],
               [&](const Dims& i) {
                 return at(in[0], {i[0], place(i), i[2]});
               }),
          make(out[1], [&](const Dims& i) { return double(place(i)); })};
}

// indices and out_grad [a, k, c] to x [a, b, c]; x counts for its shape.
Arrays topk_grad_op(const Arrays& in, const std::vector<Dims>& out) {
  Array grad = make(out[0], [](const Dims&) { return 0.0; });
  for_each(in[1].shape, [&](const Dims& i, int64_t) {
    element(grad, {i[0], position(at(in[1], i), 6), i[2]}) += at(in[2], i);
  });
  return {grad};
}

// x [4, 5, 3], index [6, 2].
Arrays gather_nd_op(const Arrays& in, const std::vector<Dims>& out) {
  return {make(out[0], [&](const Dims& i) {
    return at(in[0], {position(at(in[1], {i[0], 0}), 4), position(at(in[1], {i[0], 1}), 5), i[1]});
  })};
}

Arrays gather_nd_grad_op(const Arrays& in, const std::vector<Dims>& out) {
  Array grad = make(out[0], [](const Dims&) { return 0.0; });
  for_each(in[2].shape, [&](const Dims& i, int64_t) {
    element(grad, {position(at(in[1], {i[0], 0}), 4), position(at(in[1], {i[0], 1}), 5), i[1]}) +=
        at(in[2], i);
  });
  return {grad};
}

// x [4, 5], index [6] along dim 1.
Arrays index_select_op(const Arrays& in, const std::vector<Dims>& out) {
  return {make(out[0], [&](const Dims& i) {
    return at(in[0], {i[0], position(at(in[1], {i[1]}), 5)});
  })};
}

Arrays index_select_grad_op(const Arrays& in, const std::vector<Dims>& out) {
  Array grad = make(out[0], [](const Dims&) { return 0.0; });
  for_each(in[2].shape, [&](const Dims& i, int64_t) {
    element(grad, {i[0], position(at(in[1], {i[1]}), 5)}) += at(in[2], i);
  });
  return {grad};
}

// x [4, 5, 3], indices [4, 6, 2] along dim 1: of dim 2 the first two are read.
Arrays take_op(const Arrays& in, const std::vector<Dims>& out) {
  return {make(out[0], [&](const Dims& i) {
    return at(in[0], {i[0], position(at(in[1], i), 5), i[2]});
  })};
}

Arrays take_grad_op(const Arrays& in, const std::vector<Dims>& out) {
  Array grad = make(out[0], [](const Dims&) { return 0.0; });
  for_each(in[2].shape, [&](const Dims& i, int64_t) {
    element(grad, {i[0], position(at(in[1], i), 5), i[2]}) += at(in[2], i);
  });
  return {grad};
}

Arrays put_op(const Arrays& in, const std::vector<Dims>&) {
  Array x = in[0];
  for_each(in[2].shape, [&](const Dims& i, int64_t) {
    element(x, {i[0], position(at(in[1], i), 5), i[2]}) = at(in[2], i);
  });
  return {x};
}

// x [5, 3], index [6], updates [6, 3]: rows are written, the last one stays.
Arrays scatter_op(const Arrays& in, const std::vector<Dims>&) {
  Array x = in[0];
  for_each(in[2].shape, [&](const Dims& i, int64_t) {
    element(x, {position(at(in[1], {i[0]}), 5), i[1]}) = at(in[2], i);
  });
  return {x};
}

// index [6], updates [6, 3] (its shape), out_grad [5, 3].
Arrays scatter_grad_op(const Arrays& in, const std::vector<Dims>& out) {
  Array x_grad = in[2];
  for_each(in[1].shape, [&](const Dims& i, int64_t) {
    element(x_grad, {position(at(in[0], {i[0]}), 5), i[1]}) = 0;
  });
  return {x_grad, make(out[1], [&](const Dims& i) {
            const int64_t row = position(at(in[0], {i[0]}), 5);
            for (int64_t later = i[0] + 1; later < 6; ++later) {
              if (position(at(in[0], {later}), 5) == row) return 0.0;
            }
            return at(in[2], {row, i[1]});
          })};
}

// x [4, 5, 3], index [6, 2], updates [6, 3].
Arrays scatter_nd_add_op(const Arrays& in, const std::vector<Dims>&) {
  Array x = in[0];
  for_each(in[2].shape, [&](const Dims& i, int64_t) {
    element(x, {position(at(in[1], {i[0], 0}), 4), position(at(in[1], {i[0], 1}), 5), i[1]}) +=
        at(in[2], i);
  });
  return {x};
}

Arrays scatter_nd_add_grad_op(const Arrays& in, const std::vector<Dims>& out) {
  return {in[2], gather_nd_op({in[2], in[0]}, {out[1]})[0]};
}

// x [4, 5, 3], two indices [6], value [1, 3], which broadcasts over the positions.
Arrays index_put_op(const Arrays& in, const std::vector<Dims>&) {
  Array x = in[0];
  for_each({in[1].shape[0], in[3].shape[1]}, [&](const Dims& i, int64_t) {
    element(x, {position(at(in[1], {i[0]}), 4), position(at(in[2], {i[0]}), 5), i[1]}) =
        at(in[3], {0, i[1]});
  });
  return {x};
}

// x [12, 4], weights and index [6, 2].
Arrays moe_combine_op(const Arrays& in, const std::vector<Dims>& out) {
  return {make(out[0], [&](const Dims& i) {
    double sum = 0;
    for (int64_t k = 0; k < in[1].shape[1]; ++k) {
      sum += at(in[0], {position(at(in[2], {i[0], k}), 12), i[1]}) * at(in[1], {i[0], k});
    }
    return sum;
  })};
}

std::vector<Trial> trials() {
  return {
      {"topk",
       {{4, 6, 3}},
       {{4, 2, 3}, {4, 2, 3}},
       sorted_op,
       [](const Specs& s) { return TopkInferSpmd(s[0], Scalar(2), 1, true, true); }},
      {"topk_grad",
       {{4, 6, 3}, {4, 2, 3}, {4, 2, 3}},
       {{4, 6, 3}},
       topk_grad_op,
       [](const Specs& s) {
         return TopkGradInferSpmd(s[0], s[1], s[2], Scalar(2), -2, true, true);
       }},
      {"argsort",
       {{4, 6, 3}},
       {{4, 6, 3}, {4, 6, 3}},
       sorted_op,
       [](const Specs& s) { return ArgSortInferSpmd(s[0], -2, true, true); }},
      {"argsort_grad",
       {{4, 6, 3}, {4, 6, 3}, {4, 6, 3}},
       {{4, 6, 3}},
       [](const Arrays& in, const std::vector<Dims>& out) {
         return topk_grad_op({in[1], in[0], in[2]}, out);
       },
       [](const Specs& s) { return ArgSortGradInferSpmd(s[0], s[1], s[2], 1, true, true); }},
      {"cummax",
       {{4, 6, 3}},
       {{4, 6, 3}, {4, 6, 3}},
       cummax_op,
       [](const Specs& s) { return CummaxInferSpmd(s[0], 1, DataType::INT64); }},
      {"gather_nd",
       {{4, 5, 3}, {6, 2}},
       {{6, 3}},
       gather_nd_op,
       [](const Specs& s) { return GatherNdInferSpmd(s[0], s[1]); }},
      {"gather_nd_grad",
       {{4, 5, 3}, {6, 2}, {6, 3}},
       {{4, 5, 3}},
       gather_nd_grad_op,
       [](const Specs& s) { return GatherNdGradInferSpmd(s[0], s[1], s[2]); }},
      {"index_select",
       {{4, 5}, {6}},
       {{4, 6}},
       index_select_op,
       [](const Specs& s) { return IndexSelectInferSpmd(s[0], s[1], -1); }},
      {"index_select_grad",
       {{4, 5}, {6}, {4, 6}},
       {{4, 5}},
       index_select_grad_op,
       [](const Specs& s) { return IndexSelectGradInferSpmd(s[0], s[1], s[2], 1); }},
      {"take_along_axis",
       {{4, 5, 3}, {4, 6, 2}},
       {{4, 6, 2}},
       take_op,
       [](const Specs& s) { return TakeAlongAxisInferSpmd(s[0], s[1], 1); }},
      {"take_along_axis_grad",
       {{4, 5, 3}, {4, 6, 2}, {4, 6, 2}},
       {{4, 5, 3}},
       take_grad_op,
       [](const Specs& s) { return TakeAlongAxisGradInferSpmd(s[0], s[1], s[2], 1); }},
      {"put_along_axis",
       {{4, 5, 3}, {4, 6, 2}, {4, 6, 2}},
       {{4, 5, 3}},
       put_op,
       [](const Specs& s) { return PutAlongAxisInferSpmd(s[0], s[1], s[2], 1, "assign", true); }},
      {"scatter",
       {{5, 3}, {6}, {6, 3}},
       {{5, 3}},
       scatter_op,
       [](const Specs& s) { return ScatterInferSpmd(s[0], s[1], s[2], true); }},
      {"scatter_grad",
       {{6}, {6, 3}, {5, 3}},
       {{5, 3}, {6, 3}},
       scatter_grad_op,
       [](const Specs& s) { return ScatterGradInferSpmd(s[0], s[1], s[2], true); }},
      {"scatter_nd_add",
       {{4, 5, 3}, {6, 2}, {6, 3}},
       {{4, 5, 3}},
       scatter_nd_add_op,
       [](const Specs& s) { return ScatterNdAddInferSpmd(s[0], s[1], s[2]); }},
      {"scatter_nd_add_grad",
       {{6, 2}, {6, 3}, {4, 5, 3}},
       {{4, 5, 3}, {6, 3}},
       scatter_nd_add_grad_op,
       [](const Specs& s) { return ScatterNdAddGradInferSpmd(s[0], s[1], s[2]); }},
      {"index_put",
       {{4, 5, 3}, {6}, {6}, {1, 3}},
       {{4, 5, 3}},
       index_put_op,
       [](const Specs& s) {
         const Specs indices{s[1], s[2]};
         return IndexPutInferSpmd(s[0], indices, s[3], false);
       }},
      {"moe_combine",
       {{12, 4}, {6, 2}, {6, 2}},
       {{6, 4}},
       moe_combine_op,
       [](const Specs& s) { return MoeCombineInferSpmd(s[0], s[1], s[2]); }},
  };
}

class IndexingSoundness : public ::testing::TestWithParam<size_t> {};

TEST_P(IndexingSoundness, AnyPlacementGivesTheOpsResult) {
  EXPECT_EQ(first_mismatch(trials()[GetParam()]), "");
}

INSTANTIATE_TEST_SUITE_P(Rules, IndexingSoundness, ::testing::Range<size_t>(0, trials().size()),
                         [](const auto& info) { return trials()[info.param].name; });

}  // namespace
}  // namespace phi::distributed::soundness
