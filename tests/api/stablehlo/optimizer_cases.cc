// The optimizers' updates, with and without a master copy of the weights.
#include <limits>

#include "tests/api/stablehlo/case_inputs.h"

namespace phi::testing {
namespace {

const Dims kShape{8, 6};

/// What an update reads: copies for each run, since updates write inplace.
struct State {
  Tensor param, grad, first, second;
  OptionalTensor master;
};

State state_of(bool with_master) {
  const DataType dtype = with_master ? DataType::BFLOAT16 : DataType::FLOAT32;
  const Tensor weights = normal(kShape);
  return {cast(weights, dtype), normal(kShape, 7, dtype), normal(kShape, 8), positive(kShape, 9),
          with_master ? OptionalTensor(assign(weights)) : std::nullopt};
}

Tensor or_undefined(const OptionalTensor& x) { return x ? *x : Tensor(); }

/// How an update is called.
struct Variant {
  const char* suffix;
  bool with_master;
  OptionalTensor grad_scale;
};

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all = {
      {"plain", false, std::nullopt},
      {"scaled", false, full({}, 0.5f)},
      {"skipped", false, full({}, std::numeric_limits<float>::infinity())},
      {"master", true, full({1}, 0.5f)},
      {"master_skipped", true, full({}, std::numeric_limits<float>::quiet_NaN())},
  };
  return all;
}

Tensor rate() { return full({}, 0.1f); }

CallCase sgd_case(const Variant& v) {
  const State s = state_of(v.with_master);
  return {std::string("scaled_sgd_") + v.suffix,
          "scaled_sgd_",
          {one(s.param), one(s.grad), one(s.master), one(rate()), one(v.grad_scale)},
          {{"weight_decay", double{0.01f}}},
          [=] {
            State now = state_of(v.with_master);
            scaled_sgd_(now.param, now.grad, now.master, rate(), v.grad_scale, 0.01f);
            return TensorList{now.param, or_undefined(now.master)};
          }};
}

CallCase momentum_case(const Variant& v) {
  const State s = state_of(v.with_master);
  const bool nesterov = v.with_master;
  return {std::string("scaled_momentum_") + v.suffix,
          "scaled_momentum_",
          {one(s.param), one(s.grad), one(s.first), one(s.master), one(rate()), one(v.grad_scale)},
          {{"mu", double{0.9f}}, {"use_nesterov", nesterov}, {"weight_decay", double{0.01f}}},
          [=] {
            State now = state_of(v.with_master);
            scaled_momentum_(now.param, now.grad, now.first, now.master, rate(), v.grad_scale, 0.9f,
                             nesterov, 0.01f);
            return TensorList{now.param, now.first, or_undefined(now.master)};
          }};
}

CallCase adamw_case(const Variant& v) {
  const State s = state_of(v.with_master);
  const Tensor step = full({}, 3, DataType::INT64);
  return {std::string("scaled_adamw_") + v.suffix,
          "scaled_adamw_",
          {one(s.param), one(s.grad), one(s.first), one(s.second), one(s.master), one(rate()),
           one(step), one(v.grad_scale)},
          {{"beta1", double{0.9f}},
           {"beta2", double{0.999f}},
           {"epsilon", double{1e-8f}},
           {"weight_decay", double{0.01f}}},
          [=] {
            State now = state_of(v.with_master);
            scaled_adamw_(now.param, now.grad, now.first, now.second, now.master, rate(), step,
                          v.grad_scale, 0.9f, 0.999f, 1e-8f, 0.01f);
            return TensorList{now.param, now.first, now.second, or_undefined(now.master)};
          }};
}

}  // namespace

std::vector<CallCase> optimizer_cases() {
  std::vector<CallCase> all;
  for (const Variant& v : variants()) {
    for (CallCase c : {sgd_case(v), momentum_case(v), adamw_case(v)}) {
      // Parameters in bfloat16 agree to their last bit or two.
      if (v.with_master) c.tolerance = kBfloat16;
      all.push_back(std::move(c));
    }
  }
  return all;
}

}  // namespace phi::testing
