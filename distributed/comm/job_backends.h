// The table of backends that start ranks as processes. A backend is one folder and one row.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "distributed/comm/world.h"

namespace phi::distributed {

struct JobBackend {
  std::string_view name;
  /// Whether its launcher started this process.
  bool (*started_this_process)();
  /// Joins the job. The world's end leaves it. The arguments are those of init_world. Errors:
  /// Unavailable if this build lacks the backend's library.
  std::unique_ptr<World> (*join)(int* argc, char*** argv, World::Milliseconds start_deadline);
};
std::span<const JobBackend> job_backends();

}  // namespace phi::distributed
