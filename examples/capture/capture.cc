// A training step of four equal layers, captured once and then run as a program. It trains beside
// the same step called eagerly, and the weights of both stay equal to the last bit.
//   mpirun -n 4 capture
#include <distributed/api.h>
#include <phi/api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

namespace dist = phi::distributed;
using dist::Replicate;
using dist::Shard;
using phi::Tensor;
using phi::TensorList;

namespace {

constexpr int64_t kWidth = 32;
constexpr size_t kLayers = 4;
constexpr int kSteps = 3;

class Model {
 public:
  explicit Model(const dist::ProcessMesh& mesh) : mesh_(mesh) {
    for (size_t i = 0; i < kLayers; ++i) {
      layers_.push_back({weight(kWidth, 4 * kWidth, Shard(1), 2 * i + 1),
                         weight(4 * kWidth, kWidth, Shard(0), 2 * i + 2)});
    }
  }

  /// Inputs, targets and the learning rate; gives the loss before the update.
  TensorList train(const TensorList& in) {
    const auto block = [&](const Tensor& x, const TensorList& w) { return layer(x, w); };
    const Tensor y = phi::scan(block, in[0], layers_);
    const Tensor loss = phi::mean(phi::square(phi::subtract(y, in[1])));
    TensorList weights = all_weights();
    const TensorList grads = phi::grad({loss}, weights);
    const phi::NoGrad no_grad;
    std::optional<Tensor> no_master;
    for (size_t i = 0; i < weights.size(); ++i)
      phi::scaled_sgd_(weights[i], grads[i], no_master, in[2]);
    return {dist::reshard(loss.detach(), mesh_, {Replicate(), Replicate()})};
  }

  TensorList all_weights() const {
    TensorList weights;
    for (const TensorList& layer : layers_)
      weights.insert(weights.end(), layer.begin(), layer.end());
    return weights;
  }

 private:
  Tensor weight(int64_t rows, int64_t columns, dist::Placement along_tp, uint64_t seed) const {
    const Tensor whole = phi::deferred_gaussian({rows, columns}, 0, 0.1f, seed);
    Tensor w = shard_tensor(whole, mesh_, {Replicate(), along_tp});
    w.set_requires_grad();
    return w;
  }
  // Columns, then rows: one reduction over tp a layer.
  Tensor layer(const Tensor& x, const TensorList& w) const {
    const Tensor h = phi::matmul(phi::gelu(phi::matmul(x, w[0])), w[1]);
    return phi::add(x, dist::reshard(h, mesh_, {Shard(0), Replicate()}));
  }

  dist::ProcessMesh mesh_;
  std::vector<TensorList> layers_;
};

bool equal_here(const Tensor& a, const Tensor& b) {
  const auto x = a.values<float>();
  const auto y = b.values<float>();
  return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

}  // namespace

int main(int argc, char** argv) try {
  dist::init(&argc, &argv);
  const dist::ProcessMesh mesh({2, 2}, {"dp", "tp"});
  Model eager(mesh);
  Model captured(mesh);
  const auto batch = [&](uint64_t seed) {
    return shard_tensor(phi::deferred_gaussian({16, kWidth}, 0, 1, seed), mesh, {Shard(0)});
  };
  const Tensor x = batch(100);
  const Tensor target = batch(101);

  const auto step = [&](const TensorList& in) { return captured.train(in); };
  const phi::Program program = phi::capture(step, {x, target, phi::full({}, 0.1f)});
  const bool prints = dist::rank() == 0;
  if (prints) std::printf("%s", program.to_string().c_str());
  if (prints) std::printf("rank 0:\n%s", program.rank_program().c_str());

  for (int i = 1; i <= kSteps; ++i) {
    const Tensor learning_rate = phi::full({}, 0.1f / static_cast<float>(i));
    const double expected = eager.train({x, target, learning_rate})[0].item();
    const double loss = program.run({x, target, learning_rate})[0].item();
    if (prints) std::printf("step %d: loss %.6f, eager %.6f\n", i, loss, expected);
  }
  const TensorList a = eager.all_weights();
  const TensorList b = captured.all_weights();
  const bool equal = std::equal(a.begin(), a.end(), b.begin(), b.end(), equal_here);
  std::printf("rank %d: weights are %s; %zu layers in %ld steps, arena %ld bytes\n",
              static_cast<int>(dist::rank()), equal ? "equal" : "NOT equal", kLayers,
              static_cast<long>(program.num_steps()), static_cast<long>(program.arena_bytes()));
  dist::finalize();
  return equal ? 0 : 1;
} catch (const phi::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  std::_Exit(1);  // mpirun ends the other ranks
}
