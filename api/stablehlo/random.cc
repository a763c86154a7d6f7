// Lowerings of gaussian, uniform and dropout, with the same random words as the kernels, bit for
// bit.
#include <cmath>

#include "api/stablehlo/lowering.h"
#include "api/stablehlo/random_words.h"

namespace phi::stablehlo {
namespace {

struct Drawn {
  std::array<Ssa, 4> words;
  Ssa which;  // index of the element's word
};

Drawn draw(Builder& b, const Dims& dims, const Ssa& seed, RandomUse use) {
  const Ssa index = element_index(b, dims);
  const Ssa block = b.binary("shift_right_logical", index, b.constant_bits(2, index.type));
  const Ssa which = b.binary("and", index, b.constant_bits(3, index.type));
  const Ssa last = b.constant_bits(0, {{}, "ui32"});
  return {philox_words(b, block, use, last, philox_key(b, seed)), which};
}

Ssa own_word(Builder& b, const Drawn& drawn) { return pick_word(b, drawn.words, drawn.which); }

Ssa seed_of(LoweringContext& call) {
  if (const Ssa* given = call.optional("seed_tensor")) return *given;
  if (call.is_absent("seed")) {
    call.refuse("without a seed, which each run would draw (pass a seed),");
  }
  return call.b.constant(call.integer("seed"), {{}, "i64"});
}

// Converts a word to a float in [0, 1], as the kernel does.
Ssa unit_float(Builder& b, const Ssa& word) {
  const Ssa upper = b.binary("shift_right_logical", word, b.constant_bits(1, word.type));
  return b.mul(b.add(b.convert(upper, "f32"), 0.5), 0x1p-31);
}

// Box-Muller: words 0 and 1 give elements 0 and 1, words 2 and 3 the others.
void gaussian(LoweringContext& call) {
  Builder& b = call.b;
  const auto [words, which] = draw(b, call.output_dims(), seed_of(call), RandomUse::kGaussian);
  const Ssa in_first = b.compare("LT", which, b.constant_bits(2, which.type));
  const Ssa radius_word = b.select(in_first, words[0], words[2]);
  const Ssa angle_word = b.select(in_first, words[1], words[3]);
  const Ssa radius = b.unary("sqrt", b.mul(b.unary("log", unit_float(b, radius_word)), -2.0));
  const Ssa angle = b.mul(unit_float(b, angle_word), 2.0 * M_PI);
  const Ssa odd = b.binary("and", which, b.constant_bits(1, which.type));
  const Ssa is_sine = b.compare("EQ", odd, b.constant_bits(1, odd.type));
  const Ssa z = b.mul(radius, b.select(is_sine, b.unary("sine", angle), b.unary("cosine", angle)));
  const Ssa value = b.convert(z, wide_element(call.output_type().element));
  call.set_output(b.add(b.mul(value, call.number("std")), call.number("mean")));
}

void uniform(LoweringContext& call) {
  Builder& b = call.b;
  const Ssa word = own_word(b, draw(b, call.output_dims(), seed_of(call), RandomUse::kUniform));
  const bool is_double = call.output().dtype == DataType::FLOAT64;
  const Ssa bits =
      is_double ? word : b.binary("shift_right_logical", word, b.constant_bits(8, word.type));
  const Ssa unit =
      is_double ? b.mul(b.convert(bits, "f64"), 0x1p-32) : b.mul(b.convert(bits, "f32"), 0x1p-24);
  const double min = call.number("min");
  const double max = call.number("max");
  const double below = is_double ? std::nextafter(max, min)
                                 : std::nextafter(static_cast<float>(max), static_cast<float>(min));
  const Ssa value = b.add(b.mul(unit, max - min), min);
  // Rounding may have produced max.
  call.set_output(b.select(b.compare("LT", value, max), value, b.like(value, below)));
}

double kept_factor(const LoweringContext& call) {
  const double p = call.number("p");
  const bool upscale = call.text("mode") == "upscale_in_train";
  if (call.flag("is_test")) return upscale ? 1.0 : 1.0 - p;
  return upscale && p < 1.0 ? 1.0 / (1.0 - p) : 1.0;
}

void dropout(LoweringContext& call) {
  Builder& b = call.b;
  const Ssa scaled = b.mul(b.wide(call.input("x")), kept_factor(call));
  const Type flags{scaled.dims(), "i1"};
  const auto threshold = static_cast<uint64_t>(call.number("p") * 0x1p32);
  if (call.flag("is_test") || threshold == 0) {
    call.set_output(0, scaled);
    return call.set_output(1, b.constant(int64_t{1}, flags));
  }
  if (threshold > 0xffffffffu) {
    call.set_output(0, b.like(scaled, 0.0));
    return call.set_output(1, b.constant(int64_t{0}, flags));
  }
  const Ssa word = own_word(b, draw(b, scaled.dims(), seed_of(call), RandomUse::kDropout));
  const Ssa keep = b.compare("GE", word, b.constant_bits(threshold, word.type));
  call.set_output(0, b.select(keep, scaled, b.like(scaled, 0.0)));
  call.set_output(1, keep);
}

void dropout_grad(LoweringContext& call) {
  Builder& b = call.b;
  const Ssa g = b.wide(call.input("out_grad"));
  const Ssa scaled = b.mul(g, kept_factor(call));
  if (call.flag("is_test")) return call.set_output(scaled);
  const Ssa kept = b.convert(call.input("mask"), "i1");
  call.set_output(b.select(kept, scaled, b.like(g, 0.0)));
}

constexpr Lowering kRandomLowerings[] = {
    {"gaussian", gaussian},
    {"uniform", uniform},
    {"dropout", dropout},
    {"dropout_grad", dropout_grad},
};

}  // namespace

std::span<const Lowering> random_lowerings() { return kRandomLowerings; }

}  // namespace phi::stablehlo
