// Tries an operator on placements, and compares its gradients with finite differences.
#include "api/testing/check_op.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <random>

#include "api/testing/difference.h"
#include "api/testing/gradients.h"
#include "api/testing/place_input.h"
#include "api/testing/placement_choices.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"

namespace phi::testing {
namespace {

using distributed::ProcessMesh;

// ---- distributed and plain results ----

// The first failure that any rank finds among the choices, which ranks try in order.
class FirstFailure {
 public:
  void tell(size_t choice, std::string words) {
    const std::lock_guard lock(mutex_);
    if (choice >= choice_) return;
    choice_ = choice;
    words_ = std::move(words);
  }
  /// Whether this choice or an earlier one failed. Ranks ahead may have reported a later one.
  bool found_until(size_t choice) const {
    const std::lock_guard lock(mutex_);
    return choice_ <= choice;
  }
  /// Empty without a failure.
  const std::string& words() const { return words_; }

 private:
  mutable std::mutex mutex_;
  size_t choice_ = SIZE_MAX;
  std::string words_;
};

struct Meeting {
  ProcessMesh mesh;
  int ranks;  // total; some may be outside the mesh
};

std::vector<Meeting> meetings() {
  return {{ProcessMesh({2}, {"x"}, {1, 3}), 4},
          {ProcessMesh({3}, {"x"}), 3},
          {ProcessMesh({2, 2}, {"x", "y"}, {0, 1, 3, 4}), 5}};
}

struct ExpectedOutputs {
  const TensorFunction& call;
  const TensorList& inputs;
  const TensorList& expected;
  double tolerance;
  uint32_t seed;
};

// Compares output `i` on this rank; returns the difference as text.
std::string wrong_output(const Tensor& actual, const ExpectedOutputs& wanted, size_t i,
                         const ProcessMesh& mesh) {
  const Tensor& expected = wanted.expected[i];
  if (actual.defined() != expected.defined()) {
    return expected.defined() ? "is absent" : "is defined, but absent in one process";
  }
  if (!expected.defined()) return "";
  const bool here = mesh.contains(distributed::rank());
  if (!here && actual.nbytes_here() != 0) return "has bytes on a rank outside its mesh";
  const Tensor whole = distributed::reshard(actual, mesh, {});
  return here ? difference(whole.local(), expected, wanted.tolerance) : "";
}

std::string call_once(const ExpectedOutputs& wanted, const ProcessMesh& mesh,
                      const PlacementChoice& choice) {
  TensorList inputs;
  for (size_t i = 0; i < wanted.inputs.size(); ++i) {
    inputs.push_back(
        place_input(wanted.inputs[i], mesh, choice[i], wanted.seed + static_cast<uint32_t>(i)));
  }
  const TensorList actual = wanted.call(inputs);
  if (actual.size() != wanted.expected.size()) {
    return fmt::format("{} outputs, but {} in one process", actual.size(), wanted.expected.size());
  }
  std::string first;
  for (size_t i = 0; i < actual.size(); ++i) {
    const std::string wrong = wrong_output(actual[i], wanted, i, mesh);
    if (first.empty() && !wrong.empty()) first = fmt::format("output {} {}", i, wrong);
  }
  return first;
}

// Tries choices until one fails on some rank. Returns the number tried.
int64_t try_choices(const std::string& name, const ExpectedOutputs& wanted, const Meeting& meeting,
                    const std::vector<PlacementChoice>& choices, FirstFailure& failure) {
  size_t tried = 0;  // on rank 0
  const auto question = [&](size_t choice) {
    return fmt::format("{} {} on {}", name, to_string(choices[choice]), meeting.mesh.to_string());
  };
  try {
    distributed::run_ranks(meeting.ranks, [&](distributed::World& world) {
      for (size_t n = 0; n < choices.size(); ++n) {
        if (world.rank() == 0) tried = n + 1;
        const std::string wrong = call_once(wanted, meeting.mesh, choices[n]);
        if (!wrong.empty()) {
          failure.tell(n, fmt::format("{}, rank {}: {}", question(n), world.rank(), wrong));
        }
        world.everyone().barrier();  // then every rank sees failures of this choice
        if (failure.found_until(n)) return;
      }
    });
  } catch (const Error& error) {
    failure.tell(tried - 1, fmt::format("{}: {}", question(tried - 1), error.what()));
  }
  return static_cast<int64_t>(tried);
}

int64_t try_everywhere(const OpCase& test, const std::string& name, const TensorFunction& call,
                       const CheckOptions& options, std::vector<std::string>& failures) {
  std::mt19937 rng(options.seed);
  const TensorList expected = call(test.inputs);
  const ExpectedOutputs wanted{call, test.inputs, expected, test.tolerance, options.seed};
  int64_t tried = 0;
  for (const Meeting& meeting : meetings()) {
    FirstFailure failure;
    const auto choices =
        placement_choices(test.inputs, meeting.mesh.ndim(), test.partial, options.placements, rng);
    tried += try_choices(name, wanted, meeting, choices, failure);
    if (!failure.words().empty()) failures.push_back(failure.words());
  }
  return tried;
}

// Makes every run draw the same random numbers, so that calls without a seed can be compared.
TensorFunction drawing_alike(const TensorFunction& call) {
  return [call, state = RankContext::current().generator().state()](const TensorList& in) {
    const Generator::Scope drawing(RankContext::current().generator(), state);
    return call(in);
  };
}

// ---- gradients ----

bool is_differentiable(const OpCase& test) {
  return test.gradients && !track_outputs(test.call, with_gradients(test.inputs)).outputs.empty();
}

void try_gradients(const OpCase& test, const CheckOptions& options, OpReport& report) {
  const TensorFunction call = [&test](const TensorList& in) { return gradients(test.call, in); };
  report.gradient_calls =
      try_everywhere(test, test.name + "'s gradient", call, options, report.failures);
  if (!test.smooth) return;
  const DifferenceCheck slopes = compare_with_differences(test.call, test.inputs);
  report.differences = slopes.compared;
  if (!slopes.wrong.empty()) report.failures.push_back(test.name + ": " + slopes.wrong);
}

}  // namespace

OpReport try_op(const OpCase& given, const CheckOptions& options) {
  OpReport report;
  OpCase test = given;
  test.call = drawing_alike(given.call);
  try {
    report.calls = try_everywhere(test, test.name, test.call, options, report.failures);
    if (is_differentiable(test)) try_gradients(test, options, report);
  } catch (const Error& error) {
    report.failures.push_back(fmt::format("{} in one process: {}", test.name, error.what()));
  }
  return report;
}

std::string OpReport::to_string() const {
  if (!failures.empty()) {
    return fmt::format("{} of {} calls and gradients on meshes, or finite differences, disagree",
                       failures.size(), calls + gradient_calls);
  }
  std::string text = fmt::format("{} calls", calls);
  if (gradient_calls > 0) text += fmt::format(" and {} gradients", gradient_calls);
  text += " on meshes agree with one process";
  if (differences > 0) {
    text += fmt::format(", {} gradient elements with finite differences", differences);
  }
  return text;
}

OpReport check_op(const OpCase& test, const CheckOptions& options) {
  OpReport report = try_op(test, options);
  PHI_CHECK(report.failures.empty(),
            errors::Internal("{} (seed {}):\n  {}", test.name, options.seed,
                             fmt::join(report.failures, "\n  ")));
  return report;
}

}  // namespace phi::testing
