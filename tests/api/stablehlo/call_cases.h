// Calls of single operators as programs, with what our own execution makes of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/capture/ir.h"
#include "api/tensor/tensor.h"

namespace phi::testing {

struct CallCase {
  std::string name;
  const char* op;
  /// The tensors of each argument of the operator; an absent optional one is nullopt.
  std::vector<std::vector<OptionalTensor>> inputs;
  std::vector<ir::Attribute> attributes;
  /// Our own execution: the operator's outputs by slot, undefined where they are absent.
  std::function<TensorList()> run;
  double tolerance = 1e-5;
  /// The kernel takes every input whole, wherever it lies.
  bool takes_whole = false;
};

std::vector<CallCase> elementwise_cases();
std::vector<CallCase> reduction_and_product_cases();
std::vector<CallCase> layer_cases();
std::vector<CallCase> shape_and_random_cases();
std::vector<CallCase> optimizer_cases();

/// A program of the one call on mesh(dp=2,pp=2,tp=2), its inputs and outputs under placements that
/// follow from the name.
struct CallProgram {
  ir::Body body;
  TensorList inputs;
  TensorList expected;
};
CallProgram program_of(const CallCase& c);

}  // namespace phi::testing
