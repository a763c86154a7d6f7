// CallHeader: a call as plain bytes for other processes: in the header of every message, and in the
// flight recorder in shared memory (flight_recorder.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "distributed/comm/collective_call.h"
#include "phi/common/dims.h"
#include "phi/common/dtype.h"

namespace phi::distributed {

/// Unknown values are -1, and text that is too long is cut. An all-zero CallHeader means no call.
struct CallHeader {
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

  static CallHeader of(const CollectiveCall& call);
  /// Writes the call without unused parts of shape and scope, which keeps small messages short.
  /// Returns the number of bytes written, at most sizeof(CallHeader).
  size_t pack(std::byte* to) const;
  /// Reads what pack wrote at the beginning of `from`. Returns the number of bytes read, 0 if they
  /// are incomplete.
  static size_t unpack(std::span<const std::byte> from, CallHeader* header);
  /// Formats the call as CollectiveCall::to_string does.
  std::string to_string(std::string_view group_name) const;
};

/// Whether the generators of both members are at the same draw.
bool generators_match(const CallHeader& a, const CallHeader& b);
/// Whether two members' call headers can belong to one call.
bool calls_match(const CallHeader& a, const CallHeader& b, bool strict);
/// Describes how two members' call headers of one number differ, theirs second: "shape [4,8] and
/// [8,4], count 32 and 16". Empty if they do not. Bytes are not compared, because they may differ.
/// The source counts only if `strict`.
std::string difference(const CallHeader& a, const CallHeader& b, bool strict);

/// A rank and the call that it is in.
struct RankAndCall {
  int64_t rank;
  const CallHeader& call;
};
/// A message as its receiver expects it and as it arrived.
struct MatchedMessage {
  std::string_view group_name;
  RankAndCall receiver;
  uint64_t expected;  // bytes
  RankAndCall sender;
  uint64_t sent;
};
/// Describes what is wrong with a message; empty if nothing is. "calls do not match (op all_reduce
/// and all_gather): rank 1 is in .., rank 0 is in ..", "rank 1 expects 12 bytes of rank 0 and is
/// sent 8, in exchange #1 of ..".
std::string mismatch(const MatchedMessage& message, bool strict);

}  // namespace phi::distributed
