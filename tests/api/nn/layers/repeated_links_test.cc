// Repeated links that differ: a captured program, with and without recomputation, gives what the
// loop gives, and shares a body where it can.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "api/generated/ops/add.h"
#include "api/generated/ops/dropout.h"
#include "api/generated/ops/gaussian.h"
#include "api/generated/ops/mean.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/tanh.h"
#include "api/nn/layers/batch_norm.h"
#include "api/nn/layers/sequential.h"
#include "api/nn/layout/layout.h"
#include "api/nn/layout/shard.h"
#include "distributed/api.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"
#include "tests/support/rank_launcher.h"

namespace phi::nn {
namespace {

using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::World;
using distributed::testing::on_ranks;

constexpr int64_t kWidth = 4;

// A link with a parameter, a buffer and an attribute; what it computes is the test's.
class Link final : public Layer {
 public:
  using Function = std::function<Tensor(const Link&, const Tensor&)>;
  Link(double first, Tensor state, double number, Function f)
      : w(parameter("w", {kWidth}, constant(first))),
        s(buffer("s", std::move(state))),
        a(number),
        function(std::move(f)) {}
  Tensor forward(const Tensor& x) const override { return function(*this, x); }

  const Tensor& w;
  const Tensor& s;
  const double a;
  Tensor held = {};
  const Function function;
};

Tensor filled(const Dims& shape, double value) {
  return Tensor::from(
      std::vector<float>(static_cast<size_t>(shape.numel()), static_cast<float>(value)), shape);
}

using Links = std::vector<std::shared_ptr<Layer>>;

Links links_of(size_t count, const Link::Function& f) {
  Links links;
  for (size_t i = 0; i < count; ++i) {
    const auto n = static_cast<double>(i);
    links.push_back(
        std::make_shared<Link>(0.5 + n / 8, filled({kWidth}, 0.5 + n / 4), 1 + n / 2, f));
  }
  return links;
}

struct Net final : Sequential {
  explicit Net(Links links) {
    append_repeated("block", std::move(links));
    for (Tensor parameter : parameters()) parameter.set_requires_grad();
  }
};

using Make = std::function<Links()>;
/// Changes a net before it runs.
using Change = std::function<void(Net&)>;

std::vector<float> values_of(const Tensor& x) {
  return x.defined() ? x.to_vector<float>() : std::vector<float>{};
}

TensorList step(const Net& net, const Tensor& x) {
  const Tensor y = net(x);
  TensorList out = {mean(square(y)), y};
  TensorList trained;
  for (const Tensor& parameter : net.parameters()) {
    if (parameter.requires_grad()) trained.push_back(parameter);
  }
  if (y.requires_grad() && !trained.empty()) {
    for (Tensor& gradient : grad({out[0]}, trained)) out.push_back(std::move(gradient));
  }
  return out;
}

std::vector<std::vector<float>> all_values(const Net& net, const TensorList& results) {
  std::vector<std::vector<float>> all;
  for (const Tensor& x : results) all.push_back(values_of(x.defined() ? x.detach() : x));
  for (const auto& [name, value] : net.named_buffers()) all.push_back(values_of(value));
  return all;
}

Tensor input(const Dims& shape = {3, kWidth}) { return gaussian(shape, 0.0f, 1.0f, 11); }

/// Two steps captured, recomputed and both have the bits of two steps of the loop, buffers too.
/// Returns the bodies of the captured program.
size_t expect_as_loop(const Make& make, const Change& change = {}, const Tensor& x = input()) {
  const auto made = [&](Recompute recompute) {
    auto net = std::make_unique<Net>(make());
    if (change) change(*net);
    net->set_recompute(recompute);
    return net;
  };
  const auto loop = made(Recompute::kNone);
  std::vector<std::vector<std::vector<float>>> expected;
  for (int i = 0; i < 2; ++i) expected.push_back(all_values(*loop, step(*loop, x)));
  size_t bodies = 0;
  for (const Recompute recompute : {Recompute::kNone, Recompute::kFull}) {
    SCOPED_TRACE(recompute == Recompute::kFull ? "recomputed" : "kept");
    const auto eager = made(recompute);
    const auto captured = made(recompute);
    const Program program =
        capture([&](const TensorList& in) { return step(*captured, in[0]); }, {x});
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(all_values(*eager, step(*eager, x)), expected[i]) << "step " << i;
      EXPECT_EQ(all_values(*captured, program.run({x})), expected[i]) << "captured step " << i;
    }
    if (recompute == Recompute::kNone) bodies = program.bodies().size();
  }
  return bodies;
}

Tensor scaled_link(const Link& link, const Tensor& x) {
  return multiply(multiply(x, link.w), link.s);
}

TEST(RepeatedLinks, EachHasItsOwnBuffer) {
  EXPECT_EQ(expect_as_loop([] { return links_of(3, scaled_link); }), 2u);
}

TEST(RepeatedLinks, AttributesThatDifferAreSeen) {
  const auto f = [](const Link& link, const Tensor& x) {
    return scale(multiply(x, link.w), link.a);
  };
  EXPECT_EQ(expect_as_loop([&] { return links_of(3, f); }), 0u);
  const auto zeros = [&] {
    Links links;
    for (const double a : {0.0, -0.0}) {
      links.push_back(std::make_shared<Link>(1.0, filled({kWidth}, 1), a, f));
    }
    return links;
  };
  EXPECT_EQ(expect_as_loop(zeros), 0u);
}

TEST(RepeatedLinks, EqualAttributesShareABody) {
  const auto f = [](const Link& link, const Tensor& x) {
    return scale(multiply(x, link.w), link.a);
  };
  const auto make = [&] {
    Links links;
    for (const double a : {2.0, 2.0, 3.0, 3.0, 3.0, 4.0}) {
      links.push_back(std::make_shared<Link>(1.0, filled({kWidth}, 1), a, f));
    }
    return links;
  };
  EXPECT_EQ(expect_as_loop(make), 4u);  // two pairs of forward and backward
}

TEST(RepeatedLinks, WhatIsWrittenToABufferIsTheLinksOwnAndWrittenOnce) {
  const auto make = [] {
    return links_of(3, [](const Link& link, const Tensor& x) {
      Tensor y = multiply(multiply(x, link.w), add(link.s, link.s));
      Tensor state = link.s;
      scale_(state, 2.0, 1.0f);
      return y;
    });
  };
  EXPECT_EQ(expect_as_loop(make), 0u);
}

TEST(RepeatedLinks, ThroughAnotherHandleToo) {
  const auto make = [] {
    return links_of(3, [](const Link& link, const Tensor& x) {
      Tensor y = multiply(tanh(multiply(x, link.w)), add(link.s, link.s));
      Tensor state = link.s.detach();
      scale_(state, 2.0, 1.0f);
      return y;
    });
  };
  EXPECT_EQ(expect_as_loop(make), 0u);
}

TEST(RepeatedLinks, EachDrawsTheSeedThatItLeavesOut) {
  const auto f = [](const Link& link, const Tensor& x) { return multiply(dropout(x), link.w); };
  for (const Recompute recompute : {Recompute::kNone, Recompute::kFull}) {
    Net net(links_of(3, f));
    net.set_recompute(recompute);
    const Tensor x = input();
    const Program program = capture([&](const TensorList& in) { return step(net, in[0]); }, {x});
    EXPECT_EQ(program.bodies().size(), 0u);
    seed(5);
    const auto first = all_values(net, step(net, x)), second = all_values(net, step(net, x));
    EXPECT_NE(first, second);
    seed(5);
    EXPECT_EQ(all_values(net, program.run({x})), first);
    EXPECT_EQ(all_values(net, program.run({x})), second);
  }
}

TEST(RepeatedLinks, FrozenOnes) {
  const Make make = [] { return links_of(5, scaled_link); };
  const auto frozen = [](std::vector<size_t> which) {
    return [which](Net& net) {
      TensorList parameters = net.parameters();
      for (const size_t i : which) parameters[i].set_requires_grad(false);
    };
  };
  EXPECT_EQ(expect_as_loop(make, frozen({0})), 2u);     // the first; four
  EXPECT_EQ(expect_as_loop(make, frozen({2})), 4u);     // two; one; two
  EXPECT_EQ(expect_as_loop(make, frozen({0, 1})), 3u);  // two, forward alone; three
  EXPECT_EQ(expect_as_loop(make, frozen({3, 4})), 4u);  // three; two
  EXPECT_EQ(expect_as_loop(make, frozen({0, 1, 2, 3, 4})), 1u);
}

TEST(RepeatedLinks, HooksAndDetachedValuesAreSeen) {
  const auto hooked = [](const Link& link, const Tensor& x) {
    const Tensor h = multiply(x, link.w);
    if (h.requires_grad()) {
      h.register_hook([a = link.a](const Tensor& gradient) { return scale(gradient, a); });
    }
    return tanh(h);
  };
  EXPECT_EQ(expect_as_loop([&] { return links_of(3, hooked); }), 0u);
  const auto stopped = [](const Link& link, const Tensor& x) {
    return multiply(link.a > 1.7 ? x.detach() : x, link.w);
  };
  EXPECT_EQ(expect_as_loop([&] { return links_of(4, stopped); }), 1u);  // the first two, forward
}

TEST(RepeatedLinks, TensorsThatAreNoBuffersAreSeen) {
  const auto f = [](const Link& link, const Tensor& x) {
    return multiply(multiply(x, link.w), link.held);
  };
  const auto make = [&](bool one) {
    Links links = links_of(3, f);
    const Tensor shared = filled({kWidth}, 1.5);
    for (size_t i = 0; i < links.size(); ++i) {
      static_cast<Link&>(*links[i]).held =
          one ? shared : filled({kWidth}, 1.0 + static_cast<double>(i));
    }
    return links;
  };
  EXPECT_EQ(expect_as_loop([&] { return make(true); }), 2u);
  EXPECT_EQ(expect_as_loop([&] { return make(false); }), 0u);
}

TEST(RepeatedLinks, ConstantsAreSeen) {
  const auto f = [](const Link& link, const Tensor& x) {
    return multiply(multiply(x, link.w), filled({kWidth}, link.a));
  };
  EXPECT_EQ(expect_as_loop([&] { return links_of(3, f); }), 0u);
  const auto alike = [&] {
    Links links;
    for (int i = 0; i < 3; ++i) {
      links.push_back(std::make_shared<Link>(1.0, filled({kWidth}, 1), 2.0, f));
    }
    return links;
  };
  EXPECT_EQ(expect_as_loop(alike), 2u);
}

TEST(RepeatedLinks, AParameterOfAnotherLink) {
  const auto make = [] {
    Links links = links_of(3, [](const Link& link, const Tensor& x) {
      return multiply(multiply(x, link.w), link.held.defined() ? link.held : link.s);
    });
    static_cast<Link&>(*links[1]).held = static_cast<Link&>(*links[0]).w;
    return links;
  };
  EXPECT_EQ(expect_as_loop(make), 0u);
}

TEST(RepeatedLinks, BuffersOfOtherShapesAndDtypes) {
  const auto f = [](const Link& link, const Tensor& x) {
    return multiply(multiply(x, link.w), link.s.to(DataType::FLOAT32));
  };
  const auto shapes = [&] {
    return Links{std::make_shared<Link>(0.5, filled({kWidth}, 2), 1.0, f),
                 std::make_shared<Link>(1.5, filled({1}, 3), 1.0, f),
                 std::make_shared<Link>(2.5, filled({1}, 5), 1.0, f)};
  };
  EXPECT_EQ(expect_as_loop(shapes), 2u);
}

TEST(RepeatedLinks, ResultsUnlikeTheInput) {
  const auto f = [](const Link& link, const Tensor& x) { return add(multiply(x, link.w), link.s); };
  const auto wide = [&] {
    Links links = links_of(4, f);
    links[1] = std::make_shared<Link>(0.5, filled({5, kWidth}, 2), 1.0, f);
    return links;
  };
  EXPECT_EQ(expect_as_loop(wide, {}, input({1, kWidth})), 2u);
  const auto passes = [](const Link& link, const Tensor& x) {
    return link.a > 1.2 && link.a < 1.7 ? x : multiply(x, link.w);
  };
  EXPECT_EQ(expect_as_loop([&] { return links_of(4, passes); }), 2u);
}

TEST(RepeatedLinks, RepeatsWithinRepeats) {
  class Inner final : public Layer {
   public:
    explicit Inner(double number) : parts_(*this, "parts") {
      parts_.append_repeated("link", links_of(2, [number](const Link& link, const Tensor& x) {
                               return scale(scaled_link(link, x), number);
                             }));
    }
    Tensor forward(const Tensor& x) const override { return parts_(x); }

   private:
    Sequential parts_;
  };
  const auto made = [](std::vector<double> numbers) {
    Links links;
    for (const double number : numbers) links.push_back(std::make_shared<Inner>(number));
    return links;
  };
  EXPECT_EQ(expect_as_loop([&] { return made({2.0, 2.0, 2.0}); }), 2u);
  EXPECT_EQ(expect_as_loop([&] { return made({2.0, 3.0}); }), 4u);  // the inner ones
}

Links norms(size_t count) {
  class Norm final : public Layer {
   public:
    Norm() : norm_(*this, "norm", 2) {}
    Tensor forward(const Tensor& x) const override { return tanh(norm_(x)); }

   private:
    BatchNorm2d norm_;
  };
  Links links;
  for (size_t i = 0; i < count; ++i) links.push_back(std::make_shared<Norm>());
  return links;
}

TEST(RepeatedLinks, BatchNormHasItsOwnStatistics) {
  const Tensor x = input({3, 2, 2, 2});
  EXPECT_EQ(expect_as_loop([] { return norms(3); }, {}, x), 0u);
  const auto evaluated = [](Net& net) { net.set_training(false); };
  EXPECT_EQ(expect_as_loop([] { return norms(3); }, evaluated, x), 0u);  // an inplace operator, too
}

TEST(RepeatedLinks, AreRecomputedInTheModeOfTheForwardPass) {
  const auto gradients = [](Recompute recompute) {
    Net net(norms(2));
    net.set_recompute(recompute);
    const Tensor loss = mean(square(net(input({3, 2, 2, 2}))));
    net.set_training(false);
    std::vector<std::vector<float>> values;
    for (const Tensor& gradient : grad({loss}, net.parameters())) {
      values.push_back(values_of(gradient));
    }
    EXPECT_FALSE(net.is_training());
    return values;
  };
  EXPECT_EQ(gradients(Recompute::kFull), gradients(Recompute::kNone));
}

TEST(RepeatedLinks, OnMeshes) {
  on_ranks(2, [](World&) {
    const ProcessMesh mesh({2}, {"d"});
    const auto laid_out = [&](Net& net) { shard(net, mesh, Layout()); };
    for (const auto& placement :
         {distributed::Placement(Shard(0)), distributed::Placement(Replicate())}) {
      const Tensor x = distributed::shard_tensor(input({4, 2, 2, 2}), mesh, {placement});
      EXPECT_EQ(expect_as_loop([] { return norms(3); }, laid_out, x), 0u);
      const Tensor rows = distributed::shard_tensor(input(), mesh, {placement});
      EXPECT_EQ(expect_as_loop([] { return links_of(3, scaled_link); }, laid_out, rows), 2u);
    }
  });
}

// A rank outside of the mesh decides as the others do.
TEST(RepeatedLinks, OutsideOfTheMesh) {
  on_ranks(3, [](World&) {
    const ProcessMesh mesh({2}, {"d"}, {0, 1});
    const Tensor x = distributed::shard_tensor(input(), mesh, {Shard(0)});
    const auto bodies_of = [&](const Link::Function& f) {
      const Net net(links_of(3, f));
      return capture([&](const TensorList& in) { return TensorList{net(in[0])}; }, {x})
          .bodies()
          .size();
    };
    EXPECT_EQ(bodies_of(scaled_link), 1u);
    EXPECT_EQ(bodies_of([](const Link& link, const Tensor& h) {
                return scale(multiply(h, link.w), link.a);
              }),
              0u);
    EXPECT_EQ(bodies_of([](const Link& link, const Tensor& h) {
                Tensor state = link.s.detach();
                scale_(state, 2.0);
                return multiply(h, link.w);
              }),
              0u);
    EXPECT_EQ(bodies_of([](const Link&, const Tensor& h) { return h; }), 0u);
  });
}

TEST(RepeatedLinks, WhatChangesFromCallToCallIsRefused) {
  int calls = 0;
  const Net net(links_of(
      3, [&](const Link& link, const Tensor& x) { return scale(multiply(x, link.w), ++calls); }));
  EXPECT_THAT(
      [&] { capture([&](const TensorList& in) { return TensorList{net(in[0])}; }, {input()}); },
      ThrowsError(ErrorCode::kPreconditionNotMet,
                  "block0 behaves differently when it is called a second time"));
}

TEST(RepeatedLinks, ErrorsNameTheLinkThatFails) {
  const Net net([] {
    Links links = links_of(2, scaled_link);
    links.push_back(std::make_shared<Link>(1.0, filled({3}, 1), 1.0, scaled_link));
    return links;
  }());
  EXPECT_THAT(
      [&] { capture([&](const TensorList& in) { return TensorList{net(in[0])}; }, {input()}); },
      ThrowsError(ErrorCode::kInvalidArgument, "called from block2"));
}

}  // namespace
}  // namespace phi::nn
