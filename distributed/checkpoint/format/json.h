// Reads untrusted JSON. Bad text, repeated keys, deep nesting, missing keys and values of the wrong
// type are errors that name the file and the position.
//
//   const JsonFile file("model.safetensors.index.json", text);
//   for (const auto& [name, value] : file.object(file.root(), "the index").items()) ...
//
// Errors of all calls: InvalidArgument. `what` names the value in the message: "shape of 'w'".
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "phi/common/dims.h"

namespace phi::distributed::checkpoint {

using Json = nlohmann::json;

/// Returns the whole file. Errors: those of MappedFile::open.
std::string read_text(const std::string& path);

class JsonFile {
 public:
  JsonFile(std::string path, std::string_view text);
  /// Errors: also those of read_text.
  static JsonFile open(const std::string& path) { return {path, read_text(path)}; }

  const std::string& path() const { return path_; }
  const Json& root() const { return root_; }

  const Json& object(const Json& value, std::string_view what) const;
  const Json& array(const Json& value, std::string_view what) const;
  const std::string& string(const Json& value, std::string_view what) const;
  /// An integer from 0 to 2^63 - 1.
  int64_t size(const Json& value, std::string_view what) const;
  /// Any number.
  double number(const Json& value, std::string_view what) const;
  bool boolean(const Json& value, std::string_view what) const;
  /// A list of at most kMaxNdim sizes.
  Dims dims(const Json& value, std::string_view what) const;
  /// The value of `key` in an object.
  const Json& member(const Json& object, const char* key, std::string_view what) const;

 private:
  [[noreturn]] void throw_wrong(std::string_view what, std::string_view expected) const;

  std::string path_;
  Json root_;
};

}  // namespace phi::distributed::checkpoint
