// Formats one line per operation and one per step.
#include "api/capture/print.h"

#include <fmt/format.h>

#include <iterator>

namespace phi::ir {
namespace {

struct AttributeFormatter {
  std::string operator()(bool x) const { return x ? "true" : "false"; }
  std::string operator()(int64_t x) const { return std::to_string(x); }
  std::string operator()(double x) const { return fmt::format("{}", x); }
  std::string operator()(const std::string& x) const { return "\"" + x + "\""; }
  std::string operator()(DataType x) const { return std::string(name_of(x)); }
  std::string operator()(std::monostate) const { return "none"; }
  template <typename T>
  std::string operator()(const std::vector<T>& x) const {
    return fmt::format("[{}]", fmt::join(x, ","));
  }
};

std::string text_of(const AttributeValue& value) { return std::visit(AttributeFormatter(), value); }

class BodyText {
 public:
  BodyText(const Body& body, std::string indent) : body_(body), indent_(std::move(indent)) {}

  std::string operations() const {
    std::string out;
    for (const Operation& operation : body_.operations) out += line(operation);
    return out;
  }
  std::string type(ValueId id) const {
    const Value& value = body_.values[static_cast<size_t>(id)];
    const std::string layout = value.attr ? " " + value.attr->to_string() : "";
    const std::string count = value.count > 1 ? fmt::format("{} x ", value.count) : "";
    return count + value.meta.to_string() + layout;
  }
  static std::string name(ValueId id) { return id == kAbsent ? "none" : fmt::format("%{}", id); }
  std::string names(const std::vector<ValueId>& ids) const {
    std::string out;
    for (const ValueId id : ids) out += (out.empty() ? "" : ", ") + name(id);
    return out;
  }

 private:
  std::string line(const Operation& operation) const {
    std::string types;
    for (const ValueId id : operation.outputs) {
      if (id != kAbsent) types += (types.empty() ? "" : ", ") + type(id);
    }
    return fmt::format("{}{} = {} : {}\n", indent_, names(operation.outputs), what(operation),
                       types);
  }
  std::string what(const Operation& operation) const {
    switch (operation.kind) {
      case OperationKind::kCall:
        return call(operation);
      case OperationKind::kMove:
        return fmt::format("reshard({})", name(operation.inputs[0]));
      case OperationKind::kScan:
        return fmt::format("scan{} {} x body{}({})", operation.reversed ? " reversed" : "",
                           operation.trips, operation.body, names(operation.inputs));
      case OperationKind::kSequence:
        return fmt::format("sequence({})", names(operation.inputs));
      case OperationKind::kElement:
        return fmt::format("element({}, {})", name(operation.inputs[0]), operation.index);
    }
    return "";
  }
  // matmul(%1, %2 as [R,S1]) {transpose_y=false} writes %1
  std::string call(const Operation& operation) const {
    std::string arguments;
    for (size_t slot = 0; slot < operation.inputs.size(); ++slot) {
      arguments += (slot ? ", " : "") + argument(operation, slot);
    }
    std::string attributes;
    for (const Attribute& attribute : operation.attributes) {
      attributes += fmt::format("{}{}={}", attributes.empty() ? "" : ", ", attribute.name,
                                text_of(attribute.value));
    }
    std::string out = fmt::format("{}({})", operation.op->name, arguments);
    if (!attributes.empty()) out += " {" + attributes + "}";
    for (size_t i = 0; i < operation.inplace.size(); ++i) {
      if (operation.inplace[i] < 0 || operation.outputs[i] == kAbsent) continue;
      out += " writes " + name(operation.inputs[static_cast<size_t>(operation.inplace[i])]);
    }
    return out;
  }
  std::string argument(const Operation& operation, size_t slot) const {
    const ValueId id = operation.inputs[slot];
    if (id == kAbsent) return "none";
    const auto* taken = operation.taken.empty() ? nullptr : operation.taken[slot];
    const auto* attr = body_.values[static_cast<size_t>(id)].attr;
    return taken && taken != attr ? name(id) + " as " + taken->to_string() : name(id);
  }

  const Body& body_;
  std::string indent_;
};

std::string inputs_text(const BodyText& text, std::span<const ValueId> ids, const char* role) {
  std::string out;
  for (const ValueId id : ids) out += fmt::format("  {} %{} : {}\n", role, id, text.type(id));
  return out;
}

std::string body_text(const Body& body, size_t number) {
  const BodyText text(body, "  ");
  std::string out = fmt::format("body{} {{\n", number) + inputs_text(text, body.inputs, "input");
  return out + text.operations() + fmt::format("  return {}\n}}\n\n", text.names(body.outputs));
}

}  // namespace

std::string to_string(const Recording& recording) {
  std::string out;
  for (size_t i = 0; i < recording.bodies().size(); ++i) {
    out += body_text(recording.bodies()[i], i);
  }
  const Body& body = recording.body();
  const BodyText text(body, "  ");
  const std::span<const ValueId> inputs(body.inputs);
  const size_t n = recording.inputs().size();
  const size_t parameters = recording.parameters().size();
  out += "program {\n" + inputs_text(text, inputs.subspan(0, n), "input") +
         inputs_text(text, inputs.subspan(n, parameters), "parameter") +
         inputs_text(text, inputs.subspan(n + parameters), "constant") + text.operations();
  for (size_t i = 0; i < recording.updated().size(); ++i) {
    const ValueId before = recording.parameters()[i].value;
    const ValueId after = recording.updated()[i];
    if (before != after) out += fmt::format("  parameter %{} becomes %{}\n", before, after);
  }
  return out + fmt::format("  return {}\n}}\n", text.names(body.outputs));
}

namespace {

class StepText {
 public:
  explicit StepText(const Recording& recording) : recording_(recording) {}

  std::string lines(const std::vector<RecordedStep>& steps, const std::string& indent) const {
    std::string out;
    size_t number = 0;
    for (const RecordedStep& step : steps) {
      out += fmt::format("{}{:5} ", indent, number++);
      out += step.scan ? scan(*step.scan, indent) : line(step);
    }
    return out;
  }

 private:
  std::string line(const RecordedStep& step) const {
    std::string reads;
    std::string writes;
    for (const BufferUse& use : step.uses) {
      const bool is_read = use.access == Access::kRead || use.access == Access::kShape;
      std::string& list = is_read ? reads : writes;
      list += (list.empty() ? "" : ", ") + name(use);
    }
    return fmt::format("{}({}) -> {}\n", step.name, reads, writes);
  }
  std::string scan(const RecordedScan& scan, const std::string& indent) const {
    return fmt::format("scan{} {} x body{} {{\n{}{}      }} -> #{}\n",
                       scan.reversed ? " reversed" : "", scan.trips, scan.body,
                       lines(recording_.steps(scan.body), indent + "    "), indent,
                       static_cast<int32_t>(scan.last));
  }
  std::string name(const BufferUse& use) const {
    if (use.buffer == kNoBuffer) return "shape";
    const ProgramBuffer& buffer = recording_.buffers()[index_of(use.buffer)];
    return fmt::format("{}{}{}", buffer.external ? "@" : "#", static_cast<int32_t>(use.buffer),
                       use.offset ? fmt::format("+{}", use.offset) : "");
  }

  const Recording& recording_;
};

}  // namespace

std::string steps_to_string(const Recording& recording) {
  return StepText(recording).lines(recording.steps(), "");
}

}  // namespace phi::ir
