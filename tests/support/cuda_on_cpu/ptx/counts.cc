// Accesses of a warp's lanes by one instruction in the same loop iteration form one request. A GPU
// serves a request to global memory with the 32-byte sectors that it touches, and one to shared
// memory in passes of up to 128 bytes without bank conflicts.
#include "support/cuda_on_cpu/ptx/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "support/cuda_on_cpu/block_state.h"
#include "support/cuda_on_cpu/failure.h"
#include "support/cuda_on_cpu/gpu.h"
#include "support/cuda_on_cpu/ptx/kernels.h"

namespace cuda_on_cpu::ptx {
namespace {

constexpr uintptr_t kSector = 32;
constexpr uintptr_t kWord = 4;
constexpr size_t kBanks = 32;
constexpr size_t kPass = kBanks * kWord;  // bytes per pass

const char* counts_file() {
  const char* const file = std::getenv("AUTOPHI_CUDA_PTX_COUNTS");
  return file != nullptr && *file != '\0' ? file : nullptr;
}

struct Access {
  int warp;
  int lane;
  const Instruction* instruction;
  size_t nth;
  uintptr_t address;
  size_t size;
  bool is_shared;

  auto request() const { return std::tuple(warp, instruction, nth); }
};

void add_global(Counts& counts, std::span<const Access> request) {
  std::set<uintptr_t> sectors;
  for (const Access& access : request) {
    counts.global_bytes += access.size;
    for (uintptr_t at = access.address / kSector;
         at <= (access.address + access.size - 1) / kSector; ++at) {
      sectors.insert(at);
    }
  }
  counts.global_sectors += sectors.size();
}

// Lanes that access more than a word are served in groups of adjacent lanes, as many as fit in a
// pass.
void add_shared(Counts& counts, std::span<const Access> request) {
  const size_t lanes = kPass / std::max<size_t>(request[0].size, kWord);
  std::map<size_t, std::array<std::set<uintptr_t>, kBanks>> turns;
  for (const Access& access : request) {
    auto& words = turns[static_cast<size_t>(access.lane) / lanes];
    for (uintptr_t word = access.address / kWord;
         word <= (access.address + access.size - 1) / kWord; ++word) {
      words[word % kBanks].insert(word);
    }
  }
  for (const auto& [turn, words] : turns) {
    size_t passes = 0;
    for (const auto& bank : words) passes = std::max(passes, bank.size());
    counts.shared_passes += passes;
    ++counts.shared_passes_at_best;
  }
}

class Counter {
 public:
  ~Counter() {
    std::ofstream out(counts_file());
    for (const auto& [name, counts] : kernels_) {
      out << fmt::format(
          "{{\"kernel\": \"{}\", \"threads\": {}, \"instructions\": {}, \"global_bytes\": {}, "
          "\"global_sectors\": {}, \"shared_passes\": {}, \"shared_passes_at_best\": {}}}\n",
          name, counts.threads, counts.instructions, counts.global_bytes, counts.global_sectors,
          counts.shared_passes, counts.shared_passes_at_best);
    }
    if (!out.flush()) explain(fmt::format("{} cannot be written", counts_file()));
  }

  const std::map<std::string, Counts>& kernels() const { return kernels_; }
  void begin_thread(const Function& kernel) {
    if (kernel_ == &kernel) return;
    kernel_ = &kernel;
    counts_ = &kernels_[common_name(demangled(kernel.name))];
  }
  void end_thread(size_t instructions) {
    ++counts_->threads;
    counts_->instructions += instructions;
    if (++ended_ == now.size) end_block();
  }
  void add(const Access& access) { accesses_.push_back(access); }

 private:
  void end_block() {
    ended_ = 0;
    std::ranges::stable_sort(accesses_, {}, &Access::request);
    for (auto begin = accesses_.begin(); begin != accesses_.end();) {
      const auto end = std::find_if(begin, accesses_.end(), [&](const Access& other) {
        return other.request() != begin->request();
      });
      const std::span request(begin, end);
      if (begin->is_shared) {
        add_shared(*counts_, request);
      } else {
        add_global(*counts_, request);
      }
      begin = end;
    }
    accesses_.clear();
  }

  std::map<std::string, Counts> kernels_;
  const Function* kernel_ = nullptr;
  Counts* counts_ = nullptr;
  int ended_ = 0;  // threads of the block that have ended
  std::vector<Access> accesses_;
};

Counter& counter() {
  static Counter all;
  return all;
}

}  // namespace

const bool kCounts = counts_file() != nullptr;

void count_begin(const Function& kernel) { counter().begin_thread(kernel); }
void count_end(size_t instructions) { counter().end_thread(instructions); }

void count_access(const Instruction& instruction, Frame& frame, const std::byte* address,
                  size_t size) {
  const Function& function = *frame.function;
  const auto number = static_cast<size_t>(&instruction - function.code.data());
  const size_t nth = frame.visits[number]++;
  const bool is_shared = std::ranges::any_of(function.shared, [&](const SharedArray& array) {
    return address >= array.begin && address < array.begin + array.size;
  });
  if (!is_shared && gpu_of(address) == nullptr) return;  // local memory or a parameter
  counter().add({now.current / kWarp, now.current % kWarp, &instruction, nth,
                 reinterpret_cast<uintptr_t>(address), size, is_shared});
}

const std::map<std::string, Counts>& counted() { return counter().kernels(); }

}  // namespace cuda_on_cpu::ptx
