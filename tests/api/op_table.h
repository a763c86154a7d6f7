// Tables of operators' calls that are written in YAML (tests/api/ops/*.yaml), a row each:
//
//   - {op: index_select, in: {x: "f32[5,4]", index: "i64[3] below(5)"}, attrs: {axis: 0}}
//
// generate_tensor.h describes the inputs of a row. Other keys are `name` and `tolerance`. The keys
// `partial: false`, `smooth: false` (no finite differences) and `gradients: false` require a reason
// (`why`).
#pragma once

#include <string>
#include <vector>

#include "tests/api/op_cases.h"

namespace phi::testing {

/// Two tables a file: the rows whose gradients are those of finite differences, and the others.
std::vector<OpTable> tables_of_rows();

/// A call whose outputs are written out, of tests/api/ops/answers/*.yaml:
///   - {op: squeeze, in: {x: "f32[1,2] values(3,4)"}, gives: ["f32[2] values(3,4)"]}
struct Answer {
  ParityCase test;
  TensorList gives;
};
std::vector<Answer> answers();

/// A call that is refused, of tests/api/ops/refusals/*.yaml.
struct Refusal {
  std::string where;  // FILE:LINE
  std::string op;
  std::function<void()> call;
  std::string says;  // words of the message
};
std::vector<Refusal> refusals();

}  // namespace phi::testing
