// Making, comparing and printing call headers.
#include "distributed/comm/report/call_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <span>
#include <type_traits>
#include <vector>

#include "distributed/comm/group.h"

namespace phi::distributed {
namespace {

constexpr size_t kFixedBytes = offsetof(CallHeader, shape);
static_assert(std::is_trivially_copyable_v<CallHeader> && sizeof(CallHeader) % 8 == 0);

constexpr const char* kGeneratorsDiffer =
    " Ranks would draw different numbers: pass the same number to seed() on all ranks, and a "
    "separate seed to what a single rank draws.";

std::string shape_text(const CallHeader& call) {
  if (call.ndim < 0) return "unknown";
  return fmt::format("[{}]", fmt::join(std::span(call.shape, static_cast<size_t>(call.ndim)), ","));
}

std::string_view reduce_text(const CallHeader& call) {
  return call.reduce < 0 ? "none" : name_of(static_cast<ReduceKind>(call.reduce));
}

std::string_view dtype_text(const CallHeader& call) {
  return call.dtype == DataType::UNDEFINED ? "unknown" : short_name_of(call.dtype);
}

std::string scope_text(const CallHeader& call) {
  return call.scope[0] == '\0' ? "no operator" : call.scope;
}

// "sum of f32[64,32]", "4 i64", ""; what the call communicates, as far as it is known.
std::string moved_text(const CallHeader& call) {
  std::string out;
  if (call.reduce >= 0) out = fmt::format("{} of ", reduce_text(call));
  const bool typed = call.dtype != DataType::UNDEFINED;
  if (call.ndim >= 0) return out + (typed ? std::string(dtype_text(call)) : "") + shape_text(call);
  if (typed && call.count >= 0) return out + fmt::format("{} {}", call.count, dtype_text(call));
  return typed ? out + std::string(dtype_text(call)) : out;
}

}  // namespace

CallHeader CallHeader::of(const CollectiveCall& call) {
  CallHeader header{};
  header.group_hash = call.group->hash();
  header.sequence = call.sequence;
  header.bytes = call.bytes;
  header.count = call.count;
  header.tensor = call.tensor;
  header.seed = call.seed;
  header.draws = call.draws;
  header.root = static_cast<int32_t>(call.root);
  header.op = call.op;
  header.dtype = call.dtype;
  header.reduce = call.reduce ? static_cast<int8_t>(*call.reduce) : int8_t{-1};
  header.ndim = -1;
  if (call.shape) {
    header.ndim = static_cast<int8_t>(call.shape->ndim());
    std::ranges::copy(*call.shape, header.shape);
  }
  if (call.scope) {
    std::memcpy(header.scope, call.scope, strnlen(call.scope, sizeof(header.scope) - 1));
  }
  return header;
}

size_t CallHeader::pack(std::byte* to) const {
  const size_t shape_bytes = ndim > 0 ? static_cast<size_t>(ndim) * sizeof(int64_t) : 0;
  const size_t scope_bytes = std::strlen(scope) + 1;
  std::memcpy(to, this, kFixedBytes);
  std::memcpy(to + kFixedBytes, shape, shape_bytes);
  std::memcpy(to + kFixedBytes + shape_bytes, scope, scope_bytes);
  return kFixedBytes + shape_bytes + scope_bytes;
}

size_t CallHeader::unpack(std::span<const std::byte> from, CallHeader* header) {
  *header = {};
  if (from.size() < kFixedBytes) return 0;
  std::memcpy(header, from.data(), kFixedBytes);
  const size_t shape_bytes =
      header->ndim > 0 ? static_cast<size_t>(header->ndim) * sizeof(int64_t) : 0;
  if (header->ndim > kMaxNdim || from.size() < kFixedBytes + shape_bytes) return 0;
  std::memcpy(header->shape, from.data() + kFixedBytes, shape_bytes);
  const auto rest = from.subspan(kFixedBytes + shape_bytes);
  const auto end = std::ranges::find(rest, std::byte{0});
  const auto scope_bytes = static_cast<size_t>(end - rest.begin());
  if (end == rest.end() || scope_bytes >= sizeof(scope)) return 0;
  std::memcpy(header->scope, rest.data(), scope_bytes);
  return kFixedBytes + shape_bytes + scope_bytes + 1;
}

std::string CallHeader::to_string(std::string_view group_name) const {
  std::vector<std::string> said;
  if (std::string moved = moved_text(*this); !moved.empty()) said.push_back(std::move(moved));
  said.push_back(fmt::format("{} bytes", bytes));
  if (root >= 0) said.push_back(fmt::format("root {}", root));
  if (scope[0] != '\0') said.push_back(fmt::format("from {}", scope));
  return fmt::format("{} #{} of group {} ({})", name_of(op), sequence, group_name,
                     fmt::join(said, ", "));
}

bool generators_match(const CallHeader& a, const CallHeader& b) {
  return a.seed == b.seed && a.draws == b.draws;
}

bool calls_match(const CallHeader& a, const CallHeader& b, bool strict) {
  return a.op == b.op && a.sequence == b.sequence && a.dtype == b.dtype && a.reduce == b.reduce &&
         a.ndim == b.ndim && std::ranges::equal(a.shape, b.shape) && a.count == b.count &&
         a.root == b.root && a.tensor == b.tensor && generators_match(a, b) &&
         (!strict || std::strncmp(a.scope, b.scope, sizeof(a.scope)) == 0);
}

std::string difference(const CallHeader& a, const CallHeader& b, bool strict) {
  std::vector<std::string> found;
  const auto compare = [&](std::string_view what, bool same, const auto& ours, const auto& theirs) {
    if (!same) found.push_back(fmt::format("{} {} and {}", what, ours, theirs));
  };
  compare("op", a.op == b.op, name_of(a.op), name_of(b.op));
  compare("number", a.sequence == b.sequence, a.sequence, b.sequence);
  compare("dtype", a.dtype == b.dtype, dtype_text(a), dtype_text(b));
  compare("reduction", a.reduce == b.reduce, reduce_text(a), reduce_text(b));
  const bool same_shape = a.ndim == b.ndim && std::ranges::equal(a.shape, b.shape);
  compare("shape", same_shape, shape_text(a), shape_text(b));
  compare("count", a.count == b.count, a.count, b.count);
  compare("root", a.root == b.root, a.root, b.root);
  // Only gradients of leaves are numbered (Tensor::grad).
  compare("gradient of leaf", a.tensor == b.tensor, a.tensor, b.tensor);
  compare("seed", a.seed == b.seed, a.seed, b.seed);
  compare("draws without a seed", a.draws == b.draws, a.draws, b.draws);
  const bool same_source = std::strncmp(a.scope, b.scope, sizeof(a.scope)) == 0;
  if (strict) compare("source", same_source, scope_text(a), scope_text(b));
  return fmt::format("{}", fmt::join(found, ", "));
}

std::string mismatch(const MatchedMessage& message, bool strict) {
  const auto& [group_name, receiver, expected, sender, sent] = message;
  if (expected == sent && calls_match(receiver.call, sender.call, strict)) return {};
  const std::string ours = receiver.call.to_string(group_name);
  const std::string theirs = sender.call.to_string(group_name);
  const std::string found = difference(receiver.call, sender.call, strict);
  if (!found.empty()) {
    return fmt::format("calls do not match ({}): rank {} is in {}, rank {} is in {}.{}", found,
                       receiver.rank, ours, sender.rank, theirs,
                       generators_match(receiver.call, sender.call) ? "" : kGeneratorsDiffer);
  }
  return fmt::format(
      "rank {} expects {} bytes from rank {} but receives {}, in {}; rank {} is in {}.",
      receiver.rank, expected, sender.rank, sent, ours, sender.rank, theirs);
}

}  // namespace phi::distributed
