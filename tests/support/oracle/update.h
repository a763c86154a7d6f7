// Rates, the loss scale, and the optimizers (docs/training_step.md, "Update", "Rates", "Loss
// scale").
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "support/oracle/job.h"
#include "support/oracle/parameters.h"

namespace oracle {

/// Of step `step`, from 1.
double rate_at(const Rates& rates, int64_t step);

class LossScale {
 public:
  explicit LossScale(bool scales) : scales_(scales), value_(scales ? 65536.0 : 1.0) {}

  double value() const { return value_; }
  void count(bool applied);

 private:
  bool scales_;
  double value_;
  int64_t applied_ = 0;  // since the value changed or a step was left out
};

/// The 2-norm of all gradients together.
double gradient_norm(const Parameters& parameters);

class Optimizer {
 public:
  explicit Optimizer(const UpdateRule& rule) : rule_(rule) {}

  /// One update from the parameters' gradients, whose norm is `norm`.
  void update(Parameters* parameters, double rate, double norm);

 private:
  struct Moments {
    Matrix first;
    Matrix second;
  };
  /// What to take off a weight, before the rate.
  double direction(double w, double g, double decay, double* first, double* second) const;

  UpdateRule rule_;
  std::map<std::string, Moments> moments_;
  int64_t updates_ = 0;
};

}  // namespace oracle
