// TokenType: the integer type of token ids in a file, little-endian, one to eight bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace phi::data {

enum class TokenType : uint8_t { kUint8, kInt8, kUint16, kInt16, kUint32, kInt32, kInt64 };

/// Bytes per id.
int64_t size_of(TokenType type);
/// "uint16", as NumPy spells it.
std::string_view name_of(TokenType type);
/// The inverse of name_of. Errors: InvalidArgument with the known names.
TokenType parse_token_type(std::string_view name);
/// All names, for messages that list choices.
std::vector<std::string> token_type_names();

/// Converts ids.size() ids of this type. `bytes` may have any alignment.
void to_ids(TokenType type, std::span<const uint8_t> bytes, std::span<int64_t> ids);

}  // namespace phi::data
