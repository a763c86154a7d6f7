// The parameters of a captured program by id, as whoever lowers it or loads its weights wants them:
// by reference, where they lie, and as whole copies on the host.
//   mpirun -n 4 parameter_mapping
#include <distributed/api.h>
#include <phi/api.h>

#include <cstdio>
#include <cstdlib>

namespace dist = phi::distributed;
using dist::Replicate;
using dist::Shard;
using phi::Tensor;
using phi::Tier;

namespace {

// Two stages of two ranks each, with a weight on each.
struct Model {
  dist::ProcessMesh stage0{{2}, {"tp"}, {0, 1}};
  dist::ProcessMesh stage1{{2}, {"tp"}, {2, 3}};
  Tensor up = shard_tensor(phi::deferred_gaussian({64, 256}, 0, 0.1f, 1), stage0, {Shard(1)});
  Tensor down = shard_tensor(phi::deferred_gaussian({256, 64}, 0, 0.1f, 2), stage1, {Shard(0)});

  Tensor forward(const Tensor& x) const {
    const Tensor h = phi::gelu(phi::matmul(x, up));
    return phi::matmul(dist::reshard(h, stage1, {Shard(1)}), down);
  }
};

void tell(const char* call) {
  const phi::TransferStats stats = phi::transfer_stats();
  const auto& down = stats.of(Tier::kDevice, Tier::kHost);
  const auto& up = stats.of(Tier::kHost, Tier::kDevice);
  std::printf("rank %d, %s: device to host %ld transfers of %ld bytes, back %ld; host has %ld\n",
              static_cast<int>(dist::rank()), call, static_cast<long>(down.count),
              static_cast<long>(down.bytes), static_cast<long>(up.count),
              static_cast<long>(phi::memory_stats(Tier::kHost).current));
}

}  // namespace

int main(int argc, char** argv) try {
  dist::init(&argc, &argv);
  const Model model;
  const Tensor x =
      shard_tensor(phi::deferred_gaussian({8, 64}, 0, 1, 3), model.stage0, {Replicate()});
  Tensor between;
  const phi::Program program = phi::capture(
      [&](const phi::TensorList& in) {
        between = phi::square(in[0]);
        return phi::TensorList{model.forward(between)};
      },
      {x});

  phi::reset_transfer_stats();
  const auto by_reference = program.device_parameter_id_tensor_mapping();
  tell("by reference");
  const auto copies = program.parameter_id_tensor_mapping();
  tell("copies");

  for (const auto& [id, parameter] : by_reference) {
    std::printf("rank %d: parameter %d is %s, %zu bytes here; its copy %s\n",
                static_cast<int>(dist::rank()), static_cast<int>(id), parameter.to_string().c_str(),
                parameter.nbytes_here(), copies.at(id).to_string().c_str());
  }
  const auto id_of = [&](const Tensor& t) {
    return static_cast<int>(program.tensor_parameter_id(t));
  };
  std::printf("rank %d: ids: up %d, down %d, a handle on down %d, a value between %d\n",
              static_cast<int>(dist::rank()), id_of(model.up), id_of(model.down),
              id_of(model.down.detach()), id_of(between));
  dist::finalize();
  return 0;
} catch (const phi::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  std::_Exit(1);  // mpirun ends the other ranks
}
