// Lowerings of attention as scores, softmax and matmuls; fusing them is left to XLA.
#include <algorithm>
#include <cmath>
#include <limits>

#include "api/stablehlo/lowering.h"
#include "api/stablehlo/random_words.h"

namespace phi::stablehlo {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Tensor dims of arrays [batch, seq, heads, width]; scores are [batch, heads, sq, sk].
constexpr int64_t kBatch = 0, kSeq = 1, kHeads = 2, kWidth = 3;

// [b, s, heads, w] x [b, t, heads, w] -> [b, heads, s, t]
Ssa scores_of(Builder& b, const Ssa& x, const Ssa& y) {
  return b.dot(x, y, {{kBatch, kHeads}, {kBatch, kHeads}, {kWidth}, {kWidth}});
}
// [b, heads, s, t] x [b, t, heads, w] -> [b, s, heads, w]; with `transposed` summed over s instead.
Ssa weighted(Builder& b, const Ssa& weights, const Ssa& x, bool transposed = false) {
  const Ssa sum = b.dot(weights, x, {{0, 1}, {kBatch, kHeads}, {transposed ? 2 : 3}, {kSeq}});
  const int64_t perm[] = {0, 2, 1, 3};
  return b.transpose(sum, perm);
}

class AttentionLowering {
 public:
  explicit AttentionLowering(LoweringContext& call)
      : b_(call.b),
        call_(call),
        group_(heads_of("q") / std::max<int64_t>(heads_of("k"), 1)),
        q(b_.wide(call.input("q"))),
        k(repeated(b_.wide(call.input("k")))),
        v(repeated(b_.wide(call.input("v")))) {}

 private:
  Builder& b_;
  LoweringContext& call_;
  const int64_t group_;  // query heads per key head

 public:
  const Ssa q, k, v;  // k and v are repeated to one head per head of q

  /// q k^T / sqrt(width) + attn_mask, -inf where a query does not see a key.
  Ssa scores() const {
    Ssa scores = b_.mul(scores_of(b_, q, k), scale());
    if (const Ssa* mask = call_.optional("attn_mask")) scores = b_.add(scores, b_.wide(*mask));
    if (!call_.flag("causal")) return scores;
    const int64_t sq = q.dims()[kSeq];
    const int64_t sk = k.dims()[kSeq];
    const Type index{{sq, sk}, "i64"};
    const Ssa last = b_.add(b_.iota(index, 0), static_cast<double>(sk - sq));
    return b_.select(b_.compare("LE", b_.iota(index, 1), last), scores, b_.like(scores, -kInf));
  }

  bool drops() const { return call_.number("dropout") > 0.0 && !call_.flag("is_test"); }

  /// 0 where a weight is dropped, else 1 / (1 - dropout); `seed_offset` is null or i64[2].
  Ssa kept(const Ssa* seed_offset, const Type& type) const {
    const Type scalar{{}, "i64"};
    const auto part = [&](int64_t i) {
      return seed_offset ? b_.reshape(b_.slice_of(*seed_offset, 0, i, i + 1), {})
                         : b_.constant(int64_t{0}, scalar);
    };
    const Ssa offset = b_.convert(part(1), "ui32");
    const auto [block, word] = places(type.dims);
    const auto words =
        philox_words(b_, block, RandomUse::kAttention, offset, philox_key(b_, part(0)));
    const double p = call_.number("dropout");
    const Ssa drawn = pick_word(b_, words, word);
    const Ssa keep =
        b_.compare("GE", drawn, b_.constant_bits(static_cast<uint32_t>(p * 0x1p32), drawn.type));
    return b_.select(keep, b_.constant(1.0 / (1.0 - p), type), b_.constant(0.0, type));
  }

  /// The scale of q k^T.
  double scale() const {
    return 1.0 / std::sqrt(static_cast<double>(std::max<int64_t>(q.dims()[kWidth], 1)));
  }
  /// Sums over the query heads that share a key head.
  Ssa summed_groups(const Ssa& x) const {
    if (group_ == 1) return x;
    const Dims& d = x.dims();
    const int64_t axes[] = {3};
    return b_.reduce(Reduction::kSum, b_.reshape(x, {d[0], d[1], d[2] / group_, group_, d[3]}),
                     axes);
  }

 private:
  int64_t heads_of(std::string_view name) const { return call_.input(name).dims()[kHeads]; }

  Ssa repeated(const Ssa& x) const {
    if (group_ == 1) return x;
    const Dims& d = x.dims();
    const int64_t to[] = {0, 1, 2, 4};
    const Ssa wide = b_.broadcast(x, {d[0], d[1], d[2], group_, d[3]}, to);
    return b_.reshape(wide, {d[0], d[1], d[2] * group_, d[3]});
  }

  struct RandomWordIndex {
    Ssa block, word;
  };
  // Key 32 i + 8 w + s of a row uses word w of the row's Philox block 8 i + s (AttentionDropout).
  RandomWordIndex places(const Dims& dims) const {
    const Type type{dims, "ui64"};
    const auto bits = [&](int64_t value) {
      return b_.constant_bits(static_cast<uint64_t>(value), type);
    };
    const Ssa row = b_.add(
        b_.mul(b_.add(b_.mul(b_.iota(type, 0), bits(dims[1])), b_.iota(type, 1)), bits(dims[2])),
        b_.iota(type, 2));
    const Ssa key = b_.iota(type, 3);
    const Ssa batch = b_.add(b_.mul(row, bits((dims[3] + 31) / 32)), b_.div(key, bits(32)));
    const Ssa lane = b_.binary("and", key, bits(7));
    return {b_.add(b_.mul(batch, bits(8)), lane), b_.binary("and", b_.div(key, bits(8)), bits(3))};
  }
};

void flash_attention(LoweringContext& call) {
  Builder& b = call.b;
  const AttentionLowering attention(call);
  const Ssa scores = attention.scores();
  // A query that sees no key has a maximum of -inf and weights of 0.
  const Ssa most = b.reduce_last(Reduction::kMax, scores);
  const Ssa shift = b.select(b.compare("EQ", most, -kInf), b.like(most, 0.0), most);
  const Ssa shares = b.unary("exponential", b.sub(scores, shift));
  const Ssa total = b.reduce_last(Reduction::kSum, shares);
  const Ssa is_empty = b.compare("EQ", total, 0.0);
  Ssa weights = b.div(shares, b.select(is_empty, b.like(total, 1.0), total));
  if (attention.drops()) {
    const Ssa* seed_offset = call.optional("fixed_seed_offset");
    weights = b.mul(weights, attention.kept(seed_offset, weights.type));
    call.set_output(3, seed_offset ? *seed_offset : b.constant(int64_t{0}, {{2}, "i64"}));
  }
  call.set_output(0, weighted(b, weights, attention.v));
  call.set_output(1, weights);
  call.set_output(2, b.add(shift, b.unary("log", total)));
}

void flash_attention_grad(LoweringContext& call) {
  Builder& b = call.b;
  const AttentionLowering attention(call);
  const Ssa g = b.wide(call.input("out_grad"));
  const Ssa scores = attention.scores();
  Dims row = scores.dims();
  row[3] = 1;
  const Ssa lse = b.reshape(b.convert(call.input("softmax_lse"), scores.type.element), row);
  const Ssa weights = b.select(b.compare("EQ", lse, -kInf), b.like(scores, 0.0),
                               b.unary("exponential", b.sub(scores, lse)));
  const Ssa kept = attention.drops() ? attention.kept(call.optional("seed_offset"), weights.type)
                                     : b.like(weights, 1.0);
  if (call.needs_output(2)) {
    const Ssa v_grad = weighted(b, b.mul(weights, kept), g, /*transposed=*/true);
    call.set_output(2, attention.summed_groups(v_grad));
  }
  const Ssa products = b.reduce_last(Reduction::kSum, b.mul(g, b.wide(call.input("out"))));
  const int64_t perm[] = {0, 2, 1, 3};
  const Ssa common = b.transpose(products, perm);  // [batch, heads, sq, 1]
  const Ssa slopes = b.mul(weights, b.sub(b.mul(kept, scores_of(b, g, attention.v)), common));
  const Ssa scaled = b.mul(slopes, attention.scale());
  if (call.needs_output(0)) call.set_output(0, weighted(b, scaled, attention.k));
  if (call.needs_output(1)) {
    const Ssa k_grad = weighted(b, scaled, attention.q, /*transposed=*/true);
    call.set_output(1, attention.summed_groups(k_grad));
  }
}

constexpr Lowering kAttentionLowerings[] = {
    {"flash_attention", flash_attention},
    {"flash_attention_grad", flash_attention_grad},
};

}  // namespace

std::span<const Lowering> attention_lowerings() { return kAttentionLowerings; }

}  // namespace phi::stablehlo
