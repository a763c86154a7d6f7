// The engine on plain numbers: order, sums, captures, hooks, work put off.
#include "phi/autograd/engine.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>

namespace phi::autograd {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

struct Number {
  std::optional<double> value;
  bool defined() const { return value.has_value(); }
};
void accumulate(Number& sum, Number&& more) { *sum.value += *more.value; }

std::vector<std::string> trace;

/// Multiplies what arrives by a factor per edge.
class Scale final : public Node<Number> {
 public:
  Scale(const char* name, std::vector<std::pair<Edge<Number>, double>> inputs) : Node(name) {
    for (auto& [edge, factor] : inputs) {
      add_edge(edge);
      factors_.push_back(factor);
    }
  }
  int num_outputs() const override { return 1; }
  void run(std::span<Number> grads, const EdgeMask& wanted, std::span<Number> results) override {
    EXPECT_FALSE(released_) << name();
    std::string line = name();
    for (size_t i = 0; i < factors_.size(); ++i) {
      if (!wanted[i]) continue;
      line += std::to_string(i);
      results[i].value = *grads[0].value * factors_[i];
    }
    trace.push_back(line);
  }
  void release() override { released_ = true; }
  bool released() const { return released_; }

 private:
  std::vector<double> factors_;
  bool released_ = false;
};

class Leaf final : public Node<Number> {
 public:
  using Node::Node;
  int num_outputs() const override { return 1; }
  bool is_leaf() const override { return true; }
  void run(std::span<Number> grads, const EdgeMask&, std::span<Number>) override {
    trace.push_back(name());
    total += *grads[0].value;
  }
  void release() override {}
  double total = 0;
};

Edge<Number> edge(Node<Number>* node) { return {IntrusivePtr<Node<Number>>(node), 0}; }

// y = 2a, z = 3a + 5w, out = 7y + 11z
class Engine : public ::testing::Test {
 protected:
  Engine() { trace.clear(); }
  std::vector<Number> run(const BackwardOptions<Number>& options = {}, double seed = 1.0) {
    return run_backward<Number>({{edge(out), {seed}}}, options);
  }
  Leaf* a = new Leaf("a");
  Leaf* w = new Leaf("w");
  Edge<Number> keep_a = edge(a), keep_w = edge(w);
  Scale* y = new Scale("y", {{edge(a), 2}});
  Edge<Number> keep_y = edge(y);
  Scale* z = new Scale("z", {{edge(a), 3}, {edge(w), 5}});
  Edge<Number> keep_z = edge(z);
  Scale* out = new Scale("out", {{edge(y), 7}, {edge(z), 11}});
  Edge<Number> keep_out = edge(out);
};

TEST_F(Engine, SumsOverAllPaths) {
  run();
  EXPECT_THAT(a->total, DoubleEq(7 * 2 + 11 * 3));
  EXPECT_THAT(w->total, DoubleEq(11 * 5));
}

TEST_F(Engine, RunsLeavesAtOnceAndElseWhatWasRecordedLast) {
  run();
  EXPECT_THAT(trace, ElementsAre("out01", "z01", "w", "y0", "a"));
}

TEST_F(Engine, PassesAddUpInLeaves) {
  run({.retain_graph = true});
  run({}, 10.0);
  EXPECT_THAT(w->total, DoubleEq(11 * 55));
}

TEST_F(Engine, ReleasesUnlessTheGraphIsRetained) {
  run({.retain_graph = true});
  EXPECT_FALSE(z->released());
  run();
  EXPECT_TRUE(z->released());
}

TEST_F(Engine, CapturesComputeOnlyWhatLeadsToThem) {
  const auto grads = run({.captures = {edge(w), edge(z)}});
  EXPECT_THAT(*grads[0].value, DoubleEq(55));
  EXPECT_THAT(*grads[1].value, DoubleEq(11));
  EXPECT_EQ(w->total, 0);
  EXPECT_THAT(trace, ElementsAre("out1", "z1"));
}

TEST_F(Engine, HooksSeeTheSumAndReplaceIt) {
  std::vector<double> seen;
  a->add_hook(0, [&](const Number& grad) {
    seen.push_back(*grad.value);
    return Number{1000.0};
  });
  run();
  EXPECT_THAT(seen, ElementsAre(47));
  EXPECT_EQ(a->total, 1000);
}

TEST_F(Engine, PutsOffLeavesAndFinishesLater) {
  DeferredWork<Number> later;
  run({.defers = [&](const Node<Number>& leaf) { return &leaf == w; }, .deferred = &later});
  EXPECT_THAT(trace, ElementsAre("out01", "z0", "y0", "a"));
  EXPECT_EQ(w->total, 0);
  EXPECT_FALSE(z->released());
  trace.clear();
  later.run();
  EXPECT_THAT(trace, ElementsAre("z1", "w"));
  EXPECT_THAT(w->total, DoubleEq(55));
  EXPECT_TRUE(z->released());
  EXPECT_TRUE(later.empty());
}

TEST_F(Engine, NothingArrivesWhereNothingLeads) {
  Leaf* other = new Leaf("other");
  const auto keep = edge(other);
  const auto grads = run({.captures = {edge(other)}});
  EXPECT_FALSE(grads[0].defined());
}

TEST(EngineDepth, ALongChainNeitherRunsNorEndsByRecursion) {
  trace.clear();
  auto* leaf = new Leaf("leaf");
  const auto keep = edge(leaf);
  {
    Edge<Number> last = edge(leaf);
    for (int i = 0; i < 200'000; ++i) last = edge(new Scale("s", {{last, 1.0}}));
    run_backward<Number>({{last, {1.0}}}, {});
  }
  EXPECT_EQ(leaf->total, 1.0);
}

}  // namespace
}  // namespace phi::autograd
