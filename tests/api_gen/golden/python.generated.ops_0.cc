// Operators of ops for Python: each reads its arguments from a frame.
// Generated from ops.yaml. Do not edit; change the YAML and build.
#include "api/generated/ops/batch_norm.h"
#include "api/generated/ops/bmm.h"
#include "api/generated/ops/check_finite_.h"
#include "api/generated/ops/concat.h"
#include "api/generated/ops/distribute.h"
#include "api/generated/ops/flatten.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/merged_momentum_.h"
#include "api/generated/ops/momentum_.h"
#include "api/generated/ops/nonzero.h"
#include "api/generated/ops/norm.h"
#include "api/generated/ops/ones.h"
#include "api/generated/ops/relu.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/scale_all.h"
#include "api/generated/ops/split.h"
#include "python/src/ops/frame.h"
#include "python/src/ops/op_table.h"

namespace phi::python {
namespace {

PyObject* call_matmul(Frame& frame) {
  const Tensor& x = frame.tensor(0);
  const Tensor& y = frame.tensor(1);
  const auto transpose_x = frame.attr<bool>(2, false);
  const auto transpose_y = frame.attr<bool>(3, false);
  return frame.give(
      [&]() -> decltype(auto) { return phi::matmul(x, y, transpose_x, transpose_y); });
}

PyObject* call_relu(Frame& frame) {
  const Tensor& x = frame.tensor(0);
  return frame.give([&]() -> decltype(auto) { return phi::relu(x); });
}

PyObject* call_relu_(Frame& frame) {
  Tensor& x = frame.written(0);
  return frame.give([&]() -> decltype(auto) { return phi::relu_(x); });
}

PyObject* call_split(Frame& frame) {
  const Tensor& x = frame.tensor(0);
  const auto sections = frame.attr<IntArray>(1);
  const auto axis = frame.attr<Scalar>(2, 0);
  return frame.give([&]() -> decltype(auto) { return phi::split(x, sections, axis); });
}

PyObject* call_concat(Frame& frame) {
  const std::vector<Tensor> x = frame.list(0);
  const auto axis = frame.attr<Scalar>(1, 0);
  return frame.give([&]() -> decltype(auto) { return phi::concat(x, axis); });
}

PyObject* call_norm(Frame& frame) {
  const Tensor& x = frame.tensor(0);
  const std::optional<Tensor> scale = frame.optional(1);
  const auto epsilon = frame.attr<float>(2, 1e-5f);
  return frame.give([&]() -> decltype(auto) { return phi::norm(x, scale, epsilon); });
}

PyObject* call_nonzero(Frame& frame) {
  const Tensor& condition = frame.tensor(0);
  return frame.give([&]() -> decltype(auto) { return phi::nonzero(condition); });
}

PyObject* call_reshape(Frame& frame) {
  const Tensor& x = frame.tensor(0);
  const auto shape = frame.attr<IntArray>(1);
  return frame.give([&]() -> decltype(auto) { return phi::reshape(x, shape); });
}

PyObject* call_reshape_(Frame& frame) {
  Tensor& x = frame.written(0);
  const auto shape = frame.attr<IntArray>(1);
  return frame.give([&]() -> decltype(auto) { return phi::reshape_(x, shape); });
}

PyObject* call_full(Frame& frame) {
  const auto shape = frame.attr<IntArray>(0);
  const auto value = frame.attr<Scalar>(1);
  const auto dtype = frame.attr<DataType>(2, DataType::FLOAT32);
  const auto place = frame.attr<Place>(3, CPUPlace());
  return frame.give([&]() -> decltype(auto) { return phi::full(shape, value, dtype, place); });
}

PyObject* call_ones(Frame& frame) {
  const auto shape = frame.attr<IntArray>(0);
  const auto dtype = frame.attr<DataType>(1, DataType::FLOAT32);
  const auto place = frame.attr<Place>(2, CPUPlace());
  return frame.give([&]() -> decltype(auto) { return phi::ones(shape, dtype, place); });
}

PyObject* call_momentum_(Frame& frame) {
  Tensor& param = frame.written(0);
  const Tensor& grad = frame.tensor(1);
  Tensor& velocity = frame.written(2);
  std::optional<Tensor> master_param = frame.optional(3);
  const auto mu = frame.attr<float>(4);
  return frame.give(
      [&]() -> decltype(auto) { return phi::momentum_(param, grad, velocity, master_param, mu); });
}

PyObject* call_bmm(Frame& frame) {
  const Tensor& x = frame.tensor(0);
  const Tensor& y = frame.tensor(1);
  return frame.give([&]() -> decltype(auto) { return phi::bmm(x, y); });
}

PyObject* call_merged_momentum_(Frame& frame) {
  std::vector<Tensor> param = frame.list(0);
  const std::vector<Tensor> grad = frame.list(1);
  std::vector<Tensor> velocity = frame.list(2);
  std::vector<Tensor> master_param = frame.list(3);
  const auto mu = frame.attr<float>(4);
  return frame.give([&]() -> decltype(auto) {
      return phi::merged_momentum_(param, grad, velocity, master_param, mu); });
}

PyObject* call_check_finite_(Frame& frame) {
  std::vector<Tensor> x = frame.list(0);
  const Tensor& scale = frame.tensor(1);
  return frame.give([&]() -> decltype(auto) { return phi::check_finite_(x, scale); });
}

PyObject* call_distribute(Frame& frame) {
  const Tensor& rois = frame.tensor(0);
  const std::vector<Tensor> levels = frame.list(1);
  const auto least = frame.attr<int>(2, 2);
  return frame.give([&]() -> decltype(auto) { return phi::distribute(rois, levels, least); });
}

PyObject* call_scale_all(Frame& frame) {
  const std::vector<Tensor> xs = frame.list(0);
  const auto factor = frame.attr<float>(1);
  return frame.give([&]() -> decltype(auto) { return phi::scale_all(xs, factor); });
}

PyObject* call_scale_all_(Frame& frame) {
  std::vector<Tensor> xs = frame.list(0);
  const auto factor = frame.attr<float>(1);
  return frame.give([&]() -> decltype(auto) { return phi::scale_all_(xs, factor); });
}

PyObject* call_batch_norm(Frame& frame) {
  const Tensor& x = frame.tensor(0);
  const Tensor& mean = frame.tensor(1);
  const std::vector<Tensor> more = frame.list(2);
  const std::optional<Tensor> variance = frame.optional(3);
  const auto momentum = frame.attr<float>(4);
  const auto seed = frame.optional_attr<int>(5, std::nullopt);
  return frame.give(
      [&]() -> decltype(auto) { return phi::batch_norm(x, mean, more, variance, momentum, seed); });
}

PyObject* call_flatten(Frame& frame) {
  const Tensor& x = frame.tensor(0);
  const auto axis = frame.attr<int>(1, 0);
  return frame.give([&]() -> decltype(auto) { return phi::flatten(x, axis); });
}

PyObject* call_flatten_(Frame& frame) {
  Tensor& x = frame.written(0);
  const auto axis = frame.attr<int>(1, 0);
  return frame.give([&]() -> decltype(auto) { return phi::flatten_(x, axis); });
}

constexpr OpArgument kArguments_matmul[] = {{"x", nullptr}, {"y", nullptr},
                                            {"transpose_x", "False"}, {"transpose_y", "False"}};
constexpr OpArgument kArguments_relu[] = {{"x", nullptr}};
constexpr OpArgument kArguments_relu_[] = {{"x", nullptr}};
constexpr OpArgument kArguments_split[] = {{"x", nullptr}, {"sections", nullptr}, {"axis", "0"}};
constexpr OpArgument kArguments_concat[] = {{"x", nullptr}, {"axis", "0"}};
constexpr OpArgument kArguments_norm[] = {{"x", nullptr}, {"scale", "None"}, {"epsilon", "1e-5"}};
constexpr OpArgument kArguments_nonzero[] = {{"condition", nullptr}};
constexpr OpArgument kArguments_reshape[] = {{"x", nullptr}, {"shape", nullptr}};
constexpr OpArgument kArguments_reshape_[] = {{"x", nullptr}, {"shape", nullptr}};
constexpr OpArgument kArguments_full[] = {{"shape", nullptr}, {"value", nullptr},
                                          {"dtype", "'float32'"}, {"place", "'cpu'"}};
constexpr OpArgument kArguments_ones[] = {{"shape", nullptr}, {"dtype", "'float32'"},
                                          {"place", "'cpu'"}};
constexpr OpArgument kArguments_momentum_[] = {{"param", nullptr}, {"grad", nullptr},
                                               {"velocity", nullptr}, {"master_param", nullptr},
                                               {"mu", nullptr}};
constexpr OpArgument kArguments_bmm[] = {{"x", nullptr}, {"y", nullptr}};
constexpr OpArgument kArguments_merged_momentum_[] = {{"param", nullptr}, {"grad", nullptr},
                                                      {"velocity", nullptr},
                                                      {"master_param", nullptr}, {"mu", nullptr}};
constexpr OpArgument kArguments_check_finite_[] = {{"x", nullptr}, {"scale", nullptr}};
constexpr OpArgument kArguments_distribute[] = {{"rois", nullptr}, {"levels", nullptr},
                                                {"least", "2"}};
constexpr OpArgument kArguments_scale_all[] = {{"xs", nullptr}, {"factor", nullptr}};
constexpr OpArgument kArguments_scale_all_[] = {{"xs", nullptr}, {"factor", nullptr}};
constexpr OpArgument kArguments_batch_norm[] = {{"x", nullptr}, {"mean", nullptr},
                                                {"more", nullptr}, {"variance", nullptr},
                                                {"momentum", nullptr}, {"seed", "None"}};
constexpr OpArgument kArguments_flatten[] = {{"x", nullptr}, {"axis", "0"}};
constexpr OpArgument kArguments_flatten_[] = {{"x", nullptr}, {"axis", "0"}};

constexpr OpEntry kEntries_0[] = {
    {"matmul", "matmul", kArguments_matmul, call_matmul,
     "matmul(x, y, transpose_x, transpose_y) -> out\n\nShapes     MatmulInferMeta\nPlacement  MatmulInferSpmd\nGradient   matmul_grad returns x_grad, y_grad\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     true, false},
    {"relu", "relu", kArguments_relu, call_relu,
     "relu(x) -> out\n\nShapes     UnchangedInferMeta\nPlacement  ElementwiseUnaryInferSpmd\nGradient   relu_grad returns x_grad\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     true, false},
    {"relu_", "relu", kArguments_relu_, call_relu_,
     "relu_(x) -> out\n\nInplace    x receives out; the change is visible through every handle\nShapes     UnchangedInferMeta\nPlacement  ElementwiseUnaryInferSpmd\nGradient   relu_grad returns x_grad\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     true, false},
    {"split", "split", kArguments_split, call_split,
     "split(x, sections, axis) -> out\n\nShapes     SplitInferMeta\nPlacement  SplitInferSpmd\nGradient   split_grad returns x_grad\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     true, false},
    {"concat", "concat", kArguments_concat, call_concat,
     "concat(x, axis) -> out\n\nShapes     ConcatInferMeta\nPlacement  inputs and outputs replicated\nGradient   concat_grad returns x_grad\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     false, false},
    {"norm", "norm", kArguments_norm, call_norm,
     "norm(x, scale, epsilon) -> out\n\nShapes     NormInferMeta\nPlacement  NormInferSpmd\nGradient   norm_grad returns x_grad, scale_grad\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     true, false},
    {"nonzero", "nonzero", kArguments_nonzero, call_nonzero,
     "nonzero(condition) -> out\n\nShapes     NonZeroInferMeta\nPlacement  NonZeroInferSpmd\nGradient   none\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     true, false},
    {"reshape", "reshape", kArguments_reshape, call_reshape,
     "reshape(x, shape) -> out\n\nView       out shares the bytes of x\nShapes     ReshapeInferMeta\nPlacement  ReshapeInferSpmd\nGradient   reshape_grad returns x_grad\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     true, false},
    {"reshape_", "reshape", kArguments_reshape_, call_reshape_,
     "reshape_(x, shape) -> out\n\nInplace    x receives out; the change is visible through every handle\nShapes     ReshapeInferMeta\nPlacement  ReshapeInferSpmd\nGradient   reshape_grad returns x_grad\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     true, false},
    {"full", "full", kArguments_full, call_full,
     "full(shape, value, dtype, place) -> out\n\nShapes     CreateInferMeta\nGradient   none\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     false, false},
    {"ones", "", kArguments_ones, call_ones,
     "ones(shape, dtype, place) -> out\n\nCalls      full(shape, 1, dtype, place)\nGradient   none\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     false, false},
    {"momentum_", "momentum_", kArguments_momentum_, call_momentum_,
     "momentum_(param, grad, velocity, master_param, mu) -> param_out, velocity_out,\n           master_param_out\n\nInplace    param receives param_out, velocity receives velocity_out, master_param receives\n           master_param_out; the change is visible through every handle\nShapes     MomentumInferMeta\nPlacement  MomentumInferSpmd\nGradient   none\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     true, false},
    {"bmm", "bmm", kArguments_bmm, call_bmm,
     "bmm(x, y) -> out\n\nShapes     BmmInferMeta\nPlacement  ... m k, ... k n -> ... m n\nGradient   bmm_grad returns x_grad, y_grad\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     true, false},
    {"merged_momentum_", "merged_momentum_", kArguments_merged_momentum_, call_merged_momentum_,
     "merged_momentum_(param, grad, velocity, master_param, mu) -> param_out, velocity_out,\n           master_param_out\n\nInplace    param receives param_out, velocity receives velocity_out, master_param receives\n           master_param_out; the change is visible through every handle\nShapes     MergedMomentumInferMeta\nPlacement  MergedMomentumInferSpmd\nGradient   none\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     false, false},
    {"check_finite_", "check_finite_", kArguments_check_finite_, call_check_finite_,
     "check_finite_(x, scale) -> out, found\n\nInplace    x receives out; the change is visible through every handle\nShapes     CheckFiniteInferMeta\nPlacement  CheckFiniteInferSpmd\nGradient   none\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     false, false},
    {"distribute", "distribute", kArguments_distribute, call_distribute,
     "distribute(rois, levels, least) -> parts, counts, order\n\nShapes     DistributeInferMeta\nPlacement  DistributeInferSpmd\nGradient   distribute_grad returns rois_grad, levels_grad\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     true, false},
    {"scale_all", "scale_all", kArguments_scale_all, call_scale_all,
     "scale_all(xs, factor) -> out\n\nShapes     UnchangedListInferMeta\nPlacement  inputs and outputs replicated\nGradient   scale_all_grad returns xs_grad\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     false, false},
    {"scale_all_", "scale_all", kArguments_scale_all_, call_scale_all_,
     "scale_all_(xs, factor) -> out\n\nInplace    xs receives out; the change is visible through every handle\nShapes     UnchangedListInferMeta\nPlacement  inputs and outputs replicated\nGradient   scale_all_grad returns xs_grad\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     false, false},
    {"batch_norm", "batch_norm", kArguments_batch_norm, call_batch_norm,
     "batch_norm(x, mean, more, variance, momentum, seed) -> out, mean_out, variance_out\n\nView       mean is written to, and mean_out shares its bytes\nView       variance is written to, and variance_out shares its bytes\nShapes     BatchNormInferMeta\nPlacement  inputs and outputs replicated\nGradient   none\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     true, false},
    {"flatten", "flatten", kArguments_flatten, call_flatten,
     "flatten(x, axis) -> out, shape\n\nView       out shares the bytes of x\nShapes     FlattenInferMeta\nPlacement  inputs and outputs replicated\nGradient   flatten_grad returns x_grad\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     true, false},
    {"flatten_", "flatten", kArguments_flatten_, call_flatten_,
     "flatten_(x, axis) -> out, shape\n\nInplace    x receives out; the change is visible through every handle\nShapes     FlattenInferMeta\nPlacement  inputs and outputs replicated\nGradient   flatten_grad returns x_grad\nErrors     ValueError, naming the arguments, for invalid shapes and dtypes; TypeError for an\n           argument of another type\nSource     ops.yaml",
     true, false},
};

}  // namespace

std::span<const OpEntry> op_entries_0() { return kEntries_0; }

}  // namespace phi::python
