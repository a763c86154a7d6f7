// What a checkpoint costs: checksums alone, a save, the pause of a save in the background, and a
// load with and without checksums. Best of `runs`.
//
//   checkpoint_bench [MiB=256] [tensors=16] [folder=/dev/shm/checkpoint_bench] [runs=5]
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "distributed/checkpoint/checkpoint.h"
#include "distributed/checkpoint/format/index.h"
#include "distributed/checkpoint/format/json.h"
#include "distributed/checkpoint/save.h"
#include "distributed/checkpoint/storage/checksum.h"
#include "distributed/checkpoint/storage/part_file.h"
#include "phi/core/dense_tensor.h"

namespace {

using namespace phi;
using namespace phi::distributed;
using namespace phi::distributed::checkpoint;
using Clock = std::chrono::steady_clock;

class Bench {
 public:
  Bench(double bytes, int runs) : bytes_(bytes), runs_(runs) {}

  /// `work` gives the seconds of what counts, or a negative number: all of it.
  void measure(const char* what, const std::function<double()>& work) const {
    double best = 1e300;
    for (int run = 0; run < runs_; ++run) {
      const auto begin = Clock::now();
      const double seconds = work();
      const double all = std::chrono::duration<double>(Clock::now() - begin).count();
      best = std::min(best, seconds < 0 ? all : seconds);
    }
    fmt::print("{:<32} {:>8.1f} ms {:>8.2f} GB/s\n", what, 1e3 * best, bytes_ / best / 1e9);
  }

 private:
  double bytes_;
  int runs_;
};

// As an index of a time before there were any.
void erase_checksums(const std::string& folder) {
  const std::string path = folder + "/" + kIndexFile;
  Index index = Index::decode(read_text(path), path);
  for (IndexedTensor& tensor : index.tensors) {
    for (TensorPiece& piece : tensor.pieces) piece.sums.clear();
  }
  write_text(path, index.encode());
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, int64_t otherwise) {
    return argc > i ? std::strtoll(argv[i], nullptr, 10) : otherwise;
  };
  const int64_t count = argument(2, 16);
  const int64_t elements = argument(1, 256) * (1 << 20) / 4 / count;
  const std::string folder = argc > 3 ? argv[3] : "/dev/shm/checkpoint_bench";
  const auto* attr = TensorDistAttr::replicated(ProcessMesh({1}));
  std::vector<NamedTensor> tensors;
  for (int64_t t = 0; t < count; ++t) {
    DenseTensor x = DenseTensor::empty({{elements}, DataType::FLOAT32}, CPUPlace());
    for (int64_t i = 0; i < elements; ++i) x.mutable_data<float>()[i] = static_cast<float>(i ^ t);
    tensors.push_back({fmt::format("tensor{}", t), DistTensor(x.meta(), attr, x)});
  }
  const Bench bench(static_cast<double>(4 * elements * count), static_cast<int>(argument(4, 5)));
  const auto load_all = [&] {
    load(checkpoint::open(folder), tensors);
    return -1.0;
  };
  bench.measure("checksums alone", [&] {
    for (const NamedTensor& named : tensors) {
      BlockChecksums sums;
      const DenseTensor& x = named.tensor.local();
      sums.add({static_cast<const std::byte*>(x.raw_data()), x.nbytes()});
      if (sums.finish().empty()) std::abort();
    }
    return -1.0;
  });
  bench.measure("save", [&] {
    save(folder, tensors);
    return -1.0;
  });
  bench.measure("pause of a save in background", [&] {
    const auto begin = Clock::now();
    PendingSave pending = start_save(folder, tensors);
    const double pause = std::chrono::duration<double>(Clock::now() - begin).count();
    pending.wait();
    return pause;
  });
  bench.measure("load", load_all);
  erase_checksums(folder);
  bench.measure("load without checksums", load_all);
  std::filesystem::remove_all(folder);
  return 0;
}
