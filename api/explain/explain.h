// Explaining a piece of a program: why its calls take the placements that they take, what is moved
// for them, and how long that takes.
//
//   const Explanation explanation = explain([&] { y = phi::matmul(x, w); });
//   std::cout << explanation.to_string();
//   expect_moves([&] { y = phi::matmul(x, w); }, {.bytes_at_most = 0});
//
// What is explained runs as it would otherwise: with the same results, messages and memory.
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

/// Names for tensors that calls are given, as nn::Module::named_parameters() has them.
using TensorNames = std::vector<std::pair<std::string, Tensor>>;

/// Runs f once and tells what its calls did on this rank: forward, backward, optimizer, reshards
/// and what goes between stages.
///
/// Ranks    every rank calls it that would call f, and gets its own rows.
/// Captures a captured program that f runs makes no calls: what it does is not told of.
/// Errors   those of f; PreconditionNotMet where this rank is being explained or captured already.
Explanation explain(const std::function<void()>& f, const TensorNames& names = {});

/// What may be moved. Nothing said: as much as is needed.
struct MoveBudget {
  /// That any one rank sends or receives in reshards and within kernels, the larger of both ways.
  std::optional<int64_t> bytes_at_most = std::nullopt;
  /// Reshards of any one rank, those that only cut or copy on the rank itself included.
  std::optional<int64_t> reshards_at_most = std::nullopt;
};

/// Runs f once, for tests of layouts.
///
/// Ranks    collective over the job; all ranks get the same error.
/// Errors   those of f; PreconditionNotMet where a rank is over the budget: it lists the worst
///          moves of the rank that is furthest over it, with op, tensor, from where to where, bytes
///          and reason.
void expect_moves(const std::function<void()>& f, const MoveBudget& budget,
                  const TensorNames& names = {});

}  // namespace phi
