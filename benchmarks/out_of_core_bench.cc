// Products out of core beside their two bounds, in turns in one run: the same product in memory,
// and reading and writing the same blocks in the same order and size without a product.
//
//   OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 build/bin/out_of_core_bench [FOLDER [REPEATS]]
//
// Overlap is perfect where out of core takes as long as the longer of the two.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "phi/kernels/cpu/matmul/gemm.h"
#include "phi/memory/io/page_checksum.h"
#include "phi/memory/io/swap_file.h"
#include "phi/out_of_core/out_of_core_matmul.h"

namespace phi::memory {
namespace {

struct Case {
  const char* name;
  int64_t m, n, k;
  bool trans_a, trans_b;
  int64_t limit;
};

constexpr int64_t kMiB = int64_t{1} << 20;
// From bound by computing to bound by the disk, in every layout. Operands are 3 to 9 limits.
constexpr Case kCases[] = {
    {"compute, NN", 6144, 6144, 6144, false, false, 128 * kMiB},
    {"compute, TT", 6144, 6144, 6144, true, true, 128 * kMiB},
    {"tall a, NN", 65536, 1024, 2048, false, false, 96 * kMiB},
    {"tall a, TN", 65536, 256, 2048, true, false, 64 * kMiB},
    {"thin b, NN", 16384, 32, 16384, false, false, 64 * kMiB},
    {"thin b, NT", 16384, 8, 16384, false, true, 64 * kMiB},
};

double seconds_of(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

AlignedBuffer random_matrix(int64_t elements, unsigned seed) {
  AlignedBuffer out(static_cast<size_t>(elements) * sizeof(float));
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> draw(-1, 1);
  std::generate_n(reinterpret_cast<float*>(out.data()), elements, [&] { return draw(engine); });
  return out;
}

/// An array in a swap file, with `bytes` in it.
struct Stored {
  Stored(SwapFile* swap, const AlignedBuffer& bytes, int64_t rows, int64_t columns) {
    pages = swap->bytes_of(swap->allocate(bytes.size()));
    const FilePiece all{0, {bytes.data(), bytes.size()}};
    pages->write({&all, 1}).wait();
    array = BlockedArray::on_disk(pages, DataType::FLOAT32, rows, columns);
  }
  std::shared_ptr<PagedBytes> pages;
  BlockedArray array;
};

/// What the product reads and writes, in its order, without the product: the next block is asked
/// for as soon as one has come.
class IoRecorder final : public PagedBytes {
 public:
  struct Access {
    std::shared_ptr<PagedBytes> pages;
    bool writes;
    std::vector<FilePiece> pieces;
  };
  IoRecorder(std::shared_ptr<PagedBytes> pages, std::vector<Access>* log)
      : pages_(std::move(pages)), log_(log) {}
  Ticket read(std::span<const FilePiece> pieces) override {
    log_->push_back({pages_, false, {pieces.begin(), pieces.end()}});
    return pages_->read(pieces);
  }
  Ticket write(std::span<const FilePiece> pieces) override {
    log_->push_back({pages_, true, {pieces.begin(), pieces.end()}});
    return pages_->write(pieces);
  }
  uint64_t size() const override { return pages_->size(); }
  std::string name() const override { return pages_->name(); }

 private:
  std::shared_ptr<PagedBytes> pages_;
  std::vector<Access>* log_;
};

using Accesses = std::vector<IoRecorder::Access>;

/// Into buffers of its own, since the product's are gone; three accesses are under way at a time.
void replay(const Accesses& log, const AlignedBuffer& memory) {
  constexpr size_t kUnderWay = 3;
  std::array<Ticket, kUnderWay> tickets;
  for (size_t at = 0; at < log.size(); ++at) {
    Accesses::value_type access = log[at];
    // Each of those under way has its part of the memory; larger accesses use it again.
    const size_t part = memory.size() / kUnderWay / kPage * kPage;
    std::byte* const begin = memory.data() + at % kUnderWay * part;
    size_t used = 0;
    for (FilePiece& piece : access.pieces) {
      if (used + piece.bytes.size() > part) used = 0;
      piece.bytes = {begin + used, piece.bytes.size()};
      used += piece.bytes.size();
    }
    Ticket& ticket = tickets[at % kUnderWay];
    ticket.wait();
    ticket = access.writes ? access.pages->write(access.pieces) : access.pages->read(access.pieces);
  }
  for (const Ticket& ticket : tickets) ticket.wait();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void run_case(const Case& c, const std::string& folder, int repeats) {
  const auto swap = SwapFile::create({.folder = folder, .limit = int64_t{8} << 30});
  const AlignedBuffer a = random_matrix(c.m * c.k, 1), b = random_matrix(c.k * c.n, 2);
  const AlignedBuffer out(static_cast<size_t>(c.m * c.n) * sizeof(float));
  std::memset(out.data(), 0, out.size());
  const Stored stored_a(swap.get(), a, c.trans_a ? c.k : c.m, c.trans_a ? c.m : c.k);
  const Stored stored_b(swap.get(), b, c.trans_b ? c.n : c.k, c.trans_b ? c.k : c.n);
  const Stored stored_c(swap.get(), out, c.m, c.n);
  MatmulArrays arrays{stored_a.array, stored_b.array, stored_c.array, c.trans_a, c.trans_b};

  Accesses log;
  MatmulArrays recorded = arrays;
  for (BlockedArray* x : {&recorded.a, &recorded.b, &recorded.c}) {
    x->pages = std::make_shared<IoRecorder>(x->pages, &log);
  }
  OutOfCoreStats stats = out_of_core_matmul(recorded, {.limit = c.limit});
  const AlignedBuffer memory(static_cast<size_t>(c.limit));
  std::memset(memory.data(), 1, memory.size());

  std::vector<double> compute, io, both, ratios;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    compute.push_back(seconds_of([&] {
      gemm<float>({c.m, c.n, c.k, c.trans_a, c.trans_b}, 1.0f,
                  reinterpret_cast<const float*>(a.data()), c.trans_a ? c.m : c.k,
                  reinterpret_cast<const float*>(b.data()), c.trans_b ? c.k : c.n, 0.0f,
                  reinterpret_cast<float*>(out.data()), c.n);
    }));
    both.push_back(seconds_of([&] { out_of_core_matmul(arrays, {.limit = c.limit}); }));
    Accesses reads = log;  // written last time by the product itself: the same pages again
    io.push_back(seconds_of([&] { replay(reads, memory); }));
    ratios.push_back(std::max(compute.back(), io.back()) / both.back());
  }
  fmt::print(
      "{:12} {:6}x{:5}x{:6} {:4} MiB  {:5}x{:5}x{:5} {:5}  {:7.2f} {:7.2f} {:7.2f}   {:.2f}\n",
      c.name, c.m, c.n, c.k, c.limit / kMiB, stats.blocks.m, stats.blocks.n, stats.blocks.k,
      stats.bytes_read / kMiB, median(compute), median(io), median(both), median(ratios));
  std::fflush(stdout);
}

void checksum_rate() {
  const AlignedBuffer bytes(8 * kMiB);
  std::memset(bytes.data(), 1, bytes.size());
  std::vector<double> rates;
  uint64_t sum = 0;
  for (int repeat = 0; repeat < 21; ++repeat) {
    const double seconds = seconds_of([&] {
      for (size_t at = 0; at < bytes.size(); at += kPage) {
        sum ^= page_checksum(bytes.data() + at, at);
      }
    });
    rates.push_back(static_cast<double>(bytes.size()) / seconds * 1e-9);
  }
  fmt::print("checksums: {:.1f} GB/s ({:x})\n", median(rates), sum & 1);
}

}  // namespace
}  // namespace phi::memory

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "/tmp";
  const int repeats = argc > 2 ? std::stoi(argv[2]) : 3;
  fmt::print("engine: {}\n", phi::memory::make_io_engine()->name());
  phi::memory::checksum_rate();
  fmt::print(
      "float32           m x    n x     k   limit  blocks m x n x k   MiB read   compute   I/O   "
      "both   max/both\n");
  for (const auto& c : phi::memory::kCases) phi::memory::run_case(c, folder, repeats);
}
