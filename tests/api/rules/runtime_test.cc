// What is answered by name is what calls do: the parity tables and their gradients are captured on
// drawn placements, and each call in the programs is asked again by name.
#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "api/autograd/autograd.h"
#include "api/call/args/dist_args.h"
#include "api/capture/program.h"
#include "api/generated/ops/concat.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/full_like.h"
#include "api/generated/ops/matmul.h"
#include "api/rules/op_rule.h"
#include "distributed/comm/dry/dry_world.h"
#include "phi/tensor_api.h"
#include "tests/api/op_records.h"
#include "tests/support/error_matchers.h"

DEFINE_uint32(seed, 20261122, "seed of the drawn placements");

namespace phi::testing {
namespace {

using distributed::ProcessMesh;
using distributed::TensorDistAttr;

// The outputs of a case, and the gradients of its inputs.
TensorList with_gradients(const ParityCase& test, const TensorList& inputs) {
  TensorList outputs, sources, seeds, wanted;
  for (const Tensor& out : test.call(inputs)) {
    if (!out.defined()) continue;
    outputs.push_back(out);
    if (!out.requires_grad()) continue;
    sources.push_back(out);
    seeds.push_back(full_like(out, 1.0f));
  }
  for (const Tensor& x : inputs) {
    if (x.requires_grad()) wanted.push_back(x);
  }
  if (sources.empty()) return outputs;
  for (const Tensor& gradient : grad(sources, wanted, seeds)) {
    if (gradient.defined()) outputs.push_back(gradient);
  }
  return outputs;
}

class Asking {
 public:
  explicit Asking(const ProcessMesh& mesh) : mesh_(mesh) {}

  void ask_all(const ir::Body& body) {
    for (const ir::Operation& call : body.operations) {
      if (call.kind == ir::OperationKind::kCall && is_distributed(body, call)) infer(body, call);
    }
  }
  const std::set<std::string_view>& asked() const { return asked_; }

 private:
  static bool is_distributed(const ir::Body& body, const ir::Operation& call) {
    return std::any_of(call.inputs.begin(), call.inputs.end(), [&](ir::ValueId x) {
      return x != ir::kAbsent && body.values[x].attr != nullptr;
    });
  }

  // A plain tensor is replicated.
  OpTensor tensor(const ir::Body& body, ir::ValueId x) const {
    if (x == ir::kAbsent) return {};
    const ir::Value& value = body.values[x];
    return {value.meta, value.attr != nullptr ? value.attr : TensorDistAttr::replicated(mesh_)};
  }

  OpCallSpec call_spec(const OpRule& rule, const ir::Body& body, const ir::Operation& call) const {
    OpCallSpec call_spec{mesh_, {}, {}};
    for (size_t arg = 0; arg + 1 < call.input_begin.size(); ++arg) {
      auto& argument = call_spec.inputs.emplace_back();
      for (int slot = call.input_begin[arg]; slot < call.input_begin[arg + 1]; ++slot) {
        argument.push_back(tensor(body, call.inputs[slot]));
      }
    }
    std::vector<std::pair<std::string, AttributeValue>> given;
    for (const ir::Attribute& attribute : call.attributes) {
      given.emplace_back(attribute.name, attribute.value);
    }
    call_spec.attributes = rule.attributes(given);
    return call_spec;
  }

  void infer(const ir::Body& body, const ir::Operation& call) {
    SCOPED_TRACE(call.op->name);
    const OpRule& rule = rules::find(call.op->name);
    asked_.insert(rule.name());
    const OpInference inference = rule.infer(call_spec(rule, body, call));
    ASSERT_EQ(inference.inputs.size(), call.inputs.size());
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      if (call.inputs[i] == ir::kAbsent || i >= call.taken.size() || !call.taken[i]) continue;
      EXPECT_EQ(inference.inputs[i], call.taken[i]) << "input " << i;
    }
    ASSERT_EQ(inference.outputs.size(), call.outputs.size());
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      if (call.outputs[i] == ir::kAbsent) continue;  // not wanted
      const ir::Value& made = body.values[call.outputs[i]];
      ASSERT_TRUE(inference.outputs[i].meta.has_value()) << "output " << i;
      EXPECT_EQ(inference.outputs[i].meta->to_string(), made.meta.to_string()) << "output " << i;
      // What is written in place then lies as it lay.
      if (i < call.inplace.size() && call.inplace[i] >= 0) continue;
      EXPECT_EQ(inference.outputs[i].attr, made.attr) << "output " << i;
    }
  }

  ProcessMesh mesh_;
  std::set<std::string_view> asked_;
};

TEST(RulesByName, AnswerWhatCallsDo) {
  SCOPED_TRACE("--seed=" + std::to_string(FLAGS_seed));
  const ProcessMesh mesh({2, 2});
  // With values, which a dry run does not draw.
  const std::vector<ParityCase> cases =
      cases_of_records({"attention", "binary", "elementwise", "lookup", "loss", "matmul",
                        "normalisation", "reduction", "shape", "unary"});
  distributed::DryWorld world(0, 4);
  const distributed::World::Scope scope(world);
  Asking asking(mesh);
  std::mt19937 rng(FLAGS_seed);
  for (const ParityCase& test : cases) {
    for (const Choice& choice : placement_choices(test.inputs, 2, /*partial=*/true, 6, rng)) {
      SCOPED_TRACE(test.name + " " + to_string(choice));
      TensorList inputs;
      for (size_t i = 0; i < test.inputs.size(); ++i) {
        inputs.push_back(distributed::shard_tensor(test.inputs[i], mesh, choice[i]).detach());
        if (test.gradients && is_floating(inputs.back().dtype())) inputs.back().set_requires_grad();
      }
      const Program program =
          capture([&](const TensorList& in) { return with_gradients(test, in); }, inputs);
      asking.ask_all(program.body());
      if (HasFailure()) return;
    }
  }
  // Calls of all records are captured by op_rows_test.
  EXPECT_GT(asking.asked().size(), 70u);
}

// As on plain tensors, and by name: rules see only shapes that fit.
TEST(RulesByName, WrongShapesAreTheShapeFunctionsErrorEverywhere) {
  const ProcessMesh mesh({2, 2});
  distributed::DryWorld world(0, 4);
  const distributed::World::Scope scope(world);
  const Tensor x = full({4, 4}, 1.0f);
  const Tensor y = full({5, 4}, 1.0f);
  const auto words = ThrowsError(ErrorCode::kInvalidArgument,
                                 "x is f32[4,4] and y is f32[5,4] with transpose_x=false");
  EXPECT_THAT([&] { matmul(x, y); }, words);
  const Tensor sharded = distributed::shard_tensor(x, mesh, {distributed::Shard(0)});
  EXPECT_THAT([&] { matmul(sharded, y); }, words);
  const OpRule& rule = rules::find("matmul");
  const auto* attr = TensorDistAttr::replicated(mesh);
  const OpCallSpec call_spec{mesh, {{{x.meta(), attr}}, {{y.meta(), attr}}}, rule.attributes({})};
  EXPECT_THAT([&] { rule.infer(call_spec); }, words);
}

TEST(RulesByName, CallsTellRulesTheNamesOfTheirArguments) {
  const ProcessMesh mesh({2, 2});
  distributed::DryWorld world(0, 4);
  const distributed::World::Scope scope(world);
  const Tensor x = distributed::shard_tensor(full({4, 4}, 1.0f), mesh, {});
  const TensorList parts = {x, x};
  const DistArgs args(ops::concat, parts);
  const RuleArgs call_spec = args.rule_args({});
  for (const auto& spec : call_spec.list_spec(0)) EXPECT_STREQ(spec.name, "x");
  const DistArgs product(ops::matmul, x, x);
  EXPECT_STREQ(product.rule_args({}).spec(1).name, "y");
}

}  // namespace
}  // namespace phi::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return RUN_ALL_TESTS();
}
