// Philox rounds, as one private function per shape.
#include "api/stablehlo/random_words.h"

#include <fmt/format.h>

namespace phi::stablehlo {
namespace {

constexpr uint64_t kMultiplier[] = {0xD2511F53u, 0xCD9E8D57u};
constexpr uint64_t kBump[] = {0x9E3779B9u, 0xBB67AE85u};

struct WideProduct {
  Ssa high, low;
};
// Both words of a 64-bit product.
WideProduct wide_product(Builder& b, const Ssa& word, uint64_t factor) {
  const Ssa wide = b.convert(word, "ui64");
  const Ssa product = b.mul(wide, b.constant_bits(factor, wide.type));
  const Ssa high = b.binary("shift_right_logical", product, b.constant_bits(32, {{}, "ui64"}));
  return {b.convert(high, "ui32"), b.convert(product, "ui32")};
}

Ssa exclusive_or(Builder& b, const Ssa& x, const Ssa& y, const Ssa& z) {
  return b.binary("xor", b.binary("xor", x, y), z);
}

// Arguments: the counter's four words, then the key's two.
std::vector<Ssa> write_philox(Builder& b, std::span<const Ssa> arguments) {
  std::array<Ssa, 4> c = {arguments[0], arguments[1], arguments[2], arguments[3]};
  std::array<Ssa, 2> key = {arguments[4], arguments[5]};
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const WideProduct first = wide_product(b, c[0], kMultiplier[0]);
    const WideProduct second = wide_product(b, c[2], kMultiplier[1]);
    c = {exclusive_or(b, second.high, c[1], key[0]), second.low,
         exclusive_or(b, first.high, c[3], key[1]), first.low};
    for (size_t k = 0; k < 2; ++k) key[k] = b.add(key[k], b.constant_bits(kBump[k], key[k].type));
  }
  return {c.begin(), c.end()};
}

Ssa high_word(Builder& b, const Ssa& x) {
  return b.convert(b.binary("shift_right_logical", x, b.constant_bits(32, {{}, "ui64"})), "ui32");
}

}  // namespace

std::array<Ssa, 2> philox_key(Builder& b, const Ssa& seed) {
  const Ssa bits =
      b.op("stablehlo.bitcast_convert", {b.reshape(b.convert(seed, "i64"), {})}, {{}, "ui64"});
  return {b.convert(bits, "ui32"), high_word(b, bits)};
}

std::array<Ssa, 4> philox_words(Builder& b, const Ssa& block, RandomUse use, const Ssa& last,
                                const std::array<Ssa, 2>& key) {
  const Type type{block.dims(), "ui32"};
  std::vector<Ssa> arguments = {b.convert(block, "ui32"),
                                high_word(b, block),
                                b.constant_bits(static_cast<uint32_t>(use), type),
                                b.expand(last, block.dims()),
                                key[0],
                                key[1]};
  std::vector<ModuleBuilder::FunctionParameter> parameters;
  for (size_t i = 0; i < arguments.size(); ++i)
    parameters.push_back({fmt::format("%arg{}", i), arguments[i].type, ""});
  std::string name = "philox";
  for (int64_t extent : block.dims()) name += fmt::format("_{}", extent);
  const std::vector<Ssa> words = b.call(name, arguments, parameters, write_philox);
  return {words[0], words[1], words[2], words[3]};
}

Ssa pick_word(Builder& b, const std::array<Ssa, 4>& words, const Ssa& which) {
  Ssa word = words[3];
  for (size_t w = 3; w-- > 0;) {
    const Ssa here = b.compare("EQ", which, b.constant_bits(w, which.type));
    word = b.select(here, words[w], word);
  }
  return word;
}

Ssa element_index(Builder& b, const Dims& dims) {
  const Type type{dims, "ui64"};
  const Dims strides = dims.strides();
  Ssa index = b.constant_bits(0, type);
  for (int d = 0; d < dims.ndim(); ++d) {
    const Ssa stride = b.constant_bits(static_cast<uint64_t>(strides[d]), type);
    index = b.add(index, b.mul(b.iota(type, d), stride));
  }
  return index;
}

}  // namespace phi::stablehlo
