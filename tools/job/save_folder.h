// Whether a job will be able to save: found out before its first step, not after its last.
#pragma once

#include <cstdint>
#include <string>

namespace phi::job {

/// Makes the folder. Errors: Unavailable if files cannot be made there; ResourceExhausted with what
/// is needed and what is free if `bytes` do not fit.
void check_save_folder(const std::string& folder, int64_t bytes);

}  // namespace phi::job
