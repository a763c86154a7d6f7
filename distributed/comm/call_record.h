// CallRecord: a call in plain bytes, as it goes to other processes: in the header of every message,
// and in the ring of last calls that lies in shared memory (call_ring.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "distributed/comm/world.h"

namespace phi::distributed {

/// What is not known of a call is -1, text that is too long is cut. All zero: no call.
struct CallRecord {
  uint64_t group_hash;
  uint64_t sequence;
  int64_t bytes;
  int64_t count;
  int64_t root;
  int64_t shape[kMaxNdim];
  CommOp op;
  DataType dtype;
  int8_t reduce;
  int8_t ndim;
  char scope[44];

  static CallRecord of(const Call& call);
  /// As Call::to_string.
  std::string to_string(std::string_view group_name) const;
};

/// Whether two members' records can be of one call.
bool agree(const CallRecord& a, const CallRecord& b, bool strict);
/// In what two members' records of one call differ, in words, theirs second: "shape [4,8] and
/// [8,4], count 32 and 16"; empty if in nothing. Bytes are not compared, which may differ. The
/// source counts only if `strict`.
std::string difference(const CallRecord& a, const CallRecord& b, bool strict);

/// A rank and what it is in.
struct RankAndCall {
  int64_t rank;
  const CallRecord& call;
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
