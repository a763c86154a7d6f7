// Every operator has what an operator needs: a call in the tables that op_parity_test and
// gradient_test go through, and its gradient among the nodes that these record. What has none
// stands here with the reason, and nothing else does. Of StableHLO lowerings stablehlo_calls asks a
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

namespace phi::testing {
namespace {

using Names = std::set<std::string>;
using Reasons = std::map<std::string, std::string>;

constexpr const char* kRing = "talks over a ring: tests/api/communication_test.cc";

const Reasons kNoParityCase = {
    {"all_gather", kRing}, {"all_reduce", kRing}, {"all_to_all", kRing},    {"broadcast", kRing},
    {"c_concat", kRing},   {"c_identity", kRing}, {"c_split", kRing},       {"p_recv", kRing},
    {"p_send", kRing},     {"reduce", kRing},     {"reduce_scatter", kRing}};
const Reasons kNoGradientNode = {{"all_gather_grad", kRing},
                                 {"all_reduce_grad", kRing},
                                 {"all_to_all_grad", kRing},
                                 {"broadcast_grad", kRing},
                                 {"c_concat_grad", kRing},
                                 {"c_identity_grad", kRing},
                                 {"c_split_grad", kRing},
                                 {"reduce_grad", kRing},
                                 {"reduce_scatter_grad", kRing},
                                 {"exponential__grad", "zeros: what is drawn depends on nothing"},
                                 {"view_dtype_grad", "bits of another dtype have no differences"}};
const Reasons kNoBackwardPass = {{"all_reduce_grad", kRing}, {"reduce_grad", kRing}};

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

// Those that yaml/ops names.
Names every_gradient() {
  Names names;
  for (const auto& file : std::filesystem::directory_iterator(AUTOPHI_SOURCE_DIR "/yaml/ops")) {
    for (const YAML::Node& op : YAML::LoadFile(file.path())) {
      if (op["backward"]) names.insert(op["backward"].as<std::string>());
    }
  }
  EXPECT_GT(names.size(), 40u);
  return names;
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Completeness, EveryOpHasAParityCase_AndEveryGradientACase) {
  const Covered seen = covered(op_tables());
  const Names gradients = every_gradient();
  Names forward, backward;
  for (const std::string& op : every_op()) (gradients.contains(op) ? backward : forward).insert(op);
  EXPECT_THAT(failures(forward, seen.forward, kNoParityCase), IsEmpty())
      << "add a call to tests/api/op_cases.cc";
  EXPECT_THAT(failures(gradients, seen.nodes, kNoGradientNode), IsEmpty())
      << "add a differentiable call to tests/api/op_cases.cc";
  EXPECT_THAT(failures(backward, seen.backward, kNoBackwardPass), IsEmpty())
      << "no backward pass runs it";
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
  const Covered seen =
      covered({OpTable{"Products", product_cases}, OpTable{"Optimizers", optimizer_cases}});
  EXPECT_THAT(seen.forward,
              ElementsAre("assign", "matmul", "scaled_adamw_", "scaled_momentum_", "scaled_sgd_"));
  EXPECT_TRUE(seen.backward.contains("matmul_grad"));
  EXPECT_THAT(seen.nodes, ElementsAre("leaf", "matmul_grad"));
  EXPECT_THAT(failures({"a", "b", "c"}, {"a"}, {{"c", "why"}}), ElementsAre("b"));
  EXPECT_THAT(failures({"a"}, {"a"}, {{"a", "not true"}, {"d", "no op"}}), ElementsAre("a", "d"));
}

}  // namespace
}  // namespace phi::testing
