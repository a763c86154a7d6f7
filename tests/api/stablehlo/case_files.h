// Cases for tests/support/compare_stablehlo.py: a module, the arrays that go in and those that must
// come out, as files that Python reads.
#pragma once

#include <filesystem>
#include <string>

#include "api/tensor/tensor.h"

namespace phi::testing {

struct StablehloCase {
  std::string name;
  std::string module;
  TensorList inputs;        // plain
  TensorList expected;      // plain
  double tolerance = 1e-5;  // relative to the largest magnitude of the output
};

/// Writes FOLDER/NAME/: module.mlir, arg0.npy ..., out0.npy ..., tolerance.txt.
void write_case(const std::filesystem::path& folder, const StablehloCase& c);

}  // namespace phi::testing
