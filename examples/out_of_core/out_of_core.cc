// A product of two matrices in a file, 48 MiB together, within 12 MiB of device memory:
//   out_of_core [FOLDER]        # of the temporary file; /tmp if it is not given
#include <phi/api.h>
#include <phi/memory/io/swap_file.h>
#include <phi/out_of_core/out_of_core_matmul.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace memory = phi::memory;
using memory::SwapFile;
using phi::DataType;
using phi::Tensor;
using phi::Tier;

namespace {

constexpr int64_t kM = 1024, kN = 1024, kK = 6144;
constexpr int64_t kLimit = 12 << 20;

size_t bytes_of(int64_t rows, int64_t columns) {
  return static_cast<size_t>(rows * columns) * sizeof(float);
}

// What the file is given and gives back lies on pages of memory.
SwapFile::FileExtent put(SwapFile& file, const Tensor& x) {
  const auto values = std::as_bytes(x.values<float>());
  const memory::AlignedBuffer pages(values.size());
  std::memcpy(pages.data(), values.data(), values.size());
  const SwapFile::FileExtent extent = file.allocate(values.size());
  file.write(extent, {pages.data(), pages.size()}).wait();
  return extent;
}

float largest_difference(const Tensor& expected, SwapFile& file,
                         const SwapFile::FileExtent& extent) {
  const memory::AlignedBuffer pages(extent.nbytes);
  file.read(extent, {pages.data(), pages.size()}).wait();
  const auto* found = reinterpret_cast<const float*>(pages.data());
  float largest = 0;
  for (const float value : expected.values<float>()) {
    largest = std::max(largest, std::abs(value - *found++));
  }
  return largest;
}

}  // namespace

int main(int argc, char** argv) try {
  const auto file = SwapFile::create({.folder = argc > 1 ? argv[1] : "/tmp", .limit = 64 << 20});
  const Tensor a = phi::deferred_gaussian({kM, kK}, 0, 1, 1);
  const Tensor b = phi::deferred_gaussian({kK, kN}, 0, 1, 2);
  const SwapFile::FileExtent c = file->allocate(bytes_of(kM, kN));
  const auto on_disk = [&](const SwapFile::FileExtent& extent, int64_t rows, int64_t columns) {
    return memory::BlockedArray::on_disk(file->bytes_of(extent), DataType::FLOAT32, rows, columns);
  };
  const memory::MatmulArrays arrays{.a = on_disk(put(*file, a), kM, kK),
                                    .b = on_disk(put(*file, b), kK, kN),
                                    .c = on_disk(c, kM, kN)};

  phi::reset_transfer_stats();
  const auto did = memory::out_of_core_matmul(arrays, {.limit = kLimit});
  const phi::TransferStats moved = phi::transfer_stats();
  const auto as_long = [](int64_t x) { return static_cast<long>(x); };
  std::printf("operands %zu bytes, device at most %ld of %ld bytes (%ld would do)\n",
              bytes_of(kM, kK) + bytes_of(kK, kN), as_long(did.device_bytes), as_long(kLimit),
              as_long(memory::least_device_bytes(arrays)));
  std::printf("%ld matmuls of blocks of %ld x %ld x %ld\n", as_long(did.products),
              as_long(did.blocks.m), as_long(did.blocks.n), as_long(did.blocks.k));
  std::printf("disk to device: %ld bytes in %ld transfers; device to disk: %ld bytes\n",
              as_long(did.bytes_read), as_long(moved.of(Tier::kDisk, Tier::kDevice).count),
              as_long(moved.of(Tier::kDevice, Tier::kDisk).bytes));

  const float difference = largest_difference(phi::matmul(a, b), *file, c);
  const bool close = difference < 1e-3f;  // values of the product are about sqrt(6144) = 78
  std::printf("largest difference from the matmul in memory: %.2g, %s\n",
              static_cast<double>(difference), close ? "rounding" : "WRONG");
  return close && did.device_bytes <= kLimit ? 0 : 1;
} catch (const phi::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
