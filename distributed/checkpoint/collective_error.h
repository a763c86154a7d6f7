// Steps in which all ranks of a job succeed, or fail with the same error.
//
//   if (auto error = run_on_all_ranks(world, [&] { part.finish(); })) throw *error;
#pragma once

#include <exception>
#include <optional>

#include "distributed/comm/world.h"
#include "phi/common/errors.h"

namespace phi::distributed::checkpoint {

/// Combines the ranks' errors; `own` is this rank's. Returns the same value on every rank: nullopt,
/// or the error of the first rank that has one ("rank 2: ..."). Errors: those of the collectives.
std::optional<Error> first_error(World& world, const std::optional<Error>& own);

/// Runs `work` on every rank, waits for all ranks, and returns first_error.
template <typename F>
std::optional<Error> run_on_all_ranks(World& world, F&& work) {
  std::optional<Error> own;
  try {
    work();
  } catch (const Error& error) {
    own = error;
  } catch (const std::exception& error) {
    own = errors::Internal("{}", error.what());
  }
  return first_error(world, own);
}

}  // namespace phi::distributed::checkpoint
