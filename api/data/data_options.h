// Options for opening data: the files, how their bytes encode token ids, and where windows may be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/data/token_type.h"

namespace phi::data {

enum class DataKind : uint8_t {
  kBytes,     // text files and folders; a byte is a token
  kTokens,    // flat files of token ids, as nanoGPT's train.bin
  kMegatron,  // pairs of .bin and .idx, as written by Megatron-LM's preprocessing
  kImages,    // images with classes (images/image_data.h); the other kinds are token ids
};

enum class Documents : uint8_t {
  kJoined,  // windows may cross the ends of documents and files
  kApart,   // a window is within one document
};

/// "bytes", "tokens", "megatron", "images"; "joined", "apart".
std::string_view name_of(DataKind kind);
std::string_view name_of(Documents documents);
/// The inverse of name_of. Errors: InvalidArgument with the known names.
DataKind parse_data_kind(std::string_view name);
Documents parse_documents(std::string_view name);

struct DataOptions {
  DataKind kind = DataKind::kBytes;
  std::vector<std::string> paths;
  std::string base{};                    // second place where relative paths are resolved
  TokenType dtype = TokenType::kUint16;  // of kind tokens
  Documents documents = Documents::kJoined;
  int64_t vocab = 0;  // larger ids are errors; 0: all ids are accepted
};

}  // namespace phi::data
