// Elementwise kernels of one and two inputs on GPUs, beside the CPU's, in every dtype that they
// take: of equal dims, and broadcast.
#include <cmath>
#include <string>

#include "phi/generated/kernels/binary.h"
#include "phi/generated/kernels/unary.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {
namespace {

/// The kernel of this name and dtype, whatever types name them.
template <typename... Args>
void run(const KernelContext& ctx, const std::string& name, DataType dtype, Args... args) {
  using Signature = KernelSignature<Args...>;
  Kernel::named(name).template select<Signature>(ctx.place().kind, dtype)(ctx, args...);
}

std::vector<DataType> dtypes_of(const std::string& kernel) {
  std::vector<DataType> dtypes;
  for (int t = 1; t < kNumDataTypes; ++t) {
    const auto dtype = static_cast<DataType>(t);
    if (Kernel::named(kernel).find(DeviceKind::GPU, dtype)) dtypes.push_back(dtype);
  }
  EXPECT_FALSE(dtypes.empty()) << kernel;
  return dtypes;
}

enum class Result { kSame, kBool, kFloat };

DataType out_of(Result result, DataType dtype) {
  if (result == Result::kBool) return DataType::BOOL;
  const bool is_whole = !is_floating(dtype) && !is_complex(dtype);
  return result == Result::kFloat && is_whole ? DataType::FLOAT32 : dtype;
}

struct Binary {
  const char* name;
  Result result = Result::kSame;
  double y_from = -2;  // the range of y
  double y_to = 2;
};

const std::vector<Binary> kBinary = {
    {"add"},
    {"subtract"},
    {"multiply"},
    {"divide", Result::kFloat, 0.5, 2},
    {"maximum"},
    {"minimum"},
    {"fmax"},
    {"fmin"},
    {"elementwise_pow", Result::kSame, 0, 3},
    {"remainder", Result::kSame, 1, 3},
    {"floor_divide", Result::kSame, 1, 3},
    {"copysign"},
    {"heaviside"},
    {"nextafter"},
    {"equal", Result::kBool},
    {"not_equal", Result::kBool},
    {"less_than", Result::kBool},
    {"less_equal", Result::kBool},
    {"greater_than", Result::kBool},
    {"greater_equal", Result::kBool},
    {"logical_and", Result::kBool},
    {"logical_or", Result::kBool},
    {"logical_xor", Result::kBool},
    {"bitwise_and"},
    {"bitwise_or"},
    {"bitwise_xor"},
};

// Whole packs of all dtypes and a rest behind them; a row for all, one for none of the packs.
const std::vector<std::pair<Dims, Dims>> kDims = {
    {{5, 7}, {5, 7}}, {{6, 16}, {16}}, {{16}, {6, 16}}, {{5, 7}, {7}}};

Dims broadcast_dims(const std::pair<Dims, Dims>& of) {
  return of.first.ndim() > of.second.ndim() ? of.first : of.second;
}

TEST(GpuElementwise, OfTwoInEveryDtype) {
  for (const Binary& op : kBinary) {
    for (const DataType dtype : dtypes_of(op.name)) {
      for (const auto& dims : kDims) {
        SCOPED_TRACE(std::string(op.name) + " of " + std::string(name_of(dtype)) + " " +
                     dims.first.to_string() + " and " + dims.second.to_string());
        expect_same_on_gpu(
            {drawn(dtype, dims.first, 1), drawn(dtype, dims.second, 2, op.y_from, op.y_to)},
            {{broadcast_dims(dims), out_of(op.result, dtype)}},
            [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
              run<const DenseTensor&, const DenseTensor&, DenseTensor*>(ctx, op.name, dtype, in[0],
                                                                        in[1], &out[0]);
            },
            4);
      }
    }
  }
}

TEST(GpuElementwise, ShiftsInEveryDtype) {
  for (const char* name : {"bitwise_left_shift", "bitwise_right_shift"}) {
    for (const DataType dtype : dtypes_of(name)) {
      for (const auto& dims : kDims) {
        for (const bool is_arithmetic : {false, true}) {
          SCOPED_TRACE(std::string(name) + " of " + std::string(name_of(dtype)));
          expect_same_on_gpu(
              {drawn(dtype, dims.first, 1, -90, 90), drawn(dtype, dims.second, 2, 0, 6)},
              {{broadcast_dims(dims), dtype}},
              [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
                run<const DenseTensor&, const DenseTensor&, bool, DenseTensor*>(
                    ctx, name, dtype, in[0], in[1], is_arithmetic, &out[0]);
              });
        }
      }
    }
  }
}

// Each gradient's input is the one that broadcasts once.
TEST(GpuElementwise, GradientsOfTwoInEveryDtype) {
  for (const char* name : {"minimum_grad", "fmax_grad", "fmin_grad", "elementwise_pow_grad",
                           "remainder_grad", "copysign_grad", "heaviside_grad"}) {
    for (const DataType dtype : dtypes_of(name)) {
      for (const auto& dims : kDims) {
        SCOPED_TRACE(std::string(name) + " of " + std::string(name_of(dtype)) + " " +
                     dims.first.to_string() + " and " + dims.second.to_string());
        const Arrays in = {drawn(dtype, dims.first, 1, 0.25, 2),
                           drawn(dtype, dims.second, 2, 0.5, 2),
                           drawn(dtype, broadcast_dims(dims), 3)};
        expect_same_on_gpu(
            in, {in[0].meta(), in[1].meta()},
            [&](const KernelContext& ctx, Arrays& x, Arrays& out) {
              run<const DenseTensor&, const DenseTensor&, const DenseTensor&, DenseTensor*,
                  DenseTensor*>(ctx, name, dtype, x[0], x[1], x[2], &out[0], &out[1]);
            },
            4);
      }
    }
  }
}

TEST(GpuElementwise, ScalesInEveryDtype) {
  for (const DataType dtype : dtypes_of("scale")) {
    for (const bool bias_after_scale : {false, true}) {
      SCOPED_TRACE(name_of(dtype));
      const DenseTensor x = drawn(dtype, {5, 7}, 1);
      expect_same_on_gpu({x}, {x.meta()}, [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
        run<const DenseTensor&, const Scalar&, const Scalar&, bool, DenseTensor*>(
            ctx, "scale", dtype, in[0], Scalar(2), Scalar(1), bias_after_scale, &out[0]);
      });
    }
  }
}

// Squares, roots, and powers that have no form of their own.
TEST(GpuElementwise, PowersInEveryDtype) {
  for (const DataType dtype : dtypes_of("pow")) {
    for (const double power : {2.0, 3.0, 0.5, 1.75}) {
      if (!is_floating(dtype) && !is_complex(dtype) && power != std::floor(power)) continue;
      SCOPED_TRACE(std::string(name_of(dtype)) + " to " + std::to_string(power));
      const DenseTensor x = drawn(dtype, {5, 7}, 1, 0.25, 3);
      expect_same_on_gpu(
          {x}, {x.meta()},
          [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
            run<const DenseTensor&, const Scalar&, DenseTensor*>(ctx, "pow", dtype, in[0],
                                                                 Scalar(power), &out[0]);
          },
          4);
      if (!Kernel::named("pow_grad").find(DeviceKind::GPU, dtype)) continue;
      expect_same_on_gpu(
          {x, drawn(dtype, {5, 7}, 2)}, {x.meta()},
          [&](const KernelContext& ctx, Arrays& in, Arrays& out) {
            run<const DenseTensor&, const DenseTensor&, const Scalar&, DenseTensor*>(
                ctx, "pow_grad", dtype, in[0], in[1], Scalar(power), &out[0]);
          },
          4);
    }
  }
}

}  // namespace
}  // namespace phi::testing
