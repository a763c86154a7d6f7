// TokenType: how a token id lies in a file: little-endian integers of one to eight bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace phi::data {

enum class TokenType : uint8_t { kUint8, kInt8, kUint16, kInt16, kUint32, kInt32, kInt64 };

/// Bytes of one id.
int64_t size_of(TokenType type);
/// "uint16", as NumPy spells it.
std::string_view name_of(TokenType type);
/// The inverse. Errors: InvalidArgument with the names there are.
TokenType parse_token_type(std::string_view name);
/// All names, for lists of choices.
std::vector<std::string> token_type_names();

/// bytes: ids.size() ids of this type, at any address.
void to_ids(TokenType type, std::span<const uint8_t> bytes, std::span<int64_t> ids);

}  // namespace phi::data
