// Writes a captured program as a module: its functions, operation by operation.
#include "api/stablehlo/stablehlo.h"

#include <fmt/format.h>

#include <cctype>
#include <set>

#include "api/stablehlo/builder.h"
#include "api/stablehlo/lowering.h"
#include "api/stablehlo/meshes.h"
#include "phi/common/errors.h"

namespace phi {
namespace stablehlo {
namespace {

Type type_of(const ir::Value& value) {
  PHI_CHECK(value.meta.dims.known(),
            errors::InvalidArgument("a value {} has a shape that is known only when the program "
                                    "runs, which StableHLO with shardings cannot say; leave the "
                                    "operator that makes it out.",
                                    value.meta.to_string()));
  return {value.meta.dims, element_of(value.meta.dtype)};
}

// A valid MLIR name after '%': letters, digits, $ . - _, and no leading digit.
std::string identifier(const std::string& name) {
  std::string out;
  for (char c : name) {
    const bool fits = std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_';
    out += fits ? c : '_';
  }
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) out.insert(0, "_");
  return out;
}

// The attributes of a result of @main.
std::string result_attributes(const std::string& name, const std::string& sharding) {
  const std::string placed = sharding_attribute(sharding);
  return fmt::format("{{jax.result_info = \"{}\"{}{}}}", name, placed.empty() ? "" : ", ", placed);
}

/// The SSA values of a body's values; a sequence has several.
using Values = std::vector<std::vector<Ssa>>;

class Writer {
 public:
  Writer(const ir::Body& program, std::span<const ir::Body> bodies, const StablehloOptions& options)
      : program_(program),
        bodies_(bodies),
        options_(options),
        meshes_(program, bodies, options.mesh) {}

  std::string write() {
    const std::vector<ModuleBuilder::FunctionParameter> parameters = main_parameters();
    const std::vector<std::string> results = main_results();
    module_.add("public", "main", parameters, body_writer(program_), results);
    std::string out = "// Made by Autophi: the global program; shardings say where values lie.\n";
    for (const std::string& line : notes_) out += "// " + line + "\n";
    out += fmt::format(
        "module @{} attributes {{mhlo.num_partitions = {} : i32, mhlo.num_replicas = 1 : i32}} "
        "{{\n",
        identifier(options_.name), meshes_.num_devices());
    if (!meshes_.text().empty()) out += "  sdy.mesh @mesh = " + meshes_.text() + "\n";
    // @main was finished last, and is written first.
    const auto& functions = module_.functions();
    for (size_t i = functions.size(); i-- > 0;) out += functions[i];
    return out + "}\n";
  }

 private:
  // ---- the functions ----

  std::vector<ModuleBuilder::FunctionParameter> main_parameters() {
    std::vector<ModuleBuilder::FunctionParameter> parameters;
    std::set<std::string> taken;
    for (size_t i = 0; i < program_.inputs.size(); ++i) {
      const ir::Value& value = value_at(program_, program_.inputs[i]);
      const std::string given = i < options_.inputs.size() ? options_.inputs[i] : "";
      for (int64_t k = 0; k < value.count; ++k) {
        std::string name =
            given.empty() ? fmt::format("arg{}", parameters.size()) : identifier(given);
        while (!taken.insert(name).second) name += "_";
        parameters.push_back({"%" + name, type_of(value), even_sharding(value, "input " + name)});
      }
    }
    return parameters;
  }

  std::vector<std::string> main_results() {
    std::vector<std::string> results;
    for (size_t i = 0; i < program_.outputs.size(); ++i) {
      if (program_.outputs[i] == ir::kAbsent) continue;
      const ir::Value& value = value_at(program_, program_.outputs[i]);
      const std::string name =
          i < options_.outputs.size() ? options_.outputs[i] : fmt::format("out{}", i);
      for (int64_t k = 0; k < value.count; ++k) {
        results.push_back(
            result_attributes(identifier(name), even_sharding(value, "output " + name)));
      }
    }
    return results;
  }

  std::string even_sharding(const ir::Value& value, const std::string& name) {
    std::string left_out;
    std::string sharding = meshes_.even_sharding(value.attr, value.meta.dims, &left_out);
    if (!left_out.empty()) notes_.push_back(fmt::format("{} is whole there: {}", name, left_out));
    return sharding;
  }

  ModuleBuilder::Write body_writer(const ir::Body& body) {
    return [this, &body](Builder& b, std::span<const Ssa> arguments) {
      return write_body(b, body, arguments);
    };
  }

  std::vector<Ssa> write_body(Builder& b, const ir::Body& body, std::span<const Ssa> arguments) {
    Values values(body.values.size());
    size_t next = 0;
    for (ir::ValueId id : body.inputs) {
      for (int64_t k = 0; k < value_at(body, id).count; ++k)
        values[static_cast<size_t>(id)].push_back(arguments[next++]);
    }
    for (const ir::Operation& operation : body.operations)
      write_operation(b, body, operation, values);
    std::vector<Ssa> results;
    for (ir::ValueId id : body.outputs) {
      if (id == ir::kAbsent) continue;
      const auto& list = values[static_cast<size_t>(id)];
      results.insert(results.end(), list.begin(), list.end());
    }
    return results;
  }

  // ---- operations ----

  void write_operation(Builder& b, const ir::Body& body, const ir::Operation& operation,
                       Values& values) {
    switch (operation.kind) {
      case ir::OperationKind::kCall:
        return write_call(b, body, operation, values);
      case ir::OperationKind::kMove: {
        const ir::ValueId to = operation.outputs[0];
        const Ssa& from = one(values, operation.inputs[0]);
        values[static_cast<size_t>(to)] = {b.placed(from, sharding_of(value_at(body, to)))};
        return;
      }
      case ir::OperationKind::kScan:
        return write_scan(b, operation, values);
      case ir::OperationKind::kSequence: {
        std::vector<Ssa> sequence;
        for (ir::ValueId id : operation.inputs) sequence.push_back(one(values, id));
        values[static_cast<size_t>(operation.outputs[0])] = std::move(sequence);
        return;
      }
      case ir::OperationKind::kElement: {
        const auto& sequence = values[static_cast<size_t>(operation.inputs[0])];
        values[static_cast<size_t>(operation.outputs[0])] = {
            sequence[static_cast<size_t>(operation.index)]};
        return;
      }
    }
  }

  void write_call(Builder& b, const ir::Body& body, const ir::Operation& operation,
                  Values& values) {
    const OpScope scope(operation.op->name);
    const Lower lower = find_lowering(operation.op->name);
    PHI_CHECK(lower, errors::Unimplemented(
                         "operator '{}' has no StableHLO lowering; add one in api/stablehlo/, "
                         "or leave the operator out of the program.",
                         operation.op->name));
    std::vector<std::optional<Ssa>> inputs;
    for (size_t slot = 0; slot < operation.inputs.size(); ++slot)
      inputs.push_back(input_of(b, operation, slot, values));
    std::vector<const ir::Value*> outputs;
    for (ir::ValueId id : operation.outputs) {
      outputs.push_back(id == ir::kAbsent ? nullptr : &value_at(body, id));
      if (outputs.back()) type_of(*outputs.back());
    }
    LoweringContext call(b, operation, std::move(inputs), std::move(outputs));
    lower(call);
    for (size_t slot = 0; slot < operation.outputs.size(); ++slot) {
      const ir::ValueId id = operation.outputs[slot];
      if (id == ir::kAbsent) continue;
      if (!call.given(slot)) call.refuse(fmt::format("with output {}", slot));
      values[static_cast<size_t>(id)] = {
          b.placed(*call.given(slot), sharding_of(value_at(body, id)))};
    }
  }

  // The input with the placements in which the kernel accepts it.
  std::optional<Ssa> input_of(Builder& b, const ir::Operation& operation, size_t slot,
                              const Values& values) const {
    const ir::ValueId id = operation.inputs[slot];
    if (id == ir::kAbsent) return std::nullopt;
    const Ssa& value = one(values, id);
    const auto* taken = slot < operation.taken.size() ? operation.taken[slot] : nullptr;
    return taken ? b.placed(value, meshes_.sharding(taken, value.dims())) : value;
  }

  // Each iteration is a call of the body's function.
  void write_scan(Builder& b, const ir::Operation& scan, Values& values) {
    const ir::Body& body = bodies_[static_cast<size_t>(scan.body)];
    const auto num_carried = static_cast<size_t>(scan.num_carried);
    const size_t first_of_trip = num_carried + static_cast<size_t>(scan.num_invariant);
    std::vector<Ssa> carried;
    for (size_t i = 0; i < num_carried; ++i) carried.push_back(one(values, scan.inputs[i]));
    for (ir::ValueId id : scan.outputs)
      values[static_cast<size_t>(id)].resize(static_cast<size_t>(scan.trips));
    for (int64_t i = 0; i < scan.trips; ++i) {
      const auto trip = static_cast<size_t>(scan.reversed ? scan.trips - 1 - i : i);
      std::vector<Ssa> arguments = carried;
      for (size_t k = num_carried; k < scan.inputs.size(); ++k) {
        const auto& value = values[static_cast<size_t>(scan.inputs[k])];
        arguments.push_back(k < first_of_trip ? value.at(0) : value.at(trip));
      }
      const std::vector<Ssa> results = b.call(fmt::format("body{}", scan.body), arguments,
                                              body_parameters(body), body_writer(body));
      carried.assign(results.begin(), results.begin() + scan.num_carried);
      for (size_t k = num_carried; k < results.size(); ++k)
        values[static_cast<size_t>(scan.outputs[k])][trip] = results[k];
    }
    for (size_t i = 0; i < num_carried; ++i)
      values[static_cast<size_t>(scan.outputs[i])] = {carried[i]};
  }

  std::vector<ModuleBuilder::FunctionParameter> body_parameters(const ir::Body& body) const {
    std::vector<ModuleBuilder::FunctionParameter> parameters;
    for (ir::ValueId id : body.inputs) {
      const ir::Value& value = value_at(body, id);
      parameters.push_back(
          {fmt::format("%arg{}", parameters.size()), type_of(value), sharding_of(value)});
    }
    return parameters;
  }

  static const ir::Value& value_at(const ir::Body& body, ir::ValueId id) {
    return body.values[static_cast<size_t>(id)];
  }
  static const Ssa& one(const Values& values, ir::ValueId id) {
    return values[static_cast<size_t>(id)].at(0);
  }
  std::string sharding_of(const ir::Value& value) const {
    return meshes_.sharding(value.attr, value.meta.dims);
  }

  const ir::Body& program_;
  std::span<const ir::Body> bodies_;
  const StablehloOptions& options_;
  Meshes meshes_;
  ModuleBuilder module_;
  std::vector<std::string> notes_;
};

}  // namespace
}  // namespace stablehlo

std::string to_stablehlo(const ir::Body& program, std::span<const ir::Body> bodies,
                         const StablehloOptions& options) {
  return stablehlo::Writer(program, bodies, options).write();
}

bool has_stablehlo_lowering(std::string_view op) { return stablehlo::find_lowering(op) != nullptr; }

}  // namespace phi
