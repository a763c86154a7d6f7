// What data to open: which files, how their bytes are read as token ids, and where windows may lie.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/data/token_type.h"

namespace phi::data {

enum class Kind : uint8_t {
  kBytes,     // files and folders of text; a byte is a token
  kTokens,    // flat files of token ids and nothing else, as nanoGPT's train.bin
  kMegatron,  // pairs of .bin and .idx, as Megatron-LM's preprocessing writes them
};

enum class Documents : uint8_t {
  kJoined,  // windows lie anywhere in the data, over the ends of documents and files
  kApart,   // a window lies within one document
};

/// "bytes", "tokens", "megatron"; "joined", "apart".
std::string_view name_of(Kind kind);
std::string_view name_of(Documents documents);
/// The inverse. Errors: InvalidArgument with the names there are.
Kind parse_kind(std::string_view name);
Documents parse_documents(std::string_view name);

struct Options {
  Kind kind = Kind::kBytes;
  std::vector<std::string> paths;
  std::string base{};                    // where relative paths are looked for second
  TokenType dtype = TokenType::kUint16;  // of kind tokens
  Documents documents = Documents::kJoined;
  int64_t vocab = 0;  // an id beyond it is an error; 0: any is taken
};

}  // namespace phi::data
