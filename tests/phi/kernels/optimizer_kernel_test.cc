// Optimizer steps against double-precision formulas over several steps.

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/optimizer.h"
#include "phi/generated/kernels/updates.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

constexpr int64_t kSize = 600;  // more than one block of conversions, and no multiple of it
constexpr int kSteps = 4;

// What a step takes beside its tensors; exact in float.
struct Settings {
  float rate = 0.125f, decay = 0.25f, grad_scale = 0.5f;
  float mu = 0.875f;
  bool nesterov = false;
  float beta1 = 0.875f, beta2 = 0.96875f, epsilon = 0.0625f;
};

/// Param and states, in any of the forms that the kernels take; in the oracle plain doubles.
struct Oracle {
  Values param, velocity, moment1, moment2;
  explicit Oracle(const Values& start)
      : param(start),
        velocity(start.size(), 0.0),
        moment1(start.size(), 0.0),
        moment2(start.size(), 0.0) {}

  void sgd(const Values& grad, const Settings& s) {
    for (size_t i = 0; i < param.size(); ++i)
      param[i] -= s.rate * (grad[i] * s.grad_scale + s.decay * param[i]);
  }
  void momentum(const Values& grad, const Settings& s) {
    for (size_t i = 0; i < param.size(); ++i) {
      const double g = grad[i] * s.grad_scale + s.decay * param[i];
      velocity[i] = s.mu * velocity[i] + g;
      param[i] -= s.rate * (s.nesterov ? g + s.mu * velocity[i] : velocity[i]);
    }
  }
  void adamw(const Values& grad, const Settings& s, int step) {
    for (size_t i = 0; i < param.size(); ++i) {
      const double g = grad[i] * s.grad_scale;
      moment1[i] = s.beta1 * moment1[i] + (1 - s.beta1) * g;
      moment2[i] = s.beta2 * moment2[i] + (1 - s.beta2) * g * g;
      const double m = moment1[i] / (1 - std::pow(s.beta1, step));
      const double v = moment2[i] / (1 - std::pow(s.beta2, step));
      param[i] -= s.rate * (m / (std::sqrt(v) + s.epsilon) + s.decay * param[i]);
    }
  }
};

Values start() { return random_values(kSize, 1); }
Values grad_of_step(int step) { return random_values(kSize, 10 + static_cast<uint32_t>(step)); }

DenseTensor number(float x) { return tensor<float>({x}, {}); }
DenseTensor count(int64_t x) { return DenseTensor::from(std::span<const int64_t>(&x, 1), {}); }

/// Tensors of a T param with G gradients. Outputs are the inputs' own buffers, or other ones.
template <typename T, typename G>
struct Trained {
  using C = compute_t<T>;
  DenseTensor param = tensor<T>(start(), {kSize});
  DenseTensor velocity = tensor<C>(Values(kSize, 0.0), {kSize});
  DenseTensor moment1 = velocity.clone(), moment2 = velocity.clone();
  DenseTensor master = tensor<float>(start(), {kSize});
  bool with_master = false;
  bool inplace = true;

  const DenseTensor* master_in() const { return with_master ? &master : nullptr; }
  void step(const std::string& rule, int number, const Settings& s) {
    const DenseTensor grad = tensor<G>(grad_of_step(number), {kSize});
    const auto target = [&](const DenseTensor& x) { return inplace ? x : blank_like(x.meta()); };
    DenseTensor p = target(param), v = target(velocity), m1 = target(moment1), m2 = target(moment2),
                w = target(master);
    DenseTensor* master_out = with_master ? &w : nullptr;
    const DenseTensor rate = testing::number(s.rate);
    const DenseTensor scale = testing::number(s.grad_scale);
    if (rule == "sgd") {
      registered<kernels::scaled_sgd, T>(KernelContext(), param, grad, master_in(), rate, &scale,
                                         s.decay, &p, master_out);
    } else if (rule == "momentum") {
      registered<kernels::scaled_momentum, T>(KernelContext(), param, grad, velocity, master_in(),
                                              rate, &scale, s.mu, s.nesterov, s.decay, &p, &v,
                                              master_out);
      velocity = v;
    } else {
      registered<kernels::scaled_adamw, T>(KernelContext(), param, grad, moment1, moment2,
                                           master_in(), rate, count(number), &scale, s.beta1,
                                           s.beta2, s.epsilon, s.decay, &p, &m1, &m2, master_out);
      moment1 = m1;
      moment2 = m2;
    }
    param = p;
    if (with_master) master = w;
  }
};

void step(Oracle* oracle, const std::string& rule, int number, const Settings& s) {
  const Values grad = grad_of_step(number);
  if (rule == "sgd") oracle->sgd(grad, s);
  if (rule == "momentum") oracle->momentum(grad, s);
  if (rule == "adamw") oracle->adamw(grad, s, number);
}

const std::string kRules[] = {"sgd", "momentum", "adamw"};

template <typename T, typename G>
void check_steps(double limit) {
  for (const std::string& rule : kRules) {
    for (bool inplace : {true, false}) {
      for (bool nesterov : {true, false}) {
        const Settings settings{.nesterov = nesterov};
        Trained<T, G> trained{.inplace = inplace};
        Oracle oracle(start());
        for (int n = 1; n <= kSteps; ++n) {
          trained.step(rule, n, settings);
          step(&oracle, rule, n, settings);
        }
        expect_close(to_doubles(trained.param), oracle.param, limit, rule + " param");
        expect_close(to_doubles(trained.velocity), oracle.velocity, limit, rule + " velocity");
        expect_close(to_doubles(trained.moment1), oracle.moment1, limit, rule + " moment1");
        expect_close(to_doubles(trained.moment2), oracle.moment2, limit, rule + " moment2");
      }
    }
  }
}

TEST(OptimizerKernel, StepsEqualTheFormula) {
  check_steps<double, double>(1e-12);
  check_steps<double, float>(1e-12);  // gradients are exact in float
  check_steps<float, float>(1e-5);
  check_steps<bfloat16, bfloat16>(kSteps / 128.0);  // a rounding per step
  check_steps<bfloat16, float>(kSteps / 128.0);
  check_steps<float16, float16>(kSteps / 1024.0);
}

/// With a master copy a 16-bit param is what a float32 param would be, rounded.
template <typename T, typename G>
void check_master() {
  for (const std::string& rule : kRules) {
    for (bool inplace : {true, false}) {
      Trained<T, G> trained{.with_master = true, .inplace = inplace};
      Trained<float, float> plain;
      for (int n = 1; n <= kSteps; ++n) {
        trained.step(rule, n, {});
        plain.step(rule, n, {});
      }
      expect_close(to_doubles(trained.master), to_doubles(plain.param), 1e-6, rule);
      const Values rounded = to_doubles(tensor<T>(to_doubles(trained.master), {kSize}));
      EXPECT_EQ(to_doubles(trained.param), rounded) << rule;
    }
  }
}

TEST(OptimizerKernel, MasterParamTakesTheStepAndParamIsItRounded) {
  check_master<bfloat16, bfloat16>();
  check_master<bfloat16, float>();
  check_master<float16, float16>();
}

TEST(OptimizerKernel, OutputsElsewhereLeaveTheInputs) {
  const Trained<float, float> before;
  DenseTensor param = before.param.clone(), m1 = blank<float>({kSize}), m2 = m1.clone(),
              out = m1.clone();
  registered<kernels::scaled_adamw, float>(KernelContext(), param, before.master, before.moment1,
                                           before.moment2, nullptr, number(0.5f), count(1), nullptr,
                                           0.5f, 0.5f, 0.5f, 0.5f, &out, &m1, &m2, nullptr);
  EXPECT_EQ(to_doubles(param), to_doubles(before.param));
  EXPECT_EQ(to_doubles(before.moment1), Values(kSize, 0.0));
}

TEST(OptimizerKernel, FirstAdamwStepIsTheLearningRateAgainstTheSign) {
  DenseTensor param = tensor<double>({1, 1, 1}, {3});
  DenseTensor m1 = tensor<double>({0, 0, 0}, {3}), m2 = m1.clone();
  registered<kernels::scaled_adamw, double>(
      KernelContext(), param, tensor<double>({1e-3, -50, 0}, {3}), m1, m2, nullptr, number(0.25f),
      count(1), nullptr, 0.9f, 0.999f, 0.0f, 0.0f, &param, &m1, &m2, nullptr);
  const Values got = to_doubles(param);
  EXPECT_NEAR(got[0], 0.75, 1e-12);
  EXPECT_NEAR(got[1], 1.25, 1e-12);
  EXPECT_TRUE(std::isnan(got[2]));  // 0 / 0: epsilon is what keeps it away
}

TEST(OptimizerKernel, NoElements) {
  DenseTensor none = blank<bfloat16>({0}), state = blank<float>({0});
  registered<kernels::scaled_sgd, bfloat16>(KernelContext(), none, none, nullptr, number(1),
                                            nullptr, 1, &none, nullptr);
  registered<kernels::scaled_adamw, bfloat16>(KernelContext(), none, none, state, state, &state,
                                              number(1), count(1), nullptr, 0, 0, 1, 0, &none,
                                              &state, &state, &state);
}

TEST(OptimizerKernel, PowersOfASkippedStepKeepAllTheirDigits) {
  DenseTensor param = tensor<float>({1, 2}, {2}), m1 = tensor<float>({0, 0}, {2});
  DenseTensor m2 = m1.clone();
  const double wide = 0.9;  // no float
  DenseTensor power1 = tensor<double>({wide}, {1}), power2 = power1.clone();
  for (const bool skips : {true, false}) {
    const DenseTensor skip = DenseTensor::from(std::span<const bool>(&skips, 1), {1});
    registered<kernels::adam, float>(KernelContext(), param, m1.clone(), number(0.5f), m1, m2,
                                     nullptr, power1, power2, nullptr, &skip, Scalar(0.5),
                                     Scalar(0.25), Scalar(1e-8), false, 1000, false, false, false,
                                     &param, &m1, &m2, nullptr, &power1, &power2, nullptr);
    EXPECT_EQ(to_doubles(power1)[0], skips ? wide : static_cast<double>(0.9f * 0.5f));
    EXPECT_EQ(to_doubles(power2)[0], skips ? wide : static_cast<double>(0.9f * 0.25f));
  }
}

TEST(OptimizerKernel, AGradScaleThatIsNotFiniteLeavesAllAsItIs) {
  for (const float bad : {std::nanf(""), INFINITY}) {
    const DenseTensor scale = number(bad);
    Trained<float, float> trained;
    const Values before = to_doubles(trained.param);
    const DenseTensor grad = tensor<float>(grad_of_step(1), {kSize});
    DenseTensor elsewhere = blank<float>({kSize});
    registered<kernels::scaled_sgd, float>(KernelContext(), trained.param, grad, nullptr, number(1),
                                           &scale, 1, &elsewhere, nullptr);
    EXPECT_EQ(to_doubles(elsewhere), before);
    registered<kernels::scaled_momentum, float>(
        KernelContext(), trained.param, grad, trained.velocity, nullptr, number(1), &scale, 1,
        false, 1, &trained.param, &trained.velocity, nullptr);
    registered<kernels::scaled_adamw, float>(
        KernelContext(), trained.param, grad, trained.moment1, trained.moment2, nullptr, number(1),
        count(1), &scale, 0, 0, 1, 1, &trained.param, &trained.moment1, &trained.moment2, nullptr);
    EXPECT_EQ(to_doubles(trained.param), before);
    EXPECT_EQ(to_doubles(trained.velocity), Values(kSize, 0.0));
    EXPECT_EQ(to_doubles(trained.moment2), Values(kSize, 0.0));
  }
}

TEST(OptimizerKernel, NumbersThatDoNotFitAreNamed) {
  DenseTensor x = blank<float>({1});
  expect_error("step is 0, but steps count from 1", [&] {
    registered<kernels::scaled_adamw, float>(KernelContext(), x, x, x, x, nullptr, number(1),
                                             count(0), nullptr, 0.5f, 0.5f, 1, 0, &x, &x, &x,
                                             nullptr);
  });
  expect_error("learning_rate is i64[], but it must be one number of float32", [&] {
    registered<kernels::scaled_sgd, float>(KernelContext(), x, x, nullptr, count(1), nullptr, 0, &x,
                                           nullptr);
  });
}

// The formulas with each rare gradient, in the arithmetic of T's states: what overflows in float
// overflows here, a NaN gradient makes its own weight and states NaN and no other, and a second
// moment of 0 divides by epsilon alone.
template <typename T>
void check_rare_gradients() {
  using C = compute_t<T>;
  const Values rare = rare_floats<T>();
  for (const int64_t n : extents_around(256)) {
    Values grads(n, 0.0);
    for (int64_t i = 0; i < n; i += 2) grads[i] = rare[i / 2 % rare.size()];
    const Dims dims{n};
    const DenseTensor grad = tensor<T>(grads, dims), param = tensor<T>(Values(n, 1.0), dims),
                      zero = tensor<C>(Values(n, 0.0), dims);
    DenseTensor sgd = blank<T>(dims), momentum = blank<T>(dims), adamw = blank<T>(dims),
                velocity = blank<C>(dims), m = blank<C>(dims), v = blank<C>(dims);
    registered<kernels::scaled_sgd, T>(KernelContext(), param, grad, nullptr, number(0.125f),
                                       nullptr, 0, &sgd, nullptr);
    registered<kernels::scaled_momentum, T>(KernelContext(), param, grad, zero, nullptr,
                                            number(0.125f), nullptr, 0.5f, false, 0, &momentum,
                                            &velocity, nullptr);
    registered<kernels::scaled_adamw, T>(KernelContext(), param, grad, zero, zero, nullptr,
                                         number(0.125f), count(1), nullptr, 0.5f, 0.75f, 0.0625f,
                                         0.5f, &adamw, &m, &v, nullptr);
    const Values got[] = {to_doubles(sgd),   to_doubles(momentum), to_doubles(velocity),
                          to_doubles(adamw), to_doubles(m),        to_doubles(v)};
    for (int64_t i = 0; i < n; ++i) {
      const C g = static_cast<C>(grads[i]);
      const C stepped = C(1) - C(0.125) * g;
      const C first = C(0.5) * g;
      const C second = C(0.25) * g * g;
      const C adam = C(1) - C(0.125) * C(0.5) -
                     C(0.125) * (first / C(0.5)) / (std::sqrt(second) * C(2) + C(0.0625));
      const double expected[] = {stepped, stepped, g, adam, first, second};
      for (int k = 0; k < 6; ++k) {
        const bool state = k == 2 || k >= 4;
        const std::string what = "result " + std::to_string(k) + " of " + std::to_string(g);
        if (state) {
          expect_steps<C>(got[k][i], expected[k], 4, what);
        } else {
          expect_steps<T>(got[k][i], expected[k], 4, what);
        }
      }
    }
  }
}

TEST(OptimizerKernel, RareGradientsAndExtents) {
  check_rare_gradients<float>();
  check_rare_gradients<double>();
  check_rare_gradients<bfloat16>();
  check_rare_gradients<float16>();
}

}  // namespace
}  // namespace phi::testing
