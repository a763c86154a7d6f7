// A question to a rule and the answer to expect: the model of the case files, and the judge.
//
// Files are described in tests/distributed/spmd/cases/README.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "distributed/spmd/registry.h"

namespace phi::spmd_tool {

/// A tensor as files and the command line give it: sharding by tensor dim.
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

enum class Direction { kForward, kBackward, kGrad };

struct Question {
  std::vector<int64_t> mesh;
  std::vector<ArgumentText> inputs;
  std::vector<ArgumentText> outputs;  // backward only
  std::vector<distributed::AttrValue> attrs;
  Direction direction = Direction::kForward;
};

struct Expected {
  std::vector<TensorText> inputs;  // flat; shapes are not given
  std::vector<TensorText> outputs;
};

struct Case {
  int number = 0;  // in its file, from 0
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
bool takes_outputs(const distributed::RuleFunction& function, size_t num_inputs);

/// Errors: phi::Error naming file, line and key, also one that nothing reads; NotFound for a rule
/// that does not exist.
CaseFile load_cases(const std::string& path);

/// The rule's answer. Errors: what the rule refuses, and tensors that cannot be.
distributed::SpmdResult answer(const distributed::RuleEntry& rule, const Question& question,
                               distributed::Strictness strictness);

struct Verdict {
  bool agrees = false;
  std::string actual;  // or the refusal
};
Verdict judge(const distributed::RuleEntry& rule, const Case& c);

/// "matmul mesh 2x3 64x32[1,_] 32x48[_,0] trans_x=false": as the ask form takes it.
std::string to_text(const distributed::RuleEntry& rule, const Question& question);
std::string to_text(const Expected& expected);
/// "64x32[1,_,p0]"; without shape "[1,_,p0]"; partial other than by a sum "[1,_,p0(avg)]".
std::string to_text(const TensorText& tensor);
std::string to_text(const distributed::AttrValue& value);
/// The answered placement of a tensor of `ndim` dims.
std::string to_text(const distributed::TensorDistAttr* attr, int ndim);

}  // namespace phi::spmd_tool
