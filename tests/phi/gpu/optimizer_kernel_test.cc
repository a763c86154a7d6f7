// Optimizers' steps and the scale of losses on GPUs, beside the CPU's.
#include "phi/generated/kernels/loss_scaling.h"
#include "phi/generated/kernels/optimizer.h"
#include "phi/generated/kernels/updates.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::testing {
namespace {

const Dims kDims{3, 101};

/// A param, its gradient (float32 where `wide`), a master (undefined where there is none) and
/// states of the computing type, all positive.
template <typename T>
Arrays trained(bool wide, bool has_master, int states) {
  using C = compute_t<T>;
  Arrays arrays = {drawn(dtype_of<T>(), kDims, 1),
                   drawn(wide ? DataType::FLOAT32 : dtype_of<T>(), kDims, 2)};
  arrays.push_back(has_master ? drawn(DataType::FLOAT32, kDims, 3) : DenseTensor());
  for (int k = 0; k < states; ++k) {
    arrays.push_back(drawn(dtype_of<C>(), kDims, 4 + static_cast<uint32_t>(k), 0.25, 2));
  }
  return arrays;
}

DenseTensor number(DataType dtype, double value) {
  return visit_dtype(dtype, [&]<typename T>() { return tensor<T>({value}, {1}); });
}

/// Calls body.operator()<T>(wide gradient, with a master) for each dtype of a param.
template <typename Body>
void for_each_param(Body body) {
  for_each_type(Floats(), [&]<typename T>() {
    for (const bool wide : {false, true}) {
      for (const bool has_master : {false, kIs16Bit<T>}) {
        SCOPED_TRACE(std::string(name_of(dtype_of<T>())) + (wide ? ", wide gradient" : "") +
                     (has_master ? ", master" : ""));
        body.template operator()<T>(wide, has_master);
      }
    }
  });
}

DenseTensor* given(DenseTensor& x) { return x.defined() ? &x : nullptr; }

TEST(GpuOptimizer, AdamwInPlaceWithAndWithoutSkip) {
  for_each_param([]<typename T>(bool wide, bool has_master) {
    for (const bool amsgrad : {false, true}) {
      for (const bool skips : {false, true}) {
        Arrays in = trained<T>(wide, has_master, 3);
        in.push_back(number(DataType::FLOAT32, 0.01));
        in.push_back(number(dtype_of<compute_t<T>>(), 0.9));
        in.push_back(number(dtype_of<compute_t<T>>(), 0.99));
        in.push_back(number(DataType::BOOL, skips));
        expect_same_on_gpu(in, {}, [=](const KernelContext& ctx, Arrays& x, Arrays&) {
          registered<kernels::adamw, T>(ctx, x[0], x[1], x[6], x[3], x[4], &x[5], x[7], x[8],
                                        given(x[2]), &x[9], Scalar(0.9), Scalar(0.99), Scalar(1e-6),
                                        1.0f, 0.1f, true, false, int64_t{0}, false, false, amsgrad,
                                        &x[0], &x[3], &x[4], &x[5], &x[7], &x[8], given(x[2]));
        });
      }
    }
  });
}

TEST(GpuOptimizer, StepsOfTheTrainer) {
  for_each_param([]<typename T>(bool wide, bool has_master) {
    for (const double scale : {0.5, std::numeric_limits<double>::infinity()}) {
      Arrays in = trained<T>(wide, has_master, 2);
      in.push_back(number(DataType::FLOAT32, 0.01));
      in.push_back(number(DataType::INT64, 3));
      in.push_back(tensor<float>({scale}, {1}));
      expect_same_on_gpu(in, {}, [=](const KernelContext& ctx, Arrays& x, Arrays&) {
        registered<kernels::scaled_adamw, T>(ctx, x[0], x[1], x[3], x[4], given(x[2]), x[5], x[6],
                                             &x[7], 0.9f, 0.95f, 1e-6f, 0.1f, &x[0], &x[3], &x[4],
                                             given(x[2]));
      });
      expect_same_on_gpu(in, {}, [=](const KernelContext& ctx, Arrays& x, Arrays&) {
        registered<kernels::scaled_sgd, T>(ctx, x[0], x[1], given(x[2]), x[5], &x[7], 0.1f, &x[0],
                                           given(x[2]));
      });
      expect_same_on_gpu(in, {}, [=](const KernelContext& ctx, Arrays& x, Arrays&) {
        registered<kernels::scaled_momentum, T>(ctx, x[0], x[1], x[3], given(x[2]), x[5], nullptr,
                                                0.9f, true, 0.1f, &x[0], &x[3], given(x[2]));
      });
    }
  });
}

TEST(GpuOptimizer, SgdAndMomentum) {
  for_each_param([]<typename T>(bool wide, bool has_master) {
    Arrays in = trained<T>(wide, has_master, 2);
    in.push_back(number(DataType::FLOAT32, 0.01));
    in.push_back(number(DataType::FLOAT32, 4));
    expect_same_on_gpu(in, {}, [=](const KernelContext& ctx, Arrays& x, Arrays&) {
      registered<kernels::sgd, T>(ctx, x[0], x[5], x[1], given(x[2]), &x[0], given(x[2]));
      registered<kernels::momentum, T>(ctx, x[0], x[1], x[3], x[5], given(x[2]), 0.9f, true,
                                       std::string("l2_decay"), 0.1f, 0.5f, &x[0], &x[3],
                                       given(x[2]));
      registered<kernels::asgd, T>(ctx, x[0], x[1], x[5], x[3], x[4], x[6], given(x[2]), &x[0],
                                   &x[3], &x[4], given(x[2]));
    });
  });
}

TEST(GpuOptimizer, LambTakesAsLongAStepAsTheParam) {
  for_each_param([]<typename T>(bool wide, bool has_master) {
    for (const bool skips : {false, true}) {
      for (const float decay : {0.0f, 0.1f}) {
        Arrays in = trained<T>(wide, has_master, 2);
        in.push_back(number(DataType::FLOAT32, 0.01));
        in.push_back(number(dtype_of<compute_t<T>>(), 0.9));
        in.push_back(number(dtype_of<compute_t<T>>(), 0.99));
        in.push_back(number(DataType::BOOL, skips));
        expect_same_on_gpu(
            in, {},
            [=](const KernelContext& ctx, Arrays& x, Arrays&) {
              registered<kernels::lamb, T>(ctx, x[0], x[1], x[5], x[3], x[4], x[6], x[7],
                                           given(x[2]), &x[8], decay, 0.9f, 0.99f, 1e-6f, false,
                                           &x[0], &x[3], &x[4], &x[6], &x[7], given(x[2]));
            },
            4);
      }
    }
  });
}

TEST(GpuOptimizer, AdaptiveSteps) {
  for_each_param([]<typename T>(bool wide, bool has_master) {
    Arrays in = trained<T>(wide, has_master, 3);
    in.push_back(number(DataType::FLOAT32, 0.01));
    for (int k = 0; k < 3; ++k) in.push_back(number(dtype_of<compute_t<T>>(), 0.75));
    const auto same = [&](const KernelCall& call) { expect_same_on_gpu(in, {}, call, 4); };
    same([=](const KernelContext& ctx, Arrays& x, Arrays&) {
      registered<kernels::adagrad, T>(ctx, x[0], x[1], x[3], x[6], given(x[2]), 1e-6f, &x[0], &x[3],
                                      given(x[2]));
    });
    same([=](const KernelContext& ctx, Arrays& x, Arrays&) {
      registered<kernels::adadelta, T>(ctx, x[0], x[1], x[3], x[4], x[6], given(x[2]), 0.9f, 1e-6f,
                                       &x[0], &x[3], &x[4], given(x[2]));
    });
    same([=](const KernelContext& ctx, Arrays& x, Arrays&) {
      registered<kernels::adamax, T>(ctx, x[0], x[1], x[6], x[3], x[4], x[7], given(x[2]), 0.9f,
                                     0.99f, 1e-6f, &x[0], &x[3], &x[4], given(x[2]));
    });
    same([=](const KernelContext& ctx, Arrays& x, Arrays&) {
      registered<kernels::nadam, T>(ctx, x[0], x[1], x[6], x[7], x[8], x[9], x[3], x[4],
                                    given(x[2]), 0.9f, 0.99f, 1e-6f, 0.004f, &x[0], &x[7], &x[8],
                                    &x[9], &x[3], &x[4], given(x[2]));
    });
    same([=](const KernelContext& ctx, Arrays& x, Arrays&) {
      registered<kernels::radam, T>(ctx, x[0], x[1], x[6], x[7], x[8], x[9], x[3], x[4],
                                    given(x[2]), 0.9f, 0.99f, 1e-6f, &x[0], &x[7], &x[8], &x[9],
                                    &x[3], &x[4], given(x[2]));
    });
    for (const float power : {-0.5f, -0.7f}) {
      same([=](const KernelContext& ctx, Arrays& x, Arrays&) {
        registered<kernels::ftrl, T>(ctx, x[0], x[3], x[4], x[1], x[6], 0.1f, 0.2f, power, &x[0],
                                     &x[3], &x[4]);
      });
    }
  });
}

TEST(GpuOptimizer, StepsWithSettingsInArrays) {
  for_each_param([]<typename T>(bool wide, bool has_master) {
    using C = compute_t<T>;
    Arrays in = trained<T>(wide, has_master, 3);
    in.push_back(number(DataType::FLOAT32, 0.01));
    in.push_back(tensor<C>({0.25, 1}, {2}));
    in.push_back(tensor<C>({0.5, 1.25}, {2}));
    for (const bool centered : {false, true}) {
      expect_same_on_gpu(
          in, {},
          [=](const KernelContext& ctx, Arrays& x, Arrays&) {
            registered<kernels::rmsprop, T>(ctx, x[0], x[3], x[1], x[4], x[6], &x[5], given(x[2]),
                                            4.0f, 0.9f, 0.5f, centered, &x[0], &x[4], &x[3], &x[5],
                                            given(x[2]));
          },
          4);
    }
    expect_same_on_gpu(in, {}, [=](const KernelContext& ctx, Arrays& x, Arrays&) {
      registered<kernels::rprop, T>(ctx, x[0], x[1], x[3], x[4], given(x[2]), x[7], x[8], &x[0],
                                    &x[3], &x[4], given(x[2]));
    });
  });
}

TEST(GpuOptimizer, ListsOfParams) {
  for_each_type(Floats(), []<typename T>() {
    Arrays in = trained<T>(false, false, 2);
    in.push_back(number(DataType::FLOAT32, 0.01));
    in.push_back(number(dtype_of<compute_t<T>>(), 0.9));
    in.push_back(number(dtype_of<compute_t<T>>(), 0.99));
    expect_same_on_gpu(in, {}, [](const KernelContext& ctx, Arrays& x, Arrays&) {
      const auto list = [&](size_t i) { return std::vector<const DenseTensor*>{&x[i]}; };
      const auto outs = [&](size_t i) { return std::vector<DenseTensor*>{&x[i]}; };
      const std::vector<const DenseTensor*> none;
      const std::vector<DenseTensor*> no_outs;
      registered<kernels::merged_adam, T>(ctx, list(0), list(1), list(5), list(3), list(4), none,
                                          list(6), list(7), none, Scalar(0.9), Scalar(0.99),
                                          Scalar(1e-6), false, false, outs(0), outs(3), outs(4),
                                          no_outs, outs(6), outs(7), no_outs);
      registered<kernels::merged_momentum, T>(ctx, list(0), list(1), list(3), list(5), none, 0.9f,
                                              false, std::vector<std::string>{"l2_decay"},
                                              std::vector<float>{0.1f}, 1.0f, outs(0), outs(3),
                                              no_outs);
    });
  });
}

TEST(GpuLossScaling, FromTheFirstThatIsNotFiniteGradientsAreCleared) {
  for_each_type(Floats(), []<typename T>() {
    for (const bool breaks : {false, true}) {
      Arrays in = {drawn(dtype_of<T>(), {1000}, 1), drawn(dtype_of<T>(), {7, 100}, 2),
                   drawn(dtype_of<T>(), {}, 3), number(DataType::FLOAT32, 8)};
      if (breaks) in[1].template mutable_data<T>()[699] = T(std::numeric_limits<float>::infinity());
      const std::vector<TensorMeta> outputs = {
          in[0].meta(), in[1].meta(), in[2].meta(), {{1}, DataType::BOOL}};
      expect_same_on_gpu(in, outputs, [](const KernelContext& ctx, Arrays& x, Arrays& out) {
        const std::array<const DenseTensor*, 3> from = {&x[0], &x[1], &x[2]};
        const std::array<DenseTensor*, 3> to = {&out[0], &out[1], &out[2]};
        registered<kernels::check_finite_and_unscale, T>(ctx, from, x[3], to, &out[3]);
      });
    }
  });
}

TEST(GpuLossScaling, TheScaleFollows) {
  for (const bool found : {false, true}) {
    for (const double scale : {1.5, 1024.0, 3e38}) {
      Arrays in = {drawn(DataType::FLOAT16, {300}, 1), number(DataType::BOOL, found),
                   tensor<float>({scale}, {1}), number(DataType::INT32, 1),
                   number(DataType::INT32, 1)};
      expect_same_on_gpu(in, {}, [](const KernelContext& ctx, Arrays& x, Arrays&) {
        const std::array<const DenseTensor*, 1> from = {&x[0]};
        const std::array<DenseTensor*, 1> to = {&x[0]};
        registered<kernels::update_loss_scaling, float16>(ctx, from, x[1], x[2], x[3], x[4], 2, 2,
                                                          2.0f, 0.5f, Scalar(false), to, &x[2],
                                                          &x[3], &x[4]);
      });
    }
  }
}

}  // namespace
}  // namespace phi::testing
