// Random programs over random meshes: a sequence of ops and reshards drawn by --seed gives the same
// values on every mesh as in one process.
#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include "distributed/comm/local/local_world.h"
#include "tests/phi/api/parity.h"

DEFINE_uint32(seed, 0, "first program; a failure names the one to run alone");
DEFINE_uint32(programs, 60, "how many programs to run");

namespace phi::testing {
namespace {

using distributed::ProcessMesh;

constexpr int kWorld = 6;
constexpr int64_t kSide = 6;

std::vector<ProcessMesh> meshes() {
  return {ProcessMesh({2}, {"x"}, {0, 1}),
          ProcessMesh({3}, {"x"}, {3, 4, 5}),
          ProcessMesh({4}, {"x"}, {5, 1, 2, 0}),
          ProcessMesh({2, 2}, {"x", "y"}, {0, 1, 2, 3}),
          ProcessMesh({2, 2}, {"x", "y"}, {2, 4, 3, 5}),
          ProcessMesh({2, 3}, {"x", "y"}),
          ProcessMesh({1}, {"x"}, {4})};
}

// All values are kSide x kSide, so that any op can follow any other. The draws are the same with
// and without meshes: with them, values are also moved about.
class Program {
 public:
  Program(uint32_t seed, bool distributed) : rng_(seed), distributed_(distributed) {}

  Tensor run() {
    for (int i = 0; i < 4; ++i) pool_.push_back(place(gaussian({kSide, kSide}, 0.0f, 1.0f, i)));
    for (int step = 0; step < 14; ++step) {
      Tensor next = apply(draw(12), pick(), pick());
      if (draw(3) == 0)
        next = place(next);
      else
        skip_place();
      trace_ += " -> " + next.to_string();
      pool_[draw(pool_.size())] = next;
    }
    return add_n({pool_[0], pool_[1], pool_[2], pool_[3]});
  }
  const std::string& trace() const { return trace_; }

 private:
  uint32_t draw(uint32_t below) { return rng_() % below; }
  Tensor pick() { return pool_[draw(pool_.size())]; }
  void skip_place() { rng_.discard(3); }
  Tensor place(const Tensor& x) {
    const auto& mesh = meshes_[draw(meshes_.size())];
    const auto options = placements_of(x);
    const distributed::Placement p[] = {options[draw(options.size())],
                                        options[draw(options.size())]};
    if (!distributed_) return x;
    return distributed::shard_tensor(x, mesh, std::span(p, mesh.ndim()));
  }
  Tensor apply(uint32_t op, const Tensor& a, const Tensor& b) {
    trace_ += "\n" + std::to_string(op);
    switch (op) {
      case 0:
        return add(a, b);
      case 1:
        return scale(multiply(a, b), 0.5f);
      case 2:
        return scale(matmul(a, b), 0.3f);
      case 3:
        return scale(matmul(a, b, true, true), 0.3f);
      case 4:
        return tanh(a);
      case 5:
        return transpose(a, {1, 0});
      case 6:
        return softmax(a, 0);
      case 7:
        return subtract(a, mean(b, {1}, true));
      case 8:
        return slice(concat({a, b}, 0), {0}, {3}, {3 + kSide});
      case 9:
        return reshape(gelu(reshape(a, {2, 3, kSide})), {kSide, kSide});
      case 10:
        return maximum(a, max(b, {0}, true));
      default:
        return layer_norm(a, std::nullopt, std::nullopt);
    }
  }

  std::mt19937 rng_;
  bool distributed_;
  std::vector<ProcessMesh> meshes_ = meshes();
  std::vector<Tensor> pool_;
  std::string trace_;
};

TEST(RandomPrograms, EqualOneProcess) {
  for (uint32_t seed = FLAGS_seed; seed < FLAGS_seed + FLAGS_programs; ++seed) {
    const Tensor expected = Program(seed, false).run();
    distributed::run_ranks(kWorld, [&](distributed::World&) {
      Program program(seed, true);
      const Tensor actual = program.run();
      const ProcessMesh all({kWorld}, {"all"});
      const Tensor whole = distributed::reshard(actual, all, {});
      SCOPED_TRACE("--seed=" + std::to_string(seed) + program.trace());
      expect_same_values(whole.local(), expected, 2e-5);
    });
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace phi::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return RUN_ALL_TESTS();
}
