// The text of a Summary.
#include "api/data/data_summary.h"

#include <fmt/format.h>

#include "phi/common/readable_numbers.h"

namespace phi::data {

namespace {

std::string text_of_images(const DataSummary& data) {
  const std::string out = fmt::format(
      "{} images of {} classes in {} file{}", with_separators(data.num_images), data.num_classes,
      with_separators(data.num_files), data.num_files == 1 ? "" : "s");
  if (data.files_left_out == 0) return out;
  return out + fmt::format(", {} other files left out", with_separators(data.files_left_out));
}

}  // namespace

std::string DataSummary::to_string() const {
  if (kind == DataKind::kImages) return text_of_images(*this);
  std::string out = kind == DataKind::kBytes
                        ? fmt::format("text {} of {} files", human_bytes(num_bytes), num_files)
                        : fmt::format("{} tokens ({}) of {} file{}", human_count(num_tokens),
                                      name_of(type), num_files, num_files == 1 ? "" : "s");
  if (documents == Documents::kJoined) return out;
  return out + fmt::format(" · {} separate documents, {} of them too short and left out",
                           with_separators(num_documents), with_separators(documents_left_out));
}

}  // namespace phi::data
