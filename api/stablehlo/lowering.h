// Lowerings: how each operator is expressed in StableHLO. Each operator has one function and one
// row in the table of its family.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/capture/ir.h"
#include "api/stablehlo/builder.h"

namespace phi::stablehlo {

/// A call of an operator, as seen by its lowering. Names are those of the op YAML.
class LoweringContext {
 public:
  /// `inputs` and `outputs` are indexed by slot; an absent tensor has no value.
  LoweringContext(Builder& builder, const ir::Operation& operation,
                  std::vector<std::optional<Ssa>> inputs, std::vector<const ir::Value*> outputs);

  Builder& b;

  /// Errors: Unimplemented if the operator has no such input or it is absent.
  const Ssa& input(std::string_view name) const;
  const Ssa* optional(std::string_view name) const;
  std::vector<Ssa> list(std::string_view name) const;

  bool has(std::string_view attribute) const;
  /// Whether an optional attribute is absent.
  bool is_absent(std::string_view attribute) const;
  // These throw Internal if the attribute does not exist or has another type.
  bool flag(std::string_view attribute) const;
  int64_t integer(std::string_view attribute) const;
  double number(std::string_view attribute) const;  // any arithmetic type
  std::vector<int64_t> integers(std::string_view attribute) const;
  const std::string& text(std::string_view attribute) const;

  size_t num_outputs() const { return outputs_.size(); }
  bool needs_output(size_t slot) const { return outputs_[slot] != nullptr; }
  const TensorMeta& output(size_t slot = 0) const { return outputs_[slot]->meta; }
  const Dims& output_dims(size_t slot = 0) const { return output(slot).dims; }
  /// The type of an output.
  Type output_type(size_t slot = 0) const {
    return {output(slot).dims, element_of(output(slot).dtype)};
  }
  /// Sets an output, converted to its dtype and reshaped to its shape; ignored if it is not wanted.
  void set_output(size_t slot, const Ssa& value);
  void set_output(const Ssa& value) { set_output(0, value); }
  const std::optional<Ssa>& given(size_t slot) const { return given_[slot]; }

  /// Throws Unimplemented with the operator's name; `what` is the unsupported case.
  [[noreturn]] void refuse(std::string_view what) const;

 private:
  const ir::Attribute& attribute(std::string_view name) const;
  std::optional<size_t> argument(std::string_view name) const;

  const ir::Operation& operation_;
  std::vector<std::optional<Ssa>> inputs_;
  std::vector<const ir::Value*> outputs_;
  std::vector<std::optional<Ssa>> given_;
};

using Lower = void (*)(LoweringContext& call);
struct Lowering {
  std::string_view op;
  Lower lower;
};

/// Null if the operator has no lowering.
Lower find_lowering(std::string_view op);

// The families.
std::span<const Lowering> elementwise_lowerings();
std::span<const Lowering> unary_grad_lowerings();
std::span<const Lowering> reduction_lowerings();
std::span<const Lowering> matmul_lowerings();
std::span<const Lowering> normalisation_lowerings();
std::span<const Lowering> cross_entropy_lowerings();
std::span<const Lowering> attention_lowerings();
std::span<const Lowering> rope_lowerings();
std::span<const Lowering> lookup_lowerings();
std::span<const Lowering> shape_lowerings();
std::span<const Lowering> creation_lowerings();
std::span<const Lowering> random_lowerings();
std::span<const Lowering> optimizer_lowerings();

}  // namespace phi::stablehlo
