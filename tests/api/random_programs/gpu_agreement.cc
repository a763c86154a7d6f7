// The same lives on the CPU and on GPUs, rank by rank.
#include "gpu_agreement.h"

#include <gtest/gtest.h>

#include "api/call/call_events.h"
#include "distributed/comm/local/local_world.h"
#include "lives.h"
#include "phi/core/observer_scope.h"
#include "tests/support/assign_gpu.h"

namespace phi::testing::programs {
namespace {

using distributed::World;

class Without final : public Observer {
 public:
  explicit Without(DataType dtype) : dtype_(dtype) {}
  void on_output(const KernelOutput& event) override {
    if (!has_gpu_kernels(event.op, dtype_)) names_.insert(event.op.name);
  }
  const std::set<std::string>& names() const { return names_; }

 private:
  DataType dtype_;
  std::set<std::string> names_;
};

// One way to run a case: plain, or on its meshes.
struct Ranks {
  const Case& test;
  const Site::Meshes* meshes;
  int64_t count;

  template <typename F>
  void each(const OnGpus& where, const F& f) const {
    distributed::run_ranks(
        count, [&](World& world) { f(world, static_cast<size_t>(world.rank())); }, where.deadline);
  }

  std::vector<Record> records(DeviceKind kind, Way way, const OnGpus& where) const {
    std::vector<Record> all(static_cast<size_t>(count));
    each(where, [&](World& world, size_t rank) {
      if (kind == DeviceKind::GPU)
        distributed::testing::assign_gpu(world, where.gpus, where.messages);
      all[rank] = live(test, meshes, way, /*graphs=*/count <= where.gpus);
    });
    return all;
  }
};

Ranks plain(const Case& test) { return {test, nullptr, 1}; }
Ranks on_meshes(const Case& test) { return {test, &test.meshes, test.world}; }

// How lives on GPUs are called, with those on meshes.
struct NamedWay {
  Way way;
  const char* plain;
  const char* on_meshes;
};
constexpr NamedWay kWays[] = {
    {Way::kCalled, "plain on a GPU", "on meshes of GPUs"},
    {Way::kCaptured, "captured on a GPU", "captured on meshes of GPUs"},
    {Way::kLimited, "limited on a GPU", "limited on meshes of GPUs"},
};

// Each way on GPUs beside the function itself on CPUs.
std::optional<Failure> difference_in(const char* NamedWay::*name, const Ranks& ranks,
                                     const OnGpus& where) {
  std::vector<Record> expected;
  for (const NamedWay& named : kWays) {
    if (named.way != Way::kCalled && !ranks.test.not_captured.empty()) break;
    const char* const way = named.*name;
    auto found = unless_no_view(failure_of(way, [&]() -> std::optional<Failure> {
      if (expected.empty()) expected = ranks.records(DeviceKind::CPU, Way::kCalled, where);
      const auto actual = ranks.records(DeviceKind::GPU, named.way, where);
      for (size_t rank = 0; rank < actual.size(); ++rank) {
        auto differs = as_failure(way, difference(actual[rank], expected[rank], /*rounded=*/true));
        if (!differs) continue;
        differs->text += fmt::format(" at rank {}", rank);
        return differs;
      }
      return std::nullopt;
    }));
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace

bool has_gpu_kernels(const OpDef& op, DataType dtype) {
  if (op.kernel.find(DeviceKind::CPU, dtype)) return op.kernel.find(DeviceKind::GPU, dtype);
  // It takes other dtypes: integers, or conditions.
  for (int other = 0; other < kNumDataTypes; ++other) {
    if (op.kernel.find(DeviceKind::GPU, static_cast<DataType>(other))) return true;
  }
  return false;
}

std::set<std::string> operators_without_gpu_kernels(const Case& test, const OnGpus& where) {
  std::set<std::string> names;
  for (const Ranks& ranks : {plain(test), on_meshes(test)}) {
    std::vector<Without> without(static_cast<size_t>(ranks.count), Without(test.dtype));
    try {
      ranks.each(where, [&](World& world, size_t rank) {
        const ObserverScope scope(without[rank], world.rank_context());
        live(test, ranks.meshes, Way::kCalled);
      });
    } catch (const Error& error) {
      if (!has_no_view(error.what())) throw;
    }
    for (const Without& rank : without) names.insert(rank.names().begin(), rank.names().end());
  }
  return names;
}

std::optional<Failure> disagreement_on_gpus(const Case& test, const OnGpus& where) {
  auto found = difference_in(&NamedWay::plain, plain(test), where);
  return found ? found : difference_in(&NamedWay::on_meshes, on_meshes(test), where);
}

void expect_agreement_on_gpus(const Case& test) {
  const auto found = disagreement_on_gpus(test, {});
  EXPECT_FALSE(found.has_value()) << found->to_string();
}

}  // namespace phi::testing::programs
