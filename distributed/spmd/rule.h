// SpmdRule: a sharding rule for given input tensors; it infers forward and backward.
//
//   const SpmdRule rule = MatmulInferSpmd(x, y, false, false);
//   rule.forward();              // from the inputs: required inputs, outputs
//   rule.backward({&out, 1});    // from the outputs: the inputs that make them
//
// A rule is pure: it uses no ranks and no communication. Nearly every rule is a factor declaration.
// A rule that does not fit one supplies a body of its own.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "distributed/spmd/factors.h"
#include "distributed/spmd/spec.h"

namespace phi::distributed {

class SpmdRule {
 public:
  class CustomRule {
   public:
    virtual ~CustomRule() = default;
    virtual SpmdResult forward() const = 0;
    virtual SpmdResult backward(std::span<const TensorSpec> outputs) const = 0;
  };

  explicit(false) SpmdRule(const Factors& factors) : factors_(factors) {}
  explicit SpmdRule(std::shared_ptr<const CustomRule> custom) : custom_(std::move(custom)) {}

  /// Appends conflicts between tensors to `conflicts` if it is not null. A body reports none.
  SpmdResult forward(Conflicts* conflicts = nullptr) const {
    return custom_ ? custom_->forward() : factors_.forward(conflicts);
  }
  SpmdResult backward(std::span<const TensorSpec> outputs, Conflicts* conflicts = nullptr) const {
    return custom_ ? custom_->backward(outputs) : factors_.backward(outputs, conflicts);
  }

 private:
  Factors factors_;
  std::shared_ptr<const CustomRule> custom_;
};

}  // namespace phi::distributed
