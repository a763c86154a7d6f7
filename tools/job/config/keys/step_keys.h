// Which keys of a job change its steps, and which of them a plan chooses.
#pragma once

#include <string_view>

namespace phi::job {

/// Whether the key changes what a step computes, holds or sends, or in which order.
bool changes_steps(std::string_view key);

/// Whether the key is one of the layout: `mesh`, `placements`, and those that autophi plan sets.
bool is_layout_key(std::string_view key);

}  // namespace phi::job
