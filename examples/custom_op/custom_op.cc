// Operators of one's own: checked on all placements, then run on tensors that are split.
//   custom_op                   the check, by threads of one process
//   mpirun -n 4 custom_op run   a call on 2x2 processes
#include <api/testing/check_op.h>
#include <distributed/api.h>
#include <my_ops/api.h>
#include <phi/api.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace dist = phi::distributed;
using phi::TensorList;

namespace {

void check(const phi::testing::OpCase& test) {
  const phi::testing::OpReport report = phi::testing::check_op(test);
  std::printf("%s: %s\n", test.name.c_str(), report.to_string().c_str());
}

void check_all() {
  const phi::Tensor x = phi::gaussian({6, 5, 8}), scale = phi::gaussian({8}, 1.0f, 0.1f, 2);
  check({.name = "softcap", .inputs = {x}, .call = [](const TensorList& in) {
           return TensorList{phi::softcap(in[0], 2.0f)};
         }});
  check({.name = "group_rms_norm", .inputs = {x, scale}, .call = [](const TensorList& in) {
           return TensorList{phi::group_rms_norm(in[0], in[1], 2)};
         }});
  check({.name = "row_energy", .inputs = {x}, .call = [](const TensorList& in) {
           return TensorList{phi::row_energy(in[0])};
         }});
}

void run() {
  const dist::ProcessMesh mesh({2, 2}, {"dp", "tp"});
  phi::Tensor x = dist::shard_tensor(phi::gaussian({4, 8}), mesh, {dist::Shard(0), dist::Shard(1)});
  phi::Tensor scale =
      dist::shard_tensor(phi::full({8}, 1.0f), mesh, {dist::Replicate(), dist::Shard(0)});
  scale.set_requires_grad();
  const phi::Tensor out = phi::softcap(phi::group_rms_norm(x, scale, 4), 3.0f);
  phi::sum(out).backward();
  std::printf("rank %ld: out %s; gradient of scale %s\n", dist::rank(), out.to_string().c_str(),
              scale.grad().to_string().c_str());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2 || std::string(argv[1]) != "run") {
    check_all();
    return 0;
  }
  dist::init(&argc, &argv);
  run();
  dist::finalize();
  return 0;
} catch (const phi::Error& error) {
  std::fprintf(stderr, "custom_op: %s\n", error.what());
  std::_Exit(1);  // mpirun ends the other ranks
}
