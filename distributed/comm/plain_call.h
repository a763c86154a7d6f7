// PlainCall: a call in plain bytes, as it goes to other processes: in the header of every message,
// and in the ring of last calls that lies in shared memory (call_ring.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "distributed/comm/world.h"

namespace phi::distributed {

/// What is not known of a call is -1, text that is too long is cut. All zero: no call.
struct PlainCall {
  uint64_t group_hash;
  uint64_t sequence;
  int64_t bytes;
  int64_t count;
  uint64_t tensor;
  uint64_t seed;
  uint64_t draws;
  int32_t root;
  CommOp op;
  DataType dtype;
  int8_t reduce;
  int8_t ndim;
  int64_t shape[kMaxNdim];
  char scope[48];

  static PlainCall of(const Call& call);
  /// Writes it without the parts of shape and scope that are empty: a small message is as quick as
  /// it is short. Returns how many bytes that are, at most sizeof(PlainCall).
  size_t pack(std::byte* to) const;
  /// Reads what pack wrote from the beginning of `from`. Returns the number of its bytes; 0 if that
  /// is not there.
  static size_t unpack(std::span<const std::byte> from, PlainCall* plain);
  /// As Call::to_string.
  std::string to_string(std::string_view group_name) const;
};

/// Whether the generators of both members stand at the same draw.
bool draw_alike(const PlainCall& a, const PlainCall& b);
/// Whether two members' plain calls can be of one call.
bool agree(const PlainCall& a, const PlainCall& b, bool strict);
/// In what two members' plain calls of one number differ, in words, theirs second: "shape [4,8] and
/// [8,4], count 32 and 16"; empty if in nothing. Bytes are not compared, which may differ. The
/// source counts only if `strict`.
std::string difference(const PlainCall& a, const PlainCall& b, bool strict);

/// A rank and what it is in.
struct RankAndCall {
  int64_t rank;
  const PlainCall& call;
};
/// A message as its receiver expects it, and as it has come.
struct MetMessage {
  std::string_view group_name;
  RankAndCall receiver;
  uint64_t expected;  // bytes
  RankAndCall sender;
  uint64_t sent;
};
/// What is wrong with it; empty: nothing. "calls do not match (op all_reduce and all_gather): rank
/// 1 is in .., rank 0 is in ..", "rank 1 expects 12 bytes of rank 0 and is sent 8, in exchange #1
/// of ..".
std::string mismatch(const MetMessage& message, bool strict);

}  // namespace phi::distributed
