// A recorded operator call: runs it again, in one process or on a mesh, and compares the results
// with the recorded ones.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/tensor/tensor.h"
#include "phi/core/attribute_value.h"

namespace phi::testing {

struct RecordedCall {
  /// A tensor, or the elements of a list; undefined ones are absent.
  struct Argument {
    TensorList values;
    bool is_list = false;
  };
  using ByName = std::vector<std::pair<std::string, Argument>>;
  enum class Refused : uint8_t { kNo, kCall, kDtype };

  std::string op;
  ByName in;  // in the order of the operator's arguments
  std::vector<std::pair<std::string, AttributeValue>> attributes;
  ByName out;          // without outputs that were not recorded
  ByName grad_of_out;  // empty: gradients were not recorded
  ByName grad;         // of arguments; absent: the argument has no gradient
  Refused refused = Refused::kNo;
  std::optional<double> tolerance;  // relative; nullopt: the default of the dtype
};

/// Names of the tensors, attributes and outputs of an operator, or of a function made of operators.
struct CallNames {
  struct NamedAttribute {
    std::string name;
    AttributeKind kind;
  };
  std::vector<std::string> tensors;
  std::vector<NamedAttribute> attributes;
  std::vector<std::string> outputs;  // including hidden ones
  bool is_operator = true;           // false: attributes are passed unchanged
};
/// Errors: NotFound if there is no operator of this name. Functions made of operators have no
/// names.
CallNames names_of_call(std::string_view op);

/// Outputs that are determined only up to factors of their columns or rows, such as eigenvectors.
enum class Freedom : uint8_t { kNone, kColumnFactors, kRowFactors };
Freedom freedom_of(std::string_view op, std::string_view output);

/// Runs the call and compares its results with the recorded ones. Returns the difference as text,
/// or an empty string. The call runs on the rank's device (distributed::use_gpu); recorded tensors
/// are there or on the CPU.
/// Errors: Unimplemented on a GPU that lacks a kernel for the call.
std::string compare_run(const RecordedCall& call, const CallNames& names);

struct MeshChoice {
  distributed::ProcessMesh mesh;  // of ranks 0, 1, ..
  size_t placements = 4;          // number of choices, drawn with `seed`
  uint32_t seed = 20261123;
  bool on_gpus = false;  // each rank uses a GPU, with messages through the host
};
/// Like compare_run, with the call's tensors distributed over thread ranks. The tensors are on the
/// CPU. Errors: as compare_run and use_gpu.
std::string compare_distributed_run(const RecordedCall& call, const CallNames& names,
                                    const MeshChoice& choice);

/// "cumsum(x: f32[3,4], axis=1)"
std::string to_string(const RecordedCall& call);

}  // namespace phi::testing
