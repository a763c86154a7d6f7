// Rule cases: the contents of case files, and the comparison of a rule's result with the expected
// one.
//
// tests/distributed/spmd/cases/README.md describes the files.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/spmd/reference.h"

namespace phi::spmd_tool {

/// A tensor as written in files: sharding by tensor dim.
struct TensorText {
  std::vector<int64_t> shape;
  distributed::DimsMapping dims_mapping;
  std::vector<int> partial;
  // One for each of `partial`; empty: unspecified.
  std::vector<distributed::ReduceKind> partial_kinds;
};

/// One argument: one tensor or a list of them.
struct ArgumentText {
  std::vector<TensorText> tensors;
  bool is_list = false;
};

struct CaseCall {
  std::vector<int64_t> mesh;
  std::vector<ArgumentText> inputs;
  std::vector<ArgumentText> outputs;                          // backward only
  std::vector<std::pair<std::string, AttributeValue>> attrs;  // under the recorded names
  Direction direction = Direction::kForward;
};

struct ExpectedResult {
  std::vector<TensorText> inputs;  // lists flattened; without shapes
  std::vector<TensorText> outputs;
};

struct Case {
  int number = 0;  // in its file, from 1
  int line = 0;
  CaseCall call;
  std::optional<ExpectedResult> expected;  // nullopt: the rule must refuse
  bool differs = false;                    // a known difference, with its reason in the record
  bool suspect = false;
  bool uneven = false;
};

struct CaseFile {
  std::string path;
  std::string rule;
  std::vector<Case> cases;
};

/// Whether the rule also receives the outputs in the forward direction, as its last argument. Rules
/// for any op do.
bool takes_outputs(const OpRule& rule, size_t num_inputs);

/// A file names a rule that does not exist.
struct UnknownRule : Error {
  using Error::Error;
};

/// The cases of a case file, or of each rule of a record (tools/op_record/op_record.h).
/// Errors: phi::Error naming file, line and key, also for unknown keys; UnknownRule.
std::vector<CaseFile> load_cases(const std::string& path);

/// The result of the reference, as far as our rules and its policies reproduce it.
/// Errors: for questions that it refuses, and for invalid tensors.
distributed::SpmdResult infer(const Reference& reference, const CaseCall& call);

struct CaseResult {
  bool agrees = false;
  std::string actual;  // the result, or the refusal
};
CaseResult run_case(const Reference& reference, const Case& c);

/// The attr of such a tensor on `mesh`. Errors: InvalidArgument if it does not fit.
const distributed::TensorDistAttr* attr_of(const TensorText& text,
                                           const distributed::ProcessMesh& mesh);

/// "matmul --mesh=2x3 --in='64x32[1,_]' --in='32x48[_,0]' --attr transpose_x=false"
std::string to_text(const Reference& reference, const CaseCall& call);
std::string to_text(const ExpectedResult& expected);
/// "64x32[1,_,p0]"; without shape "[1,_,p0]"; partial with another reduction than sum
/// "[1,_,p0:avg]".
std::string to_text(const TensorText& tensor);
/// The text of an inferred attr of a tensor of `ndim` dims.
std::string to_text(const distributed::TensorDistAttr* attr, int ndim);

/// Checks a number for an argument that accepts any number but is converted to int64, such as an
/// axis.
/// Errors: InvalidArgument if int64 has no such value.
double checked_number(double value, const std::string& where);

}  // namespace phi::spmd_tool
