// What the text of a module says: mesh, shardings, functions, names, errors. That the numbers are
// right is seen by running modules (write_call_cases.cc).
#include "api/stablehlo/stablehlo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distributed/placement/dist_attr.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using distributed::Partial;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::TensorDistAttr;
using ::testing::HasSubstr;
using ::testing::Not;

const ProcessMesh& grid() {
  static const ProcessMesh mesh({2, 4}, {"dp", "tp"});
  return mesh;
}

/// Builds a body by hand.
struct Program {
  ir::Body body;

  ir::ValueId value(const Dims& dims, const TensorDistAttr* attr = nullptr, int64_t count = 1) {
    body.values.push_back({{dims, DataType::FLOAT32}, attr, count});
    return static_cast<ir::ValueId>(body.values.size()) - 1;
  }
  ir::ValueId input(const Dims& dims, const TensorDistAttr* attr = nullptr) {
    body.inputs.push_back(value(dims, attr));
    return body.inputs.back();
  }
  ir::Operation& add(ir::OperationKind kind, std::vector<ir::ValueId> inputs,
                     std::vector<ir::ValueId> outputs) {
    ir::Operation operation;
    operation.kind = kind;
    operation.inputs = std::move(inputs);
    operation.outputs = std::move(outputs);
    body.operations.push_back(std::move(operation));
    return body.operations.back();
  }
  /// A call of an operator with one tensor per argument.
  ir::ValueId call(const char* op, const std::vector<ir::ValueId>& inputs, const Dims& dims,
                   const TensorDistAttr* attr = nullptr) {
    const ir::ValueId out = value(dims, attr);
    ir::Operation& operation = add(ir::OperationKind::kCall, inputs, {out});
    operation.op = &ops::find(op);
    for (size_t i = 0; i <= inputs.size(); ++i)
      operation.input_begin.push_back(static_cast<int>(i));
    return out;
  }
  std::string text(const StablehloOptions& options = {},
                   const std::vector<ir::Body>& bodies = {}) const {
    return to_stablehlo(body, bodies, options);
  }
};

TEST(Stablehlo, PlainProgram_HasNoMesh) {
  Program p;
  p.body.outputs = {p.call("tanh", {p.input({4, 6})}, {4, 6})};
  EXPECT_EQ(p.text(),
            R"(// Made by Autophi: the global program; shardings say where values lie.
module @program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf32>) -> (tensor<4x6xf32> {jax.result_info = "out0"}) {
    %0 = "stablehlo.tanh"(%arg0) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"(%0) : (tensor<4x6xf32>) -> ()
  }
}
)");
}

TEST(Stablehlo, Placements_AreShardingsOfArgumentsOperationsAndResults) {
  Program p;
  const auto* rows = TensorDistAttr::get(grid(), {Shard(0)});
  const auto* all = TensorDistAttr::get(grid(), {Shard(1), Shard(1)});
  p.body.outputs = {p.call("tanh", {p.input({4, 16}, rows)}, {4, 16}, all)};
  const std::string text = p.text();
  EXPECT_THAT(text, HasSubstr(R"(sdy.mesh @mesh = <["dp"=2, "tp"=4]>)"));
  EXPECT_THAT(text, HasSubstr("mhlo.num_partitions = 8"));
  EXPECT_THAT(
      text,
      HasSubstr(R"(%arg0: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>})"));
  EXPECT_THAT(
      text,
      HasSubstr(R"({sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"dp", "tp"}]>]>})"));
  EXPECT_THAT(
      text,
      HasSubstr(
          R"(jax.result_info = "out0", sdy.sharding = #sdy.sharding<@mesh, [{}, {"dp", "tp"}]>)"));
}

TEST(Stablehlo, PartialValue_IsWrittenWhole) {
  Program p;
  const auto* partial = TensorDistAttr::get(grid(), {Shard(0), Partial()});
  p.body.outputs = {p.call("tanh", {p.input({4, 16}, partial)}, {4, 16}, partial)};
  EXPECT_THAT(p.text(), HasSubstr(R"(<[<@mesh, [{"dp"}, {}]>]>)"));
}

TEST(Stablehlo, UnevenInput_IsWholeThereAndSaysSo) {
  Program p;
  const auto* rows = TensorDistAttr::get(grid(), {Shard(0), Shard(1)});
  p.body.outputs = {p.call("tanh", {p.input({7, 16}, rows)}, {7, 16}, rows)};
  const std::string text = p.text({.inputs = {"x"}, .outputs = {"y"}});
  EXPECT_THAT(text, HasSubstr("// input x is whole there: tensor dim 0 has 2 shards of unequal"));
  EXPECT_THAT(text, HasSubstr("// output y is whole there"));
  EXPECT_THAT(
      text,
      HasSubstr(R"(%x: tensor<7x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>})"));
  // Inside, the compiler pads.
  EXPECT_THAT(text, HasSubstr(R"(per_value<[<@mesh, [{"dp"}, {"tp"}]>]>)"));
}

TEST(Stablehlo, Stages_LieOnTheWholeMesh) {
  const ProcessMesh whole({2, 4}, {"pp", "tp"});
  Program p;
  const auto* first = TensorDistAttr::get(whole.slice(0, 0), {Shard(0)});
  const auto* second = TensorDistAttr::get(whole.slice(0, 1), {Shard(1)});
  const ir::ValueId x = p.call("tanh", {p.input({8, 8}, first)}, {8, 8}, first);
  const ir::ValueId moved = p.value({8, 8}, second);
  p.add(ir::OperationKind::kMove, {x}, {moved});
  p.body.outputs = {moved};
  const std::string derived = p.text();
  EXPECT_THAT(derived, HasSubstr(R"(<["stage"=2, "tp"=4]>)"));
  EXPECT_THAT(derived, HasSubstr(R"(%1 = sdy.sharding_constraint %0 <@mesh, [{}, {"tp"}]>)"));
  EXPECT_THAT(p.text({.mesh = whole}), HasSubstr(R"(<["pp"=2, "tp"=4]>)"));
}

TEST(Stablehlo, MeshOfReplicatedValues_AddsNoMeshDims) {
  Program p;
  const ProcessMesh world({8}, {"world"});
  const auto* rows = TensorDistAttr::get(grid(), {Shard(0)});
  const ir::ValueId x = p.call("tanh", {p.input({8, 8}, rows)}, {8, 8}, rows);
  const ir::ValueId everywhere = p.value({8, 8}, TensorDistAttr::replicated(world));
  p.add(ir::OperationKind::kMove, {x}, {everywhere});
  p.body.outputs = {everywhere};
  const std::string text = p.text();
  EXPECT_THAT(text, HasSubstr(R"(<["dp"=2, "tp"=4]>)"));
  EXPECT_THAT(text, HasSubstr("sharding_constraint %0 <@mesh, [{}, {}]>"));
}

TEST(Stablehlo, TakenPlacements_AreAConstraint) {
  Program p;
  const auto* rows = TensorDistAttr::get(grid(), {Shard(0)});
  const auto* columns = TensorDistAttr::get(grid(), {Shard(1)});
  p.body.outputs = {p.call("tanh", {p.input({8, 8}, rows)}, {8, 8}, columns)};
  p.body.operations[0].taken = {columns};
  EXPECT_THAT(p.text(), HasSubstr(R"(%0 = sdy.sharding_constraint %arg0 <@mesh, [{}, {"dp"}]>)"));
  EXPECT_THAT(p.text(), HasSubstr(R"(%1 = "stablehlo.tanh"(%0))"));
}

/// carried <- tanh(carried) * x[trip], which each trip gives too.
ir::Body multiplying_body() {
  Program p;
  const ir::ValueId carried = p.input({4});
  const ir::ValueId x = p.input({4});
  const ir::ValueId out = p.call("multiply", {p.call("tanh", {carried}, {4}), x}, {4});
  p.body.outputs = {out, out};
  return p.body;
}

Program scanning_program(bool reversed) {
  Program p;
  const ir::ValueId start = p.input({4});
  const std::vector<ir::ValueId> parts = {p.input({4}), p.input({4})};
  const ir::ValueId sequence = p.value({4}, nullptr, 2);
  p.add(ir::OperationKind::kSequence, parts, {sequence});
  const ir::ValueId last = p.value({4});
  const ir::ValueId all = p.value({4}, nullptr, 2);
  ir::Operation& scan = p.add(ir::OperationKind::kScan, {start, sequence}, {last, all});
  scan.body = 0;
  scan.trips = 2;
  scan.num_carried = 1;
  scan.reversed = reversed;
  const ir::ValueId second = p.value({4});
  p.add(ir::OperationKind::kElement, {all}, {second}).index = 1;
  p.body.outputs = {last, second};
  return p;
}

TEST(Stablehlo, Scan_IsACallPerTripOfOneFunction) {
  const std::string text = scanning_program(false).text({}, {multiplying_body()});
  EXPECT_THAT(text, HasSubstr("func.func private @body0(%arg0: tensor<4xf32>"));
  EXPECT_THAT(text, HasSubstr("%0:2 = \"func.call\"(%arg0, %arg1) <{callee = @body0}>"));
  EXPECT_THAT(text, HasSubstr("%1:2 = \"func.call\"(%0#0, %arg2) <{callee = @body0}>"));
  EXPECT_THAT(text, HasSubstr("\"func.return\"(%1#0, %1#1)"));
}

TEST(Stablehlo, ReversedScan_StartsWithTheLastTrip) {
  const std::string text = scanning_program(true).text({}, {multiplying_body()});
  EXPECT_THAT(text, HasSubstr("%0:2 = \"func.call\"(%arg0, %arg2)"));
  EXPECT_THAT(text, HasSubstr("%1:2 = \"func.call\"(%0#0, %arg1)"));
  EXPECT_THAT(text, HasSubstr("\"func.return\"(%1#0, %0#1)"));
}

TEST(Stablehlo, Names_AreMadeFitForMlirAndUnique) {
  Program p;
  p.body.outputs = {p.call("add", {p.input({4}), p.input({4})}, {4})};
  const std::string text =
      p.text({.name = "my job", .inputs = {"layer0/w", "layer0 w"}, .outputs = {"loss"}});
  EXPECT_THAT(text, HasSubstr("module @my_job"));
  EXPECT_THAT(text, HasSubstr("%layer0_w: "));
  EXPECT_THAT(text, HasSubstr("%layer0_w_: "));
  EXPECT_THAT(text, HasSubstr("jax.result_info = \"loss\""));
}

TEST(Stablehlo, OperatorWithoutLowering_IsNamed) {
  Program p;
  p.body.outputs = {p.call("nonzero", {p.input({4})}, {4, 1})};
  EXPECT_THAT([&] { p.text(); },
              ThrowsError(ErrorCode::kUnimplemented,
                          "operator 'nonzero' has no StableHLO lowering; add one in "
                          "api/stablehlo/, or leave the operator out"));
  EXPECT_FALSE(has_stablehlo_lowering("nonzero"));
  EXPECT_TRUE(has_stablehlo_lowering("matmul"));
}

TEST(Stablehlo, UnknownExtent_IsAnError) {
  Program p;
  p.body.outputs = {p.call("tanh", {p.input({kUnknownDim})}, {kUnknownDim})};
  EXPECT_THAT([&] { p.text(); },
              ThrowsError(ErrorCode::kInvalidArgument, "known only when the program runs"));
}

}  // namespace
}  // namespace phi
