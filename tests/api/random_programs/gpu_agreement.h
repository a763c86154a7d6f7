// Whether a case whose ranks compute on GPUs agrees with the same on the CPU: plain, and on meshes;
// called, captured, and captured within limits of memory.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "agreement.h"
#include "distributed/api.h"
#include "phi/core/op_def.h"

namespace phi::testing::programs {

struct OnGpus {
  int gpus = 6;  // that ranks share
  distributed::World::Milliseconds deadline = distributed::World::kDefaultDeadline;
  distributed::GpuMessages messages = distributed::GpuMessages::kNccl;
};

/// What the operator takes in this dtype on the CPU it takes on GPUs, too.
bool has_gpu_kernels(const OpDef& op, DataType dtype);

/// Operators that the case launches, plain or on its meshes, and that lack kernels for GPUs
/// (autophi op --document). Errors: what the function throws on the CPU.
std::set<std::string> operators_without_gpu_kernels(const Case& test, const OnGpus& where);

/// The first way that disagrees with the same on the CPU.
std::optional<Failure> disagreement_on_gpus(const Case& test, const OnGpus& where);

/// For a test that was printed: an assertion that there is none.
void expect_agreement_on_gpus(const Case& test);

}  // namespace phi::testing::programs
