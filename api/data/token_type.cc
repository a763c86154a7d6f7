// The table of types and their conversions.
#include "api/data/token_type.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "phi/common/errors.h"

namespace phi::data {
namespace {

static_assert(std::endian::native == std::endian::little,
              "ids are read in the byte order of the file");

template <typename T>
void widen(const uint8_t* from, std::span<int64_t> ids) {
  for (int64_t& id : ids) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    id = static_cast<int64_t>(value);
    from += sizeof(T);
  }
}

struct TokenTypeInfo {
  std::string_view name;
  int64_t size;
  void (*widen)(const uint8_t* from, std::span<int64_t> ids);
};

template <typename T>
constexpr TokenTypeInfo info(std::string_view name) {
  return {name, sizeof(T), &widen<T>};
}

// Indexed by TokenType.
constexpr std::array kTokenTypes = {info<uint8_t>("uint8"),   info<int8_t>("int8"),
                                    info<uint16_t>("uint16"), info<int16_t>("int16"),
                                    info<uint32_t>("uint32"), info<int32_t>("int32"),
                                    info<int64_t>("int64")};

const TokenTypeInfo& info_of(TokenType type) { return kTokenTypes[static_cast<size_t>(type)]; }

}  // namespace

int64_t size_of(TokenType type) { return info_of(type).size; }
std::string_view name_of(TokenType type) { return info_of(type).name; }

TokenType parse_token_type(std::string_view name) {
  const auto found = std::find_if(kTokenTypes.begin(), kTokenTypes.end(),
                                  [&](const TokenTypeInfo& info) { return info.name == name; });
  if (found != kTokenTypes.end()) return static_cast<TokenType>(found - kTokenTypes.begin());
  std::string names;
  for (const TokenTypeInfo& info : kTokenTypes)
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  throw errors::InvalidArgument("'{}' is not a dtype of token ids; use one of {}.", name, names);
}

std::vector<std::string> token_type_names() {
  std::vector<std::string> names;
  for (const TokenTypeInfo& info : kTokenTypes) names.emplace_back(info.name);
  return names;
}

void to_ids(TokenType type, std::span<const uint8_t> bytes, std::span<int64_t> ids) {
  info_of(type).widen(bytes.data(), ids);
}

}  // namespace phi::data
