// SpmdRule: the answer machine that a rule function returns for the tensors it was asked about.
//
//   const SpmdRule rule = MatmulInferSpmd(x, y, false, false);
//   rule.forward();              // from the inputs: required inputs, outputs
//   rule.backward({&out, 1});    // from the outputs: the inputs that make them
//
// Pure: no ranks, no communication. Nearly always a factor declaration; a rule that does not fit
// brings a body of its own.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "distributed/spmd/factors.h"
#include "distributed/spmd/spec.h"

namespace phi::distributed {

class SpmdRule {
 public:
  class Body {
   public:
    virtual ~Body() = default;
    virtual SpmdResult forward(Strictness strictness) const = 0;
    virtual SpmdResult backward(std::span<const TensorSpec> outputs,
                                Strictness strictness) const = 0;
  };

  explicit(false) SpmdRule(const Factors& factors) : factors_(factors) {}
  explicit SpmdRule(std::shared_ptr<const Body> body) : body_(std::move(body)) {}

  SpmdResult forward(Strictness strictness = Strictness::kResolve) const {
    return body_ ? body_->forward(strictness) : factors_.forward(strictness);
  }
  SpmdResult backward(std::span<const TensorSpec> outputs,
                      Strictness strictness = Strictness::kResolve) const {
    return body_ ? body_->backward(outputs, strictness) : factors_.backward(outputs, strictness);
  }

  /// The declaration; empty for a rule with a body of its own.
  const Factors& factors() const { return factors_; }

 private:
  Factors factors_;
  std::shared_ptr<const Body> body_;
};

}  // namespace phi::distributed
