// The parameters of a model by name, with their gradients, and their documented initial values
// (docs/running.md, "The job file"; docs/models.md, "Initial parameters").
#pragma once

#include <map>
#include <string>

#include "support/oracle/job.h"
#include "support/oracle/tape.h"

namespace oracle {

struct Parameter : Variable {
  bool is_matrix;  // else one row stands for a vector

  Parameter(Matrix value, bool matrix) : Variable(std::move(value)), is_matrix(matrix) {}
};

using Parameters = std::map<std::string, Parameter>;

Parameters initial_parameters(const ModelShape& model);

}  // namespace oracle
