// Placement: what one mesh dim does to a tensor.
//
//   Replicate();                  // every rank along the mesh dim holds the same
//   Shard(1);                     // tensor dim 1 is split along the mesh dim
//   Partial(ReduceKind::kSum);    // the value is the sum of what the ranks along the mesh dim hold
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace phi::distributed {

enum class ReduceKind : uint8_t { kSum = 0, kAvg, kMax, kMin, kProd, kAny, kAll };

/// "sum", "avg", ...
std::string_view name_of(ReduceKind kind);
/// Accepts "product" for prod. Errors: InvalidArgument that lists the accepted names.
ReduceKind parse_reduce_kind(std::string_view name);

class Placement {
 public:
  enum class Kind : uint8_t { kReplicate = 0, kShard, kPartial };

  constexpr Placement() = default;
  constexpr Placement(Kind kind, int8_t tensor_dim, int8_t order, ReduceKind reduce)
      : kind_(kind), tensor_dim_(tensor_dim), order_(order), reduce_(reduce) {}

  constexpr Kind kind() const { return kind_; }
  constexpr bool is_replicate() const { return kind_ == Kind::kReplicate; }
  constexpr bool is_shard() const { return kind_ == Kind::kShard; }
  constexpr bool is_shard(int tensor_dim) const { return is_shard() && tensor_dim_ == tensor_dim; }
  constexpr bool is_partial() const { return kind_ == Kind::kPartial; }
  constexpr int tensor_dim() const { return tensor_dim_; }
  /// Position among the mesh dims that shard one tensor dim: 0 splits first, 1 splits each part,
  /// ...
  constexpr int order() const { return order_; }
  constexpr ReduceKind reduce() const { return reduce_; }

  friend constexpr bool operator==(const Placement&, const Placement&) = default;
  /// "R", "S0", "P(sum)"; "S0.1" if the order is not 0.
  std::string to_string() const;

 private:
  Kind kind_ = Kind::kReplicate;
  int8_t tensor_dim_ = -1;
  int8_t order_ = 0;
  ReduceKind reduce_ = ReduceKind::kSum;
};

constexpr Placement Replicate() { return {}; }
/// If several mesh dims shard one tensor dim, the smaller `order` splits first, and at equal order
/// the outer mesh dim.
constexpr Placement Shard(int tensor_dim, int order = 0) {
  return {Placement::Kind::kShard, static_cast<int8_t>(tensor_dim), static_cast<int8_t>(order),
          ReduceKind::kSum};
}
constexpr Placement Partial(ReduceKind kind = ReduceKind::kSum) {
  return {Placement::Kind::kPartial, -1, 0, kind};
}

}  // namespace phi::distributed
