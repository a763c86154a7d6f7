// A call of an operator whose answers somebody recorded: run again, in one process or on a mesh,
// and compared.
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
  /// One tensor, or the elements of a list; undefined ones are absent.
  struct Tensors {
    TensorList values;
    bool is_list = false;
  };
  using ByName = std::vector<std::pair<std::string, Tensors>>;
  enum class Refused : uint8_t { kNo, kCall, kDtype };

  std::string op;
  ByName in;  // in the order of the operator's arguments
  std::vector<std::pair<std::string, AttributeValue>> attributes;
  ByName out;          // what was not recorded is not here
  ByName grad_of_out;  // empty: gradients were not recorded
  ByName grad;         // of arguments; absent: no gradient reaches it
  Refused refused = Refused::kNo;
  std::optional<double> tolerance;  // relative; else that of the dtype
};

/// What an operator, or a function made of operators, takes and gives, by name.
struct CallNames {
  struct Attribute {
    std::string name;
    AttributeKind kind;
  };
  std::vector<std::string> tensors;
  std::vector<Attribute> attributes;
  std::vector<std::string> outputs;  // with hidden ones
  bool is_operator = true;           // false: attributes are passed as they are given
};
/// Errors: NotFound if there is no operator of this name; functions made of operators have no
/// names.
CallNames names_of_call(std::string_view op);

/// Outputs that are right up to the factors of their columns, or rows: eigenvectors.
enum class Freedom : uint8_t { kNone, kColumnFactors, kRowFactors };
Freedom freedom_of(std::string_view op, std::string_view output);

/// Empty if the call answers as recorded, else what was expected and what came. The call
/// runs where the rank computes (distributed::use_gpu); recorded tensors lie there or on the CPU.
/// Errors: Unimplemented on a GPU that has no kernel for the call.
std::string wrong_of(const RecordedCall& call, const CallNames& names);

struct MeshChoice {
  distributed::ProcessMesh mesh;  // of ranks 0, 1, ..., all there are
  size_t placements = 4;          // drawn by `seed`
  uint32_t seed = 20261123;
  bool on_gpus = false;  // a GPU for each rank, messages through the host
};
/// The same of the call with its tensors, which lie on the CPU, distributed on thread ranks.
/// Errors: as above, and of use_gpu.
std::string wrong_of_distributed(const RecordedCall& call, const CallNames& names,
                                 const MeshChoice& choice);

/// "cumsum(x: f32[3,4], axis=1)"
std::string to_string(const RecordedCall& call);

}  // namespace phi::testing
