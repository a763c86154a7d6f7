// Distributed = single process: runs a call on plain tensors and on sharded ones and compares.
#pragma once

#include <gflags/gflags_declare.h>

#include <string>
#include <vector>

#include "api/testing/gradients.h"
#include "api/testing/placement_choices.h"
#include "distributed/api.h"
#include "phi/core/rank_context.h"

/// The device of each rank: "cpu" (default), "guarded" (its memory is not accessible to the host;
/// see support/guarded_device.h), or "gpu". Expected values are computed on the CPU.
DECLARE_string(place);

namespace phi::testing {

struct ParityCase {
  std::string name;
  std::vector<Tensor> inputs;  // plain
  TensorFunction call;
  double tolerance = 1e-5;  // relative to the largest magnitude of the output
  bool partial = true;      // inputs may be partial sums too
  bool gradients = true;    // false: none are checked, though the call may have some
};

using Choice = PlacementChoice;

/// On each of `world` thread ranks: shard the inputs as each choice says, call, gather, compare.
void expect_parity(const ParityCase& test, const distributed::ProcessMesh& mesh, int world,
                   const std::vector<Choice>& choices);

/// Whether there are kernels for the call where ranks compute: GPUs lack those of some operators
/// (autophi op --document).
bool has_kernels_here(const ParityCase& test);

/// The same call on plain tensors of the place that --place says (below), against one on the CPU.
void expect_same_on_device(const ParityCase& test);

/// The same with arguments of each other dtype that the CPU takes and the device has kernels for,
/// in the place of the usual one: that of the first argument that has fractions, or of the first.
void expect_same_in_every_dtype(const ParityCase& test);

/// Whether the whole values agree; dtype, shape and elements, NaN with NaN.
void expect_same_values(const Tensor& actual, const Tensor& expected, double tolerance);

}  // namespace phi::testing
