// Every object that makes something hold while it lives: it holds in a second one within the first
// too, and what held before holds again behind each of them, the first time and the next.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "api/autograd/autograd.h"
#include "api/call/call_site.h"
#include "api/call/suppress_combines.h"
#include "api/call/traced_action.h"
#include "api/explain/check_numbers.h"
#include "api/generated/ops/full.h"
#include "api/nn/activation_scope.h"
#include "api/nn/layers/linear.h"
#include "api/nn/layers/sequential.h"
#include "distributed/comm/comm_annotation.h"
#include "distributed/comm/dry/dry_world.h"
#include "phi/autograd/grad_mode.h"
#include "phi/common/errors.h"
#include "phi/core/observer_scope.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/memory_ledger.h"
#include "phi/core/trace/trace.h"
#include "phi/tensor_api.h"

namespace phi {
namespace {

namespace fs = std::filesystem;
using distributed::CommAnnotation;
using distributed::DryWorld;
using distributed::World;

struct ScopeRow {
  std::string scope;  // "phi/common/errors.h OpScope"
  /// Makes number 1, 2, ..; what is made last goes first.
  std::function<std::shared_ptr<void>(int number)> enter;
  std::function<std::string()> seen;
  bool differs = true;  // number 2 shows another state than number 1
};

class Line final : public nn::Sequential {
 public:
  Line() { add<nn::Linear>("line", 1, 1); }
};

// What rows point to: number n of each.
struct Things {
  std::array<RankContext, 4> contexts = {RankContext(0, 4), RankContext(1, 4), RankContext(2, 4),
                                         RankContext(3, 4)};
  std::array<std::unique_ptr<DryWorld>, 4> worlds;
  std::array<Dims, 4> shapes = {Dims{}, Dims{1}, Dims{2}, Dims{3}};
  std::array<std::string, 4> names = {"zero", "one", "two", "three"};
  Trace trace{100};
  Line line;

  Things() {
    for (size_t i = 0; i < worlds.size(); ++i) {
      worlds[i] = std::make_unique<DryWorld>(static_cast<int64_t>(i), 4);
    }
  }
};

std::string text_of(const char* text) { return text ? text : "nothing"; }

std::vector<ScopeRow> rows_of(Things& things) {
  const auto at = [](int number) { return static_cast<size_t>(number); };
  return {
      {"phi/common/errors.h OpScope",
       [&, at](int n) { return std::make_shared<OpScope>(things.names[at(n)].c_str()); },
       [] { return text_of(OpScope::current()); }},
      {"api/call/call_site.h CallSite::Scope",
       [&, at](int n) {
         return std::make_shared<CallSite::Scope>(
             CallSite{things.names[at(n)].c_str(), "file", static_cast<uint32_t>(n)});
       },
       [] {
         const CallSite& now = CallSite::current();
         return fmt::format("{} {} {}", text_of(now.module), text_of(now.file), now.line);
       }},
      {"api/call/call_site.h CallSite::ReasonScope",
       [&, at](int n) {
         return std::make_shared<CallSite::ReasonScope>(things.names[at(n)].c_str());
       },
       [] { return text_of(CallSite::current().reason); }},
      {"api/call/suppress_combines.h SuppressCombines",
       [](int) { return std::make_shared<SuppressCombines>(); },
       [] { return fmt::format("{}", SuppressCombines::is_active()); }, false},
      {"phi/autograd/grad_mode.h GradMode",
       [](int n) { return std::make_shared<autograd::GradMode>(n % 2 == 0); },
       [] { return fmt::format("{}", autograd::grad_enabled()); }},
      {"NoGrad", [](int) { return std::make_shared<NoGrad>(); },
       [] { return fmt::format("{}", autograd::grad_enabled()); }, false},
      {"phi/core/storage/memory_ledger.h MemoryUseScope",
       [](int n) { return std::make_shared<MemoryUseScope>(MemoryUse::kMessages, n); },
       [] {
         const auto& [use, layer] = MemoryUseScope::current();
         return fmt::format("{} {}", static_cast<int>(use), layer);
       }},
      {"phi/core/rank_context.h RankWorkScope",
       [](int n) { return std::make_shared<RankWorkScope>(RankContext::current(), n, n + 10); },
       [] {
         const RankWork& work = RankContext::current().work();
         return fmt::format("{} {} {}", work.step, work.micro_batch, work.chunk);
       }},
      {"phi/core/rank_context.h Scope",
       [&, at](int n) { return std::make_shared<RankContext::Scope>(things.contexts[at(n)]); },
       [] { return fmt::format("{}", RankContext::current().rank()); }},
      {"distributed/comm/world.h Scope",
       [&, at](int n) { return std::make_shared<World::Scope>(*things.worlds[at(n)]); },
       [] { return fmt::format("{} {}", World::current().rank(), RankContext::current().rank()); }},
      {"distributed/comm/comm_annotation.h CommAnnotation",
       [&, at](int n) {
         return std::make_shared<CommAnnotation>(things.shapes[at(n)], DataType::FLOAT32, n % 2);
       },
       [] {
         const CommAnnotation* now = CommAnnotation::current();
         return now ? fmt::format("{} {}", now->shape().to_string(), now->number()) : "nothing";
       }},
      {"api/nn/module.h ForwardContextScope",
       [&](int n) {
         return std::make_shared<nn::ForwardContextScope>(
             things.line, nn::ForwardContext{.number = static_cast<uint64_t>(n)});
       },
       [&] { return fmt::format("{}", things.line.forward_context().number.value_or(0)); }},
      {"api/nn/activation_scope.h ActivationScope",
       [&](int n) {
         return std::make_shared<nn::ActivationScope>(
             things.line, [n](const nn::Module&, nn::ActivationSlot, const Tensor& x) {
               return full(x.shape(), n);
             });
       },
       [&] {
         return fmt::format("{}", things.line(full({1, 1}, 5)).item());
       }},
      {"TensorScope",
       [&](int n) {
         TensorList lent;
         for (const Tensor& own : things.line.tensors()) lent.push_back(full(own.shape(), n));
         return std::make_shared<nn::TensorScope>(things.line, lent);
       },
       [&] { return fmt::format("{}", things.line.parameters()[0].item()); }},
      {"Generator::Scope",
       [](int n) {
         return std::make_shared<Generator::Scope>(
             RankContext::current().generator(), GeneratorState{.seed = static_cast<uint64_t>(n)});
       },
       [] { return fmt::format("{}", RankContext::current().generator().state().seed); }},
      {"FirstNonfinite", [](int) { return std::make_shared<FirstNonfinite>(); },
       [] { return fmt::format("{}", RankContext::current().observers().any()); }, false},
      {"ObserverScope", [&](int) { return std::make_shared<ObserverScope>(things.trace); },
       [] { return fmt::format("{}", RankContext::current().observers().any()); }, false},
      {"api/call/traced_action.h TracedAction",
       [&, at](int n) { return std::make_shared<TracedAction>(things.names[at(n)].c_str()); },
       [] {
         const char* action = RankContext::current().action();
         return std::string(action ? action : "none");
       }},
      {"phi/core/observer_scope.h SuspendObservers",
       [](int) {
         auto suspended = std::make_shared<SuspendObservers>();
         ++RankContext::current().counters().ops_launched;
         return suspended;
       },
       [] { return fmt::format("{}", RankContext::current().counters().ops_launched); }},
  };
}

TEST(Scopes, HoldWithinEachOtherAndEnd) {
  Things things;
  for (const ScopeRow& row : rows_of(things)) {
    SCOPED_TRACE(row.scope);
    const std::string before = row.seen();
    std::string first;
    for (int time = 0; time < 2; ++time) {
      auto outer = row.enter(1);
      if (time == 0) first = row.seen();
      EXPECT_EQ(row.seen(), first);
      EXPECT_NE(first, before);
      for (const int number : {2, 3, 2}) {
        const auto inner = row.enter(number);
        const std::string within = row.seen();
        EXPECT_TRUE(number != 2 || (within != first) == row.differs);
        row.enter(1).reset();
        EXPECT_EQ(row.seen(), within);
      }
      EXPECT_EQ(row.seen(), first);
      outer.reset();
      EXPECT_EQ(row.seen(), before);
    }
  }
}

// Objects that say in their header what held before them.
std::set<std::string> scopes_in_headers() {
  std::set<std::string> found;
  const fs::path root = AUTOPHI_SOURCE_DIR;
  const std::regex declares("^ *class ([A-Za-z:]+)( final)?( :.*)? \\{$");
  const std::regex keeps("^ *[A-Za-z].* (outer_|before_);$");
  for (const char* folder : {"api", "phi", "distributed"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".h") continue;
      std::ifstream in(entry.path());
      std::string latest;
      std::smatch match;
      for (std::string line; std::getline(in, line);) {
        if (std::regex_match(line, match, declares)) latest = match[1];
        if (!std::regex_match(line, keeps)) continue;
        found.insert(fs::relative(entry.path(), root).string() + " " + latest);
      }
    }
  }
  return found;
}

TEST(Scopes, EachHasARow) {
  Things things;
  std::set<std::string> rows = {
      "phi/core/kernel_registry.h KernelClashes",  // only loading a library shows what it holds
      "api/call/write_journal.h Scope"};  // the outer one goes on noting: autograd_test nests them
  for (const ScopeRow& row : rows_of(things)) {
    if (row.scope.find(' ') != std::string::npos) rows.insert(row.scope);
  }
  EXPECT_EQ(scopes_in_headers(), rows);
}

}  // namespace
}  // namespace phi
