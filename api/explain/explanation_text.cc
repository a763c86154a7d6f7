// Text of the parts of an explanation.
#include "api/explain/explanation_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "phi/common/readable_numbers.h"

namespace phi::explanation_text {

std::string short_path(std::string_view path) {
  size_t begin = path.size();
  for (int parts = 0; parts < 3 && begin != std::string_view::npos && begin > 0; ++parts) {
    begin = path.rfind('/', begin - 1);
  }
  return std::string(begin == std::string_view::npos ? path : path.substr(begin + 1));
}

std::string placements(const distributed::TensorDistAttr* attr) {
  if (!attr) return "plain";
  std::vector<std::string> texts;
  for (const auto& placement : attr->placements()) texts.push_back(placement.to_string());
  return fmt::format("[{}]", fmt::join(texts, ","));
}

std::string change(const ExplainedMove& move) {
  const bool same_mesh = move.from->mesh() == move.to->mesh();
  const auto side = [&](const distributed::TensorDistAttr* attr) {
    return same_mesh ? placements(attr) : attr->to_string();
  };
  return fmt::format("{} {} -> {}", move.meta.to_string(), side(move.from), side(move.to));
}

std::string steps(const ExplainedMove& move) {
  std::vector<std::string> texts;
  for (const ExplainedMove::MoveStep& step : move.steps) {
    texts.push_back(step.mesh_dims.empty() ? step.name
                    : step.mesh_dims == "between meshes"
                        ? step.name + " " + step.mesh_dims
                        : fmt::format("{} over {}", step.name, step.mesh_dims));
  }
  return texts.empty() ? "nothing to do here" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string named(const std::string& name, const std::string& value) {
  if (value.empty() || name.empty()) return name + value;
  return fmt::format("{} ({})", name, value);
}

std::string bytes(const MovedBytes& bytes) {
  if (bytes.most() == 0) return "no bytes";
  return fmt::format("sent {}, received {}", human_bytes(bytes.sent), human_bytes(bytes.received));
}

std::string time(int64_t nanoseconds) {
  return fmt::format("{:.2f} ms", static_cast<double>(nanoseconds) * 1e-6);
}

std::string of_move(const ExplainedCall& call, const ExplainedMove& move) {
  const std::string what = named(move.tensor, move.value).empty()
                               ? call.op
                               : fmt::format("{} of {}", named(move.tensor, move.value), call.op);
  const std::string where = call.where();
  return fmt::format("{} {}: {} ({} bytes sent, {} received){}{}", what, change(move), steps(move),
                     move.bytes.sent, move.bytes.received,
                     move.reason.empty() ? "" : "; " + move.reason,
                     where.empty() ? "" : "; at " + where);
}

std::string of_kernel(const ExplainedCall& call) {
  const std::string where = call.where();
  return fmt::format("{}: its kernel sends {} bytes and receives {}{}", call.op, call.kernel.sent,
                     call.kernel.received, where.empty() ? "" : "; at " + where);
}

}  // namespace phi::explanation_text
