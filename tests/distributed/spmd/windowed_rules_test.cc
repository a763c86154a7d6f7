// Rules of windows over images: images and channels split, spatial dims stay whole. What is no
// equation of einsum.
#include <gtest/gtest.h>

#include <vector>

#include "distributed/spmd/rules.h"
#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

const auto R = Replicate();

const TensorDistAttr* attr(std::initializer_list<Placement> placements) {
  static const ProcessMesh mesh({2, 4}, {"dp", "tp"});
  return TensorDistAttr::get(mesh, placements);
}

// Not inlined: g++ 12 takes the unused entries of Dims for uninitialised reads.
[[gnu::noinline]] TensorSpec spec(const Dims& shape, std::initializer_list<Placement> placements) {
  return {shape, attr(placements)};
}

TEST(PoolRule, ImagesAndChannelsSplit_SpatialDimsAreWhole) {
  const auto x = spec({8, 4, 6, 5}, {Shard(0), Shard(1)});
  EXPECT_EQ(PoolInferSpmd(x, "NCHW", "max").forward().outputs[0], x.attr);
  const auto last = spec({8, 6, 5, 4}, {Shard(3), Shard(1)});
  const auto r = PoolInferSpmd(last, "NHWC", "max").forward();
  EXPECT_EQ(r.inputs[0], attr({Shard(3), R}));
  EXPECT_EQ(r.outputs[0], attr({Shard(3), R}));
  EXPECT_EQ(PoolGradInferSpmd(last, last, "NHWC").forward().outputs[0], attr({Shard(3), R}));
}

TEST(PoolRule, AveragesPassSumsOn_MaximaAndNormsDoNot) {
  const auto x = spec({8, 4, 6, 5}, {Partial(), Shard(1)});
  EXPECT_EQ(PoolInferSpmd(x, "NCHW", "avg").forward().outputs[0], x.attr);
  EXPECT_EQ(PoolInferSpmd(x, "NCHW", "max").forward().inputs[0], attr({R, Shard(1)}));
  EXPECT_EQ(LpPoolInferSpmd(x, "NCHW").forward().inputs[0], attr({R, Shard(1)}));
}

TEST(PoolRule, PlacesAreSplitAsTheirMaxima) {
  const auto x = spec({8, 4, 6, 5}, {Shard(1), Shard(2)});
  const auto r = MaxPoolWithIndexInferSpmd(x).forward();
  for (int i : {0, 1}) EXPECT_EQ(r.outputs[i], attr({Shard(1), R})) << i;
  const auto small = spec({8, 4, 3, 2}, {R, Shard(0)});
  const auto grad = MaxPoolWithIndexGradInferSpmd(x, small, small).forward();
  EXPECT_EQ(grad.outputs[0], attr({Shard(1), Shard(0)}));
  EXPECT_EQ(UnpoolInferSpmd(small, small).forward().outputs[0], attr({R, Shard(0)}));
}

TEST(UnfoldRule, ChannelsSplitWhereTheirNumberDivides) {
  const auto x = spec({8, 4, 6, 5}, {R, Shard(1)});
  EXPECT_EQ(UnfoldInferSpmd(x).forward().outputs[0], x.attr);
  const auto uneven = spec({8, 6, 6, 5}, {Shard(1), R});
  EXPECT_EQ(UnfoldInferSpmd(uneven).forward().outputs[0], attr({Shard(1), R}));
  const auto too_few = spec({8, 6, 6, 5}, {R, Shard(1)});
  EXPECT_EQ(UnfoldInferSpmd(too_few).forward().inputs[0], attr({R, R}));
}

TEST(FoldRule, ChannelsSplitWithAllOfTheirTaps) {
  const std::vector<int> sizes = {2, 3};
  const auto x = spec({8, 24, 10}, {Shard(2), Shard(1)});
  const auto r = FoldInferSpmd(x, sizes).forward();
  EXPECT_EQ(r.inputs[0], attr({R, Shard(1)}));
  EXPECT_EQ(r.outputs[0], attr({R, Shard(1)}));
  const auto partial = spec({8, 24, 10}, {Partial(), R});
  EXPECT_EQ(FoldInferSpmd(partial, sizes).forward().outputs[0], attr({Partial(), R}));
}

TEST(InterpRule, SizesInTensorsMakeTheResultWhole) {
  const auto x = spec({8, 4, 6, 5}, {Shard(0), Shard(1)});
  const auto size = spec({2}, {R, R});
  EXPECT_EQ(InterpInferSpmd(x, nullptr, {}, nullptr, "NCHW").forward().outputs[0], x.attr);
  const auto r = InterpInferSpmd(x, &size, {}, nullptr, "NCHW").forward();
  EXPECT_EQ(r.inputs[0], attr({R, R}));
  EXPECT_EQ(r.outputs[0], attr({R, R}));
  EXPECT_EQ(InterpGradInferSpmd(x, nullptr, x, "NCHW").forward().outputs[0], x.attr);
}

TEST(GridSampleRule, PlacesSplitAndGradientsAreSumsOverThem) {
  const auto x = spec({8, 4, 6, 5}, {R, Shard(1)});
  const auto grid = spec({8, 8, 3, 2}, {Shard(1), R});
  const auto out = spec({8, 4, 8, 3}, {Shard(2), Shard(1)});
  EXPECT_EQ(GridSampleInferSpmd(x, grid).forward().outputs[0], out.attr);
  const auto r = GridSampleGradInferSpmd(x, grid, out).forward();
  EXPECT_EQ(r.outputs[0], attr({Partial(), Shard(1)}));
  EXPECT_EQ(r.outputs[1], attr({Shard(1), Partial()}));
}

TEST(AffineGridRule, OnlyImagesSplit) {
  const auto matrices = spec({8, 2, 3}, {Shard(0), Shard(1)});
  const auto r = AffineGridInferSpmd(matrices, {8, 3, 4, 5}).forward();
  EXPECT_EQ(r.inputs[0], attr({Shard(0), R}));
  EXPECT_EQ(r.outputs[0], attr({Shard(0), R}));
  const auto grid = spec({8, 4, 5, 2}, {R, Shard(0)});
  EXPECT_EQ(AffineGridGradInferSpmd(matrices, grid).forward().outputs[0], attr({Shard(0), R}));
}

TEST(DeformableConvRule, ChannelsSplitWithoutGroups) {
  const auto x = spec({8, 4, 6, 5}, {R, Shard(1)});
  const auto offset = spec({8, 18, 4, 3}, {Shard(0), R});
  const auto filter = spec({4, 4, 3, 3}, {R, R});
  const auto out = spec({8, 4, 4, 3}, {Shard(0), R});
  const auto forward = [&](int deformable_groups) {
    return DeformableConvInferSpmd(x, offset, filter, nullptr, {}, {}, {}, deformable_groups, 1, 1)
        .forward();
  };
  EXPECT_EQ(forward(1).outputs[0], attr({Shard(0), Partial()}));
  EXPECT_EQ(forward(2).outputs[0], attr({Shard(0), R}));
  const auto r = DeformableConvGradInferSpmd(x, offset, filter, nullptr, out, 1, 1).forward();
  EXPECT_EQ(r.outputs[0], attr({Shard(0), Shard(1)}));
  EXPECT_EQ(r.outputs[1], attr({Shard(0), Partial()}));
  EXPECT_EQ(r.outputs[2], attr({Partial(), Shard(1)}));
}

TEST(Conv3dTransposeRule, InputChannelsMakeThePartialSum) {
  const auto x = spec({8, 4, 3, 3, 3}, {Shard(0), Shard(1)});
  const auto filter = spec({4, 6, 2, 2, 2}, {R, R});
  const auto r = Conv3dTransposeInferSpmd(x, filter, {1, 1, 1}, {0, 0, 0}, {}, {}, "EXPLICIT", 1,
                                          {1, 1, 1}, "NCDHW")
                     .forward();
  EXPECT_EQ(r.inputs[1], attr({R, Shard(0)}));
  EXPECT_EQ(r.outputs[0], attr({Shard(0), Partial()}));
}

TEST(EinsumRule, RefusesWhatIsNoEquation) {
  const ProcessMesh mesh(std::vector<int64_t>{2});
  const auto* whole = TensorDistAttr::replicated(mesh);
  const std::vector<TensorSpec> x{{{4, 4}, whole}};
  for (const char* equation : {"ij,jk->ik", "i->i", "ij->k", "i.j->i", "ij->ii", "i1->i"}) {
    EXPECT_THROW(EinsumInferSpmd(x, equation), Error) << equation;
  }
  EXPECT_NO_THROW(EinsumInferSpmd(x, "...j -> ...").forward());
  EXPECT_EQ(EinsumInferSpmd(x, "ba").forward().outputs[0], whole);  // the letters, sorted
}

}  // namespace
}  // namespace phi::distributed
