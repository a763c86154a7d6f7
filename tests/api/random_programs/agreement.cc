// The ways, one after the other.
#include "agreement.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "differences.h"
#include "distributed/comm/local/local_world.h"
#include "lives.h"

namespace phi::testing::programs {
namespace {

using Milliseconds = distributed::World::Milliseconds;

std::optional<Failure> slopes_disagree(const Case& test) {
  TensorList leaves;
  for (size_t i = 0; i < test.inputs.size() + test.parameters.size(); ++i) {
    const bool is_input = i < test.inputs.size();
    const size_t number = is_input ? i : i - test.inputs.size();
    leaves.push_back(make_given(test, is_input ? test.inputs[number] : test.parameters[number],
                                static_cast<int>(is_input ? number : 100 + number), 0, nullptr));
  }
  Differences differences(leaves);
  for (int which = 0; which < 3; ++which) {
    // The function may write to them.
    const TensorList all = differences.begin(which);
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(test.inputs.size());
    Site site(differences);
    test.function(site, TensorList(all.begin(), middle), TensorList(middle, all.end()));
  }
  const std::string found = differences.disagreement();
  if (found.empty()) return std::nullopt;
  return Failure{"finite differences", "slope", found};
}

// Errors say in which life they rose.
template <typename F>
Record noted(const char* way, const F& f) {
  try {
    return f();
  } catch (Error& error) {
    error.note(fmt::format("({} on meshes)", way));
    throw;
  }
}

// The lives of one rank.
struct Lives {
  Record called;
  std::optional<Record> captured;
  std::optional<Record> limited;
};

Lives live_all(const Case& test, const Site::Meshes* meshes) {
  Lives lives;
  lives.called = live(test, meshes, Way::kCalled);
  if (!test.not_captured.empty()) return lives;
  lives.captured = noted("captured", [&] { return live(test, meshes, Way::kCaptured); });
  lives.limited = noted("limited", [&] { return live(test, meshes, Way::kLimited); });
  return lives;
}

std::optional<Failure> captures_differ(const Lives& lives, bool rounded) {
  if (!lives.captured) return std::nullopt;
  if (auto found = difference(*lives.captured, lives.called, rounded)) {
    return as_failure("captured on meshes", found);
  }
  return as_failure("limited on meshes", difference(*lives.limited, lives.called, rounded));
}

std::optional<Failure> meshes_disagree(const Case& test, const Record& expected,
                                       Milliseconds deadline) {
  std::vector<Lives> lives(static_cast<size_t>(test.world));
  distributed::run_ranks(
      test.world,
      [&](distributed::World& world) {
        lives[static_cast<size_t>(world.rank())] = live_all(test, &test.meshes);
      },
      deadline);
  for (size_t rank = 0; rank < lives.size(); ++rank) {
    const Lives& here = lives[rank];
    std::optional<Failure> found;
    if (!test.reads_aliases) {
      found = as_failure("on meshes", difference_of_parts(here.called, expected));
    }
    if (!found) found = captures_differ(here, !test.is_bitwise);
    if (!found) continue;
    found->text += fmt::format(" at rank {}", rank);
    return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Failure> disagreement(const Case& test, Milliseconds deadline) {
  Record called;
  const auto compared = [&](const char* way, Way how) {
    return failure_of(way, [&] {
      return as_failure(way, difference(live(test, nullptr, how), called, !test.is_bitwise));
    });
  };
  auto found = failure_of("plain", [&]() -> std::optional<Failure> {
    called = live(test, nullptr, Way::kCalled);
    return std::nullopt;
  });
  if (!found && test.is_smooth) {
    found = failure_of("finite differences", [&] { return slopes_disagree(test); });
  }
  if (!found && test.not_captured.empty()) found = compared("captured", Way::kCaptured);
  if (!found && test.not_captured.empty()) found = compared("limited", Way::kLimited);
  if (!found && !test.meshes.empty()) {
    found = unless_no_view(
        failure_of("on meshes", [&] { return meshes_disagree(test, called, deadline); }));
  }
  return found;
}

void expect_agreement(const Case& test) {
  const auto found = disagreement(test);
  EXPECT_FALSE(found.has_value()) << found->to_string();
}

}  // namespace phi::testing::programs
