// Sums over an explanation.
#include "api/explain/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/explain/explanation_text.h"

namespace phi {

MovedBytes& MovedBytes::operator+=(const MovedBytes& other) {
  sent += other.sent;
  received += other.received;
  nanoseconds += other.nanoseconds;
  return *this;
}

MovedBytes& MovedBytes::operator-=(const MovedBytes& other) {
  sent -= other.sent;
  received -= other.received;
  nanoseconds -= other.nanoseconds;
  return *this;
}

MovedBytes ExplainedCall::moved() const {
  MovedBytes sum;
  for (const ExplainedMove& move : moves) sum += move.bytes;
  return sum;
}

std::string ExplainedCall::where() const {
  if (file.empty()) return module;
  const std::string line_text = fmt::format("{}:{}", explanation_text::short_path(file), line);
  return module.empty() ? line_text : fmt::format("{} ({})", module, line_text);
}

int64_t Explanation::num_moves() const {
  int64_t count = 0;
  for (const ExplainedCall& call : calls) count += static_cast<int64_t>(call.moves.size());
  return count;
}

MovedBytes Explanation::moved() const {
  MovedBytes sum;
  for (const ExplainedCall& call : calls) {
    sum += call.moved();
    sum.sent += call.kernel.sent;
    sum.received += call.kernel.received;
  }
  return sum;
}

namespace {

std::vector<Explanation::Total> sorted(const std::map<std::string, Explanation::Total>& totals) {
  std::vector<Explanation::Total> list;
  for (const auto& [name, total] : totals) {
    list.push_back(total);
    list.back().name = name;
  }
  std::ranges::stable_sort(
      list, [](const auto& a, const auto& b) { return a.bytes.most() > b.bytes.most(); });
  return list;
}

}  // namespace

std::vector<Explanation::Total> Explanation::by_op() const {
  std::map<std::string, Total> totals;
  for (const ExplainedCall& call : calls) {
    Total& total = totals[call.op];
    ++total.calls;
    total.moves += static_cast<int64_t>(call.moves.size());
    total.bytes += call.moved();
    total.bytes.sent += call.kernel.sent;
    total.bytes.received += call.kernel.received;
  }
  std::erase_if(totals, [](const auto& entry) {
    return entry.second.moves == 0 && entry.second.bytes.most() == 0;
  });
  return sorted(totals);
}

std::vector<Explanation::Total> Explanation::by_mesh_dim() const {
  std::map<std::string, Total> totals;
  for (const ExplainedCall& call : calls) {
    for (const ExplainedMove& move : call.moves) {
      for (const ExplainedMove::MoveStep& step : move.steps) {
        Total& total = totals[step.mesh_dims];
        ++total.moves;
        total.bytes += step.bytes;
      }
    }
    if (call.kernel.most() > 0) {
      Total& total = totals["within kernels"];
      total.bytes.sent += call.kernel.sent;
      total.bytes.received += call.kernel.received;
    }
  }
  return sorted(totals);
}

std::vector<std::string> Explanation::worst_moves(size_t count) const {
  struct Entry {
    int64_t bytes;
    std::string text;
  };
  std::vector<Entry> entries;
  for (const ExplainedCall& call : calls) {
    for (const ExplainedMove& move : call.moves) {
      entries.push_back({move.bytes.most(), explanation_text::of_move(call, move)});
    }
    if (call.kernel.most() > 0) {
      entries.push_back({call.kernel.most(), explanation_text::of_kernel(call)});
    }
  }
  std::ranges::stable_sort(entries, std::greater{}, &Entry::bytes);
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(count, entries.size()); ++i) texts.push_back(entries[i].text);
  return texts;
}

}  // namespace phi
