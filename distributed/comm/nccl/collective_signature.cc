// Computes and compares signatures of messages.
#include "distributed/comm/nccl/collective_signature.h"

#include <fmt/format.h>

#include <algorithm>

#include "distributed/comm/group.h"
#include "distributed/comm/report/call_header.h"

namespace phi::distributed {
namespace {

struct Sizes {
  int64_t count = 0;
  uint64_t first[CollectiveSignature::kSizes] = {};
  uint64_t hash = 0;

  void add(uint64_t bytes) {
    if (static_cast<size_t>(count) < CollectiveSignature::kSizes) first[count] = bytes;
    ++count;
    hash = (hash ^ bytes) * 0x9e3779b97f4a7c15u + 1;
  }
};

template <typename Message>
Sizes sizes_with(int64_t peer, std::span<const Message> messages) {
  Sizes sizes;
  for (const Message& message : messages) {
    if (message.peer == peer) sizes.add(message.bytes);
  }
  return sizes;
}

// One direction of a pair, as described by each end.
struct Direction {
  int64_t from, to;
  int64_t sends, recvs;
  const uint64_t* sent;
  const uint64_t* received;
  bool same;  // whether all sizes match
};

std::string difference_in(const CollectiveCall& call, const Direction& way,
                          const CallHeader& of_sender, const CallHeader& of_receiver) {
  for (size_t i = 0; i < CollectiveSignature::kSizes; ++i) {
    const auto at = static_cast<int64_t>(i);
    if (at >= std::min(way.sends, way.recvs) || way.sent[i] == way.received[i]) continue;
    return mismatch({call.group->name(),
                     {way.to, of_receiver},
                     way.received[i],
                     {way.from, of_sender},
                     way.sent[i]},
                    /*strict=*/false);
  }
  if (way.same) return {};
  return fmt::format(
      "rank {} sends rank {} {} messages, but the receiver expects {}, or other sizes, in {}.",
      way.from, way.to, way.sends, way.recvs, call.to_string());
}

}  // namespace

CollectiveSignature CollectiveSignature::of(const CollectiveCall& call, uint64_t ordinal,
                                            int64_t peer, std::span<const Send> sends,
                                            std::span<const Recv> recvs) {
  const Sizes out = sizes_with(peer, sends);
  const Sizes in = sizes_with(peer, recvs);
  CollectiveSignature signature{};
  signature.ordinal = ordinal;
  signature.call_bytes = call.bytes;
  signature.sends = out.count;
  signature.recvs = in.count;
  std::ranges::copy(out.first, signature.sent);
  std::ranges::copy(in.first, signature.received);
  signature.all_sent = out.hash;
  signature.all_received = in.hash;
  return signature;
}

std::string difference(const CollectiveCall& call, int64_t own, const CollectiveSignature& ours,
                       int64_t peer, const CollectiveSignature& theirs) {
  CallHeader own_call = CallHeader::of(call), peer_call = own_call;
  peer_call.bytes = theirs.call_bytes;
  const std::string there = difference_in(call,
                                          {own, peer, ours.sends, theirs.recvs, ours.sent,
                                           theirs.received, ours.all_sent == theirs.all_received},
                                          own_call, peer_call);
  const std::string back = difference_in(call,
                                         {peer, own, theirs.sends, ours.recvs, theirs.sent,
                                          ours.received, theirs.all_sent == ours.all_received},
                                         peer_call, own_call);
  if (!there.empty() || !back.empty())
    return own < peer ? (there.empty() ? back : there) : (back.empty() ? there : back);
  if (ours.ordinal == theirs.ordinal) return {};
  const auto [low, high] = std::minmax(own, peer);
  const auto [low_is, high_is] = own < peer ? std::pair(ours.ordinal, theirs.ordinal)
                                            : std::pair(theirs.ordinal, ours.ordinal);
  return fmt::format(
      "calls are in different orders: {} is call {} of rank {} with rank {}, but call {} on the "
      "other rank. Calls between GPUs run one after another: all ranks must issue them in the same "
      "order.",
      call.to_string(), low_is, low, high, high_is);
}

}  // namespace phi::distributed
