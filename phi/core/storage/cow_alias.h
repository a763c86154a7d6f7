// Size and alignment that a part of a tensor needs to become a copy-on-write alias
// (Storage::make_alias). A test can lower both, so that small programs use aliases.
#pragma once

#include <cstddef>

namespace phi::cow_alias {

/// Parts of up to this many bytes are copied, which costs less than an alias. Returns
/// Storage::kInlineLimit, or 0 after alias_everything().
size_t limit();
/// Required alignment of a part's address in bytes. Returns Storage::kAlignment, so that a kernel
/// sees the same alignment, and takes the same code path, as without aliases; 1 after
/// alias_everything().
size_t alignment();
/// For tests: aliases every contiguous part, whatever its size and alignment. Call it before the
/// process makes its first tensor.
void alias_everything();

}  // namespace phi::cow_alias
