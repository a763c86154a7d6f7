// The text of a Summary.
#include "api/data/data_summary.h"

#include <fmt/format.h>

#include "phi/common/readable_numbers.h"

namespace phi::data {

std::string DataSummary::to_string() const {
  std::string out = kind == DataKind::kBytes
                        ? fmt::format("text {} of {} files", human_bytes(num_bytes), num_files)
                        : fmt::format("{} tokens ({}) of {} file{}", human_count(num_tokens),
                                      name_of(type), num_files, num_files == 1 ? "" : "s");
  if (documents == Documents::kJoined) return out;
  return out + fmt::format(" · {} separate documents, {} of them too short and left out",
                           with_separators(num_documents), with_separators(documents_left_out));
}

}  // namespace phi::data
