// What is worth a lease: parts of more bytes than a small storage has behind itself, that begin
// where bytes could be allocated. A test of small programs lends whatever it can.
#pragma once

#include <cstddef>

namespace phi::lending {

/// Arrays of up to so many bytes lie behind their storages, and parts of them are copied: that
/// costs less than a lease. Storage::kInlineLimit.
size_t limit();
/// Of the address of a part. Storage::kAlignment, so that no kernel meets an array that it would
/// not meet without leases, and none goes another way through it.
size_t alignment();
/// For tests, before the process's first tensor: from here on every part that lies in one piece is
/// lent, however small it is and wherever it begins.
void lend_everything();

}  // namespace phi::lending
