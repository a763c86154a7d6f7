// Encodes a receipt as JSON with a checksum in the last line.
#include "distributed/checkpoint/saving/receipt.h"

#include <filesystem>

#include "distributed/checkpoint/format/json.h"
#include "distributed/checkpoint/storage/checksum.h"
#include "phi/common/errors.h"

namespace phi::distributed::checkpoint {

std::string Receipt::encode() const {
  Json json = {{"header", encode_sums({&header, 1})}, {"sums", Json::object()}};
  for (const auto& [name, blocks] : sums) json["sums"][name] = encode_sums(blocks);
  const std::string text = json.dump();
  const uint64_t sum = checksum(text);
  return text + "\n" + encode_sums({&sum, 1}) + "\n";
}

std::optional<Receipt> Receipt::decode(std::string_view text) {
  const size_t line = text.find('\n');
  if (line == std::string_view::npos || !text.ends_with('\n') || line + 1 == text.size()) {
    return std::nullopt;
  }
  const auto told = decode_sums(text.substr(line + 1, text.size() - line - 2));
  if (!told || told->size() != 1 || told->front() != checksum(text.substr(0, line))) {
    return std::nullopt;
  }
  const JsonFile file("a receipt", text.substr(0, line));
  const auto sums_of = [&](const Json& value) {
    return decode_sums(file.string(value, "a sum")).value_or(std::vector<uint64_t>());
  };
  Receipt receipt;
  receipt.header = sums_of(file.member(file.root(), "header", "the receipt")).at(0);
  for (const auto& [name, value] :
       file.object(file.member(file.root(), "sums", "the receipt"), "sums").items()) {
    receipt.sums[name] = sums_of(value);
  }
  return receipt;
}

std::optional<Receipt> Receipt::find(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return std::nullopt;  // the common case, without an
                          // Error
  std::string text;
  try {
    text = read_text(path);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kNotFound) return std::nullopt;
    throw;
  }
  return decode(text);
}

}  // namespace phi::distributed::checkpoint
