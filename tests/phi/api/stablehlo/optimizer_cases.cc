// The optimizers' updates, with and without a master copy of the weights.
#include "tests/phi/api/stablehlo/case_inputs.h"

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

std::string named(const char* op, bool with_master) {
  return std::string(op) + (with_master ? "master" : "plain");
}

CallCase sgd_case(bool with_master) {
  const State s = state_of(with_master);
  return {named("sgd_", with_master),
          "sgd_",
          {one(s.param), one(s.grad), one(s.master)},
          {{"learning_rate", double{0.1f}}, {"weight_decay", double{0.01f}}, {"grad_scale", 0.5}},
          [=] {
            State now = state_of(with_master);
            sgd_(now.param, now.grad, now.master, 0.1f, 0.01f, 0.5f);
            return TensorList{now.param, or_undefined(now.master)};
          }};
}

CallCase momentum_case(bool with_master, bool nesterov) {
  const State s = state_of(with_master);
  return {named("momentum_", with_master),
          "momentum_",
          {one(s.param), one(s.grad), one(s.first), one(s.master)},
          {{"learning_rate", double{0.1f}},
           {"mu", double{0.9f}},
           {"use_nesterov", nesterov},
           {"weight_decay", double{0.01f}},
           {"grad_scale", 0.5}},
          [=] {
            State now = state_of(with_master);
            momentum_(now.param, now.grad, now.first, now.master, 0.1f, 0.9f, nesterov, 0.01f,
                      0.5f);
            return TensorList{now.param, now.first, or_undefined(now.master)};
          }};
}

CallCase adamw_case(bool with_master) {
  const State s = state_of(with_master);
  return {named("adamw_", with_master),
          "adamw_",
          {one(s.param), one(s.grad), one(s.first), one(s.second), one(s.master)},
          {{"learning_rate", double{0.1f}},
           {"beta1", double{0.9f}},
           {"beta2", double{0.999f}},
           {"epsilon", double{1e-8f}},
           {"weight_decay", double{0.01f}},
           {"step", int64_t{3}},
           {"grad_scale", 0.5}},
          [=] {
            State now = state_of(with_master);
            adamw_(now.param, now.grad, now.first, now.second, now.master, 0.1f, 0.9f, 0.999f,
                   1e-8f, 0.01f, 3, 0.5f);
            return TensorList{now.param, now.first, now.second, or_undefined(now.master)};
          }};
}

}  // namespace

std::vector<CallCase> optimizer_cases() {
  std::vector<CallCase> all;
  for (const bool with_master : {false, true}) {
    all.push_back(sgd_case(with_master));
    all.push_back(momentum_case(with_master, /*nesterov=*/with_master));
    all.push_back(adamw_case(with_master));
  }
  // Parameters in bfloat16 agree to their last bit or two.
  for (CallCase& c : all) c.tolerance = c.name.ends_with("master") ? kBfloat16 : 1e-5;
  return all;
}

}  // namespace phi::testing
