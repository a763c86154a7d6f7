// Summary: what some data is, for headers and reports.
#pragma once

#include <cstdint>
#include <string>

#include "api/data/options.h"

namespace phi::data {

struct Summary {
  Kind kind = Kind::kBytes;
  TokenType type = TokenType::kUint8;
  Documents documents = Documents::kJoined;
  int64_t num_files = 0;
  int64_t num_bytes = 0;
  int64_t num_tokens = 0;
  int64_t num_documents = 0;       // 0: the files do not say
  int64_t documents_left_out = 0;  // too short for a window

  /// Text without documents, which is what reports of jobs do not say more of.
  bool is_plain_text() const { return kind == Kind::kBytes && documents == Documents::kJoined; }

  /// "text 12.6 MiB of 34 files", "1.2B tokens (uint16) of 3 files"; of documents that are kept
  /// apart also how many there are and how many are left out.
  std::string to_string() const;
};

}  // namespace phi::data
