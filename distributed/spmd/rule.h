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
    virtual SpmdResult forward() const = 0;
    virtual SpmdResult backward(std::span<const TensorSpec> outputs) const = 0;
  };

  explicit(false) SpmdRule(const Factors& factors) : factors_(factors) {}
  explicit SpmdRule(std::shared_ptr<const Body> body) : body_(std::move(body)) {}

  /// `conflicts`, if given, is told where tensors ask for different things; bodies tell of none.
  SpmdResult forward(Conflicts* conflicts = nullptr) const {
    return body_ ? body_->forward() : factors_.forward(conflicts);
  }
  SpmdResult backward(std::span<const TensorSpec> outputs, Conflicts* conflicts = nullptr) const {
    return body_ ? body_->backward(outputs) : factors_.backward(outputs, conflicts);
  }

 private:
  Factors factors_;
  std::shared_ptr<const Body> body_;
};

}  // namespace phi::distributed
