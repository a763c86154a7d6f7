// Questions that are answered in a child process: what a call does to memory stays there. A plain
// call on parts that do not belong together may write where it should not.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace phi::testing {

/// answer(0), ..., answer(n - 1), each of one line; nothing where the child ended in it. The
/// calling process has no other threads that work.
std::vector<std::optional<std::string>> run_in_child(
    size_t n, const std::function<std::string(size_t)>& answer);

}  // namespace phi::testing
