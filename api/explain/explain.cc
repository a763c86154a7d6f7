// Explains a function, and checks budgets of moves.
#include "api/explain/explain.h"

#include <fmt/format.h>

#include <array>

#include "api/explain/all_ranks.h"
#include "api/explain/explainer.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"

namespace phi {

Explanation explain(const std::function<void()>& f, const TensorNames& names) {
  Explainer explainer(names);
  f();
  return explainer.take();
}

namespace {

constexpr size_t kShown = 5;  // moves in a message

// Counts that ranks exchange; all ranks then report the same error.
struct MoveCount {
  int64_t bytes = 0;
  int64_t reshards = 0;
};

std::vector<MoveCount> counts_of_all(const MoveCount& own) {
  distributed::World& world = distributed::World::current();
  std::vector<MoveCount> all(world.transfers_data() ? static_cast<size_t>(world.size()) : 1, own);
  if (all.size() > 1) world.everyone().all_gather(&own, all.data(), 2, DataType::INT64);
  return all;
}

// The rank that exceeds the budget most; nothing if none does.
std::optional<size_t> worst_of(const std::vector<MoveCount>& counts, const MoveBudget& budget) {
  std::optional<size_t> worst;
  for (size_t rank = 0; rank < counts.size(); ++rank) {
    const MoveCount& count = counts[rank];
    const bool over = (budget.bytes_at_most && count.bytes > *budget.bytes_at_most) ||
                      (budget.reshards_at_most && count.reshards > *budget.reshards_at_most);
    const auto more = [&](const MoveCount& other) {
      return count.bytes != other.bytes ? count.bytes > other.bytes
                                        : count.reshards > other.reshards;
    };
    if (over && (!worst || more(counts[*worst]))) worst = rank;
  }
  return worst;
}

std::string in_words(const MoveBudget& budget) {
  std::string out;
  if (budget.bytes_at_most) out += fmt::format("{} bytes", *budget.bytes_at_most);
  if (budget.reshards_at_most) {
    out += fmt::format("{}{} reshards", out.empty() ? "" : " and ", *budget.reshards_at_most);
  }
  return out;
}

}  // namespace

void expect_moves(const std::function<void()>& f, const MoveBudget& budget,
                  const TensorNames& names) {
  const Explanation own = explain(f, names);
  const std::vector<MoveCount> counts = counts_of_all({own.moved().most(), own.num_moves()});
  const auto worst = worst_of(counts, budget);
  if (!worst) return;
  std::string moves;
  for (const std::string& move : own.worst_moves(kShown)) moves += "\n  " + move;
  const std::vector<std::string> texts = gathered_texts(moves);
  const int64_t rank = counts.size() > 1 ? static_cast<int64_t>(*worst) : own.rank;
  throw errors::PreconditionNotMet(
      "rank {} moves {} bytes in {} reshards, but at most {} are expected. Its largest reshards:{}",
      rank, counts[*worst].bytes, counts[*worst].reshards, in_words(budget), texts[*worst]);
}

}  // namespace phi
