// check_numbers: finds the operator that first produces a value that is not finite, and its rank.
//
//   check_numbers([&] { trainer.step(batches); });
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/call/call_events.h"
#include "phi/core/observer_scope.h"

namespace phi {

/// The finding of one rank, in a form that can be gathered.
struct Finding {
  /// Position in the program, comparable between ranks.
  int64_t order = std::numeric_limits<int64_t>::max();
  std::array<char, 504> text{};

  void set(int64_t at, const std::string& what);
};
/// The earliest finding of all ranks, with its rank. Collective over the job.
std::optional<std::pair<int64_t, std::string>> earliest(const Finding& own);

/// "has a number that is not finite, element 3 of f32[4]", or nothing. The array must be computed
/// by this rank or readable.
std::optional<std::string> nonfinite_in(const DenseTensor& array);

/// Observes the calling rank during its lifetime and keeps the first output that is not finite.
/// Every rank passes every operator of the program, clipped ones included, so positions are
/// comparable between ranks.
class FirstNonfinite final : public Observer {
 public:
  FirstNonfinite();

  void on_call_begin(const CallBegin& event) override;
  void on_decision(const CallDecision& event) override;
  void on_output(const KernelOutput& event) override;
  void on_call_end(const CallEnd& event) noexcept override;
  const Finding& finding() const { return finding_; }

 private:
  int64_t now() const;
  std::string placements_of(const DenseTensor& output) const;

  RankContext& context_;
  const int64_t start_;
  std::vector<const Decision*> decisions_;  // of open calls; null: not decided yet
  Finding finding_;
  const ObserverScope scope_;
};

/// Runs f once. `step` is the step of the job, for the message; 0: none.
///
/// Ranks    Collective over the job; all ranks throw the same error.
/// Errors   NotFinite if an operator of f produced an infinity or NaN on any rank. The message
///          names op, rank, step, micro-batch, placements and module of the first one. Otherwise
///          errors of f. Operators that produce such values on purpose, such as a mask of minus
///          infinities, are reported too.
void check_numbers(const std::function<void()>& f, int64_t step = 0);

}  // namespace phi
