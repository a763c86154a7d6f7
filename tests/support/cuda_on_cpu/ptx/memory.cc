// Loads, stores and atomic operations. All state spaces are addresses of the process. An address
// that is not aligned to the access fails the test, as it would fault on a GPU.
#include <fmt/format.h>

#include <utility>

#include "support/cuda_on_cpu/blocks.h"
#include "support/cuda_on_cpu/failure.h"
#include "support/cuda_on_cpu/ptx/counts.h"
#include "support/cuda_on_cpu/ptx/instruction_set.h"

namespace cuda_on_cpu::ptx {
namespace {

std::byte* checked(std::byte* address, size_t size, const Instruction& self, Frame& frame) {
  if (kCounts) count_access(self, frame, address, size);
  if (reinterpret_cast<uintptr_t>(address) % size == 0) return address;
  fail(fmt::format(
      "{} bytes at {}, which is not a multiple of that, in line {} of the PTX of {}, in {}", size,
      static_cast<void*>(address), self.line, frame.function->name, where_now()));
}

template <class T, size_t count>
const Instruction* load(const Instruction& self, Frame& frame) {
  const std::byte* from = checked(address_of(self, frame, count), count * sizeof(T), self, frame);
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    put<T>(frame, self.slots[i], value);
  }
  return &self + 1;
}

template <class T, size_t count>
const Instruction* store(const Instruction& self, Frame& frame) {
  std::byte* to = checked(address_of(self, frame, 0), count * sizeof(T), self, frame);
  for (size_t i = 0; i < count; ++i) {
    const T value = get<T>(frame, self.slots[i + 1]);
    std::memcpy(to + i * sizeof(T), &value, sizeof(T));
  }
  return &self + 1;
}

template <class T>
void add_accesses(Rows& rows, const std::string& type) {
  rows["ld." + type] = load<T, 1>;
  rows["st." + type] = store<T, 1>;
  rows["ld.v2." + type] = load<T, 2>;
  rows["st.v2." + type] = store<T, 2>;
  if constexpr (sizeof(T) <= 4) {
    rows["ld.v4." + type] = load<T, 4>;
    rows["st.v4." + type] = store<T, 4>;
  }
}

// Atomic, because one thread of the process runs at a time.
template <class T, auto body>
const Instruction* update(const Instruction& self, Frame& frame) {
  std::byte* at = checked(address_of(self, frame, 1), sizeof(T), self, frame);
  T before;
  std::memcpy(&before, at, sizeof(T));
  const T after = body(before, get<T>(frame, self.slots[2]));
  std::memcpy(at, &after, sizeof(T));
  put<T>(frame, self.slots[0], before);
  return &self + 1;
}

template <class T>
void add_atomics(Rows& rows, const std::string& type) {
  rows["atom.add." + type] = update<T, [](T a, T b) { return static_cast<T>(a + b); }>;
  rows["atom.min." + type] = update<T, [](T a, T b) { return b < a ? b : a; }>;
  rows["atom.max." + type] = update<T, [](T a, T b) { return a < b ? b : a; }>;
  rows["atom.exch." + type] = update<T, [](T /*a*/, T b) { return b; }>;
}

}  // namespace

void add_memory(Rows& rows) {
  add_accesses<uint8_t>(rows, "u8");
  add_accesses<int8_t>(rows, "s8");
  add_accesses<uint8_t>(rows, "b8");
  add_accesses<uint16_t>(rows, "u16");
  add_accesses<int16_t>(rows, "s16");
  add_accesses<uint16_t>(rows, "b16");
  add_accesses<uint32_t>(rows, "u32");
  add_accesses<int32_t>(rows, "s32");
  add_accesses<uint32_t>(rows, "b32");
  add_accesses<uint64_t>(rows, "u64");
  add_accesses<int64_t>(rows, "s64");
  add_accesses<uint64_t>(rows, "b64");
  add_accesses<float>(rows, "f32");
  add_accesses<double>(rows, "f64");
  add_atomics<uint32_t>(rows, "u32");
  add_atomics<int32_t>(rows, "s32");
  add_atomics<uint64_t>(rows, "u64");
  add_atomics<uint64_t>(rows, "b64");
}

}  // namespace cuda_on_cpu::ptx
