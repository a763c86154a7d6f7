// Rotary position embedding against complex multiplication in double precision, its gradients
// against differences.

#include <complex>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/attention.h"
#include "phi/infermeta/attention.h"
#include "tests/phi/kernels/gradient_check.h"

namespace phi::testing {
namespace {

struct Rotation {
  bool adjacent = true;
  bool time_major = false;
  double base = 10000.0;
};

/// Pairs as complex numbers times exp(i angle); `position(batch, token)`.
template <typename Position>
Values oracle(const Values& x, const Dims& dims, const Rotation& r, Position position) {
  const int64_t width = dims[3];
  Values out(x.size());
  for (int64_t e = 0; e < dims.numel(0, 3); ++e) {
    const int64_t i0 = e / dims[2] / dims[1], i1 = e / dims[2] % dims[1];
    const auto p = static_cast<double>(r.time_major ? position(i1, i0) : position(i0, i1));
    for (int64_t i = 0; i < width / 2; ++i) {
      const double angle = p * std::pow(r.base, -2.0 * static_cast<double>(i) / width);
      const int64_t a = e * width + (r.adjacent ? 2 * i : i);
      const int64_t b = r.adjacent ? a + 1 : a + width / 2;
      const auto rotated = std::complex(x[a], x[b]) * std::polar(1.0, angle);
      out[a] = rotated.real();
      out[b] = rotated.imag();
    }
  }
  return out;
}

template <typename T>
class RopeKernelTest : public ::testing::Test {};
using Floats = ::testing::Types<float, double, bfloat16, float16>;
TYPED_TEST_SUITE(RopeKernelTest, Floats);

TYPED_TEST(RopeKernelTest, RotatesQKV) {
  using T = TypeParam;
  for (bool adjacent : {true, false}) {
    for (bool time_major : {false, true}) {
      const Rotation r{adjacent, time_major, 100.0};
      const Dims q_dims{3, 5, 4, 6};
      const Dims k_dims{3, 5, 2, 6};
      const Values q = random_values(q_dims.numel(), 1), k = random_values(k_dims.numel(), 2);
      const DenseTensor qt = tensor<T>(q, q_dims), kt = tensor<T>(k, k_dims);
      const auto [qm, km, vm] = FusedRopeInferMeta(qt.meta(), &kt.meta(), &kt.meta(), nullptr,
                                                   nullptr, nullptr, adjacent, time_major, 100.0f);
      DenseTensor out_q = blank_like(qm), out_k = blank_like(*km), out_v = blank_like(*vm);
      registered<kernels::fused_rotary_position_embedding, T>(
          KernelContext(), qt, &kt, &kt, nullptr, nullptr, nullptr, adjacent, time_major, 100.0f,
          &out_q, &out_k, &out_v);
      const auto token = [](int64_t, int64_t s) { return s; };
      expect_close<T>(out_q, oracle(q, q_dims, r, token), "q");
      expect_close<T>(out_k, oracle(k, k_dims, r, token), "k");
      EXPECT_EQ(to_doubles(out_v), to_doubles(out_k));
    }
  }
}

TEST(RopeKernel, PositionIdsChooseTheAngle) {
  const Dims dims{2, 3, 1, 4};
  const Values q = random_values(dims.numel(), 1);
  const Values ids = {5, 0, 900, 2, 2, 7};
  const DenseTensor qt = tensor<double>(q, dims), it = tensor<int64_t>(ids, {2, 3});
  DenseTensor out = blank<double>(dims);
  registered<kernels::fused_rotary_position_embedding, double>(
      KernelContext(), qt, nullptr, nullptr, nullptr, nullptr, &it, false, false, 10000.0f, &out,
      nullptr, nullptr);
  expect_close<double>(out, oracle(q, dims, {.adjacent = false},
                                   [&](int64_t b, int64_t s) { return ids[b * 3 + s]; }));
}

TEST(RopeKernel, PositionsThatLieOtherwiseThanTheTokensAreNamed) {
  const DenseTensor q = blank<double>({2, 3, 1, 4}), ids = blank<int64_t>({2, 2});
  DenseTensor out = blank<double>({2, 3, 1, 4});
  expect_error(ErrorCode::kPreconditionNotMet,
               "position_ids has [2,2] here and q [2,3,1,4]; shard its batch and sequence as q's",
               [&] {
                 registered<kernels::fused_rotary_position_embedding, double>(
                     KernelContext(), q, nullptr, nullptr, nullptr, nullptr, &ids, false, false,
                     10000.0f, &out, nullptr, nullptr);
               });
}

TEST(RopeKernel, TablesReplaceTheAngles) {
  const Dims dims{1, 3, 2, 4};
  const Values q = random_values(dims.numel(), 1);
  const DenseTensor qt = tensor<double>(q, dims);
  Values sines, cosines;  // quarter turns: position s turns by s * 90 degrees
  for (int64_t s = 0; s < 3; ++s) {
    sines.insert(sines.end(), 4, std::round(std::sin(s * M_PI / 2)));
    cosines.insert(cosines.end(), 4, std::round(std::cos(s * M_PI / 2)));
  }
  for (const Dims& table : {Dims{3, 4}, Dims{1, 3, 1, 4}}) {
    const DenseTensor sin = tensor<double>(sines, table), cos = tensor<double>(cosines, table);
    DenseTensor out = blank<double>(dims);
    registered<kernels::fused_rotary_position_embedding, double>(
        KernelContext(), qt, nullptr, nullptr, &sin, &cos, nullptr, true, false, 10000.0f, &out,
        nullptr, nullptr);
    const Values got = to_doubles(out);
    EXPECT_EQ(got[0], q[0]);   // position 0 stays
    EXPECT_EQ(got[8], -q[9]);  // position 1: (a, b) -> (-b, a)
    EXPECT_EQ(got[9], q[8]);
    EXPECT_EQ(got[16], -q[16]);  // position 2: half a turn
    const DenseTensor far = tensor<int32_t>({0, 1, 3}, {1, 3});
    expect_error("position 3 is requested, but sin and cos have the rows [0, 3)", [&] {
      registered<kernels::fused_rotary_position_embedding, double>(
          KernelContext(), qt, nullptr, nullptr, &sin, &cos, &far, true, false, 10000.0f, &out,
          nullptr, nullptr);
    });
  }
}

TEST(RopeKernel, PartsOfTheSequenceEqualTheWhole) {
  const Dims dims{2, 5, 2, 6};
  const Values q = random_values(dims.numel(), 1);
  const Values expected = oracle(q, dims, {}, [](int64_t, int64_t s) { return s; });
  for (const auto& [begin, end] : {std::pair{0, 3}, std::pair{3, 5}, std::pair{5, 5}}) {
    FakeView view;
    view.inputs = {part(dims, 1, begin, end)};
    const Dims local = with_extent(dims, 1, end - begin);
    const DenseTensor qt = tensor<double>(cut(q, dims, 1, begin, end), local);
    DenseTensor out = blank<double>(local);
    registered<kernels::fused_rotary_position_embedding, double>(
        KernelContext(CPUPlace(), &view), qt, nullptr, nullptr, nullptr, nullptr, nullptr, true,
        false, 10000.0f, &out, nullptr, nullptr);
    expect_close<double>(out, cut(expected, dims, 1, begin, end));
  }
}

/// q, and k where a second argument is given.
struct Rope {
  bool adjacent;
  bool time_major;
  bool tables = false;  // of angles that differ within a pair

  template <typename T>
  DenseTensor table(const Dims& q, uint32_t seed) const {
    const Dims dims{q[time_major ? 0 : 1], q[3]};
    return tensor<T>(random_values(dims.numel(), seed), dims);
  }
  template <typename T>
  DenseTensor forward(const Tensors& in) const {
    Tensors out = {blank<T>(in[0].dims()), blank<T>(in.back().dims())};
    const DenseTensor* k = in.size() == 2 ? &in[1] : nullptr;
    const DenseTensor sin = table<T>(in[0].dims(), 7), cos = table<T>(in[0].dims(), 8);
    registered<kernels::fused_rotary_position_embedding, T>(
        KernelContext(), in[0], k, nullptr, tables ? &sin : nullptr, tables ? &cos : nullptr,
        nullptr, adjacent, time_major, 50.0f, &out[0], k ? &out[1] : nullptr, nullptr);
    // The sum of both depends on both.
    if (!k) return out[0];
    for (int64_t i = 0; i < out[0].numel(); ++i) {
      out[0].mutable_data<T>()[i] =
          T(compute_t<T>(out[0].data<T>()[i]) + compute_t<T>(out[1].data<T>()[i]));
    }
    return out[0];
  }
  template <typename T>
  Tensors gradients(const Tensors& in, const DenseTensor&, const DenseTensor& out_grad) const {
    Tensors grads;
    for (const DenseTensor& x : in) grads.push_back(blank<T>(x.dims()));
    const bool k = in.size() == 2;
    const DenseTensor sin = table<T>(in[0].dims(), 7), cos = table<T>(in[0].dims(), 8);
    registered<kernels::fused_rotary_position_embedding_grad, T>(
        KernelContext(), out_grad, k ? &out_grad : nullptr, nullptr, tables ? &sin : nullptr,
        tables ? &cos : nullptr, nullptr, adjacent, time_major, 50.0f, &grads[0],
        k ? &grads[1] : nullptr, nullptr);
    return grads;
  }
};

TEST(RopeGradKernel, EqualsFiniteDifferences) {
  const Dims dims{2, 3, 2, 6};
  for (const bool adjacent : {false, true}) {
    for (const bool time_major : {false, true}) {
      check_gradients(Rope{adjacent, time_major}, {{dims}}, "q");
      check_gradients(Rope{adjacent, time_major}, {{dims}, {dims}}, "q and k");
      check_gradients(Rope{adjacent, time_major, true}, {{dims}}, "tables");
    }
  }
}

TEST(RopeGradKernel, TurnsBackAPartOfTheSequenceAndSkipsUnwantedGradients) {
  const Dims dims{1, 6, 1, 4};
  const Values x = random_values(dims.numel(), 1);
  FakeView view;
  view.inputs = {part(dims, 1, 4, 6), part(dims, 1, 4, 6)};
  const KernelContext ctx(CPUPlace(), &view);
  const DenseTensor xt = tensor<double>(cut(x, dims, 1, 4, 6), {1, 2, 1, 4});
  DenseTensor out = blank<double>(xt.dims()), back = blank<double>(xt.dims());
  registered<kernels::fused_rotary_position_embedding, double>(ctx, xt, nullptr, nullptr, nullptr,
                                                               nullptr, nullptr, true, false,
                                                               100.0f, &out, nullptr, nullptr);
  registered<kernels::fused_rotary_position_embedding_grad, double>(
      ctx, out, &out, nullptr, nullptr, nullptr, nullptr, true, false, 100.0f, nullptr, &back,
      nullptr);
  expect_close<double>(back, to_doubles(xt));
}

}  // namespace
}  // namespace phi::testing
