// Calls and refusals of the records of operators (tests/ops/FAMILY/OP.yaml, docs/op_records.md):
//
//   | op: index_select
//   | calls:
//   | - {in: {x: "f32[5,4]", index: "i64[3] below(5)"}, attrs: {axis: 0}}
//   | refusals:
//   | - {in: {x: "f32[5,4]", index: "f32[3]"}, says: "index must be"}
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/api/op_cases.h"

namespace phi::testing {

/// Two tables a family: the calls whose gradients are those of finite differences, and the others.
std::vector<OpTable> tables_of_records();

/// The calls of sections `lowering`.
OpTable lowering_table();

/// The calls of families ("reduction") and of operators ("matmul/matmul").
std::vector<ParityCase> cases_of_records(const std::vector<std::string>& names);

/// A call whose outputs are written out (`gives`). It is in the tables, too.
struct Answer {
  ParityCase test;
  TensorList gives;
};
std::vector<Answer> answers();

/// A call that is refused.
struct Refusal {
  std::string where;  // FILE:LINE
  std::string op;
  std::function<void()> call;
  std::string says;  // words of the message
};
std::vector<Refusal> refusals();

/// For each record as FAMILY/OP, the reasons why it has no call and why its gradient has none;
/// empty for none.
struct RecordedReasons {
  std::string no_call;
  std::string no_gradient;
};
std::map<std::string, RecordedReasons> reasons_of_records();

}  // namespace phi::testing
