// explain: shows why the calls of a piece of a program have their placements, what is moved for
// them, and how long that takes.
//
//   const Explanation explanation = explain([&] { y = phi::matmul(x, w); });
//   std::cout << explanation.to_string();
//   expect_moves([&] { y = phi::matmul(x, w); }, {.bytes_at_most = 0});
//
// Explaining changes no results, messages or memory of the program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/explain/explanation.h"
#include "api/tensor/tensor.h"

namespace phi {

/// Names for tensors that calls receive, as returned by nn::Module::named_parameters().
using TensorNames = std::vector<std::pair<std::string, Tensor>>;

/// Runs f once and returns what its calls did on this rank: forward, backward, optimizer, reshards
/// and transfers between stages.
///
/// Ranks     Every rank that would call f calls it, and gets its own rows.
/// Captures  A captured program that f runs makes no calls, so it does not appear.
/// Nesting   f may explain or check parts of itself, and may itself be explained or checked.
/// Errors    Those of f.
Explanation explain(const std::function<void()>& f, const TensorNames& names = {});

/// Limits on moves. Fields without a value are unlimited.
struct MoveBudget {
  /// Bytes that a rank sends or receives in reshards and within kernels, whichever is larger.
  std::optional<int64_t> bytes_at_most = std::nullopt;
  /// Number of reshards of a rank, including those that only slice or copy locally.
  std::optional<int64_t> reshards_at_most = std::nullopt;
};

/// Runs f once and checks a budget, for tests of layouts.
///
/// Ranks    Collective over the job; all ranks throw the same error.
/// Errors   Those of f; PreconditionNotMet if a rank exceeds the budget. The message lists the
///          worst moves of the rank that exceeds it most, with op, tensor, source and destination
///          placements, bytes and reason.
void expect_moves(const std::function<void()>& f, const MoveBudget& budget,
                  const TensorNames& names = {});

}  // namespace phi
