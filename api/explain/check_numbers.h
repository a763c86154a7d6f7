// The first number of a step that is not finite: which operator gives it, and where.
//
//   check_numbers([&] { trainer.step(batches); });
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/call/call_recorder.h"
#include "phi/core/output_watch.h"

namespace phi {

class Listening;

/// What one rank found, told to all.
struct Finding {
  int64_t order = std::numeric_limits<int64_t>::max();  // in the program, which all ranks share
  std::array<char, 504> text{};

  void set(int64_t at, const std::string& what);
};
/// The earliest of all ranks', with the rank. Collective over the job.
std::optional<std::pair<int64_t, std::string>> earliest(const Finding& own);

/// "has a number that is not finite, element 3 of f32[4]", or nothing; of an array that this rank
/// has computed or can read.
std::optional<std::string> nonfinite_in(const DenseTensor& array);

/// Keeps the first output that is not finite of what the calling rank computes while it lives.
/// Every rank comes past every operator of the program, whether it runs it or another rank does, so
/// their numbers can be compared.
class FirstNonfinite final : public OutputWatch, public CallRecorder {
 public:
  FirstNonfinite();
  ~FirstNonfinite() override;
  FirstNonfinite(const FirstNonfinite&) = delete;
  FirstNonfinite& operator=(const FirstNonfinite&) = delete;

  void wrote(const OpDef& op, const DenseTensor& output) override;
  std::unique_ptr<RecordedCall> begin(const OpDef& op, const CallSlots& inputs) override;
  void used(const Tensor&) override {}
  void alias(const Tensor&, const Tensor&) override {}
  const Finding& finding() const { return finding_; }

 private:
  class CallOf;
  int64_t now() const;
  std::string placements_of(const DenseTensor& output) const;

  RankContext& context_;
  const int64_t start_;
  OutputWatch* const outer_;
  std::unique_ptr<Listening> listening_;    // null: another listens, and placements are not known
  std::vector<const Decision*> decisions_;  // of calls that are open; null: not decided
  Finding finding_;
};

/// Runs f once. `step`: of the job, for the message; 0: none.
///
/// Ranks    collective over the job; all ranks get the same error.
/// Errors   NotFinite if an operator of f gave a number that is infinite or not a number, on
///          whatever rank first: it names op, rank, step, micro-batch, placements and module. Else
///          those of f. Operators that give such numbers by intent (a mask of minus infinities) are
///          found too.
void check_numbers(const std::function<void()>& f, int64_t step = 0);

}  // namespace phi
