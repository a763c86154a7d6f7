// Summary: sizes and kind of some data, for headers and reports.
#pragma once

#include <cstdint>
#include <string>

#include "api/data/data_options.h"

namespace phi::data {

struct DataSummary {
  DataKind kind = DataKind::kBytes;
  TokenType type = TokenType::kUint8;
  Documents documents = Documents::kJoined;
  int64_t num_files = 0;
  int64_t num_bytes = 0;
  int64_t num_tokens = 0;
  int64_t num_documents = 0;       // 0: unknown
  int64_t documents_left_out = 0;  // shorter than a window
  // Only for kind images.
  int64_t num_images = 0;
  int64_t num_classes = 0;
  int64_t files_left_out = 0;  // no images, by their names

  /// Text whose documents are joined; reports of jobs omit details of it.
  bool is_plain_text() const { return kind == DataKind::kBytes && documents == Documents::kJoined; }

  /// "text 12.6 MiB of 34 files", "1.2B tokens (uint16) of 3 files"; with Documents::kApart also
  /// the numbers of documents and of documents left out; "60,000 images of 10 classes in 6 files".
  std::string to_string() const;
};

}  // namespace phi::data
