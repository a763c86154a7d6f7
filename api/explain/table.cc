// An explanation as a text table; equal calls share a row with their count.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "api/explain/explanation.h"
#include "api/explain/explanation_text.h"

namespace phi {
namespace {

using namespace explanation_text;

// Calls that differ only in micro-batch, bytes and time.
struct TableRow {
  const ExplainedCall* call;
  int64_t count = 0;
  std::vector<MovedBytes> moves;  // sums over these calls, by move of the call
  MovedBytes kernel;
};

std::string tensor_text(const ExplainedCall::Argument& x) {
  if (x.meta.dtype == DataType::UNDEFINED) return x.name + " absent";
  std::string text =
      fmt::format("{} {} {}", named(x.name, x.value), x.meta.to_string(), placements(x.attr));
  if (x.wanted && x.wanted != x.attr) text += fmt::format(" as {}", placements(x.wanted));
  return text;
}

std::string header_of(const ExplainedCall& call) {
  std::vector<std::string> parts;
  const std::string where = call.where();
  parts.push_back(where.empty() ? "outside of any module" : where);
  if (!call.action.empty()) parts.push_back(call.action);
  if (call.layout) parts.push_back("on " + call.layout->mesh().to_string());
  if (!call.computes_here) parts.push_back("computed on other ranks");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string title_of(const ExplainedCall& call) {
  if (call.is_move) return fmt::format("{} outside of calls", call.op);
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  for (const auto& x : call.inputs) inputs.push_back(tensor_text(x));
  for (const auto& x : call.outputs) outputs.push_back(tensor_text(x));
  return fmt::format("{} ({}) -> {}", call.op, fmt::join(inputs, ", "), fmt::join(outputs, ", "));
}

std::string key_of(const ExplainedCall& call) {
  std::string key = header_of(call) + "|" + title_of(call);
  for (const auto& x : call.inputs) key += "|" + x.reason;
  for (const ExplainedMove& move : call.moves) {
    key += "|" + named(move.tensor, move.value) + change(move) + steps(move) + move.reason;
  }
  return key;
}

std::vector<TableRow> rows_of(const std::vector<ExplainedCall>& calls) {
  std::vector<TableRow> rows;
  std::unordered_map<std::string, size_t> known;
  for (const ExplainedCall& call : calls) {
    const auto [at, is_new] = known.try_emplace(key_of(call), rows.size());
    if (is_new) rows.push_back({&call, 0, std::vector<MovedBytes>(call.moves.size()), {}});
    TableRow& row = rows[at->second];
    ++row.count;
    for (size_t i = 0; i < call.moves.size(); ++i) row.moves[i] += call.moves[i].bytes;
    row.kernel += call.kernel;
  }
  return rows;
}

class Table {
 public:
  explicit Table(bool with_times) : with_times_(with_times) {}

  std::string text(const Explanation& explanation) {
    for (const TableRow& row : rows_of(explanation.calls)) add(row);
    add_totals(explanation);
    return std::move(out_);
  }

 private:
  std::string timed(const MovedBytes& moved) const {
    return with_times_ ? fmt::format("{}, {}", bytes(moved), time(moved.nanoseconds))
                       : bytes(moved);
  }

  void add(const TableRow& row) {
    const std::string header = header_of(*row.call);
    if (header != header_) out_ += fmt::format("\n{}\n", header_ = header);
    const std::string count = row.count == 1 ? "" : fmt::format("{}x ", row.count);
    out_ += fmt::format("  {}{}", count, title_of(*row.call));
    if (with_times_ && !row.call->is_move) out_ += "  " + time(row.kernel.nanoseconds);
    out_ += "\n";
    for (size_t i = 0; i < row.moves.size(); ++i) add_move(row.call->moves[i], row.moves[i]);
    if (row.kernel.most() > 0) out_ += fmt::format("    its kernel: {}\n", bytes(row.kernel));
    for (const auto& out : row.call->outputs) {
      if (!out.reason.empty()) out_ += fmt::format("    {} is {}\n", out.name, out.reason);
    }
  }

  void add_move(const ExplainedMove& move, const MovedBytes& bytes) {
    out_ += fmt::format(
        "    {}{}: {}; {}\n",
        named(move.tensor, move.value).empty() ? "" : named(move.tensor, move.value) + " ",
        change(move), steps(move), timed(bytes));
    if (!move.reason.empty()) out_ += fmt::format("      because {}\n", move.reason);
  }

  void add_totals(const Explanation& explanation) {
    const MovedBytes all = explanation.moved();
    out_ += fmt::format("\n{} calls here, {} of other ranks; {} reshards; {}\n",
                        explanation.calls.size(), explanation.calls_elsewhere,
                        explanation.num_moves(), timed(all));
    add_list("by op", explanation.by_op());
    add_list("by mesh dim", explanation.by_mesh_dim());
  }

  void add_list(const char* title, const std::vector<Explanation::Total>& totals) {
    if (totals.empty()) return;
    out_ += fmt::format("{}:\n", title);
    for (const Explanation::Total& total : totals) {
      const std::string calls = total.calls > 0 ? fmt::format("{} calls, ", total.calls) : "";
      out_ += fmt::format("  {:<28} {}{} {}; {}\n", total.name, calls, total.moves,
                          total.calls > 0 ? "reshards" : "steps", timed(total.bytes));
    }
  }

  const bool with_times_;
  std::string header_;
  std::string out_;
};

}  // namespace

std::string Explanation::text(bool with_times) const {
  return Table(with_times && !is_dry).text(*this);
}

}  // namespace phi
