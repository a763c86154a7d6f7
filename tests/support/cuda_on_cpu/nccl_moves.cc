// Data movement and arithmetic of the NCCL emulator. Sums use a ring, in descending order and
// starting at another rank for each chunk. Half precision is rounded at each step, because NCCL
// guarantees no more.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <type_traits>

#include "support/cuda_on_cpu/gpu.h"
#include "support/cuda_on_cpu/memory.h"
#include "support/cuda_on_cpu/nccl_types.h"

namespace cuda_on_cpu::nccl {
namespace {

template <class Body>
void with_type(ncclDataType_t type, Body body) {
  switch (type) {
    case ncclInt8:
      return body(int8_t{});
    case ncclUint8:
      return body(uint8_t{});
    case ncclInt32:
      return body(int32_t{});
    case ncclUint32:
      return body(uint32_t{});
    case ncclInt64:
      return body(int64_t{});
    case ncclUint64:
      return body(uint64_t{});
    case ncclFloat16:
      return body(__half{});
    case ncclFloat32:
      return body(float{});
    case ncclFloat64:
      return body(double{});
    case ncclBfloat16:
      return body(__nv_bfloat16{});
    case ncclFloat8e4m3:
      return body(__nv_fp8_e4m3{});
    case ncclFloat8e5m2:
      return body(__nv_fp8_e5m2{});
    default:
      return;  // calls of other types are never posted
  }
}

// Type of the arithmetic; unsigned integers wrap.
template <class T>
auto wide(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<uint64_t>(x);
  } else if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    return static_cast<float>(x);
  }
}

template <class T>
T larger(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return a > b ? a : b;
  } else {
    return T(std::fmax(wide(a), wide(b)));
  }
}

template <class T>
T smaller(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return a < b ? a : b;
  } else {
    return T(std::fmin(wide(a), wide(b)));
  }
}

template <class T>
T joined(T a, T b, ncclRedOp_t op) {
  if (op == ncclProd) return static_cast<T>(wide(a) * wide(b));
  if (op == ncclMax) return larger(a, b);
  if (op == ncclMin) return smaller(a, b);
  return static_cast<T>(wide(a) + wide(b));
}

// Averages of floats add divided terms; those of integers divide the sum.
template <class T>
T first_step(T x, ncclRedOp_t op, size_t ranks) {
  if (op != ncclAvg || std::is_integral_v<T>) return x;
  using Wide = decltype(wide(x));
  return static_cast<T>(wide(x) * static_cast<Wide>(1.0 / static_cast<double>(ranks)));
}

template <class T>
T last_step(T x, ncclRedOp_t op, size_t ranks) {
  if constexpr (std::is_integral_v<T>) {
    if (op == ncclAvg) return static_cast<T>(x / static_cast<T>(ranks));
  }
  return x;
}

template <class T>
std::vector<T> reduced(const std::vector<Pending*>& sides, size_t n) {
  const size_t ranks = sides.size();
  const ncclRedOp_t op = sides[0]->call.op;
  std::vector<T> result(n);
  for (size_t i = 0; i < n; ++i) {
    const size_t chunk = i * ranks / n;
    const auto element = [&](size_t step) {
      const size_t rank = (chunk + ranks - step) % ranks;
      return first_step(static_cast<const T*>(sides[rank]->call.in)[i], op, ranks);
    };
    T sum = element(0);
    for (size_t step = 1; step < ranks; ++step) sum = joined(sum, element(step), op);
    result[i] = last_step(sum, op, ranks);
  }
  return result;
}

void reduce(const std::vector<Pending*>& sides) {
  const Call& any = sides[0]->call;
  const bool scatters = any.kind == Kind::kReduceScatter;
  with_type(any.type, [&](auto zero) {
    using T = decltype(zero);
    const auto result = reduced<T>(sides, scatters ? any.count * sides.size() : any.count);
    for (size_t rank = 0; rank < sides.size(); ++rank) {
      std::memcpy(sides[rank]->call.out, result.data() + (scatters ? rank * any.count : 0),
                  any.bytes());
    }
  });
}

void gather(const std::vector<Pending*>& sides) {
  const size_t n = sides[0]->call.bytes();
  for (const Pending* to : sides) {
    for (size_t rank = 0; rank < sides.size(); ++rank) {
      std::memmove(static_cast<std::byte*>(to->call.out) + rank * n, sides[rank]->call.in, n);
    }
  }
}

void broadcast(const std::vector<Pending*>& sides) {
  const Call& root = sides[static_cast<size_t>(sides[0]->call.other)]->call;
  for (const Pending* to : sides) std::memmove(to->call.out, root.in, root.bytes());
}

void check_alive(const Pending& side) {
  const ncclComm& comm = *side.posting->comm;
  const std::string what = described(comm) + ": " + described(side.call);
  const int ranks = comm.clique->ranks;
  const Gpu& device = gpu(comm.device);
  if (side.call.bytes_in(comm.rank, ranks) > 0)
    cuda_on_cpu::check_alive(what, device, side.call.in);
  if (side.call.bytes_out(ranks) > 0) cuda_on_cpu::check_alive(what, device, side.call.out);
}

bool fit(const Call& a, const Call& b) {
  if (a.count != b.count || a.type != b.type) return false;
  if (!a.collective()) return true;
  return a.kind == b.kind && (a.kind != Kind::kBroadcast || a.other == b.other) &&
         (!a.reduces() || a.op == b.op);
}

// Fails the test unless the sides match: NCCL would hang or write to wrong addresses.
void check_fit(const Pending& a, const Pending& b) {
  if (fit(a.call, b.call)) return;
  fail(fmt::format("NCCL's calls do not match:\n  {}: {}\n  {}: {}", described(*a.posting->comm),
                   described(a.call), described(*b.posting->comm), described(b.call)));
}

}  // namespace

size_t Call::bytes() const { return count * size_of(type); }

size_t Call::bytes_in(int rank, int ranks) const {
  if (kind == Kind::kReceive || (kind == Kind::kBroadcast && rank != other)) return 0;
  return kind == Kind::kReduceScatter ? bytes() * static_cast<size_t>(ranks) : bytes();
}

size_t Call::bytes_out(int ranks) const {
  if (kind == Kind::kSend) return 0;
  return kind == Kind::kAllGather ? bytes() * static_cast<size_t>(ranks) : bytes();
}

void move_message(const Pending& send, const Pending& receive) {
  check_fit(send, receive);
  check_alive(send);
  check_alive(receive);
  if (send.call.count > 0) std::memmove(receive.call.out, send.call.in, send.call.bytes());
}

void move_collective(const std::vector<Pending*>& sides) {
  for (const Pending* side : sides) check_fit(*sides[0], *side);
  for (const Pending* side : sides) check_alive(*side);
  switch (sides[0]->call.kind) {
    case Kind::kAllGather:
      return gather(sides);
    case Kind::kBroadcast:
      return broadcast(sides);
    default:
      return reduce(sides);
  }
}

}  // namespace cuda_on_cpu::nccl
