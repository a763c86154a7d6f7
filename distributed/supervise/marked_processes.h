// Processes of this machine that have a variable in the environment with which they were started:
// all that came of one start, whoever their parents are by now, and whatever sessions they made.
#pragma once

#include <set>
#include <string>

namespace phi::distributed::supervise {

/// Values of `variable` ("OMPI_COMM_WORLD_RANK") among the living processes with `mark`
/// ("NAME=value").
std::set<std::string> values_among(const std::string& mark, const std::string& variable);

/// Sends the signal to each living process with the mark, but to this one. Gives back how many.
int signal_marked(const std::string& mark, int number);

}  // namespace phi::distributed::supervise
