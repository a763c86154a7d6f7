// A question to a rule and the answer to expect: the model of the case files, and the judge.
//
// Files are described in tests/distributed/spmd/cases/README.md.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/spmd/reference.h"

namespace phi::spmd_tool {

/// A tensor as files give it: sharding by tensor dim.
struct TensorText {
  std::vector<int64_t> shape;
  distributed::DimsMapping dims_mapping;
  std::vector<int> partial;
  std::vector<distributed::ReduceKind> partial_kinds;  // one for each of `partial`; none: not said
};

/// One argument: one tensor or a list of them.
struct ArgumentText {
  std::vector<TensorText> tensors;
  bool is_list = false;
};

struct Question {
  std::vector<int64_t> mesh;
  std::vector<ArgumentText> inputs;
  std::vector<ArgumentText> outputs;                          // backward only
  std::vector<std::pair<std::string, AttributeValue>> attrs;  // by the recorded names
  Direction direction = Direction::kForward;
};

struct Expected {
  std::vector<TensorText> inputs;  // flat; shapes are not given
  std::vector<TensorText> outputs;
};

struct Case {
  int number = 0;  // in its file, from 1
  int line = 0;
  Question question;
  std::optional<Expected> expected;  // none: the rule has to refuse
  bool suspect = false;
  bool uneven = false;
};

struct CaseFile {
  std::string path;
  std::string rule;
  std::vector<Case> cases;
};

/// Whether the rule, asked from its inputs, is shown the outputs too: rules for any op take them as
/// their last argument.
bool takes_outputs(const OpRule& rule, size_t num_inputs);

/// Of a file that asks a rule that does not exist.
struct UnknownRule : Error {
  using Error::Error;
};

/// Errors: phi::Error naming file, line and key, also one that nothing reads; UnknownRule.
CaseFile load_cases(const std::string& path);

/// What the reference answers, as far as our rules and its policies say. Errors: what it refuses,
/// and tensors that cannot be.
distributed::SpmdResult answer(const Reference& reference, const Question& question);

struct Verdict {
  bool agrees = false;
  std::string actual;  // or the refusal
};
Verdict judge(const Reference& reference, const Case& c);

/// The placement of a tensor of that text on `mesh`. Errors: InvalidArgument if it does not fit.
const distributed::TensorDistAttr* attr_of(const TensorText& text,
                                           const distributed::ProcessMesh& mesh);

/// "matmul --mesh=2x3 --in='64x32[1,_]' --in='32x48[_,0]' --attr transpose_x=false"
std::string to_text(const Reference& reference, const Question& question);
std::string to_text(const Expected& expected);
/// "64x32[1,_,p0]"; without shape "[1,_,p0]"; partial other than by a sum "[1,_,p0:avg]".
std::string to_text(const TensorText& tensor);
/// The answered placement of a tensor of `ndim` dims.
std::string to_text(const distributed::TensorDistAttr* attr, int ndim);

/// A number for which an op takes any, checked: as an axis a rule makes it an int64. Errors:
/// InvalidArgument if that has no such value.
double checked_number(double value, const std::string& where);

}  // namespace phi::spmd_tool
