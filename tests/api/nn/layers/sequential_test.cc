// Links one after the other: as a loop, computed again, and as one body of a captured program.
#include "api/nn/layers/sequential.h"

#include <gtest/gtest.h>

#include "api/generated/ops/add.h"
#include "api/generated/ops/gaussian.h"
#include "api/generated/ops/mean.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/tanh.h"
#include "api/nn/layers/linear.h"
#include "api/nn/loss.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi::nn {
namespace {

class Residual final : public Layer {
 public:
  Residual(Module& parent, const Name& name, int64_t d)
      : Layer(parent, name), up_(*this, "up", d, d), calls(0) {}
  Tensor forward(const Tensor& x) const override {
    ++calls;
    return add(x, tanh(up_(x)));
  }

 private:
  Linear up_;

 public:
  mutable int calls;
};

class Net final : public Sequential {
 public:
  Net() {
    add<Linear>("in", 3, 4);
    repeat<Residual>("block", 3, 4);
    add<Linear>("out", 4, 2);
    for (Tensor parameter : parameters()) parameter.set_requires_grad();
  }
  int calls() const {
    int sum = 0;
    for (size_t i = 1; i <= 3; ++i) sum += static_cast<const Residual&>(link(i)).calls;
    return sum;
  }
};

Tensor input() { return gaussian({5, 3}, 0.0f, 1.0f, 11); }

std::vector<std::vector<float>> gradients(const Net& net) {
  mean(square(net(input()))).backward();
  std::vector<std::vector<float>> out;
  for (const Tensor& parameter : net.parameters())
    out.push_back(parameter.grad().to_vector<float>());
  return out;
}

TEST(Sequential, RecomputedLinksGiveTheSameGradients) {
  const Net kept;
  Net again;
  again.set_recompute(Recompute::kFull);
  EXPECT_EQ(gradients(again), gradients(kept));
  EXPECT_EQ(kept.calls(), 3);
  EXPECT_EQ(again.calls(), 6);
}

TEST(Sequential, ACapturedProgramHasOneBodyForRepeatedLinks) {
  Net net;
  const auto step = [&](const TensorList& in) {
    TensorList out = grad({mean(square(net(in[0])))}, net.parameters());
    return out;
  };
  const TensorList expected = step({input()});
  const Program scanned = capture(step, {input()});
  EXPECT_EQ(scanned.bodies().size(), 2u);  // forward and backward
  net.set_scan(false);
  const Program unrolled = capture(step, {input()});
  EXPECT_EQ(unrolled.bodies().size(), 0u);
  for (const Program* program : {&scanned, &unrolled}) {
    const TensorList given = program->run({input()});
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(given[i].to_vector<float>(), expected[i].to_vector<float>()) << i;
    }
  }
}

TEST(Sequential, ErrorsNameTheLink) {
  const Net net;
  EXPECT_THAT(
      [&] {
        net(gaussian({5, 4}, 0.0f, 1.0f, 1));
      },
      ThrowsError(ErrorCode::kInvalidArgument, "called from in"));
}

// A layer that is made before it is a link.
class Apart final : public Layer {
 public:
  explicit Apart(int64_t d) : up_(*this, "up", d, d) {}
  Tensor forward(const Tensor& x) const override { return add(x, tanh(up_(x))); }

 private:
  Linear up_;
};

TEST(Sequential, LinksThatWereMadeBeforeAreAsThoseThatAreMadeInIt) {
  Sequential net;
  std::vector<std::shared_ptr<Layer>> blocks;
  for (int i = 0; i < 3; ++i) blocks.push_back(std::make_shared<Apart>(4));
  net.append_repeated("block", blocks);
  net.append("last", std::make_shared<Apart>(4));
  EXPECT_TRUE(net.has_repeats());
  EXPECT_EQ(net.num_links(), 4u);
  class Same final : public Sequential {
   public:
    Same() {
      repeat<Residual>("block", 3, 4);
      add<Residual>("last", 4);
    }
  };
  const Tensor x = gaussian({5, 4}, 0.0f, 1.0f, 11);
  EXPECT_EQ(net(x).to_vector<float>(), Same()(x).to_vector<float>());
  EXPECT_THAT([&] { net.append("again", blocks[0]); },
              ThrowsError(ErrorCode::kInvalidArgument, "is already submodule 'block0' of a model"));
  EXPECT_EQ(net.num_links(), 4u);
}

}  // namespace
}  // namespace phi::nn
