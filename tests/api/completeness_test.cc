// Every operator has what an operator needs: a call in the tables that op_parity_test and
// gradient_test go through, and its gradient among the nodes that these record. The record of an
// operator that has none says why, and of no other. Each operator has a record in the folder of its
// family, and there are no others. Of StableHLO lowerings stablehlo_calls asks a
// case each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "api/autograd/grad_node.h"
#include "api/stablehlo/stablehlo.h"
#include "phi/core/op_def.h"
#include "phi/core/rank_context.h"
#include "phi/core/trace/trace.h"
#include "tests/api/op_gradients.h"
#include "tests/api/op_records.h"

namespace phi::testing {
namespace {

using Names = std::set<std::string>;
using Reasons = std::map<std::string, std::string>;

// Operators that can be exported; of the others export says that they cannot.
constexpr size_t kLowered = 84;

void note_nodes(const autograd::Node<Tensor>* node, Names* nodes) {
  if (!node) return;
  nodes->insert(node->name());
  for (const auto& edge : node->edges()) note_nodes(edge.node.get(), nodes);
}

struct Covered {
  Names forward, backward;  // ops
  Names nodes;
};

// What the tables call, forwards and, where they are differentiated, backwards.
Covered covered(const std::vector<OpTable>& tables) {
  Covered seen;
  for (const OpTable& table : tables) {
    for (const ParityCase& test : table.cases()) {
      seen.forward.merge(ops_run([&] { test.call(test.inputs); }));
      if (!is_differentiable(test)) continue;
      for (const Tensor& out : track_outputs(test.call, with_gradients(test.inputs)).outputs) {
        note_nodes(out.grad_link().node(), &seen.nodes);
      }
      seen.backward.merge(ops_run([&] { gradients(test, test.inputs); }));
    }
  }
  return seen;
}

// The names that nothing covers and no reason excuses, and reasons for what needs none.
Names failures(const Names& wanted, const Names& covered, const Reasons& excused) {
  Names failing;
  for (const std::string& name : wanted) {
    if (covered.contains(name) == excused.contains(name)) failing.insert(name);
  }
  for (const auto& [name, reason] : excused) {
    if (!wanted.contains(name)) failing.insert(name);
  }
  return failing;
}

Names every_op() {
  Names names;
  for (const OpDef* op : ops::all()) names.insert(op->name);
  return names;
}

// What yaml/ops says: each operator as FAMILY/OP, and its gradient, which may be empty.
std::map<std::string, std::string> gradients_by_operator() {
  std::map<std::string, std::string> found;
  for (const auto& file : std::filesystem::directory_iterator(AUTOPHI_SOURCE_DIR "/yaml/ops")) {
    const std::string family = file.path().stem().string() + "/";
    for (const YAML::Node& op : YAML::LoadFile(file.path())) {
      found[family + op["op"].Scalar()] = op["backward"] ? op["backward"].Scalar() : "";
    }
  }
  EXPECT_GT(found.size(), 400u);
  return found;
}

// The reasons of the records, for operators and for gradients by name.
struct Excused {
  Reasons calls, gradients;
};

Excused excused_by_records(const std::map<std::string, std::string>& gradients) {
  Excused excused;
  for (const auto& [operator_, reasons] : reasons_of_records()) {
    if (!reasons.no_call.empty()) {
      excused.calls[operator_.substr(operator_.find('/') + 1)] = reasons.no_call;
    }
    if (reasons.no_gradient.empty()) continue;
    const auto at = gradients.find(operator_);
    const bool has_gradient = at != gradients.end() && !at->second.empty();
    EXPECT_TRUE(has_gradient) << operator_ << " has no gradient, and needs no reason";
    if (has_gradient) excused.gradients[at->second] = reasons.no_gradient;
  }
  return excused;
}

template <typename T>
Names keys(const std::map<std::string, T>& map) {
  Names names;
  for (const auto& [name, value] : map) names.insert(name);
  return names;
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Completeness, EveryOpHasAParityCase_AndEveryGradientACase) {
  const Covered seen = covered(op_tables());
  const auto declared = gradients_by_operator();
  const Excused excused = excused_by_records(declared);
  Names gradients, forward, backward;
  for (const auto& [operator_, gradient] : declared) {
    if (!gradient.empty()) gradients.insert(gradient);
  }
  for (const std::string& op : every_op()) (gradients.contains(op) ? backward : forward).insert(op);
  EXPECT_THAT(failures(forward, seen.forward, excused.calls), IsEmpty())
      << "add a call to its record in tests/ops";
  EXPECT_THAT(failures(gradients, seen.nodes, excused.gradients), IsEmpty())
      << "add a differentiable call to its record in tests/ops";
  for (const std::string& op : seen.backward) backward.erase(op);
  for (const auto& [op, reason] : excused.gradients) backward.erase(op);
  EXPECT_THAT(backward, IsEmpty()) << "no backward pass runs it";
}

TEST(Completeness, EveryOperatorHasARecord_AndEveryRecordAnOperator) {
  EXPECT_EQ(keys(reasons_of_records()), keys(gradients_by_operator()))
      << "the record of OP in yaml/ops/FAMILY.yaml is tests/ops/FAMILY/OP.yaml";
}

TEST(Completeness, NoStablehloLoweringIsLost) {
  Names lowered;
  for (const std::string& op : every_op()) {
    if (has_stablehlo_lowering(op)) lowered.insert(op);
  }
  EXPECT_GE(lowered.size(), kLowered);
}

// A table less, and its ops are missed; a reason too many is one.
TEST(Completeness, WhatIsMissingIsNamed) {
  const Covered seen = covered({OpTable{"Some", [] {
                                          return cases_of_records({"matmul/matmul", "optimizer"});
                                        }}});
  EXPECT_THAT(seen.forward,
              ElementsAre("assign", "matmul", "scaled_adamw_", "scaled_momentum_", "scaled_sgd_"));
  EXPECT_TRUE(seen.backward.contains("matmul_grad"));
  EXPECT_THAT(seen.nodes, ElementsAre("leaf", "matmul_grad"));
  EXPECT_THAT(failures({"a", "b", "c"}, {"a"}, {{"c", "why"}}), ElementsAre("b"));
  EXPECT_THAT(failures({"a"}, {"a"}, {{"a", "not true"}, {"d", "no op"}}), ElementsAre("a", "d"));
}

}  // namespace
}  // namespace phi::testing
