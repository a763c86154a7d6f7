// Processes of this machine that were started with a given environment variable: all processes of
// one start, whatever their current parents and sessions.
#pragma once

#include <set>
#include <string>

namespace phi::distributed::supervise {

/// Returns the values of `variable` ("OMPI_COMM_WORLD_RANK") in the living processes whose
/// environment has `mark` ("NAME=value").
std::set<std::string> values_among(const std::string& mark, const std::string& variable);

/// Sends a signal to each living process with the mark, except this one. Returns their number.
int signal_marked(const std::string& mark, int number);

}  // namespace phi::distributed::supervise
