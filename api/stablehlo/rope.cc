// Lowerings of the rotary position embedding and its gradient.
#include <cmath>

#include "api/stablehlo/gather_rows.h"
#include "api/stablehlo/lowering.h"

namespace phi::stablehlo {
namespace {

/// The rotation of one call: pairs (a, b) of a head's elements rotate by an angle per position.
class Rotation {
 public:
  /// `q_name` is the argument that determines batch, sequence length and width.
  Rotation(LoweringContext& call, std::string_view q_name)
      : b_(call.b),
        call_(call),
        dims_(call.input(q_name).dims()),
        adjacent_(call.flag("use_neox_rotary_style")),
        seq_dim_(call.flag("time_major") ? 0 : 1) {
    const Ssa angles = call.optional("sin") ? Ssa{} : angles_in_double();
    cosine_ = factors("cos", "cosine", angles);
    sine_ = b_.mul(factors("sin", "sine", angles), signs());
  }

  /// a cos - b sin and b cos + a sin.
  Ssa turned(const Ssa& given) const {
    const Ssa x = b_.wide(given);
    return b_.add(b_.mul(x, cosine_), b_.mul(swapped(x), sine_));
  }
  /// The transpose: a cos_a + b sin_b and b cos_b - a sin_a.
  Ssa turned_back(const Ssa& given) const {
    const Ssa x = b_.wide(given);
    return b_.add(b_.mul(x, cosine_), swapped(b_.mul(x, sine_)));
  }

 private:
  int64_t width() const { return dims_[3]; }
  int64_t seq() const { return dims_[seq_dim_]; }

  // Rows [..., width] as [batch or 1, seq, 1, width]; the first two are swapped if time is major.
  Ssa as_factors(const Ssa& rows) const {
    if (rows.ndim() == 2) {
      return b_.reshape(rows,
                        seq_dim_ == 1 ? Dims{1, seq(), 1, width()} : Dims{seq(), 1, 1, width()});
    }
    const int64_t perm[] = {1, 0, 2};  // rows by position_ids [batch, seq]
    const Ssa ordered = seq_dim_ == 1 ? rows : b_.transpose(rows, perm);
    return b_.reshape(ordered, {dims_[0], dims_[1], 1, width()});
  }

  Ssa factors(std::string_view table, std::string_view function, const Ssa& angles) const {
    const Ssa* given = call_.optional(table);
    const std::string_view element = wide_element(element_of(call_.output().dtype));
    if (!given) return b_.convert(b_.unary(function, angles), element);
    const Dims& d = given->dims();
    const Ssa rows = b_.reshape(b_.convert(*given, element), {d[d.ndim() == 2 ? 0 : 1], width()});
    const Ssa* ids = call_.optional("position_ids");
    return as_factors(ids ? gather_rows(b_, rows, *ids, 0) : rows);
  }

  // In double, as in the kernel: position * rate would lose digits in float.
  Ssa angles_in_double() const {
    const double base = call_.number("rotary_emb_base");
    std::vector<double> rates(static_cast<size_t>(width()));
    for (size_t i = 0; i < rates.size(); ++i) {
      const auto pair = static_cast<double>(adjacent_ ? i / 2 : i % (rates.size() / 2));
      rates[i] = std::pow(base, -2.0 * pair / static_cast<double>(width()));
    }
    const Ssa rate = b_.constants(rates, "f64");
    if (const Ssa* ids = call_.optional("position_ids")) {
      Dims column = ids->dims();
      column.push_back(1);
      return as_factors(b_.mul(b_.reshape(b_.convert(*ids, "f64"), column), rate));
    }
    return as_factors(b_.mul(b_.iota({{seq(), width()}, "f64"}, 0), rate));
  }

  // -1 at the first element of each pair, 1 at the second.
  Ssa signs() const {
    std::vector<double> signs(static_cast<size_t>(width()));
    for (size_t i = 0; i < signs.size(); ++i) {
      const bool is_first = adjacent_ ? i % 2 == 0 : i < signs.size() / 2;
      signs[i] = is_first ? -1.0 : 1.0;
    }
    return b_.constants(signs, cosine_.type.element);
  }

  // Swaps a and b of each pair.
  Ssa swapped(const Ssa& x) const {
    const Dims& d = x.dims();
    const Dims pairs =
        adjacent_ ? Dims{d[0], d[1], d[2], d[3] / 2, 2} : Dims{d[0], d[1], d[2], 2, d[3] / 2};
    return b_.reshape(b_.reverse(b_.reshape(x, pairs), adjacent_ ? 4 : 3), d);
  }

  Builder& b_;
  LoweringContext& call_;
  Dims dims_;
  bool adjacent_;
  int seq_dim_;
  Ssa cosine_, sine_;  // sine_ includes signs()
};

void fused_rope(LoweringContext& call) {
  const Rotation rotation(call, "q");
  size_t slot = 0;
  for (const char* name : {"q", "k", "v"}) {
    if (const Ssa* x = call.optional(name)) call.set_output(slot, rotation.turned(*x));
    ++slot;
  }
}

void fused_rope_grad(LoweringContext& call) {
  const Rotation rotation(call, "out_q_grad");
  size_t slot = 0;
  for (const char* name : {"out_q_grad", "out_k_grad", "out_v_grad"}) {
    const Ssa* g = call.optional(name);
    if (g && call.needs_output(slot)) call.set_output(slot, rotation.turned_back(*g));
    ++slot;
  }
}

constexpr Lowering kRopeLowerings[] = {
    {"fused_rotary_position_embedding", fused_rope},
    {"fused_rotary_position_embedding_grad", fused_rope_grad},
};

}  // namespace

std::span<const Lowering> rope_lowerings() { return kRopeLowerings; }

}  // namespace phi::stablehlo
