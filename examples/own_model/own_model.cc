// A network of one's own, trained, saved, loaded and asked to write, on any mesh with equal losses:
//   mpirun -n 1 own_model
//   mpirun -n 4 own_model dp 2 tp 2
//   mpirun -n 2 own_model pp 2
#include <api/generation/token_generator.h>
#include <api/nn/nn.h>
#include <api/training/trainer.h>
#include <distributed/api.h>
#include <phi/api.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace dist = phi::distributed;
namespace nn = phi::nn;
using phi::Tensor;

// Attention and an MLP with squared ReLU, side by side.
class Block final : public nn::Layer {
 public:
  Block(nn::Module& parent, const nn::Name& name, int64_t d)
      : Layer(parent, name),
        norm(*this, "norm", d),
        attention(*this, "attention", {.d_model = d, .heads = 4, .rope_base = 1000.0}),
        up(*this, "up", d, 4 * d),
        down(*this, "down", 4 * d, d) {}
  Tensor forward(const Tensor& x) const override {
    const Tensor h = norm(x);
    return add(x, add(attention(h), down(square(relu(up(h))))));
  }
  nn::RMSNorm norm;
  nn::Attention attention;
  nn::Linear up, down;
};

class Net final : public nn::Sequential {
 public:
  explicit Net(int64_t d) {
    add<nn::Embedding>("tokens", 256, d);
    repeat<Block>("block", 4, d);
    add<nn::RMSNorm>("norm", d);
    add<nn::Head>("head", d, 256);
  }
};

// The library's layers say how they are split; Block's own products are said here.
void lay_out(Net* net, const dist::ProcessMesh& mesh) {
  nn::Layout layout = nn::transformer_layout(*net, mesh, {.blocks = "block*"});
  layout.parameters("block*.up.weight", {{"tp", dist::Shard(1)}})
      .parameters("block*.up.bias", {{"tp", dist::Shard(0)}})
      .parameters("block*.down.weight", {{"tp", dist::Shard(0)}})
      .outputs("block*.down", {{"tp", dist::Replicate()}});
  nn::shard(*net, mesh, layout.only_along(mesh));
}

// Two micro-batches of four rows that count, each in steps of its own.
std::vector<phi::training::Batch> batches(int64_t step) {
  constexpr int64_t kRows = 4, kSeq = 16;
  std::vector<phi::training::Batch> out;
  for (int64_t m = 0; m < 2; ++m) {
    std::vector<int64_t> ids, labels;
    for (int64_t i = 0; i < kRows * kSeq; ++i) {
      const int64_t row = i / kSeq, start = (step * 8 + m * kRows + row) * 29, stride = row + 1;
      ids.push_back((start + i % kSeq * stride) % 256);
      labels.push_back((start + (i % kSeq + 1) * stride) % 256);
    }
    out.push_back({Tensor::from<int64_t>(ids, {kRows, kSeq}),
                   Tensor::from<int64_t>(labels, {kRows, kSeq, 1})});
  }
  return out;
}

std::string written(Net* net) {
  phi::generation::TokenGenerator generator(*net, {10, 12, 14, 16},
                                            {.window = 16, .sampling = {.temperature = 0.0}});
  std::string text;
  for (int i = 0; i < 6; ++i) text += " " + std::to_string(generator.next());
  return text;
}

int main(int argc, char** argv) try {
  dist::init(&argc, &argv);
  std::vector<std::string> dims;
  std::vector<int64_t> shape;
  for (int i = 1; i + 1 < argc; i += 2) {
    dims.push_back(argv[i]);
    shape.push_back(std::atoll(argv[i + 1]));
  }
  const dist::ProcessMesh mesh =
      dims.empty() ? dist::ProcessMesh({1}, {"dp"}) : dist::ProcessMesh(shape, dims);
  const bool speaks = dist::rank() == 0;
  Net net(64);
  lay_out(&net, mesh);
  phi::training::Trainer trainer(net, nn::cross_entropy,
                                 {.rate = {.peak = 3e-3}, .micro_batches = 2});
  trainer.on_step([&](int64_t step, const phi::training::StepResult& result) {
    if (speaks && step % 10 == 0)
      std::printf("step %lld: loss %.6f\n", (long long)step, result.loss);
  });
  trainer.run(40, batches);

  nn::save("own_model_weights", net);
  Net loaded(64);
  lay_out(&loaded, mesh);
  nn::load(dist::checkpoint::open("own_model_weights"), &loaded);
  const std::string before = written(&net), after = written(&loaded);
  if (speaks) std::printf("10 12 14 16 ->%s; loaded ->%s\n", before.c_str(), after.c_str());
  dist::finalize();
  return before == after ? 0 : 1;
} catch (const phi::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  std::_Exit(1);  // mpirun ends the other ranks
}
